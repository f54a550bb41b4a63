// Serial loops around and inside tiles, pipelined or not.

// A pipelined loop that starts late, steps unevenly, and has more stages than
// iterations.
func.func @pipelined_range(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:100xf32"},
    %from: index {tile.name = "from", tile.default = "7"},
    %to: index {tile.name = "to", tile.default = "90"},
    %step: index {tile.name = "step", tile.default = "32"},
    %y: memref<1xf32> {tile.name = "y", tile.default = "empty:1xf32"})
    attributes {tile.reference = @pipelined_range_reference,
                tile.tolerance = #tile.tolerance<products = 16.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %zero = arith.constant 0.0 : f32
    %s = tile.alloc_shared : memref<16xf32, #tile.shared>
    %r = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    tile.fill %r, %zero : memref<1xf32, #tile.fragment>
    tile.pipelined %k = %from to %to step %step stages(5) {
      tile.copy %x[%k] to %s : memref<?xf32> to memref<16xf32, #tile.shared>
      tile.reduce sum %s along 0 into %r accumulate : memref<16xf32, #tile.shared> into memref<1xf32, #tile.fragment>
    }
    tile.copy %r to %y : memref<1xf32, #tile.fragment> to memref<1xf32>
  }
  return
}
func.func @pipelined_range_reference(%x: memref<?xf64>, %from: index, %to: index, %step: index, %y: memref<1xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %sum = scf.for %k = %from to %to step %step iter_args(%s = %zero) -> f64 {
    %end = arith.addi %k, %c16 : index
    %stop = arith.minsi %end, %n : index
    %t = scf.for %i = %k to %stop step %c1 iter_args(%u = %s) -> f64 {
      %v = memref.load %x[%i] : memref<?xf64>
      %w = arith.addf %u, %v : f64
      scf.yield %w : f64
    }
    scf.yield %t : f64
  }
  memref.store %sum, %y[%c0] : memref<1xf64>
  return
}

// A range that is empty backwards runs nothing.
func.func @pipelined_nothing(
    %to: index {tile.name = "to", tile.default = "-3"},
    %y: memref<8xf32> {tile.name = "y", tile.default = "empty:8xf32"})
    attributes {tile.reference = @pipelined_nothing_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %f = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    tile.fill %f, %one : memref<8xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %to stages(2) {
      tile.fill %f, %two : memref<8xf32, #tile.fragment>
    }
    tile.copy %f to %y : memref<8xf32, #tile.fragment> to memref<8xf32>
  }
  return
}
func.func @pipelined_nothing_reference(%to: index, %y: memref<8xf64>) {
  %one = arith.constant 1.0 : f64
  linalg.fill ins(%one : f64) outs(%y : memref<8xf64>)
  return
}

// Loops in loops: a serial one around a pipelined one, a carried integer, and a
// buffer that is allocated anew in each iteration.
func.func @nest(
    %x: memref<?x?xf32> {tile.name = "x", tile.default = "randn:30x70xf32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"},
    %z: memref<1xi32> {tile.name = "z", tile.default = "empty:1xi32"})
    attributes {tile.reference = @nest_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  tile.launch blocks(%b) in (%c1) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %tiles = scf.for %i = %c0 to %m step %c8 iter_args(%count = %zero) -> i32 {
      %r = tile.alloc_fragment : memref<8xf32, #tile.fragment>
      tile.fill %r, %none : memref<8xf32, #tile.fragment>
      tile.pipelined %k = %c0 to %n step %c32 stages(2) {
        %s = tile.alloc_shared : memref<8x32xf32, #tile.shared>
        tile.copy %x[%i, %k] to %s : memref<?x?xf32> to memref<8x32xf32, #tile.shared>
        tile.reduce sum %s along 1 into %r accumulate : memref<8x32xf32, #tile.shared> into memref<8xf32, #tile.fragment>
      }
      tile.copy %r to %y[%i] : memref<8xf32, #tile.fragment> to memref<?xf32>
      %next = arith.addi %count, %one : i32
      scf.yield %next : i32
    }
    tile.parallel (%l) in (1) {
      memref.store %tiles, %z[%l] : memref<1xi32>
    }
  }
  return
}
func.func @nest_reference(%x: memref<?x?xf64>, %y: memref<?xf64>, %z: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%y : memref<?xf64>)
  linalg.reduce {arith.addf} ins(%x : memref<?x?xf64>) outs(%y : memref<?xf64>) dimensions = [1]
  %m = memref.dim %x, %c0 : memref<?x?xf64>
  %t = arith.ceildivsi %m, %c8 : index
  %tiles = arith.index_cast %t : index to i32
  memref.store %tiles, %z[%c0] : memref<1xi32>
  return
}

// Conditions and a while loop of the whole block, on scalars from memory.
func.func @block_control(
    %limit: memref<?xi32> {tile.name = "limit", tile.default = "values(0,3,10,-2):4xi32"},
    %y: memref<?x16xf32> {tile.name = "y", tile.default = "empty:limit[0]x16xf32"})
    attributes {tile.reference = @block_control_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %limit, %c0 : memref<?xi32>
  tile.launch blocks(%b) in (%n) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %none = arith.constant 0.0 : f32
    %f = tile.alloc_fragment : memref<16xf32, #tile.fragment>
    tile.fill %f, %none : memref<16xf32, #tile.fragment>
    %stop = memref.load %limit[%b] : memref<?xi32>
    %r = scf.while (%i = %zero) : (i32) -> i32 {
      %more = arith.cmpi slt, %i, %stop : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      %odd = arith.trunci %i : i32 to i1
      scf.if %odd {
        tile.parallel (%j) in (16) {
          %v = memref.load %f[%j] : memref<16xf32, #tile.fragment>
          %a = arith.sitofp %i : i32 to f32
          %w = arith.addf %v, %a : f32
          memref.store %w, %f[%j] : memref<16xf32, #tile.fragment>
        }
      } else {
        %hundred = arith.constant 100.0 : f32
        tile.parallel (%j) in (16) {
          %v = memref.load %f[%j] : memref<16xf32, #tile.fragment>
          %w = arith.addf %v, %hundred : f32
          memref.store %w, %f[%j] : memref<16xf32, #tile.fragment>
        }
      }
      %next = arith.addi %i, %one : i32
      scf.yield %next : i32
    }
    tile.copy %f to %y[%b, 0] : memref<16xf32, #tile.fragment> to memref<?x16xf32>
  }
  return
}
func.func @block_control_reference(%limit: memref<?xi32>, %y: memref<?x16xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0.0 : f64
  %hundred = arith.constant 100.0 : f64
  %n = memref.dim %limit, %c0 : memref<?xi32>
  affine.for %b = 0 to %n {
    %l = affine.load %limit[%b] : memref<?xi32>
    %stop = arith.index_cast %l : i32 to index
    %sum = scf.for %i = %c0 to %stop step %c1 iter_args(%s = %none) -> f64 {
      %k = arith.index_cast %i : index to i32
      %a = arith.sitofp %k : i32 to f64
      %odd = arith.trunci %k : i32 to i1
      %d = arith.select %odd, %a, %hundred : f64
      %t = arith.addf %s, %d : f64
      scf.yield %t : f64
    }
    affine.for %j = 0 to 16 {
      affine.store %sum, %y[%b, %j] : memref<?x16xf64>
    }
  }
  return
}

// Two launches, one after the other: the second reads what the first wrote.
func.func @two_launches(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:300xf32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"},
    %z: memref<?xf32> {tile.name = "z", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @two_launches_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-7, atol = 1.0e-6>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivsi %n, %c64 : index
  tile.launch blocks(%b) in (%g) {
    %i0 = arith.muli %b, %c64 : index
    tile.parallel (%i) in (64) {
      %at = arith.addi %i0, %i : index
      %v = memref.load %x[%at] : memref<?xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %y[%at] : memref<?xf32>
    }
  }
  tile.launch blocks(%b) in (%g) {
    %i0 = arith.muli %b, %c64 : index
    tile.parallel (%i) in (64) {
      %at = arith.addi %i0, %i : index
      %up = arith.addi %at, %c1 : index
      %down = arith.subi %at, %c1 : index
      %v = memref.load %y[%up] : memref<?xf32>
      %w = memref.load %y[%down] : memref<?xf32>
      %s = arith.addf %v, %w : f32
      memref.store %s, %z[%at] : memref<?xf32>
    }
  }
  return
}
func.func @two_launches_reference(%x: memref<?xf64>, %y: memref<?xf64>, %z: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  linalg.add ins(%x, %x : memref<?xf64>, memref<?xf64>) outs(%y : memref<?xf64>)
  linalg.fill ins(%zero : f64) outs(%z : memref<?xf64>)
  scf.for %i = %c1 to %n step %c1 {
    %before = arith.subi %i, %c1 : index
    %v = memref.load %y[%i] : memref<?xf64>
    %s = memref.load %z[%before] : memref<?xf64>
    %t = arith.addf %s, %v : f64
    memref.store %t, %z[%before] : memref<?xf64>
    %w = memref.load %y[%before] : memref<?xf64>
    %u = memref.load %z[%i] : memref<?xf64>
    %r = arith.addf %u, %w : f64
    memref.store %r, %z[%i] : memref<?xf64>
  }
  return
}

// Loops, conditions and arithmetic of affine.
func.func @affine_ops(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:70xf32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "zeros:x[0]xf32"})
    attributes {tile.reference = @affine_ops_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c5 = arith.constant 5 : index
  tile.launch blocks(%b) in (%c5) {
    %start = affine.apply affine_map<(d0) -> (d0 * 16)>(%b)
    tile.parallel (%i) in (16) {
      %at = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%start, %i)
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%at] : memref<?xf32>
    }
    affine.for %k = 0 to 6 step 2 {
      tile.parallel (%i) in (16) {
        %turned = affine.apply affine_map<(d0, d1) -> (d0 + (15 - d1) mod 16)>(%start, %i)
        %at = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%start, %i)
        %v = memref.load %x[%turned] : memref<?xf32>
        %w = memref.load %y[%at] : memref<?xf32>
        %u = arith.maximumf %v, %w : f32
        memref.store %u, %y[%at] : memref<?xf32>
      }
      affine.if affine_set<(d0) : (d0 - 4 == 0)>(%k) {
        tile.parallel (%i) in (16) {
          %at = affine.min affine_map<(d0, d1) -> (d0 + d1, 69)>(%start, %i)
          %v = memref.load %y[%at] : memref<?xf32>
          %w = arith.negf %v : f32
          %size = math.absf %w : f32
          memref.store %size, %y[%at] : memref<?xf32>
        }
      }
    }
  }
  return
}
func.func @affine_ops_reference(%x: memref<?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  affine.for %i = 0 to %n {
    %turned = affine.apply affine_map<(d0) -> (d0 floordiv 16 * 16 + 15 - d0 mod 16)>(%i)
    %inside = arith.cmpi slt, %turned, %n : index
    %at = arith.select %inside, %turned, %c0 : index
    %a = memref.load %x[%at] : memref<?xf64>
    %v = arith.select %inside, %a, %zero : f64
    %w = affine.load %x[%i] : memref<?xf64>
    %u = arith.maximumf %v, %w : f64
    %size = math.absf %u : f64
    affine.store %size, %y[%i] : memref<?xf64>
  }
  return
}
