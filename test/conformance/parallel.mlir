// Lockstep: every statement is done by all lanes before the next begins.

// A vector turned around in place: all lanes read before any writes.
func.func @reverse_in_place(
    %x: memref<64xf32> {tile.name = "x", tile.default = "randn:64xf32"},
    %y: memref<64xf32> {tile.name = "y", tile.default = "empty:64xf32"})
    attributes {tile.reference = @reverse_in_place_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %c63 = arith.constant 63 : index
    %s = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.copy %x to %s : memref<64xf32> to memref<64xf32, #tile.shared>
    tile.parallel (%i) in (64) {
      %j = arith.subi %c63, %i : index
      %v = memref.load %s[%j] : memref<64xf32, #tile.shared>
      memref.store %v, %s[%i] : memref<64xf32, #tile.shared>
    }
    tile.copy %s to %y : memref<64xf32, #tile.shared> to memref<64xf32>
  }
  return
}
func.func @reverse_in_place_reference(%x: memref<64xf64>, %y: memref<64xf64>) {
  affine.for %i = 0 to 64 {
    %v = affine.load %x[63 - %i] : memref<64xf64>
    affine.store %v, %y[%i] : memref<64xf64>
  }
  return
}

// A lane reads what its neighbour wrote one statement before, twice over.
func.func @neighbours_across_statements(
    %x: memref<16x16xf32> {tile.name = "x", tile.default = "randn:16x16xf32"},
    %y: memref<16x16xf32> {tile.name = "y", tile.default = "empty:16x16xf32"})
    attributes {tile.reference = @neighbours_across_statements_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %c15 = arith.constant 15 : index
    %two = arith.constant 2.0 : f32
    %s = tile.alloc_shared : memref<16x16xf32, #tile.shared>
    %t = tile.alloc_shared : memref<16x16xf32, #tile.shared>
    tile.copy %x to %s : memref<16x16xf32> to memref<16x16xf32, #tile.shared>
    tile.parallel (%i, %j) in (16, 16) {
      %v = memref.load %s[%i, %j] : memref<16x16xf32, #tile.shared>
      %w = arith.mulf %v, %two : f32
      memref.store %w, %t[%j, %i] : memref<16x16xf32, #tile.shared>
      %up = arith.subi %c15, %i : index
      %a = memref.load %t[%up, %j] : memref<16x16xf32, #tile.shared>
      %sum = arith.addf %a, %v : f32
      memref.store %sum, %s[%i, %j] : memref<16x16xf32, #tile.shared>
      %left = arith.subi %c15, %j : index
      %c = memref.load %s[%j, %left] : memref<16x16xf32, #tile.shared>
      memref.store %c, %t[%i, %j] : memref<16x16xf32, #tile.shared>
    }
    tile.copy %t to %y : memref<16x16xf32, #tile.shared> to memref<16x16xf32>
  }
  return
}
func.func @neighbours_across_statements_reference(%x: memref<16x16xf64>, %y: memref<16x16xf64>) {
  %two = arith.constant 2.0 : f64
  // y[i, j] = s[j, 15 - j] with s[i, j] = 2 x[j, 15 - i] + x[i, j].
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 16 {
      %a = affine.load %x[15 - %j, 15 - %j] : memref<16x16xf64>
      %b = affine.load %x[%j, 15 - %j] : memref<16x16xf64>
      %d = arith.mulf %a, %two : f64
      %s = arith.addf %d, %b : f64
      affine.store %s, %y[%i, %j] : memref<16x16xf64>
    }
  }
  return
}

// Conditions mask lanes; the else branch runs for the others, afterwards.
func.func @mask(
    %x: memref<?xi32> {tile.name = "x", tile.default = "randint(-100,100):90xi32"},
    %y: memref<?xi32> {tile.name = "y", tile.default = "empty:x[0]xi32"})
    attributes {tile.reference = @mask_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %g = arith.ceildivsi %n, %c32 : index
  tile.launch blocks(%b) in (%g) {
    %zero = arith.constant 0 : i32
    %three = arith.constant 3 : i32
    %first = arith.muli %b, %c32 : index
    tile.parallel (%i) in (32) {
      %at = arith.addi %first, %i : index
      %v = memref.load %x[%at] : memref<?xi32>
      %negative = arith.cmpi slt, %v, %zero : i32
      %w = scf.if %negative -> i32 {
        %rest = arith.remsi %v, %three : i32
        %none = arith.cmpi eq, %rest, %zero : i32
        %u = scf.if %none -> i32 {
          scf.yield %rest : i32
        } else {
          %m = arith.subi %zero, %v : i32
          scf.yield %m : i32
        }
        scf.yield %u : i32
      } else {
        %t = arith.muli %v, %three : i32
        scf.yield %t : i32
      }
      memref.store %w, %y[%at] : memref<?xi32>
    }
  }
  return
}
func.func @mask_reference(%x: memref<?xi32>, %y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xi32>
    %negative = arith.cmpi slt, %v, %zero : i32
    %rest = arith.remsi %v, %three : i32
    %none = arith.cmpi eq, %rest, %zero : i32
    %m = arith.subi %zero, %v : i32
    %u = arith.select %none, %zero, %m : i32
    %t = arith.muli %v, %three : i32
    %w = arith.select %negative, %u, %t : i32
    affine.store %w, %y[%i] : memref<?xi32>
  }
  return
}

// Each lane loops as often as its own number says.
func.func @loops_of_their_own(
    %x: memref<48xi32> {tile.name = "x", tile.default = "randint(1,1000):48xi32"},
    %steps: memref<48xi32> {tile.name = "steps", tile.default = "empty:48xi32"},
    %sums: memref<48xi32> {tile.name = "sums", tile.default = "empty:48xi32"})
    attributes {tile.reference = @loops_of_their_own_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    tile.parallel (%i) in (48) {
      %v = memref.load %x[%i] : memref<48xi32>
      // Collatz.
      %r:2 = scf.while (%n = %v, %count = %zero) : (i32, i32) -> (i32, i32) {
        %more = arith.cmpi ne, %n, %one : i32
        scf.condition(%more) %n, %count : i32, i32
      } do {
      ^bb0(%n: i32, %count: i32):
        %half = arith.shrui %n, %one : i32
        %odd = arith.trunci %n : i32 to i1
        %t = arith.muli %n, %three : i32
        %u = arith.addi %t, %one : i32
        %next = arith.select %odd, %u, %half : i32
        %c = arith.addi %count, %one : i32
        scf.yield %next, %c : i32, i32
      }
      memref.store %r#1, %steps[%i] : memref<48xi32>
      %sum = scf.for %k = %c0 to %i step %c1 iter_args(%s = %zero) -> i32 {
        %w = memref.load %x[%k] : memref<48xi32>
        %next = arith.addi %s, %w : i32
        scf.yield %next : i32
      }
      memref.store %sum, %sums[%i] : memref<48xi32>
    }
  }
  return
}
func.func @loops_of_their_own_reference(%x: memref<48xi32>, %steps: memref<48xi32>, %sums: memref<48xi32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  affine.for %i = 0 to 48 {
    %v = affine.load %x[%i] : memref<48xi32>
    %r:2 = scf.while (%n = %v, %count = %zero) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi ne, %n, %one : i32
      scf.condition(%more) %n, %count : i32, i32
    } do {
    ^bb0(%n: i32, %count: i32):
      %half = arith.divsi %n, %two : i32
      %rest = arith.remsi %n, %two : i32
      %odd = arith.cmpi eq, %rest, %one : i32
      %t = arith.muli %n, %three : i32
      %u = arith.addi %t, %one : i32
      %next = arith.select %odd, %u, %half : i32
      %c = arith.addi %count, %one : i32
      scf.yield %next, %c : i32, i32
    }
    affine.store %r#1, %steps[%i] : memref<48xi32>
    %sum = affine.for %k = 0 to affine_map<(d0) -> (d0)>(%i) iter_args(%s = %zero) -> i32 {
      %w = affine.load %x[%k] : memref<48xi32>
      %next = arith.addi %s, %w : i32
      affine.yield %next : i32
    }
    affine.store %sum, %sums[%i] : memref<48xi32>
  }
  return
}

// Each lane sorts four numbers in a buffer of its own; outside a loop, a local
// buffer is the block's variable.
func.func @local_buffers(
    %x: memref<20x4xf32> {tile.name = "x", tile.default = "randn:20x4xf32"},
    %y: memref<20x4xf32> {tile.name = "y", tile.default = "empty:20x4xf32"})
    attributes {tile.reference = @local_buffers_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-6>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %ten = arith.constant 10.0 : f32
    %shift = tile.alloc_local : memref<1xf32, #tile.local>
    memref.store %ten, %shift[%c0] : memref<1xf32, #tile.local>
    tile.parallel (%i) in (20) {
      %own = tile.alloc_local : memref<4xf32, #tile.local>
      scf.for %k = %c0 to %c4 step %c1 {
        %v = memref.load %x[%i, %k] : memref<20x4xf32>
        memref.store %v, %own[%k] : memref<4xf32, #tile.local>
      }
      scf.for %pass = %c0 to %c3 step %c1 {
        scf.for %k = %c0 to %c3 step %c1 {
          %k1 = arith.addi %k, %c1 : index
          %p = memref.load %own[%k] : memref<4xf32, #tile.local>
          %q = memref.load %own[%k1] : memref<4xf32, #tile.local>
          %low = arith.minimumf %p, %q : f32
          %high = arith.maximumf %p, %q : f32
          memref.store %low, %own[%k] : memref<4xf32, #tile.local>
          memref.store %high, %own[%k1] : memref<4xf32, #tile.local>
        }
      }
      %d = memref.load %shift[%c0] : memref<1xf32, #tile.local>
      scf.for %k = %c0 to %c4 step %c1 {
        %v = memref.load %own[%k] : memref<4xf32, #tile.local>
        %w = arith.addf %v, %d : f32
        memref.store %w, %y[%i, %k] : memref<20x4xf32>
      }
    }
  }
  return
}
func.func @local_buffers_reference(%x: memref<20x4xf64>, %y: memref<20x4xf64>) {
  %ten = arith.constant 10.0 : f64
  affine.for %i = 0 to 20 {
    affine.for %k = 0 to 4 {
      %v = affine.load %x[%i, %k] : memref<20x4xf64>
      %w = arith.addf %v, %ten : f64
      affine.store %w, %y[%i, %k] : memref<20x4xf64>
    }
    affine.for %pass = 0 to 3 {
      affine.for %k = 0 to 3 {
        %p = affine.load %y[%i, %k] : memref<20x4xf64>
        %q = affine.load %y[%i, %k + 1] : memref<20x4xf64>
        %low = arith.minimumf %p, %q : f64
        %high = arith.maximumf %p, %q : f64
        affine.store %low, %y[%i, %k] : memref<20x4xf64>
        affine.store %high, %y[%i, %k + 1] : memref<20x4xf64>
      }
    }
  }
  return
}

// Many lanes write the same value to one element, and all read it back.
func.func @one_element_for_all(
    %x: memref<33xf32> {tile.name = "x", tile.default = "randn:33xf32"},
    %y: memref<33xf32> {tile.name = "y", tile.default = "empty:33xf32"})
    attributes {tile.reference = @one_element_for_all_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-6>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %c0 = arith.constant 0 : index
    %c33 = arith.constant 33 : index
    %s = tile.alloc_shared : memref<2xf32, #tile.shared>
    tile.parallel (%i) in (33) {
      %own = memref.load %x[%i] : memref<33xf32>
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %s[%c1] : memref<2xf32, #tile.shared>
      scf.for %k = %c0 to %c33 step %c1 {
        %v = memref.load %x[%k] : memref<33xf32>
        memref.store %v, %s[%c0] : memref<2xf32, #tile.shared>
        %a = memref.load %s[%c0] : memref<2xf32, #tile.shared>
        %t = memref.load %s[%c1] : memref<2xf32, #tile.shared>
        %u = arith.addf %a, %t : f32
        memref.store %u, %s[%c1] : memref<2xf32, #tile.shared>
      }
      %total = memref.load %s[%c1] : memref<2xf32, #tile.shared>
      %r = arith.addf %own, %total : f32
      memref.store %r, %y[%i] : memref<33xf32>
    }
  }
  return
}
func.func @one_element_for_all_reference(%x: memref<33xf64>, %y: memref<33xf64>) {
  %zero = arith.constant 0.0 : f64
  %sum = affine.for %i = 0 to 33 iter_args(%s = %zero) -> f64 {
    %v = affine.load %x[%i] : memref<33xf64>
    %n = arith.addf %s, %v : f64
    affine.yield %n : f64
  }
  affine.for %i = 0 to 33 {
    %v = affine.load %x[%i] : memref<33xf64>
    %r = arith.addf %v, %sum : f64
    affine.store %r, %y[%i] : memref<33xf64>
  }
  return
}

// Gather and scatter by data: outside the buffers, reads give zero and writes
// are dropped.
func.func @gather_and_scatter(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:40xf32"},
    %from: memref<?xi32> {tile.name = "from", tile.default = "randint(-20,60):64xi32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:from[0]xf32"},
    %z: memref<?xf32> {tile.name = "z", tile.default = "empty:50xf32"})
    attributes {tile.reference = @gather_and_scatter_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %c7 = arith.constant 7 : index
    tile.parallel (%i) in (64) {
      %k = memref.load %from[%i] : memref<?xi32>
      %at = arith.index_cast %k : i32 to index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
      // Seven places to the left: the first lanes fall off.
      %to = arith.subi %i, %c7 : index
      memref.store %v, %z[%to] : memref<?xf32>
    }
  }
  return
}
func.func @gather_and_scatter_reference(%x: memref<?xf64>, %from: memref<?xi32>, %y: memref<?xf64>, %z: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  affine.for %i = 0 to 64 {
    %k = affine.load %from[%i] : memref<?xi32>
    %at = arith.index_cast %k : i32 to index
    %inside = arith.cmpi ult, %at, %n : index
    %v = scf.if %inside -> f64 {
      %w = memref.load %x[%at] : memref<?xf64>
      scf.yield %w : f64
    } else {
      scf.yield %zero : f64
    }
    affine.store %v, %y[%i] : memref<?xf64>
  }
  affine.for %i = 0 to 50 {
    %v = affine.load %y[%i + 7] : memref<?xf64>
    affine.store %v, %z[%i] : memref<?xf64>
  }
  return
}

// Boxes of rank 1 to 4, booleans in buffers, and integer arithmetic.
func.func @rank4_and_booleans(
    %x: memref<2x3x5x7xi32> {tile.name = "x", tile.default = "randint(-50,50):2x3x5x7xi32"},
    %y: memref<2x3x5x7xi1> {tile.name = "y", tile.default = "empty:2x3x5x7xi1"},
    %z: memref<2x3x5x7xi32> {tile.name = "z", tile.default = "empty:2x3x5x7xi32"})
    attributes {tile.reference = @rank4_and_booleans_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %seven = arith.constant 7 : i32
    %flags = tile.alloc_shared : memref<2x3x5x7xi1, #tile.shared>
    tile.parallel (%i, %j, %k, %l) in (2, 3, 5, 7) {
      %v = memref.load %x[%i, %j, %k, %l] : memref<2x3x5x7xi32>
      %big = arith.cmpi sgt, %v, %seven : i32
      memref.store %big, %flags[%i, %j, %k, %l] : memref<2x3x5x7xi1, #tile.shared>
    }
    tile.copy %flags to %y : memref<2x3x5x7xi1, #tile.shared> to memref<2x3x5x7xi1>
    tile.parallel (%i, %j, %k, %l) in (2, 3, 5, 7) {
      %big = memref.load %flags[%i, %j, %k, %l] : memref<2x3x5x7xi1, #tile.shared>
      %v = memref.load %x[%i, %j, %k, %l] : memref<2x3x5x7xi32>
      %d = arith.floordivsi %v, %seven : i32
      %r = arith.select %big, %d, %v : i32
      memref.store %r, %z[%i, %j, %k, %l] : memref<2x3x5x7xi32>
    }
  }
  return
}
func.func @rank4_and_booleans_reference(%x: memref<2x3x5x7xi32>, %y: memref<2x3x5x7xi1>, %z: memref<2x3x5x7xi32>) {
  %seven = arith.constant 7 : i32
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 3 {
      affine.for %k = 0 to 5 {
        affine.for %l = 0 to 7 {
          %v = affine.load %x[%i, %j, %k, %l] : memref<2x3x5x7xi32>
          %big = arith.cmpi sgt, %v, %seven : i32
          affine.store %big, %y[%i, %j, %k, %l] : memref<2x3x5x7xi1>
          %d = arith.divsi %v, %seven : i32
          %r = arith.select %big, %d, %v : i32
          affine.store %r, %z[%i, %j, %k, %l] : memref<2x3x5x7xi32>
        }
      }
    }
  }
  return
}

// Truth values in memory, written and read by neighbouring lanes, some of them
// under a mask.
func.func @truth_values(%y: memref<17xi32> {tile.name = "y", tile.default = "empty:17xi32"})
    attributes {tile.reference = @truth_values_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tile.launch blocks(%b) in (%c1) {
    %flags = tile.alloc_fragment : memref<17xi1, #tile.fragment>
    tile.parallel (%i) in (17) {
      %r = arith.remsi %i, %c2 : index
      %s = arith.remsi %i, %c4 : index
      %c = arith.cmpi slt, %r, %s : index
      memref.store %c, %flags[%i] : memref<17xi1, #tile.fragment>
    }
    tile.parallel (%i) in (17) {
      %c = memref.load %flags[%i] : memref<17xi1, #tile.fragment>
      %late = arith.cmpi sgt, %i, %c4 : index
      %both = arith.andi %c, %late : i1
      scf.if %both {
        %false = arith.constant false
        memref.store %false, %flags[%i] : memref<17xi1, #tile.fragment>
      }
    }
    tile.parallel (%i) in (17) {
      %c = memref.load %flags[%i] : memref<17xi1, #tile.fragment>
      %v = arith.extui %c : i1 to i32
      memref.store %v, %y[%i] : memref<17xi32>
    }
  }
  return
}

// Lanes 2 and 3 alone.
func.func @truth_values_reference(%y: memref<17xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c17 = arith.constant 17 : index
  scf.for %i = %c0 to %c17 step %c1 {
    %from = arith.cmpi sge, %i, %c2 : index
    %to = arith.cmpi sle, %i, %c3 : index
    %both = arith.andi %from, %to : i1
    %v = arith.extui %both : i1 to i32
    memref.store %v, %y[%i] : memref<17xi32>
  }
  return
}

// One lane writes an element that all lanes have read and read again in the next
// round: every thread that holds a copy of it has to see that.
func.func @carried_by_one_lane(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:75xf32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @carried_by_one_lane_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  tile.launch blocks(%b) in (%c1) {
    %zero = arith.constant 0.0 : f32
    %carry = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    tile.fill %carry, %zero : memref<1xf32, #tile.fragment>
    scf.for %at = %c0 to %n step %c16 {
      %sums = tile.alloc_fragment : memref<16xf32, #tile.fragment>
      tile.copy %x[%at] to %sums : memref<?xf32> to memref<16xf32, #tile.fragment>
      tile.scan sum %sums along 0 into %sums : memref<16xf32, #tile.fragment> into memref<16xf32, #tile.fragment>
      tile.parallel (%i) in (16) {
        %before = memref.load %carry[%c0] : memref<1xf32, #tile.fragment>
        %own = memref.load %sums[%i] : memref<16xf32, #tile.fragment>
        %sum = arith.addf %before, %own : f32
        %to = arith.addi %at, %i : index
        memref.store %sum, %y[%to] : memref<?xf32>
        %isLast = arith.cmpi eq, %i, %c15 : index
        scf.if %isLast {
          memref.store %sum, %carry[%c0] : memref<1xf32, #tile.fragment>
        }
      }
    }
  }
  return
}
func.func @carried_by_one_lane_reference(%x: memref<?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %all = affine.for %i = 0 to %n iter_args(%sum = %zero) -> f64 {
    %v = affine.load %x[%i] : memref<?xf64>
    %next = arith.addf %sum, %v : f64
    affine.store %next, %y[%i] : memref<?xf64>
    affine.yield %next : f64
  }
  return
}
