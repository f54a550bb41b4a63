// The gradients of multi-head attention: dQ, dK and dV from dO.
//
// With P = softmax(scale * Q K^T) and O = P V,
//
//   dV = P^T dO,   dS = P o (dO V^T - delta),   delta_i = sum over d of dO_id O_id,
//   dQ = scale * dS K,   dK = scale * dS^T Q.
//
// P is never kept. The first launch runs the forward pass for what is needed to
// recompute any tile of P: the logarithm of each row's sum, lse; it leaves delta,
// too. Then a block for each 64 keys walks over the queries for dK and dV, and a
// block for each 64 queries walks over the keys for dQ. So every gradient is
// summed by one block in a fixed order, without atomics.

// P = exp(scale * S - lse), in place.
func.func private @probabilities(%scores: memref<64x64xf32, #tile.fragment>,
                                 %lse: memref<64xf32, #tile.fragment>) {
  %scale = arith.constant 0.125 : f32 // 1 / sqrt(64)
  tile.parallel (%i, %j) in (64, 64) {
    %s = memref.load %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
    %l = memref.load %lse[%i] : memref<64xf32, #tile.fragment>
    %scaled = arith.mulf %s, %scale : f32
    %distance = arith.subf %scaled, %l : f32
    %p = math.exp %distance : f32
    memref.store %p, %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
  }
  return
}

// dS = scale * P o (dP - delta), in place of dP.
func.func private @score_gradients(%P: memref<64x64xf32, #tile.fragment>,
                                   %dP: memref<64x64xf32, #tile.fragment>,
                                   %delta: memref<64xf32, #tile.fragment>) {
  %scale = arith.constant 0.125 : f32
  tile.parallel (%i, %j) in (64, 64) {
    %p = memref.load %P[%i, %j] : memref<64x64xf32, #tile.fragment>
    %dp = memref.load %dP[%i, %j] : memref<64x64xf32, #tile.fragment>
    %d = memref.load %delta[%i] : memref<64xf32, #tile.fragment>
    %difference = arith.subf %dp, %d : f32
    %scaled = arith.mulf %p, %scale : f32
    %ds = arith.mulf %scaled, %difference : f32
    memref.store %ds, %dP[%i, %j] : memref<64x64xf32, #tile.fragment>
  }
  return
}

func.func @attention_backward(
    %Q: memref<?x?x64xf32> {tile.name = "Q", tile.default = "randn:3x150x64xf32"},
    %K: memref<?x?x64xf32> {tile.name = "K", tile.default = "randn:Q[0]x170x64xf32"},
    %V: memref<?x?x64xf32> {tile.name = "V", tile.default = "randn:K[0]xK[1]x64xf32"},
    %dO: memref<?x?x64xf32> {tile.name = "dO", tile.default = "randn:Q[0]xQ[1]x64xf32"},
    %dQ: memref<?x?x64xf32> {tile.name = "dQ", tile.default = "empty:Q[0]xQ[1]x64xf32"},
    %dK: memref<?x?x64xf32> {tile.name = "dK", tile.default = "empty:K[0]xK[1]x64xf32"},
    %dV: memref<?x?x64xf32> {tile.name = "dV", tile.default = "empty:K[0]xK[1]x64xf32"})
    attributes {tile.reference = @attention_backward_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-5, atol = 1.0e-4, rtol = 1.0e-4>,
                tile.flops = "18 * Q[0] * Q[1] * K[1] * 64",
                tile.bytes = "4 * 64 * Q[0] * (3 * Q[1] + 4 * K[1])"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %heads = memref.dim %Q, %c0 : memref<?x?x64xf32>
  %queries = memref.dim %Q, %c1 : memref<?x?x64xf32>
  %keys = memref.dim %K, %c1 : memref<?x?x64xf32>
  %queryTiles = arith.ceildivsi %queries, %c64 : index
  %keyTiles = arith.ceildivsi %keys, %c64 : index
  %lse = tile.alloc_global(%heads, %queries) : memref<?x?xf32>
  %delta = tile.alloc_global(%heads, %queries) : memref<?x?xf32>

  // The forward pass, as in flash_attention.mlir.
  tile.launch blocks(%b, %h) in (%queryTiles, %heads) threads(128) {
    %row = arith.muli %b, %c64 : index
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32 // -inf
    %scale = arith.constant 0.125 : f32
    %Qs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %Ks = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %Vs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %scores = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %out = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %max = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %newMax = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    tile.copy %Q[%h, %row, 0] to %Qs
      : memref<?x?x64xf32> to memref<64x64xf32, #tile.shared>
    tile.fill %out, %zero : memref<64x64xf32, #tile.fragment>
    tile.fill %max, %lowest : memref<64xf32, #tile.fragment>
    tile.fill %sum, %zero : memref<64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %keys step %c64 stages(2) {
      tile.copy %K[%h, %k, 0] to %Ks
        : memref<?x?x64xf32> to memref<64x64xf32, #tile.shared>
      tile.copy %V[%h, %k, 0] to %Vs
        : memref<?x?x64xf32> to memref<64x64xf32, #tile.shared>
      tile.gemm %Qs, %Ks, %scores transpose_b clear
        : memref<64x64xf32, #tile.shared>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      %left = arith.subi %keys, %k : index
      tile.parallel (%i, %j) in (64, 64) {
        %s = memref.load %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
        %scaled = arith.mulf %s, %scale : f32
        %seen = arith.cmpi slt, %j, %left : index
        %masked = arith.select %seen, %scaled, %lowest : f32
        memref.store %masked, %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
      }
      tile.copy %max to %newMax
        : memref<64xf32, #tile.fragment> to memref<64xf32, #tile.fragment>
      tile.reduce max %scores along 1 into %newMax accumulate
        : memref<64x64xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
      tile.parallel (%i, %j) in (64, 64) {
        %m = memref.load %newMax[%i] : memref<64xf32, #tile.fragment>
        %old = memref.load %max[%i] : memref<64xf32, #tile.fragment>
        %s = memref.load %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
        %distance = arith.subf %s, %m : f32
        %p = math.exp %distance : f32
        memref.store %p, %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
        %shrink0 = arith.subf %old, %m : f32
        %shrink = math.exp %shrink0 : f32
        %o0 = memref.load %out[%i, %j] : memref<64x64xf32, #tile.fragment>
        %o1 = arith.mulf %o0, %shrink : f32
        memref.store %o1, %out[%i, %j] : memref<64x64xf32, #tile.fragment>
      }
      tile.parallel (%i) in (64) {
        %m = memref.load %newMax[%i] : memref<64xf32, #tile.fragment>
        %old = memref.load %max[%i] : memref<64xf32, #tile.fragment>
        %shrink0 = arith.subf %old, %m : f32
        %shrink = math.exp %shrink0 : f32
        %l0 = memref.load %sum[%i] : memref<64xf32, #tile.fragment>
        %l1 = arith.mulf %l0, %shrink : f32
        memref.store %l1, %sum[%i] : memref<64xf32, #tile.fragment>
        memref.store %m, %max[%i] : memref<64xf32, #tile.fragment>
      }
      tile.reduce sum %scores along 1 into %sum accumulate
        : memref<64x64xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
      tile.gemm %scores, %Vs, %out
        : memref<64x64xf32, #tile.fragment>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
    // scores = dO o O, whose rows add up to delta.
    tile.copy %dO[%h, %row, 0] to %scores
      : memref<?x?x64xf32> to memref<64x64xf32, #tile.fragment>
    tile.parallel (%i, %d) in (64, 64) {
      %l = memref.load %sum[%i] : memref<64xf32, #tile.fragment>
      %o0 = memref.load %out[%i, %d] : memref<64x64xf32, #tile.fragment>
      %o1 = arith.divf %o0, %l : f32
      %g = memref.load %scores[%i, %d] : memref<64x64xf32, #tile.fragment>
      %p = arith.mulf %o1, %g : f32
      memref.store %p, %scores[%i, %d] : memref<64x64xf32, #tile.fragment>
    }
    tile.reduce sum %scores along 1 into %newMax
      : memref<64x64xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
    tile.copy %newMax to %delta[%h, %row]
      : memref<64xf32, #tile.fragment> to memref<?x?xf32>
    tile.parallel (%i) in (64) {
      %l = memref.load %sum[%i] : memref<64xf32, #tile.fragment>
      %m = memref.load %max[%i] : memref<64xf32, #tile.fragment>
      %log = math.log %l : f32
      %r = arith.addf %m, %log : f32
      memref.store %r, %max[%i] : memref<64xf32, #tile.fragment>
    }
    tile.copy %max to %lse[%h, %row]
      : memref<64xf32, #tile.fragment> to memref<?x?xf32>
  }

  // dK and dV.
  tile.launch blocks(%b, %h) in (%keyTiles, %heads) threads(128) {
    %row = arith.muli %b, %c64 : index
    %zero = arith.constant 0.0 : f32
    %inf = arith.constant 0x7F800000 : f32
    %Qs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %Ks = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %Vs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %dOs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %P = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %dP = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %l = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %d = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %gradK = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %gradV = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.copy %K[%h, %row, 0] to %Ks
      : memref<?x?x64xf32> to memref<64x64xf32, #tile.shared>
    tile.copy %V[%h, %row, 0] to %Vs
      : memref<?x?x64xf32> to memref<64x64xf32, #tile.shared>
    tile.fill %gradK, %zero : memref<64x64xf32, #tile.fragment>
    tile.fill %gradV, %zero : memref<64x64xf32, #tile.fragment>
    // Two stages would take more shared memory than chips with 99 KiB have.
    tile.pipelined %q = %c0 to %queries step %c64 stages(1) {
      tile.copy %Q[%h, %q, 0] to %Qs
        : memref<?x?x64xf32> to memref<64x64xf32, #tile.shared>
      tile.copy %dO[%h, %q, 0] to %dOs
        : memref<?x?x64xf32> to memref<64x64xf32, #tile.shared>
      // Queries past the end have lse = inf, and so P = 0.
      tile.copy %lse[%h, %q] to %l pad(%inf : f32)
        : memref<?x?xf32> to memref<64xf32, #tile.fragment>
      tile.copy %delta[%h, %q] to %d
        : memref<?x?xf32> to memref<64xf32, #tile.fragment>
      tile.gemm %Qs, %Ks, %P transpose_b clear
        : memref<64x64xf32, #tile.shared>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      func.call @probabilities(%P, %l)
        : (memref<64x64xf32, #tile.fragment>, memref<64xf32, #tile.fragment>) -> ()
      tile.gemm %P, %dOs, %gradV transpose_a
        : memref<64x64xf32, #tile.fragment>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      tile.gemm %dOs, %Vs, %dP transpose_b clear
        : memref<64x64xf32, #tile.shared>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      func.call @score_gradients(%P, %dP, %d)
        : (memref<64x64xf32, #tile.fragment>, memref<64x64xf32, #tile.fragment>,
           memref<64xf32, #tile.fragment>) -> ()
      tile.gemm %dP, %Qs, %gradK transpose_a
        : memref<64x64xf32, #tile.fragment>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
    tile.copy %gradK to %dK[%h, %row, 0]
      : memref<64x64xf32, #tile.fragment> to memref<?x?x64xf32>
    tile.copy %gradV to %dV[%h, %row, 0]
      : memref<64x64xf32, #tile.fragment> to memref<?x?x64xf32>
  }

  // dQ. Keys past the end are zeros and add nothing.
  tile.launch blocks(%b, %h) in (%queryTiles, %heads) threads(128) {
    %row = arith.muli %b, %c64 : index
    %zero = arith.constant 0.0 : f32
    %inf = arith.constant 0x7F800000 : f32
    %Qs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %Ks = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %Vs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %dOs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %P = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %dP = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %l = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %d = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %gradQ = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.copy %Q[%h, %row, 0] to %Qs
      : memref<?x?x64xf32> to memref<64x64xf32, #tile.shared>
    tile.copy %dO[%h, %row, 0] to %dOs
      : memref<?x?x64xf32> to memref<64x64xf32, #tile.shared>
    tile.copy %lse[%h, %row] to %l pad(%inf : f32)
      : memref<?x?xf32> to memref<64xf32, #tile.fragment>
    tile.copy %delta[%h, %row] to %d
      : memref<?x?xf32> to memref<64xf32, #tile.fragment>
    tile.fill %gradQ, %zero : memref<64x64xf32, #tile.fragment>
    // One stage as above.
    tile.pipelined %k = %c0 to %keys step %c64 stages(1) {
      tile.copy %K[%h, %k, 0] to %Ks
        : memref<?x?x64xf32> to memref<64x64xf32, #tile.shared>
      tile.copy %V[%h, %k, 0] to %Vs
        : memref<?x?x64xf32> to memref<64x64xf32, #tile.shared>
      tile.gemm %Qs, %Ks, %P transpose_b clear
        : memref<64x64xf32, #tile.shared>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      func.call @probabilities(%P, %l)
        : (memref<64x64xf32, #tile.fragment>, memref<64xf32, #tile.fragment>) -> ()
      tile.gemm %dOs, %Vs, %dP transpose_b clear
        : memref<64x64xf32, #tile.shared>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      func.call @score_gradients(%P, %dP, %d)
        : (memref<64x64xf32, #tile.fragment>, memref<64x64xf32, #tile.fragment>,
           memref<64xf32, #tile.fragment>) -> ()
      tile.gemm %dP, %Ks, %gradQ
        : memref<64x64xf32, #tile.fragment>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
    tile.copy %gradQ to %dQ[%h, %row, 0]
      : memref<64x64xf32, #tile.fragment> to memref<?x?x64xf32>
  }
  return
}

// One query after another, the formulas above as they stand.
func.func @attention_backward_reference(
    %Q: memref<?x?x64xf64>, %K: memref<?x?x64xf64>, %V: memref<?x?x64xf64>,
    %dO: memref<?x?x64xf64>, %dQ: memref<?x?x64xf64>, %dK: memref<?x?x64xf64>,
    %dV: memref<?x?x64xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %lowest = arith.constant 0xFFF0000000000000 : f64
  %scale = arith.constant 0.125 : f64
  %heads = memref.dim %Q, %c0 : memref<?x?x64xf64>
  %queries = memref.dim %Q, %c1 : memref<?x?x64xf64>
  %keys = memref.dim %K, %c1 : memref<?x?x64xf64>
  %p = memref.alloc(%keys) : memref<?xf64>
  %dp = memref.alloc(%keys) : memref<?xf64>
  linalg.fill ins(%zero : f64) outs(%dQ : memref<?x?x64xf64>)
  linalg.fill ins(%zero : f64) outs(%dK : memref<?x?x64xf64>)
  linalg.fill ins(%zero : f64) outs(%dV : memref<?x?x64xf64>)
  affine.for %h = 0 to %heads {
    affine.for %i = 0 to %queries {
      %m = affine.for %j = 0 to %keys iter_args(%most = %lowest) -> f64 {
        %r:2 = affine.for %d = 0 to 64 iter_args(%s0 = %zero, %g0 = %zero) -> (f64, f64) {
          %q = affine.load %Q[%h, %i, %d] : memref<?x?x64xf64>
          %k = affine.load %K[%h, %j, %d] : memref<?x?x64xf64>
          %v = affine.load %V[%h, %j, %d] : memref<?x?x64xf64>
          %o = affine.load %dO[%h, %i, %d] : memref<?x?x64xf64>
          %qk = arith.mulf %q, %k : f64
          %ov = arith.mulf %o, %v : f64
          %s1 = arith.addf %s0, %qk : f64
          %g1 = arith.addf %g0, %ov : f64
          affine.yield %s1, %g1 : f64, f64
        }
        %s = arith.mulf %r#0, %scale : f64
        affine.store %s, %p[%j] : memref<?xf64>
        affine.store %r#1, %dp[%j] : memref<?xf64>
        %next = arith.maximumf %most, %s : f64
        affine.yield %next : f64
      }
      %l = affine.for %j = 0 to %keys iter_args(%sum = %zero) -> f64 {
        %s = affine.load %p[%j] : memref<?xf64>
        %distance = arith.subf %s, %m : f64
        %e = math.exp %distance : f64
        affine.store %e, %p[%j] : memref<?xf64>
        %next = arith.addf %sum, %e : f64
        affine.yield %next : f64
      }
      %delta = affine.for %j = 0 to %keys iter_args(%sum = %zero) -> f64 {
        %e = affine.load %p[%j] : memref<?xf64>
        %g = affine.load %dp[%j] : memref<?xf64>
        %pj = arith.divf %e, %l : f64
        affine.store %pj, %p[%j] : memref<?xf64>
        %product = arith.mulf %pj, %g : f64
        %next = arith.addf %sum, %product : f64
        affine.yield %next : f64
      }
      affine.for %j = 0 to %keys {
        %pj = affine.load %p[%j] : memref<?xf64>
        %g = affine.load %dp[%j] : memref<?xf64>
        %difference = arith.subf %g, %delta : f64
        %ps = arith.mulf %pj, %scale : f64
        %ds = arith.mulf %ps, %difference : f64
        affine.for %d = 0 to 64 {
          %q = affine.load %Q[%h, %i, %d] : memref<?x?x64xf64>
          %k = affine.load %K[%h, %j, %d] : memref<?x?x64xf64>
          %o = affine.load %dO[%h, %i, %d] : memref<?x?x64xf64>
          %dq0 = affine.load %dQ[%h, %i, %d] : memref<?x?x64xf64>
          %dk0 = affine.load %dK[%h, %j, %d] : memref<?x?x64xf64>
          %dv0 = affine.load %dV[%h, %j, %d] : memref<?x?x64xf64>
          %dsk = arith.mulf %ds, %k : f64
          %dsq = arith.mulf %ds, %q : f64
          %po = arith.mulf %pj, %o : f64
          %dq1 = arith.addf %dq0, %dsk : f64
          %dk1 = arith.addf %dk0, %dsq : f64
          %dv1 = arith.addf %dv0, %po : f64
          affine.store %dq1, %dQ[%h, %i, %d] : memref<?x?x64xf64>
          affine.store %dk1, %dK[%h, %j, %d] : memref<?x?x64xf64>
          affine.store %dv1, %dV[%h, %j, %d] : memref<?x?x64xf64>
        }
      }
    }
  }
  memref.dealloc %p : memref<?xf64>
  memref.dealloc %dp : memref<?xf64>
  return
}
