// Multiplies f32 matrices exactly: products and sums are IEEE f32. On a GPU,
// `precision(tf32)` on the gemm would trade 13 bits for tensor cores; without
// it nothing is rounded behind the program's back.
//
// The accumulator is filled once and every step of K adds to it, so that an
// empty K gives zeros, as it should.
//
// What suits a GPU's registers is small for a CPU, which likes long sums:
// `--set block_m=192 --set block_n=256 --set block_k=256`.

func.func @matmul_f32(
    %A: memref<?x?xf32> {tile.name = "A", tile.default = "randn:512x384xf32"},
    %B: memref<?x?xf32> {tile.name = "B", tile.default = "randn:A[1]x448xf32"},
    %C: memref<?x?xf32> {tile.name = "C", tile.default = "empty:A[0]xB[1]xf32"})
    attributes {tile.reference = @matmul_f32_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 8.0>,
                tile.flops = "2 * A[0] * A[1] * B[1]",
                tile.bytes = "4 * (A[0] * A[1] + B[0] * B[1] + C[0] * C[1])"} {
  %bm = tile.tunable "block_m" in [64, 96, 128, 192, 240] default(96)
  %bn = tile.tunable "block_n" in [64, 128, 256] default(128)
  %bk = tile.tunable "block_k" in [16, 32, 64, 128, 256] default(32)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %A, %c0 : memref<?x?xf32>
  %K = memref.dim %A, %c1 : memref<?x?xf32>
  %N = memref.dim %B, %c1 : memref<?x?xf32>
  %gy = arith.ceildivsi %M, %bm : index
  %gx = arith.ceildivsi %N, %bn : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %bm : index
    %column = arith.muli %bx, %bn : index
    %As = tile.alloc_shared(%bm, %bk) : memref<?x?xf32, #tile.shared>
    %Bs = tile.alloc_shared(%bk, %bn) : memref<?x?xf32, #tile.shared>
    %acc = tile.alloc_fragment(%bm, %bn) : memref<?x?xf32, #tile.fragment>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<?x?xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %bk stages(3) {
      tile.copy %A[%row, %k] to %As
        : memref<?x?xf32> to memref<?x?xf32, #tile.shared>
      tile.copy %B[%k, %column] to %Bs
        : memref<?x?xf32> to memref<?x?xf32, #tile.shared>
      tile.gemm %As, %Bs, %acc
        : memref<?x?xf32, #tile.shared>, memref<?x?xf32, #tile.shared>,
          memref<?x?xf32, #tile.fragment>
    }
    tile.copy %acc to %C[%row, %column]
      : memref<?x?xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}

func.func @matmul_f32_reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>,
                                %C: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>)
                outs(%C : memref<?x?xf64>)
  return
}
