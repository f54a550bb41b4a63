// Causal linear attention, in chunks: o_t = sum over s <= t of (q_t . k_s) v_s.
//
// Without a softmax the sum over the past can be kept as a 64 x 64 matrix,
// S = sum of k_s v_s^T. A block owns a head and walks over the sequence, 64
// positions at a time. Within a chunk it forms the scores and masks the future;
// from all chunks before comes Q * S. Then K^T * V is added to S. Linear in the
// length of the sequence, and all of the work is in products.

func.func @linear_attention(
    %Q: memref<?x?x64xf16> {tile.name = "Q", tile.default = "randn(0,0.3):3x500x64xf16"},
    %K: memref<?x?x64xf16> {tile.name = "K", tile.default = "randn(0,0.3):Q[0]xQ[1]x64xf16"},
    %V: memref<?x?x64xf16> {tile.name = "V", tile.default = "randn:Q[0]xQ[1]x64xf16"},
    %O: memref<?x?x64xf32> {tile.name = "O", tile.default = "empty:Q[0]xQ[1]x64xf32"})
    attributes {tile.reference = @linear_attention_reference,
                tile.tolerance = #tile.tolerance<norm = 2.0e-3, atol = 0.1, rtol = 1.0e-2>,
                tile.flops = "512 * Q[0] * Q[1] * 64",
                tile.bytes = "(3 * 2 + 4) * Q[0] * Q[1] * 64"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %heads = memref.dim %Q, %c0 : memref<?x?x64xf16>
  %length = memref.dim %Q, %c1 : memref<?x?x64xf16>

  tile.launch blocks(%h) in (%heads) threads(128) {
    %zero = arith.constant 0.0 : f32
    %Qs = tile.alloc_shared : memref<64x64xf16, #tile.shared>
    %Ks = tile.alloc_shared : memref<64x64xf16, #tile.shared>
    %Vs = tile.alloc_shared : memref<64x64xf16, #tile.shared>
    %P = tile.alloc_shared : memref<64x64xf16, #tile.shared>
    %Ss = tile.alloc_shared : memref<64x64xf16, #tile.shared>
    %scores = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %out = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %S = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.fill %S, %zero : memref<64x64xf32, #tile.fragment>
    tile.pipelined %t = %c0 to %length step %c64 stages(2) {
      tile.copy %Q[%h, %t, 0] to %Qs
        : memref<?x?x64xf16> to memref<64x64xf16, #tile.shared>
      tile.copy %K[%h, %t, 0] to %Ks
        : memref<?x?x64xf16> to memref<64x64xf16, #tile.shared>
      tile.copy %V[%h, %t, 0] to %Vs
        : memref<?x?x64xf16> to memref<64x64xf16, #tile.shared>
      // What lies before this chunk.
      tile.copy %S to %Ss
        : memref<64x64xf32, #tile.fragment> to memref<64x64xf16, #tile.shared>
      tile.gemm %Qs, %Ss, %out clear
        : memref<64x64xf16, #tile.shared>, memref<64x64xf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      // This chunk, up to the diagonal.
      tile.gemm %Qs, %Ks, %scores transpose_b clear
        : memref<64x64xf16, #tile.shared>, memref<64x64xf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      tile.parallel (%i, %j) in (64, 64) {
        %s = memref.load %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
        %past = arith.cmpi sle, %j, %i : index
        %kept = arith.select %past, %s, %zero : f32
        memref.store %kept, %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
      }
      tile.copy %scores to %P
        : memref<64x64xf32, #tile.fragment> to memref<64x64xf16, #tile.shared>
      tile.gemm %P, %Vs, %out
        : memref<64x64xf16, #tile.shared>, memref<64x64xf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      tile.gemm %Ks, %Vs, %S transpose_a
        : memref<64x64xf16, #tile.shared>, memref<64x64xf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      tile.copy %out to %O[%h, %t, 0]
        : memref<64x64xf32, #tile.fragment> to memref<?x?x64xf32>
    }
  }
  return
}

func.func @linear_attention_reference(
    %Q: memref<?x?x64xf64>, %K: memref<?x?x64xf64>, %V: memref<?x?x64xf64>,
    %O: memref<?x?x64xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %heads = memref.dim %Q, %c0 : memref<?x?x64xf64>
  %length = memref.dim %Q, %c1 : memref<?x?x64xf64>
  linalg.fill ins(%zero : f64) outs(%O : memref<?x?x64xf64>)
  affine.for %h = 0 to %heads {
    affine.for %t = 0 to %length {
      affine.for %s = 0 to affine_map<(d0) -> (d0 + 1)>(%t) {
        %dot = affine.for %d = 0 to 64 iter_args(%sum = %zero) -> f64 {
          %q = affine.load %Q[%h, %t, %d] : memref<?x?x64xf64>
          %k = affine.load %K[%h, %s, %d] : memref<?x?x64xf64>
          %p = arith.mulf %q, %k : f64
          %next = arith.addf %sum, %p : f64
          affine.yield %next : f64
        }
        affine.for %d = 0 to 64 {
          %v = affine.load %V[%h, %s, %d] : memref<?x?x64xf64>
          %o = affine.load %O[%h, %t, %d] : memref<?x?x64xf64>
          %p = arith.mulf %dot, %v : f64
          %next = arith.addf %o, %p : f64
          affine.store %next, %O[%h, %t, %d] : memref<?x?x64xf64>
        }
      }
    }
  }
  return
}
