// C = A * B for few rows and columns and a long K: the sum over K is split.
//
// One tile of C a block would leave most of the machine idle. So the first
// launch gives each tile to several blocks, each with its own part of K, which
// leave their partial sums in a workspace; the second launch adds those up. The
// order of the sum is fixed, so the result is the same in every run, which it
// would not be if blocks added to C by atomics.

func.func @split_k_matmul(
    %A: memref<?x?xf16> {tile.name = "A", tile.default = "randn:100x3000xf16"},
    %B: memref<?x?xf16> {tile.name = "B", tile.default = "randn:A[1]x90xf16"},
    %C: memref<?x?xf32> {tile.name = "C", tile.default = "empty:A[0]xB[1]xf32"})
    attributes {tile.reference = @split_k_matmul_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 4.0>,
                tile.flops = "2 * A[0] * A[1] * B[1]",
                tile.bytes = "2 * (A[0] * A[1] + B[0] * B[1]) + 4 * C[0] * C[1]"} {
  %splits = tile.tunable "splits" in [2, 4, 8, 16] default(8)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  %gy = arith.ceildivsi %M, %c64 : index
  %gx = arith.ceildivsi %N, %c64 : index
  // Each part is a multiple of 32 long; the last one may be shorter or empty.
  %steps = arith.ceildivsi %K, %c32 : index
  %stepsPerPart = arith.ceildivsi %steps, %splits : index
  %part = arith.muli %stepsPerPart, %c32 : index
  %partials = tile.alloc_global(%splits, %M, %N) : memref<?x?x?xf32>

  tile.launch blocks(%bx, %by, %s) in (%gx, %gy, %splits) threads(128) {
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    %from = arith.muli %s, %part : index
    %end = arith.addi %from, %part : index
    %to = arith.minsi %end, %K : index
    %zero = arith.constant 0.0 : f32
    %As = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.fill %acc, %zero : memref<64x64xf32, #tile.fragment>
    tile.pipelined %k = %from to %to step %c32 stages(3) {
      tile.copy %A[%row, %k] to %As
        : memref<?x?xf16> to memref<64x32xf16, #tile.shared>
      tile.copy %B[%k, %column] to %Bs
        : memref<?x?xf16> to memref<32x64xf16, #tile.shared>
      tile.gemm %As, %Bs, %acc
        : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
    tile.copy %acc to %partials[%s, %row, %column]
      : memref<64x64xf32, #tile.fragment> to memref<?x?x?xf32>
  }

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    %zero = arith.constant 0.0 : f32
    %sum = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %one = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.fill %sum, %zero : memref<64x64xf32, #tile.fragment>
    tile.pipelined %s = %c0 to %splits stages(2) {
      tile.copy %partials[%s, %row, %column] to %one
        : memref<?x?x?xf32> to memref<64x64xf32, #tile.fragment>
      tile.parallel (%i, %j) in (64, 64) {
        %a = memref.load %sum[%i, %j] : memref<64x64xf32, #tile.fragment>
        %b = memref.load %one[%i, %j] : memref<64x64xf32, #tile.fragment>
        %c = arith.addf %a, %b : f32
        memref.store %c, %sum[%i, %j] : memref<64x64xf32, #tile.fragment>
      }
    }
    tile.copy %sum to %C[%row, %column]
      : memref<64x64xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}

func.func @split_k_matmul_reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>,
                                    %C: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>)
                outs(%C : memref<?x?xf64>)
  return
}
