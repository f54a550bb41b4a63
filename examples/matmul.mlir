// Multiplies f16 matrices and accumulates in f32.
//
// Each block owns a tile of C and walks along K: two copies bring the next
// pieces of A and B into shared memory, a gemm multiplies them. The loop is
// `pipelined`, so the copies of later steps overlap the product of this one;
// how (asynchronous copies, barriers, which threads do what) is the compiler's
// affair. All shapes are dynamic and none has to be a multiple of a tile.
//
// The sizes of the tile are `tunables`: `tile-run --set block_m=64` picks one
// member of the family, and on-chip buffers take their extents from them.
//
// The four entries differ in how A and B lie in memory: N as written above,
// T transposed.

func.func @matmul(
    %A: memref<?x?xf16> {tile.name = "A", tile.default = "randn:500x300xf16"},
    %B: memref<?x?xf16> {tile.name = "B", tile.default = "randn:A[1]x400xf16"},
    %C: memref<?x?xf16> {tile.name = "C", tile.default = "empty:A[0]xB[1]xf16"})
    attributes {tile.reference = @matmul_reference,
                tile.tolerance = #tile.tolerance<norm = 5.0e-4, products = 2.0>,
                tile.flops = "2 * A[0] * A[1] * B[1]",
                tile.bytes = "2 * (A[0] * A[1] + B[0] * B[1] + C[0] * C[1])"} {
  %bm = tile.tunable "block_m" in [32, 64, 128, 256] default(128)
  %bn = tile.tunable "block_n" in [32, 64, 128, 256] default(128)
  %bk = tile.tunable "block_k" in [16, 32, 64, 128] default(32)
  %stages = tile.tunable "stages" in range(1, 5, 1) default(3)

  // The stages of A and B have to fit in the shared memory of a GPU's block.
  %sum = arith.addi %bm, %bn : index
  %elements = arith.muli %sum, %bk : index
  %of_stages = arith.muli %elements, %stages : index
  %limit = arith.constant 114688 : index
  %fits = arith.cmpi ule, %of_stages, %limit : index
  tile.require %fits, "(block_m + block_n) * block_k * stages must be at most 114688 elements, or 224 KiB"

  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  %gy = arith.ceildivsi %M, %bm : index
  %gx = arith.ceildivsi %N, %bn : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %bm : index
    %column = arith.muli %bx, %bn : index
    %As = tile.alloc_shared(%bm, %bk) : memref<?x?xf16, #tile.shared>
    %Bs = tile.alloc_shared(%bk, %bn) : memref<?x?xf16, #tile.shared>
    %acc = tile.alloc_fragment(%bm, %bn) : memref<?x?xf32, #tile.fragment>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<?x?xf32, #tile.fragment>

    tile.pipelined %k = %c0 to %K step %bk stages(%stages) {
      tile.copy %A[%row, %k] to %As
        : memref<?x?xf16> to memref<?x?xf16, #tile.shared>
      tile.copy %B[%k, %column] to %Bs
        : memref<?x?xf16> to memref<?x?xf16, #tile.shared>
      tile.gemm %As, %Bs, %acc
        : memref<?x?xf16, #tile.shared>, memref<?x?xf16, #tile.shared>,
          memref<?x?xf32, #tile.fragment>
    }
    // The copy out rounds to f16 and drops what lies outside C.
    tile.copy %acc to %C[%row, %column]
      : memref<?x?xf32, #tile.fragment> to memref<?x?xf16>
  }
  return
}

func.func @matmul_reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>,
                            %C: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>)
                outs(%C : memref<?x?xf64>)
  return
}

// C = A * B^T, where B is N x K: both operands are contiguous along K, as the
// weights of a linear layer usually are.
func.func @matmul_nt(
    %A: memref<?x?xf16> {tile.name = "A", tile.default = "randn:500x300xf16"},
    %B: memref<?x?xf16> {tile.name = "B", tile.default = "randn:400xA[1]xf16"},
    %C: memref<?x?xf16> {tile.name = "C", tile.default = "empty:A[0]xB[0]xf16"})
    attributes {tile.reference = @matmul_nt_reference,
                tile.tolerance = #tile.tolerance<norm = 5.0e-4, products = 2.0>,
                tile.flops = "2 * A[0] * A[1] * B[0]",
                tile.bytes = "2 * (A[0] * A[1] + B[0] * B[1] + C[0] * C[1])"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c0 : memref<?x?xf16>
  %gy = arith.ceildivsi %M, %c128 : index
  %gx = arith.ceildivsi %N, %c128 : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c128 : index
    %column = arith.muli %bx, %c128 : index
    %As = tile.alloc_shared : memref<128x32xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<128x32xf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<128x128xf32, #tile.fragment>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<128x128xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c32 stages(3) {
      tile.copy %A[%row, %k] to %As
        : memref<?x?xf16> to memref<128x32xf16, #tile.shared>
      tile.copy %B[%column, %k] to %Bs
        : memref<?x?xf16> to memref<128x32xf16, #tile.shared>
      tile.gemm %As, %Bs, %acc transpose_b
        : memref<128x32xf16, #tile.shared>, memref<128x32xf16, #tile.shared>,
          memref<128x128xf32, #tile.fragment>
    }
    tile.copy %acc to %C[%row, %column]
      : memref<128x128xf32, #tile.fragment> to memref<?x?xf16>
  }
  return
}

func.func @matmul_nt_reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>,
                               %C: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
                       affine_map<(m, n, k) -> (n, k)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>)
      outs(%C : memref<?x?xf64>)
  return
}

// C = A^T * B, where A is K x M: the shape of a weight's gradient.
func.func @matmul_tn(
    %A: memref<?x?xf16> {tile.name = "A", tile.default = "randn:300x500xf16"},
    %B: memref<?x?xf16> {tile.name = "B", tile.default = "randn:A[0]x400xf16"},
    %C: memref<?x?xf16> {tile.name = "C", tile.default = "empty:A[1]xB[1]xf16"})
    attributes {tile.reference = @matmul_tn_reference,
                tile.tolerance = #tile.tolerance<norm = 5.0e-4, products = 2.0>,
                tile.flops = "2 * A[0] * A[1] * B[1]",
                tile.bytes = "2 * (A[0] * A[1] + B[0] * B[1] + C[0] * C[1])"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %K = memref.dim %A, %c0 : memref<?x?xf16>
  %M = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c1 : memref<?x?xf16>
  %gy = arith.ceildivsi %M, %c128 : index
  %gx = arith.ceildivsi %N, %c128 : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c128 : index
    %column = arith.muli %bx, %c128 : index
    %As = tile.alloc_shared : memref<32x128xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<32x128xf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<128x128xf32, #tile.fragment>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<128x128xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c32 stages(3) {
      tile.copy %A[%k, %row] to %As
        : memref<?x?xf16> to memref<32x128xf16, #tile.shared>
      tile.copy %B[%k, %column] to %Bs
        : memref<?x?xf16> to memref<32x128xf16, #tile.shared>
      tile.gemm %As, %Bs, %acc transpose_a
        : memref<32x128xf16, #tile.shared>, memref<32x128xf16, #tile.shared>,
          memref<128x128xf32, #tile.fragment>
    }
    tile.copy %acc to %C[%row, %column]
      : memref<128x128xf32, #tile.fragment> to memref<?x?xf16>
  }
  return
}

func.func @matmul_tn_reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>,
                               %C: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
                       affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>)
      outs(%C : memref<?x?xf64>)
  return
}

// C = A^T * B^T, where A is K x M and B is N x K.
func.func @matmul_tt(
    %A: memref<?x?xf16> {tile.name = "A", tile.default = "randn:300x500xf16"},
    %B: memref<?x?xf16> {tile.name = "B", tile.default = "randn:400xA[0]xf16"},
    %C: memref<?x?xf16> {tile.name = "C", tile.default = "empty:A[1]xB[0]xf16"})
    attributes {tile.reference = @matmul_tt_reference,
                tile.tolerance = #tile.tolerance<norm = 5.0e-4, products = 2.0>,
                tile.flops = "2 * A[0] * A[1] * B[0]",
                tile.bytes = "2 * (A[0] * A[1] + B[0] * B[1] + C[0] * C[1])"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %K = memref.dim %A, %c0 : memref<?x?xf16>
  %M = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %B, %c0 : memref<?x?xf16>
  %gy = arith.ceildivsi %M, %c128 : index
  %gx = arith.ceildivsi %N, %c128 : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c128 : index
    %column = arith.muli %bx, %c128 : index
    %As = tile.alloc_shared : memref<32x128xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<128x32xf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<128x128xf32, #tile.fragment>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<128x128xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c32 stages(3) {
      tile.copy %A[%k, %row] to %As
        : memref<?x?xf16> to memref<32x128xf16, #tile.shared>
      tile.copy %B[%column, %k] to %Bs
        : memref<?x?xf16> to memref<128x32xf16, #tile.shared>
      tile.gemm %As, %Bs, %acc transpose_a transpose_b
        : memref<32x128xf16, #tile.shared>, memref<128x32xf16, #tile.shared>,
          memref<128x128xf32, #tile.fragment>
    }
    tile.copy %acc to %C[%row, %column]
      : memref<128x128xf32, #tile.fragment> to memref<?x?xf16>
  }
  return
}

func.func @matmul_tt_reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>,
                               %C: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>,
                       affine_map<(m, n, k) -> (n, k)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>)
      outs(%C : memref<?x?xf64>)
  return
}
