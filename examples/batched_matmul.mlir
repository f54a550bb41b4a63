// Multiplies stacks of bf16 matrices of rank 3.
//
// Each block drops the batch dimension by a rank-reducing subview and goes on
// as an ordinary matrix product. Views cost nothing: the bounds of a copy are
// those of the view it copies from.

func.func @batched_matmul(
    %A: memref<?x?x?xbf16> {tile.name = "A", tile.default = "randn:5x150x200xbf16"},
    %B: memref<?x?x?xbf16> {tile.name = "B", tile.default = "randn:A[0]xA[2]x170xbf16"},
    %C: memref<?x?x?xf32> {tile.name = "C", tile.default = "empty:A[0]xA[1]xB[2]xf32"})
    attributes {tile.reference = @batched_matmul_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 8.0>,
                tile.flops = "2 * A[0] * A[1] * A[2] * B[2]",
                tile.bytes = "2 * A[0] * (A[1] * A[2] + B[1] * B[2] + 2 * C[1] * C[2])"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %batches = memref.dim %A, %c0 : memref<?x?x?xbf16>
  %M = memref.dim %A, %c1 : memref<?x?x?xbf16>
  %K = memref.dim %A, %c2 : memref<?x?x?xbf16>
  %N = memref.dim %B, %c2 : memref<?x?x?xbf16>
  %gy = arith.ceildivsi %M, %c64 : index
  %gx = arith.ceildivsi %N, %c64 : index

  tile.launch blocks(%bx, %by, %bz) in (%gx, %gy, %batches) threads(128) {
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    %a = memref.subview %A[%bz, 0, 0] [1, %M, %K] [1, 1, 1]
      : memref<?x?x?xbf16> to memref<?x?xbf16, strided<[?, 1], offset: ?>>
    %b = memref.subview %B[%bz, 0, 0] [1, %K, %N] [1, 1, 1]
      : memref<?x?x?xbf16> to memref<?x?xbf16, strided<[?, 1], offset: ?>>
    %c = memref.subview %C[%bz, 0, 0] [1, %M, %N] [1, 1, 1]
      : memref<?x?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    %As = tile.alloc_shared : memref<64x32xbf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<32x64xbf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<64x64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c32 stages(3) {
      tile.copy %a[%row, %k] to %As
        : memref<?x?xbf16, strided<[?, 1], offset: ?>> to memref<64x32xbf16, #tile.shared>
      tile.copy %b[%k, %column] to %Bs
        : memref<?x?xbf16, strided<[?, 1], offset: ?>> to memref<32x64xbf16, #tile.shared>
      tile.gemm %As, %Bs, %acc
        : memref<64x32xbf16, #tile.shared>, memref<32x64xbf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
    tile.copy %acc to %c[%row, %column]
      : memref<64x64xf32, #tile.fragment> to memref<?x?xf32, strided<[?, 1], offset: ?>>
  }
  return
}

func.func @batched_matmul_reference(
    %A: memref<?x?x?xf64>, %B: memref<?x?x?xf64>, %C: memref<?x?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?x?xf64>)
  linalg.batch_matmul ins(%A, %B : memref<?x?x?xf64>, memref<?x?x?xf64>)
                      outs(%C : memref<?x?x?xf64>)
  return
}
