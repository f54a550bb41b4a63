// Adds two matrices: the smallest complete tile program.
//
// The host function cuts the matrix into tiles of 64 x 64 and launches one
// block for each. Nothing guards the edges: where a tile hangs over the end of
// a buffer, reads give zero and writes are dropped, so odd shapes just work.

func.func @vector_add(
    %x: memref<?x?xf32> {tile.name = "X", tile.default = "randn:1000x1500xf32"},
    %y: memref<?x?xf32> {tile.name = "Y", tile.default = "randn:X[0]xX[1]xf32"},
    %z: memref<?x?xf32> {tile.name = "Z", tile.default = "empty:X[0]xX[1]xf32"})
    attributes {tile.reference = @vector_add_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-7, rtol = 6.0e-8>,
                tile.flops = "X[0] * X[1]",
                tile.bytes = "12 * X[0] * X[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %gy = arith.ceildivsi %rows, %c64 : index
  %gx = arith.ceildivsi %columns, %c64 : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    tile.parallel (%i, %j) in (64, 64) {
      %r = arith.addi %row, %i : index
      %c = arith.addi %column, %j : index
      %a = memref.load %x[%r, %c] : memref<?x?xf32>
      %b = memref.load %y[%r, %c] : memref<?x?xf32>
      %sum = arith.addf %a, %b : f32
      memref.store %sum, %z[%r, %c] : memref<?x?xf32>
    }
  }
  return
}

// What the result is compared with: the same in upstream dialects and f64.
func.func @vector_add_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>,
                                %z: memref<?x?xf64>) {
  linalg.add ins(%x, %y : memref<?x?xf64>, memref<?x?xf64>)
             outs(%z : memref<?x?xf64>)
  return
}
