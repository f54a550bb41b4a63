// Indices that wrap around, in narrow types and in index: what an access with
// such an index does follows from the wrapped number, lane by lane.

// i * 5 leaves i8 at lane 26 and comes back in at lane 52.
func.func @narrow_product(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:300xf32"},
    %o: memref<64xf32> {tile.name = "o", tile.default = "empty:64xf32"})
    attributes {tile.reference = @narrow_product_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (64) {
      %c5 = arith.constant 5 : i8
      %n = arith.index_cast %i : index to i8
      %q = arith.muli %n, %c5 : i8
      %at = arith.index_cast %q : i8 to index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %o[%i] : memref<64xf32>
    }
  }
  return
}
func.func @narrow_product_reference(%x: memref<?xf64>, %o: memref<64xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c5 = arith.constant 5 : i8
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %c64 step %c1 {
    %n = arith.index_cast %i : index to i8
    %q = arith.muli %n, %c5 : i8
    %at = arith.index_cast %q : i8 to index
    %exists = arith.cmpi sge, %at, %c0 : index
    %v = scf.if %exists -> f64 {
      %l = memref.load %x[%at] : memref<?xf64>
      scf.yield %l : f64
    } else {
      scf.yield %zero : f64
    }
    memref.store %v, %o[%i] : memref<64xf64>
  }
  return
}

// The same with numbers that the program does not know: in the first call
// nothing wraps, in the tests some lanes do.
func.func @narrow_sum(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:300xf32"},
    %base: i32 {tile.name = "base", tile.default = "270"},
    %stride: i32 {tile.name = "stride", tile.default = "1"},
    %o: memref<64xf32> {tile.name = "o", tile.default = "empty:64xf32"})
    attributes {tile.reference = @narrow_sum_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (64) {
      %n = arith.index_cast %i : index to i32
      %p = arith.muli %n, %stride : i32
      %q = arith.addi %p, %base : i32
      %at = arith.index_cast %q : i32 to index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %o[%i] : memref<64xf32>
    }
  }
  return
}
func.func @narrow_sum_reference(%x: memref<?xf64>, %base: i32, %stride: i32, %o: memref<64xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %size = memref.dim %x, %c0 : memref<?xf64>
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %c64 step %c1 {
    %n = arith.index_cast %i : index to i32
    %p = arith.muli %n, %stride : i32
    %q = arith.addi %p, %base : i32
    %at = arith.index_cast %q : i32 to index
    %exists = arith.cmpi ult, %at, %size : index
    %v = scf.if %exists -> f64 {
      %l = memref.load %x[%at] : memref<?xf64>
      scf.yield %l : f64
    } else {
      scf.yield %zero : f64
    }
    memref.store %v, %o[%i] : memref<64xf64>
  }
  return
}

// Reads, writes and comparisons around a base that may lie anywhere.
func.func @base(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:100xf32"},
    %base: index {tile.name = "base", tile.default = "80"},
    %o: memref<64xf32> {tile.name = "o", tile.default = "empty:64xf32"},
    %below: memref<64xi32> {tile.name = "below", tile.default = "empty:64xi32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "zeros:100xf32"})
    attributes {tile.reference = @base_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %c-7 = arith.constant -7 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    tile.parallel (%i) in (64) {
      %at = arith.addi %i, %base : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %o[%i] : memref<64xf32>
      %is = arith.cmpi slt, %at, %base : index
      %far = arith.cmpi sgt, %at, %c-7 : index
      %d = arith.select %is, %one, %zero : i32
      %e = arith.select %far, %one, %zero : i32
      %f = arith.shli %e, %one : i32
      %s = arith.addi %d, %f : i32
      memref.store %s, %below[%i] : memref<64xi32>
      memref.store %v, %y[%at] : memref<?xf32>
    }
  }
  return
}
func.func @base_reference(%x: memref<?xf64>, %base: index, %o: memref<64xf64>, %below: memref<64xi32>,
                          %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c-7 = arith.constant -7 : index
  %size = memref.dim %x, %c0 : memref<?xf64>
  %zero = arith.constant 0.0 : f64
  %no = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %c0 to %c64 step %c1 {
    %at = arith.addi %i, %base : index
    %exists = arith.cmpi ult, %at, %size : index
    %v = scf.if %exists -> f64 {
      %l = memref.load %x[%at] : memref<?xf64>
      memref.store %l, %y[%at] : memref<?xf64>
      scf.yield %l : f64
    } else {
      scf.yield %zero : f64
    }
    memref.store %v, %o[%i] : memref<64xf64>
    %is = arith.cmpi slt, %at, %base : index
    %far = arith.cmpi sgt, %at, %c-7 : index
    %d = arith.select %is, %one, %no : i32
    %e = arith.select %far, %one, %no : i32
    %f = arith.shli %e, %one : i32
    %s = arith.addi %d, %f : i32
    memref.store %s, %below[%i] : memref<64xi32>
  }
  return
}

// Stores under conditions on an index that may wrap around between the lanes of
// a vector, in both orders of numbers and from both sides.
func.func @conditions(
    %base: index {tile.name = "base", tile.default = "-20"},
    %bound: index {tile.name = "bound", tile.default = "10"},
    %o: memref<4x64xi32> {tile.name = "o", tile.default = "empty:4x64xi32"})
    attributes {tile.reference = @conditions_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %no = arith.constant 0 : i32
    %yes = arith.constant 1 : i32
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %t = tile.alloc_fragment : memref<4x64xi32, #tile.fragment>
    tile.fill %t, %no : memref<4x64xi32, #tile.fragment>
    tile.parallel (%i) in (64) {
      %at = arith.addi %i, %base : index
      %p = arith.cmpi slt, %at, %bound : index
      scf.if %p {
        memref.store %yes, %t[%c0, %i] : memref<4x64xi32, #tile.fragment>
      }
      %q = arith.cmpi ule, %at, %bound : index
      scf.if %q {
        memref.store %yes, %t[%c1, %i] : memref<4x64xi32, #tile.fragment>
      }
      %r = arith.cmpi sle, %bound, %at : index
      %both = arith.andi %q, %r : i1
      %v = scf.if %both -> i32 {
        scf.yield %yes : i32
      } else {
        scf.yield %no : i32
      }
      memref.store %v, %t[%c2, %i] : memref<4x64xi32, #tile.fragment>
      %down = arith.subi %base, %i : index
      %s = arith.cmpi ugt, %down, %bound : index
      scf.if %s {
        memref.store %yes, %t[%c3, %i] : memref<4x64xi32, #tile.fragment>
      }
    }
    tile.copy %t to %o : memref<4x64xi32, #tile.fragment> to memref<4x64xi32>
  }
  return
}
func.func @conditions_reference(%base: index, %bound: index, %o: memref<4x64xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %at = arith.addi %i, %base : index
    %p = arith.cmpi slt, %at, %bound : index
    %pv = arith.extui %p : i1 to i32
    memref.store %pv, %o[%c0, %i] : memref<4x64xi32>
    %q = arith.cmpi ule, %at, %bound : index
    %qv = arith.extui %q : i1 to i32
    memref.store %qv, %o[%c1, %i] : memref<4x64xi32>
    %r = arith.cmpi sge, %at, %bound : index
    %both = arith.andi %q, %r : i1
    %v = arith.extui %both : i1 to i32
    memref.store %v, %o[%c2, %i] : memref<4x64xi32>
    %down = arith.subi %base, %i : index
    %s = arith.cmpi ugt, %down, %bound : index
    %sv = arith.extui %s : i1 to i32
    memref.store %sv, %o[%c3, %i] : memref<4x64xi32>
  }
  return
}
