// Views that say they have more than the buffer behind them: what it has not is
// outside, for copies as for elementwise loops.

func.func @subview(
    %x: memref<?x?xf32> {tile.name = "x", tile.default = "randn:13x20xf32"},
    %row: index {tile.name = "row", tile.default = "8"},
    %column: index {tile.name = "column", tile.default = "-3"},
    %copied: memref<8x16xf32> {tile.name = "copied", tile.default = "empty:8x16xf32"},
    %loaded: memref<8x16xf32> {tile.name = "loaded", tile.default = "empty:8x16xf32"},
    %stored: memref<?x?xf32> {tile.name = "stored", tile.default = "zeros:13x20xf32"})
    attributes {tile.reference = @subview_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %one = arith.constant 1.0 : f32
    %v = memref.subview %x[%row, %column] [8, 16] [1, 2]
      : memref<?x?xf32> to memref<8x16xf32, strided<[?, 2], offset: ?>>
    %w = memref.subview %stored[%row, %column] [8, 16] [1, 2]
      : memref<?x?xf32> to memref<8x16xf32, strided<[?, 2], offset: ?>>
    %s = tile.alloc_shared : memref<8x16xf32, #tile.shared>
    tile.copy %v to %s : memref<8x16xf32, strided<[?, 2], offset: ?>> to memref<8x16xf32, #tile.shared>
    tile.copy %s to %copied : memref<8x16xf32, #tile.shared> to memref<8x16xf32>
    tile.parallel (%i, %j) in (8, 16) {
      %e = memref.load %v[%i, %j] : memref<8x16xf32, strided<[?, 2], offset: ?>>
      memref.store %e, %loaded[%i, %j] : memref<8x16xf32>
      memref.store %one, %w[%i, %j] : memref<8x16xf32, strided<[?, 2], offset: ?>>
    }
  }
  return
}
func.func @subview_reference(%x: memref<?x?xf64>, %row: index, %column: index, %copied: memref<8x16xf64>,
                             %loaded: memref<8x16xf64>, %stored: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %m = memref.dim %x, %c0 : memref<?x?xf64>
  %n = memref.dim %x, %c1 : memref<?x?xf64>
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c16 step %c1 {
      %r = arith.addi %row, %i : index
      %j2 = arith.muli %j, %c2 : index
      %c = arith.addi %column, %j2 : index
      %inRow = arith.cmpi ult, %r, %m : index
      %inColumn = arith.cmpi ult, %c, %n : index
      %exists = arith.andi %inRow, %inColumn : i1
      %e = scf.if %exists -> f64 {
        %l = memref.load %x[%r, %c] : memref<?x?xf64>
        memref.store %one, %stored[%r, %c] : memref<?x?xf64>
        scf.yield %l : f64
      } else {
        scf.yield %zero : f64
      }
      memref.store %e, %copied[%i, %j] : memref<8x16xf64>
      memref.store %e, %loaded[%i, %j] : memref<8x16xf64>
    }
  }
  return
}

// A view with free strides has all of its elements or, where it reaches outside
// of the buffer, none.
func.func @reinterpreted(
    %x: memref<?xf32> {tile.name = "x", tile.default = "ones:20xf32"},
    %offset: index {tile.name = "offset", tile.default = "4"},
    %o: memref<4x4xf32> {tile.name = "o", tile.default = "empty:4x4xf32"})
    attributes {tile.reference = @reinterpreted_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %v = memref.reinterpret_cast %x to offset: [%offset], sizes: [4, 4], strides: [4, 1]
      : memref<?xf32> to memref<4x4xf32, strided<[4, 1], offset: ?>>
    tile.parallel (%i, %j) in (4, 4) {
      %e = memref.load %v[%i, %j] : memref<4x4xf32, strided<[4, 1], offset: ?>>
      memref.store %e, %o[%i, %j] : memref<4x4xf32>
    }
  }
  return
}
func.func @reinterpreted_reference(%x: memref<?xf64>, %offset: index, %o: memref<4x4xf64>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %last = arith.subi %n, %c16 : index
  %low = arith.cmpi sge, %offset, %c0 : index
  %high = arith.cmpi sle, %offset, %last : index
  %inside = arith.andi %low, %high : i1
  %e = arith.select %inside, %one, %zero : f64
  linalg.fill ins(%e : f64) outs(%o : memref<4x4xf64>)
  return
}

// Whole pieces of 16 bytes, of a view of a view, of which some rows and columns
// are there.
func.func @wide(
    %x: memref<?x?xf16> {tile.name = "x", tile.default = "randn:20x64xf16"},
    %y: memref<16x64xf16> {tile.name = "y", tile.default = "empty:16x64xf16"},
    %z: memref<?x?xf16> {tile.name = "z", tile.default = "zeros:20x64xf16"})
    attributes {tile.reference = @wide_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %v = memref.subview %x[4, 16] [20, 80] [1, 1]
      : memref<?x?xf16> to memref<20x80xf16, strided<[?, 1], offset: ?>>
    %w = memref.subview %v[4, 16] [16, 64] [1, 1]
      : memref<20x80xf16, strided<[?, 1], offset: ?>> to memref<16x64xf16, strided<[?, 1], offset: ?>>
    %u = memref.subview %z[8, 32] [16, 64] [1, 1]
      : memref<?x?xf16> to memref<16x64xf16, strided<[?, 1], offset: ?>>
    %s = tile.alloc_shared : memref<16x64xf16, #tile.shared>
    tile.copy %w to %s : memref<16x64xf16, strided<[?, 1], offset: ?>> to memref<16x64xf16, #tile.shared>
    tile.copy %s to %y : memref<16x64xf16, #tile.shared> to memref<16x64xf16>
    tile.copy %s to %u : memref<16x64xf16, #tile.shared> to memref<16x64xf16, strided<[?, 1], offset: ?>>
  }
  return
}
func.func @wide_reference(%x: memref<?x?xf64>, %y: memref<16x64xf64>, %z: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %m = memref.dim %x, %c0 : memref<?x?xf64>
  %n = memref.dim %x, %c1 : memref<?x?xf64>
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %r = arith.addi %i, %c8 : index
      %c = arith.addi %j, %c32 : index
      %inRow = arith.cmpi ult, %r, %m : index
      %inColumn = arith.cmpi ult, %c, %n : index
      %exists = arith.andi %inRow, %inColumn : i1
      %e = scf.if %exists -> f64 {
        %l = memref.load %x[%r, %c] : memref<?x?xf64>
        memref.store %l, %z[%r, %c] : memref<?x?xf64>
        scf.yield %l : f64
      } else {
        scf.yield %zero : f64
      }
      memref.store %e, %y[%i, %j] : memref<16x64xf64>
    }
  }
  return
}

// Reshapes and free strides on the chip, in their order.
func.func @reshaped_on_chip(
    %x: memref<64xf32> {tile.name = "x", tile.default = "randn:64xf32"},
    %y: memref<8x8xf32> {tile.name = "y", tile.default = "empty:8x8xf32"})
    attributes {tile.reference = @reshaped_on_chip_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.copy %x to %s : memref<64xf32> to memref<64xf32, #tile.shared>
    %v = memref.reinterpret_cast %s to offset: [0], sizes: [8, 8], strides: [1, 8]
      : memref<64xf32, #tile.shared> to memref<8x8xf32, strided<[1, 8]>, #tile.shared>
    tile.parallel (%i, %j) in (8, 8) {
      %e = memref.load %v[%i, %j] : memref<8x8xf32, strided<[1, 8]>, #tile.shared>
      memref.store %e, %y[%i, %j] : memref<8x8xf32>
    }
  }
  return
}
func.func @reshaped_on_chip_reference(%x: memref<64xf64>, %y: memref<8x8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %column = arith.muli %j, %c8 : index
      %at = arith.addi %i, %column : index
      %e = memref.load %x[%at] : memref<64xf64>
      memref.store %e, %y[%i, %j] : memref<8x8xf64>
    }
  }
  return
}
