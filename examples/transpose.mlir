// Transposes a matrix through shared memory.
//
// Read along the rows of X, written along the rows of Y: both sides touch
// global memory in its own order, and the turn happens on chip. The buffer is
// not padded by hand against bank conflicts; its layout is the compiler's
// choice.

func.func @transpose(
    %x: memref<?x?xbf16> {tile.name = "X", tile.default = "randn:1000x700xbf16"},
    %y: memref<?x?xbf16> {tile.name = "Y", tile.default = "empty:X[1]xX[0]xbf16"})
    attributes {tile.reference = @transpose_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>,
                tile.bytes = "4 * X[0] * X[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %x, %c0 : memref<?x?xbf16>
  %columns = memref.dim %x, %c1 : memref<?x?xbf16>
  %gy = arith.ceildivsi %rows, %c64 : index
  %gx = arith.ceildivsi %columns, %c64 : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    %tile = tile.alloc_shared : memref<64x64xbf16, #tile.shared>
    tile.copy %x[%row, %column] to %tile
      : memref<?x?xbf16> to memref<64x64xbf16, #tile.shared>
    tile.parallel (%i, %j) in (64, 64) {
      %r = arith.addi %column, %i : index
      %c = arith.addi %row, %j : index
      %v = memref.load %tile[%j, %i] : memref<64x64xbf16, #tile.shared>
      memref.store %v, %y[%r, %c] : memref<?x?xbf16>
    }
  }
  return
}

func.func @transpose_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  linalg.transpose ins(%x : memref<?x?xf64>) outs(%y : memref<?x?xf64>)
                   permutation = [1, 0]
  return
}
