// Who does what in which order: persistent loops, orders of blocks, steps,
// workspaces.

// Every tile is done once, by the block whose turn it is, in the order stated.
// `order` counts up within a block, so that tile number n of worker w is the
// tile with the number w + n * workers.
func.func @persistent(
    %rows: index {tile.name = "rows", tile.default = "7"},
    %columns: index {tile.name = "columns", tile.default = "5"},
    %byRow: memref<?x?xi32> {tile.name = "by_row", tile.default = "zeros:(rows)x(columns)xi32"},
    %byBand: memref<?x?xi32> {tile.name = "by_band", tile.default = "zeros:(rows)x(columns)xi32"},
    %byColumnBand: memref<2x?x?xi32> {tile.name = "by_column_band", tile.default = "zeros:2x(rows)x(columns)xi32"})
    attributes {tile.reference = @persistent_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  tile.launch blocks(%bx, %by) in (%c3, %c2) {
    %order = tile.alloc_shared : memref<1xindex, #tile.shared>
    %high = arith.muli %by, %c3 : index
    %worker = arith.addi %high, %bx : index
    tile.fill %order, %worker : memref<1xindex, #tile.shared>
    tile.persistent (%i, %j) in (%rows, %columns) {
      %number = memref.load %order[%c0] : memref<1xindex, #tile.shared>
      %n = arith.index_cast %number : index to i32
      memref.store %n, %byRow[%i, %j] : memref<?x?xi32>
      %next = arith.addi %number, %c6 : index
      tile.fill %order, %next : memref<1xindex, #tile.shared>
    }
    tile.fill %order, %worker : memref<1xindex, #tile.shared>
    tile.persistent (%i, %j) in (%rows, %columns) raster(row, 2) {
      %number = memref.load %order[%c0] : memref<1xindex, #tile.shared>
      %n = arith.index_cast %number : index to i32
      memref.store %n, %byBand[%i, %j] : memref<?x?xi32>
      %next = arith.addi %number, %c6 : index
      tile.fill %order, %next : memref<1xindex, #tile.shared>
    }
    tile.fill %order, %worker : memref<1xindex, #tile.shared>
    tile.persistent (%p, %i, %j) in (%c2, %rows, %columns) raster(column, 3) {
      %number = memref.load %order[%c0] : memref<1xindex, #tile.shared>
      %n = arith.index_cast %number : index to i32
      memref.store %n, %byColumnBand[%p, %i, %j] : memref<2x?x?xi32>
      %next = arith.addi %number, %c6 : index
      tile.fill %order, %next : memref<1xindex, #tile.shared>
    }
  }
  return
}
func.func @persistent_reference(%rows: index, %columns: index, %byRow: memref<?x?xi32>, %byBand: memref<?x?xi32>, %byColumnBand: memref<2x?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %a = scf.for %i = %c0 to %rows step %c1 iter_args(%n0 = %zero) -> i32 {
    %b = scf.for %j = %c0 to %columns step %c1 iter_args(%n = %n0) -> i32 {
      memref.store %n, %byRow[%i, %j] : memref<?x?xi32>
      %next = arith.addi %n, %one : i32
      scf.yield %next : i32
    }
    scf.yield %b : i32
  }
  %c = scf.for %band = %c0 to %rows step %c2 iter_args(%n0 = %zero) -> i32 {
    %end0 = arith.addi %band, %c2 : index
    %end = arith.minsi %end0, %rows : index
    %d = scf.for %j = %c0 to %columns step %c1 iter_args(%n1 = %n0) -> i32 {
      %e = scf.for %i = %band to %end step %c1 iter_args(%n = %n1) -> i32 {
        memref.store %n, %byBand[%i, %j] : memref<?x?xi32>
        %next = arith.addi %n, %one : i32
        scf.yield %next : i32
      }
      scf.yield %e : i32
    }
    scf.yield %d : i32
  }
  %f = scf.for %p = %c0 to %c2 step %c1 iter_args(%n0 = %zero) -> i32 {
    %g = scf.for %band = %c0 to %columns step %c3 iter_args(%n1 = %n0) -> i32 {
      %end0 = arith.addi %band, %c3 : index
      %end = arith.minsi %end0, %columns : index
      %h = scf.for %i = %c0 to %rows step %c1 iter_args(%n2 = %n1) -> i32 {
        %k = scf.for %j = %band to %end step %c1 iter_args(%n = %n2) -> i32 {
          memref.store %n, %byColumnBand[%p, %i, %j] : memref<2x?x?xi32>
          %next = arith.addi %n, %one : i32
          scf.yield %next : i32
        }
        scf.yield %k : i32
      }
      scf.yield %h : i32
    }
    scf.yield %g : i32
  }
  return
}

// The order of blocks is a hint: each runs once with its own coordinates.
func.func @ordered_blocks(
    %y: memref<5x4x3xi32> {tile.name = "y", tile.default = "zeros:5x4x3xi32"})
    attributes {tile.reference = @ordered_blocks_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1 : i32
  tile.launch blocks(%bx, %by, %bz) in (%c3, %c4, %c5) raster(column, 2) registers(128) {
    %old = memref.atomic_rmw addi %one, %y[%bz, %by, %bx] : (i32, memref<5x4x3xi32>) -> i32
  }
  tile.launch blocks(%bx, %by) in (%c3, %c4) raster(row, 3) {
    %old = memref.atomic_rmw addi %one, %y[%bx, %by, %bx] : (i32, memref<5x4x3xi32>) -> i32
  }
  return
}
func.func @ordered_blocks_reference(%y: memref<5x4x3xi32>) {
  %one = arith.constant 1 : i32
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to 4 {
      affine.for %k = 0 to 3 {
        affine.store %one, %y[%i, %j, %k] : memref<5x4x3xi32>
      }
    }
  }
  affine.for %j = 0 to 4 {
    affine.for %k = 0 to 3 {
      %v = affine.load %y[%k, %j, %k] : memref<5x4x3xi32>
      %w = arith.addi %v, %one : i32
      affine.store %w, %y[%k, %j, %k] : memref<5x4x3xi32>
    }
  }
  return
}

// Steps change when things happen, not what: a copy ahead of a sum.
func.func @steps(
    %x: memref<?x16xf32> {tile.name = "x", tile.default = "randn:35x16xf32"},
    %y: memref<16xf32> {tile.name = "y", tile.default = "empty:16xf32"})
    attributes {tile.reference = @steps_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  tile.launch blocks(%b) in (%c1) {
    %zero = arith.constant 0.0 : f32
    %t = tile.alloc_shared : memref<8x16xf32, #tile.shared>
    %sum = tile.alloc_fragment : memref<16xf32, #tile.fragment>
    tile.fill %sum, %zero : memref<16xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %n step %c8 stages(3) {
      tile.step stage(0) order(1) role(producer) {
        tile.copy %x[%k, 0] to %t : memref<?x16xf32> to memref<8x16xf32, #tile.shared>
      }
      tile.step stage(2) order(0) role(consumer) {
        tile.reduce sum %t along 0 into %sum accumulate : memref<8x16xf32, #tile.shared> into memref<16xf32, #tile.fragment>
      }
    }
    tile.copy %sum to %y : memref<16xf32, #tile.fragment> to memref<16xf32>
  }
  return
}
func.func @steps_reference(%x: memref<?x16xf64>, %y: memref<16xf64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?x16xf64>
  affine.for %j = 0 to 16 {
    %sum = affine.for %i = 0 to %n iter_args(%s = %zero) -> f64 {
      %v = affine.load %x[%i, %j] : memref<?x16xf64>
      %next = arith.addf %s, %v : f64
      affine.yield %next : f64
    }
    affine.store %sum, %y[%j] : memref<16xf64>
  }
  return
}

// Workspaces of static, dynamic and empty extents, from launch to launch; two
// arguments that may be one.
func.func @workspaces(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:100xf32", tile.may_alias = ["y"]},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @workspaces_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %minus = arith.constant -5 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivsi %n, %c32 : index
  %twice = tile.alloc_global(%n) : memref<?xf32>
  %factor = tile.alloc_global : memref<1xf32>
  %nothing = tile.alloc_global(%minus) : memref<?xf32>
  tile.launch blocks(%b) in (%c1) {
    %two = arith.constant 2.0 : f32
    memref.store %two, %factor[%c0] : memref<1xf32>
    memref.store %two, %nothing[%c0] : memref<?xf32>
  }
  tile.launch blocks(%b) in (%g) {
    %at = arith.muli %b, %c32 : index
    %f = memref.load %factor[%c0] : memref<1xf32>
    tile.parallel (%i) in (32) {
      %k = arith.addi %at, %i : index
      %v = memref.load %x[%k] : memref<?xf32>
      %w = arith.mulf %v, %f : f32
      memref.store %w, %twice[%k] : memref<?xf32>
    }
  }
  tile.launch blocks(%b) in (%g) {
    %at = arith.muli %b, %c32 : index
    tile.copy %twice[%at] sizes [32] to %y[%at] : memref<?xf32> to memref<?xf32>
  }
  return
}
func.func @workspaces_reference(%x: memref<?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    %w = arith.mulf %v, %two : f64
    affine.store %w, %y[%i] : memref<?xf64>
  }
  return
}
