// Helper functions, scalar arguments and tunables.

// A helper that calls a helper, called twice, with buffers of its own.
func.func private @add_row_sums(%t: memref<16x16xf32, #tile.fragment>, %weight: f32) {
  %r = tile.alloc_fragment : memref<16xf32, #tile.fragment>
  tile.reduce sum %t along 1 into %r : memref<16x16xf32, #tile.fragment> into memref<16xf32, #tile.fragment>
  func.call @add_scaled(%t, %r, %weight)
    : (memref<16x16xf32, #tile.fragment>, memref<16xf32, #tile.fragment>, f32) -> ()
  return
}
func.func private @add_scaled(%t: memref<16x16xf32, #tile.fragment>, %r: memref<16xf32, #tile.fragment>, %weight: f32) {
  tile.parallel (%i, %j) in (16, 16) {
    %v = memref.load %t[%i, %j] : memref<16x16xf32, #tile.fragment>
    %s = memref.load %r[%i] : memref<16xf32, #tile.fragment>
    %w = arith.mulf %s, %weight : f32
    %u = arith.addf %v, %w : f32
    memref.store %u, %t[%i, %j] : memref<16x16xf32, #tile.fragment>
  }
  return
}
func.func @nested_helpers(
    %x: memref<16x16xf32> {tile.name = "x", tile.default = "randn:16x16xf32"},
    %y: memref<16x16xf32> {tile.name = "y", tile.default = "empty:16x16xf32"})
    attributes {tile.reference = @nested_helpers_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-4>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %half = arith.constant 0.5 : f32
    %two = arith.constant 2.0 : f32
    %t = tile.alloc_fragment : memref<16x16xf32, #tile.fragment>
    tile.copy %x to %t : memref<16x16xf32> to memref<16x16xf32, #tile.fragment>
    func.call @add_row_sums(%t, %half) : (memref<16x16xf32, #tile.fragment>, f32) -> ()
    func.call @add_row_sums(%t, %two) : (memref<16x16xf32, #tile.fragment>, f32) -> ()
    tile.copy %t to %y : memref<16x16xf32, #tile.fragment> to memref<16x16xf32>
  }
  return
}
func.func @nested_helpers_reference(%x: memref<16x16xf64>, %y: memref<16x16xf64>) {
  // Row sums grow by 1 + 16 * 0.5 = 9: in all, x + 0.5 s + 2 * 9 s.
  %factor = arith.constant 18.5 : f64
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to 16 {
    %s = affine.for %j = 0 to 16 iter_args(%a = %zero) -> f64 {
      %v = affine.load %x[%i, %j] : memref<16x16xf64>
      %n = arith.addf %a, %v : f64
      affine.yield %n : f64
    }
    %w = arith.mulf %s, %factor : f64
    affine.for %j = 0 to 16 {
      %v = affine.load %x[%i, %j] : memref<16x16xf64>
      %u = arith.addf %v, %w : f64
      affine.store %u, %y[%i, %j] : memref<16x16xf64>
    }
  }
  return
}

// A helper with a result, called by lanes.
func.func private @smooth(%v: f32, %slope: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %s = arith.mulf %v, %slope : f32
  %a = math.absf %s : f32
  %d = arith.addf %a, %one : f32
  %r = arith.divf %s, %d : f32
  return %r : f32
}

// Scalars of every kind that kernels take.
func.func @scalars(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:100xf32"},
    %slope: f32 {tile.name = "slope", tile.default = "1.5"},
    %wide: f64 {tile.name = "wide", tile.default = "0.1"},
    %half: f16 {tile.name = "half", tile.default = "-0.25"},
    %shift: i32 {tile.name = "shift", tile.default = "-3"},
    %count: index {tile.name = "count", tile.default = "x[0]/2"},
    %negate: i1 {tile.name = "negate", tile.default = "true"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @scalars_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-6, rtol = 1.0e-6>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivsi %n, %c32 : index
  tile.launch blocks(%b) in (%g) {
    %i0 = arith.muli %b, %c32 : index
    %w = arith.truncf %wide : f64 to f32
    %h = arith.extf %half : f16 to f32
    %s = arith.sitofp %shift : i32 to f32
    %wh = arith.addf %w, %h : f32
    %whs = arith.addf %wh, %s : f32
    tile.parallel (%i) in (32) {
      %at = arith.addi %i0, %i : index
      %v = memref.load %x[%at] : memref<?xf32>
      %f = func.call @smooth(%v, %slope) : (f32, f32) -> f32
      %inFirst = arith.cmpi ult, %at, %count : index
      %t = arith.addf %f, %whs : f32
      %u = arith.select %inFirst, %t, %f : f32
      %m = arith.negf %u : f32
      %r = arith.select %negate, %m, %u : f32
      memref.store %r, %y[%at] : memref<?xf32>
    }
  }
  return
}
func.func @scalars_reference(%x: memref<?xf64>, %slope: f32, %wide: f64, %half: f16, %shift: i32,
                             %count: index, %negate: i1, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %k = arith.extf %slope : f32 to f64
  %h = arith.extf %half : f16 to f64
  %s = arith.sitofp %shift : i32 to f64
  %wh = arith.addf %wide, %h : f64
  %whs = arith.addf %wh, %s : f64
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    %a = arith.mulf %v, %k : f64
    %size = math.absf %a : f64
    %d = arith.addf %size, %one : f64
    %f = arith.divf %a, %d : f64
    %inFirst = arith.cmpi ult, %i, %count : index
    %t = arith.addf %f, %whs : f64
    %u = arith.select %inFirst, %t, %f : f64
    %m = arith.negf %u : f64
    %r = arith.select %negate, %m, %u : f64
    affine.store %r, %y[%i] : memref<?xf64>
  }
  return
}

// Extents, boxes, threads and stages that are tunables; the tests set others.
func.func @tunables(
    %x: memref<?x?xf32> {tile.name = "x", tile.default = "randn:45x70xf32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @tunables_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, rtol = 2.0e-6>} {
  %rows = tile.tunable "rows" in [1, 7, 16] default(16)
  %width = tile.tunable "width" in [8, 24, 33] default(24)
  %threads = tile.tunable "threads" in [32, 64] default(64)
  %stages = tile.tunable "stages" in range(1, 4, 1) default(2)
  %area = arith.muli %rows, %width : index
  %limit = arith.constant 384 : index
  %fits = arith.cmpi ule, %area, %limit : index
  tile.require %fits, "a tile may have at most 384 elements"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %g = arith.ceildivsi %m, %rows : index
  tile.launch blocks(%b) in (%g) threads(%threads) {
    %zero = arith.constant 0.0 : f32
    %i0 = arith.muli %b, %rows : index
    %s = tile.alloc_shared(%rows, %width) : memref<?x?xf32, #tile.shared>
    %r = tile.alloc_fragment(%rows) : memref<?xf32, #tile.fragment>
    tile.fill %r, %zero : memref<?xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %n step %width stages(%stages) {
      tile.copy %x[%i0, %k] to %s : memref<?x?xf32> to memref<?x?xf32, #tile.shared>
      tile.parallel (%i, %j) in (%rows, %width) {
        %v = memref.load %s[%i, %j] : memref<?x?xf32, #tile.shared>
        %w = arith.mulf %v, %v : f32
        memref.store %w, %s[%i, %j] : memref<?x?xf32, #tile.shared>
      }
      tile.reduce sum %s along 1 into %r accumulate
        : memref<?x?xf32, #tile.shared> into memref<?xf32, #tile.fragment>
    }
    tile.copy %r to %y[%i0] : memref<?xf32, #tile.fragment> to memref<?xf32>
  }
  return
}
func.func @tunables_reference(%x: memref<?x?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = memref.dim %x, %c0 : memref<?x?xf64>
  %n = memref.dim %x, %c1 : memref<?x?xf64>
  affine.for %i = 0 to %m {
    %sum = affine.for %j = 0 to %n iter_args(%s = %zero) -> f64 {
      %v = affine.load %x[%i, %j] : memref<?x?xf64>
      %w = arith.mulf %v, %v : f64
      %t = arith.addf %s, %w : f64
      affine.yield %t : f64
    }
    affine.store %sum, %y[%i] : memref<?xf64>
  }
  return
}

// A host function that launches through another one, twice.
func.func private @scale_by(%x: memref<?xf32>, %y: memref<?xf32>, %factor: f32) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivsi %n, %c32 : index
  tile.launch blocks(%b) in (%g) {
    %from = arith.muli %b, %c32 : index
    tile.parallel (%i) in (32) {
      %at = arith.addi %from, %i : index
      %v = memref.load %x[%at] : memref<?xf32>
      %w = arith.mulf %v, %factor : f32
      memref.store %w, %y[%at] : memref<?xf32>
    }
  }
  return
}
func.func @launches_through_helpers(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:77xf32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @launches_through_helpers_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-7, rtol = 2.0e-7>} {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %between = tile.alloc_global(%n) : memref<?xf32>
  func.call @scale_by(%x, %between, %two) : (memref<?xf32>, memref<?xf32>, f32) -> ()
  func.call @scale_by(%between, %y, %three) : (memref<?xf32>, memref<?xf32>, f32) -> ()
  return
}
func.func @launches_through_helpers_reference(%x: memref<?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %six = arith.constant 6.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    %w = arith.mulf %v, %six : f64
    affine.store %w, %y[%i] : memref<?xf64>
  }
  return
}
