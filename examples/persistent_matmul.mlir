// C = A * B with as many blocks as the machine runs at once, each of which
// computes one tile of C after another.
//
// `persistent` deals the tiles out. The end of a tile, which writes C, can
// overlap the beginning of the next, which reads A and B. Tiles are numbered in
// bands of `group` rows, down each band's columns: the blocks at work at one
// time then share few rows of A and columns of B, which stay in the cache. The
// copies say what to keep there: C is not read again.

func.func @persistent_matmul(
    %A: memref<?x?xf16> {tile.name = "A", tile.default = "randn:600x300xf16"},
    %B: memref<?x?xf16> {tile.name = "B", tile.default = "randn:A[1]x500xf16"},
    %C: memref<?x?xf16> {tile.name = "C", tile.default = "empty:A[0]xB[1]xf16"},
    %workers: index {tile.name = "workers", tile.default = "16"})
    attributes {tile.reference = @persistent_matmul_reference,
                tile.tolerance = #tile.tolerance<norm = 5.0e-4, products = 2.0>,
                tile.flops = "2 * A[0] * A[1] * B[1]",
                tile.bytes = "2 * (A[0] * A[1] + B[0] * B[1] + C[0] * C[1])"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  %rows = arith.ceildivsi %M, %c64 : index
  %columns = arith.ceildivsi %N, %c64 : index

  tile.launch blocks(%w) in (%workers) threads(128) {
    %As = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %zero = arith.constant 0.0 : f32
    tile.persistent (%ti, %tj) in (%rows, %columns) raster(row, 4) {
      %row = arith.muli %ti, %c64 : index
      %column = arith.muli %tj, %c64 : index
      tile.fill %acc, %zero : memref<64x64xf32, #tile.fragment>
      tile.pipelined %k = %c0 to %K step %c32 stages(3) {
        tile.copy %A[%row, %k] to %As cache(evict_last)
          : memref<?x?xf16> to memref<64x32xf16, #tile.shared>
        tile.copy %B[%k, %column] to %Bs cache(evict_last)
          : memref<?x?xf16> to memref<32x64xf16, #tile.shared>
        tile.gemm %As, %Bs, %acc
          : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
            memref<64x64xf32, #tile.fragment>
      }
      tile.copy %acc to %C[%row, %column] cache(evict_first)
        : memref<64x64xf32, #tile.fragment> to memref<?x?xf16>
    }
  }
  return
}

func.func @persistent_matmul_reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>,
                                       %C: memref<?x?xf64>, %workers: index) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>)
                outs(%C : memref<?x?xf64>)
  return
}
