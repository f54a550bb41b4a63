// Flash attention, forward: O = softmax(Q * K^T / sqrt(64)) * V, without ever
// holding the matrix of scores.
//
// A block owns 64 queries of one head and walks over the keys, 64 at a time. It
// keeps an unnormalised O, the maximum m of each row of scores and the sum l of
// exp(score - m). A tile of keys that raises m shrinks l and O accordingly (see
// softmax.mlir). Exponentials are taken to base 2, with log2(e) folded into
// the scale of the scores, since that is what hardware computes; the flags on
// the launch allow it to fuse multiply-adds and to approximate exp2.
//
// Besides O, the kernel returns lse = m + log(l) of each row, from which the
// backward pass (and @attention_map below) recomputes probabilities at will.
//
// A row that sees no key gives O = 0 and lse = -inf.

// Folds a tile of scores into the running maximum and sum, and leaves
// exp(score - maximum) in place of the scores.
func.func private @online_softmax(
    %scores: memref<64x64xf32, #tile.fragment>,
    %out: memref<64x64xf32, #tile.fragment>,
    %max: memref<64xf32, #tile.fragment>,
    %sum: memref<64xf32, #tile.fragment>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32 // -inf
  %scale = arith.constant 0.18033688 : f32 // log2(e) / sqrt(64)
  %newMax = tile.alloc_fragment : memref<64xf32, #tile.fragment>
  %shift = tile.alloc_fragment : memref<64xf32, #tile.fragment>
  %shrink = tile.alloc_fragment : memref<64xf32, #tile.fragment>
  tile.copy %max to %newMax
    : memref<64xf32, #tile.fragment> to memref<64xf32, #tile.fragment>
  tile.reduce max %scores along 1 into %newMax accumulate
    : memref<64x64xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
  tile.parallel (%i) in (64) {
    %old = memref.load %max[%i] : memref<64xf32, #tile.fragment>
    %new = memref.load %newMax[%i] : memref<64xf32, #tile.fragment>
    // A row that has seen no key yet has m = -inf; subtracting that from its
    // scores, which are -inf too, would give NaN.
    %nothing = arith.cmpf oeq, %new, %lowest : f32
    %from = arith.select %nothing, %zero, %new : f32
    %scaledFrom = arith.mulf %from, %scale : f32
    %scaledOld = arith.mulf %old, %scale : f32
    %distance = arith.subf %scaledOld, %scaledFrom : f32
    %factor = math.exp2 %distance : f32
    %l = memref.load %sum[%i] : memref<64xf32, #tile.fragment>
    %scaled = arith.mulf %l, %factor : f32
    memref.store %scaled, %sum[%i] : memref<64xf32, #tile.fragment>
    memref.store %new, %max[%i] : memref<64xf32, #tile.fragment>
    memref.store %scaledFrom, %shift[%i] : memref<64xf32, #tile.fragment>
    memref.store %factor, %shrink[%i] : memref<64xf32, #tile.fragment>
  }
  tile.parallel (%i, %j) in (64, 64) {
    %s = memref.load %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
    %from = memref.load %shift[%i] : memref<64xf32, #tile.fragment>
    %scaled = arith.mulf %s, %scale : f32
    %distance = arith.subf %scaled, %from : f32
    %p = math.exp2 %distance : f32
    memref.store %p, %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
  }
  tile.reduce sum %scores along 1 into %sum accumulate
    : memref<64x64xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
  tile.parallel (%i, %d) in (64, 64) {
    %o = memref.load %out[%i, %d] : memref<64x64xf32, #tile.fragment>
    %factor = memref.load %shrink[%i] : memref<64xf32, #tile.fragment>
    %scaled = arith.mulf %o, %factor : f32
    memref.store %scaled, %out[%i, %d] : memref<64x64xf32, #tile.fragment>
  }
  return
}

// Divides each row of O by its sum and turns (m, l) into log-sum-exp.
func.func private @finish_rows(
    %out: memref<64x64xf32, #tile.fragment>,
    %max: memref<64xf32, #tile.fragment>,
    %sum: memref<64xf32, #tile.fragment>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %scale = arith.constant 0.125 : f32 // 1 / sqrt(64)
  tile.parallel (%i, %d) in (64, 64) {
    %l = memref.load %sum[%i] : memref<64xf32, #tile.fragment>
    %nothing = arith.cmpf oeq, %l, %zero : f32
    %divisor = arith.select %nothing, %one, %l : f32
    %o = memref.load %out[%i, %d] : memref<64x64xf32, #tile.fragment>
    %normal = arith.divf %o, %divisor : f32
    memref.store %normal, %out[%i, %d] : memref<64x64xf32, #tile.fragment>
  }
  tile.parallel (%i) in (64) {
    %m = memref.load %max[%i] : memref<64xf32, #tile.fragment>
    %l = memref.load %sum[%i] : memref<64xf32, #tile.fragment>
    %scaled = arith.mulf %m, %scale : f32
    %log = math.log %l : f32
    %lse = arith.addf %scaled, %log : f32
    memref.store %lse, %max[%i] : memref<64xf32, #tile.fragment>
  }
  return
}

// Every query sees every key; the lengths of the two may differ.
func.func @flash_attention(
    %Q: memref<?x?x?x64xf32> {tile.name = "Q", tile.default = "randn:1x8x1024x64xf32"},
    %K: memref<?x?x?x64xf32> {tile.name = "K", tile.default = "randn:Q[0]xQ[1]x1024x64xf32"},
    %V: memref<?x?x?x64xf32> {tile.name = "V", tile.default = "randn:K[0]xK[1]xK[2]x64xf32"},
    %O: memref<?x?x?x64xf32> {tile.name = "O", tile.default = "empty:Q[0]xQ[1]xQ[2]x64xf32"},
    %lse: memref<?x?x?xf32> {tile.name = "LSE", tile.default = "empty:Q[0]xQ[1]xQ[2]xf32"})
    attributes {tile.reference = @flash_attention_reference,
                tile.tolerance = #tile.tolerance<norm = 2.0e-6, atol = 2.0e-5, rtol = 2.0e-5>,
                tile.flops = "4 * Q[0] * Q[1] * Q[2] * K[2] * 64",
                tile.bytes = "8 * 64 * Q[0] * Q[1] * (Q[2] + K[2])"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %batches = memref.dim %Q, %c0 : memref<?x?x?x64xf32>
  %heads = memref.dim %Q, %c1 : memref<?x?x?x64xf32>
  %queries = memref.dim %Q, %c2 : memref<?x?x?x64xf32>
  %keys = memref.dim %K, %c2 : memref<?x?x?x64xf32>
  %tiles = arith.ceildivsi %queries, %c64 : index

  tile.launch blocks(%bx, %h, %b) in (%tiles, %heads, %batches) threads(128)
      fastmath<contract, afn> {
    %row = arith.muli %bx, %c64 : index
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %Qs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %Ks = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %Vs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %scores = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %out = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %max = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    tile.copy %Q[%b, %h, %row, 0] to %Qs
      : memref<?x?x?x64xf32> to memref<64x64xf32, #tile.shared>
    tile.fill %out, %zero : memref<64x64xf32, #tile.fragment>
    tile.fill %max, %lowest : memref<64xf32, #tile.fragment>
    tile.fill %sum, %zero : memref<64xf32, #tile.fragment>

    tile.pipelined %k = %c0 to %keys step %c64 stages(2) {
      tile.copy %K[%b, %h, %k, 0] to %Ks
        : memref<?x?x?x64xf32> to memref<64x64xf32, #tile.shared>
      tile.copy %V[%b, %h, %k, 0] to %Vs
        : memref<?x?x?x64xf32> to memref<64x64xf32, #tile.shared>
      tile.gemm %Qs, %Ks, %scores transpose_b clear
        : memref<64x64xf32, #tile.shared>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      // Keys past the end were read as zeros and must not be seen.
      %left = arith.subi %keys, %k : index
      %partial = arith.cmpi slt, %left, %c64 : index
      scf.if %partial {
        tile.parallel (%i, %j) in (64, 64) {
          %s = memref.load %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
          %seen = arith.cmpi slt, %j, %left : index
          %masked = arith.select %seen, %s, %lowest : f32
          memref.store %masked, %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
        }
      }
      func.call @online_softmax(%scores, %out, %max, %sum)
        : (memref<64x64xf32, #tile.fragment>, memref<64x64xf32, #tile.fragment>,
           memref<64xf32, #tile.fragment>, memref<64xf32, #tile.fragment>) -> ()
      tile.gemm %scores, %Vs, %out
        : memref<64x64xf32, #tile.fragment>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }

    func.call @finish_rows(%out, %max, %sum)
      : (memref<64x64xf32, #tile.fragment>, memref<64xf32, #tile.fragment>,
         memref<64xf32, #tile.fragment>) -> ()
    tile.copy %out to %O[%b, %h, %row, 0]
      : memref<64x64xf32, #tile.fragment> to memref<?x?x?x64xf32>
    tile.copy %max to %lse[%b, %h, %row]
      : memref<64xf32, #tile.fragment> to memref<?x?x?xf32>
  }
  return
}

// The last query sees every key, each one before it a key less. With more
// queries than keys the first ones see nothing at all.
func.func @flash_attention_causal(
    %Q: memref<?x?x?x64xf32> {tile.name = "Q", tile.default = "randn:1x4x600x64xf32"},
    %K: memref<?x?x?x64xf32> {tile.name = "K", tile.default = "randn:Q[0]xQ[1]x500x64xf32"},
    %V: memref<?x?x?x64xf32> {tile.name = "V", tile.default = "randn:K[0]xK[1]xK[2]x64xf32"},
    %O: memref<?x?x?x64xf32> {tile.name = "O", tile.default = "empty:Q[0]xQ[1]xQ[2]x64xf32"},
    %lse: memref<?x?x?xf32> {tile.name = "LSE", tile.default = "empty:Q[0]xQ[1]xQ[2]xf32"})
    attributes {tile.reference = @flash_attention_causal_reference,
                tile.tolerance = #tile.tolerance<norm = 2.0e-6, atol = 2.0e-5, rtol = 2.0e-5>,
                tile.flops = "2 * Q[0] * Q[1] * min(Q[2], K[2]) * (2 * K[2] - min(Q[2], K[2]) + 1) * 64",
                tile.bytes = "8 * 64 * Q[0] * Q[1] * (Q[2] + K[2])"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %batches = memref.dim %Q, %c0 : memref<?x?x?x64xf32>
  %heads = memref.dim %Q, %c1 : memref<?x?x?x64xf32>
  %queries = memref.dim %Q, %c2 : memref<?x?x?x64xf32>
  %keys = memref.dim %K, %c2 : memref<?x?x?x64xf32>
  %tiles = arith.ceildivsi %queries, %c64 : index
  // Query i sees the keys up to, and including, i + offset.
  %offset = arith.subi %keys, %queries : index

  tile.launch blocks(%bx, %h, %b) in (%tiles, %heads, %batches) threads(128)
      fastmath<contract, afn> {
    %row = arith.muli %bx, %c64 : index
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %Qs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %Ks = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %Vs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %scores = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %out = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %max = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    tile.copy %Q[%b, %h, %row, 0] to %Qs
      : memref<?x?x?x64xf32> to memref<64x64xf32, #tile.shared>
    tile.fill %out, %zero : memref<64x64xf32, #tile.fragment>
    tile.fill %max, %lowest : memref<64xf32, #tile.fragment>
    tile.fill %sum, %zero : memref<64xf32, #tile.fragment>

    // Keys that none of the block's queries sees are not even read.
    %lastVisible = arith.addi %row, %offset : index
    %seenByLast = arith.addi %lastVisible, %c64 : index
    %end = arith.minsi %seenByLast, %keys : index
    tile.pipelined %k = %c0 to %end step %c64 stages(2) {
      tile.copy %K[%b, %h, %k, 0] to %Ks
        : memref<?x?x?x64xf32> to memref<64x64xf32, #tile.shared>
      tile.copy %V[%b, %h, %k, 0] to %Vs
        : memref<?x?x?x64xf32> to memref<64x64xf32, #tile.shared>
      tile.gemm %Qs, %Ks, %scores transpose_b clear
        : memref<64x64xf32, #tile.shared>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
      // A tile needs a mask where its last key lies past what the first query
      // sees. Since the last query sees just the last key, this also hides the
      // keys past the end.
      %visible = arith.subi %lastVisible, %k : index
      %crosses = arith.cmpi slt, %visible, %c64 : index
      scf.if %crosses {
        tile.parallel (%i, %j) in (64, 64) {
          %s = memref.load %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
          %limit = arith.addi %visible, %i : index
          %seen = arith.cmpi sle, %j, %limit : index
          %masked = arith.select %seen, %s, %lowest : f32
          memref.store %masked, %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
        }
      }
      func.call @online_softmax(%scores, %out, %max, %sum)
        : (memref<64x64xf32, #tile.fragment>, memref<64x64xf32, #tile.fragment>,
           memref<64xf32, #tile.fragment>, memref<64xf32, #tile.fragment>) -> ()
      tile.gemm %scores, %Vs, %out
        : memref<64x64xf32, #tile.fragment>, memref<64x64xf32, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }

    func.call @finish_rows(%out, %max, %sum)
      : (memref<64x64xf32, #tile.fragment>, memref<64xf32, #tile.fragment>,
         memref<64xf32, #tile.fragment>) -> ()
    tile.copy %out to %O[%b, %h, %row, 0]
      : memref<64x64xf32, #tile.fragment> to memref<?x?x?x64xf32>
    tile.copy %max to %lse[%b, %h, %row]
      : memref<64xf32, #tile.fragment> to memref<?x?x?xf32>
  }
  return
}

// The probabilities themselves, P = exp(Q * K^T / sqrt(64) - lse), for whoever
// wants to look at them. No block needs to know a whole row.
func.func @attention_map(
    %Q: memref<?x?x?x64xf32> {tile.name = "Q", tile.default = "randn:1x2x300x64xf32"},
    %K: memref<?x?x?x64xf32> {tile.name = "K", tile.default = "randn:Q[0]xQ[1]x200x64xf32"},
    %lse: memref<?x?x?xf32> {tile.name = "LSE", tile.default = "uniform(5,6):Q[0]xQ[1]xQ[2]xf32"},
    %P: memref<?x?x?x?xf32> {tile.name = "P", tile.default = "empty:Q[0]xQ[1]xQ[2]xK[2]xf32"})
    attributes {tile.reference = @attention_map_reference,
                tile.tolerance = #tile.tolerance<norm = 2.0e-6, atol = 1.0e-6, rtol = 2.0e-5>,
                tile.flops = "2 * Q[0] * Q[1] * Q[2] * K[2] * 64",
                tile.bytes = "4 * Q[0] * Q[1] * Q[2] * K[2]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %batches = memref.dim %Q, %c0 : memref<?x?x?x64xf32>
  %heads = memref.dim %Q, %c1 : memref<?x?x?x64xf32>
  %queries = memref.dim %Q, %c2 : memref<?x?x?x64xf32>
  %keys = memref.dim %K, %c2 : memref<?x?x?x64xf32>
  %gx = arith.ceildivsi %keys, %c64 : index
  %gy = arith.ceildivsi %queries, %c64 : index
  %gz = arith.muli %batches, %heads : index

  tile.launch blocks(%bx, %by, %bz) in (%gx, %gy, %gz) threads(128)
      fastmath<contract, afn> {
    %b = arith.divui %bz, %heads : index
    %h = arith.remui %bz, %heads : index
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %scale = arith.constant 0.18033688 : f32 // log2(e) / sqrt(64)
    %log2e = arith.constant 1.44269504 : f32
    %Qs = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %Ks = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %norm = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %scores = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.copy %Q[%b, %h, %row, 0] to %Qs
      : memref<?x?x?x64xf32> to memref<64x64xf32, #tile.shared>
    tile.copy %K[%b, %h, %column, 0] to %Ks
      : memref<?x?x?x64xf32> to memref<64x64xf32, #tile.shared>
    tile.copy %lse[%b, %h, %row] to %norm
      : memref<?x?x?xf32> to memref<64xf32, #tile.fragment>
    tile.gemm %Qs, %Ks, %scores transpose_b clear
      : memref<64x64xf32, #tile.shared>, memref<64x64xf32, #tile.shared>,
        memref<64x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (64, 64) {
      %s = memref.load %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
      %n = memref.load %norm[%i] : memref<64xf32, #tile.fragment>
      %scaledScore = arith.mulf %s, %scale : f32
      %scaledNorm = arith.mulf %n, %log2e : f32
      %distance = arith.subf %scaledScore, %scaledNorm : f32
      %e = math.exp2 %distance : f32
      // lse = -inf: the row sees nothing.
      %nothing = arith.cmpf oeq, %n, %lowest : f32
      %p = arith.select %nothing, %zero, %e : f32
      memref.store %p, %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
    }
    tile.copy %scores to %P[%b, %h, %row, %column]
      : memref<64x64xf32, #tile.fragment> to memref<?x?x?x?xf32>
  }
  return
}

// References: the textbook definition, row by row.

func.func private @score(%Q: memref<?x?x?x64xf64>, %K: memref<?x?x?x64xf64>,
                         %b: index, %h: index, %i: index, %j: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f64
  %scale = arith.constant 0.125 : f64 // 1 / sqrt(64)
  %dot = scf.for %d = %c0 to %c64 step %c1 iter_args(%sum = %zero) -> f64 {
    %q = memref.load %Q[%b, %h, %i, %d] : memref<?x?x?x64xf64>
    %k = memref.load %K[%b, %h, %j, %d] : memref<?x?x?x64xf64>
    %product = arith.mulf %q, %k : f64
    %next = arith.addf %sum, %product fastmath<reassoc> : f64
    scf.yield %next : f64
  }
  %score = arith.mulf %dot, %scale : f64
  return %score : f64
}

func.func private @attention(
    %Q: memref<?x?x?x64xf64>, %K: memref<?x?x?x64xf64>,
    %V: memref<?x?x?x64xf64>, %O: memref<?x?x?x64xf64>,
    %lse: memref<?x?x?xf64>, %causal: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %lowest = arith.constant 0xFFF0000000000000 : f64 // -inf
  %batches = memref.dim %Q, %c0 : memref<?x?x?x64xf64>
  %heads = memref.dim %Q, %c1 : memref<?x?x?x64xf64>
  %queries = memref.dim %Q, %c2 : memref<?x?x?x64xf64>
  %keys = memref.dim %K, %c2 : memref<?x?x?x64xf64>
  %offset = arith.subi %keys, %queries : index
  scf.parallel (%b, %h, %i) = (%c0, %c0, %c0) to (%batches, %heads, %queries)
      step (%c1, %c1, %c1) {
    %last = arith.addi %i, %offset : index
    %upToLast = arith.addi %last, %c1 : index
    %visible = arith.select %causal, %upToLast, %keys : index
    %max = scf.for %j = %c0 to %visible step %c1 iter_args(%m = %lowest) -> f64 {
      %s = func.call @score(%Q, %K, %b, %h, %i, %j)
        : (memref<?x?x?x64xf64>, memref<?x?x?x64xf64>, index, index, index, index) -> f64
      %larger = arith.maximumf %m, %s : f64
      scf.yield %larger : f64
    }
    // A row whose scores are all -inf counts as one that sees nothing.
    %none = arith.cmpf oeq, %max, %lowest : f64
    %from = arith.select %none, %zero, %max : f64
    scf.for %d = %c0 to %c64 step %c1 {
      memref.store %zero, %O[%b, %h, %i, %d] : memref<?x?x?x64xf64>
    }
    %sum = scf.for %j = %c0 to %visible step %c1 iter_args(%l = %zero) -> f64 {
      %s = func.call @score(%Q, %K, %b, %h, %i, %j)
        : (memref<?x?x?x64xf64>, memref<?x?x?x64xf64>, index, index, index, index) -> f64
      %distance = arith.subf %s, %from : f64
      %p = math.exp %distance : f64
      scf.for %d = %c0 to %c64 step %c1 {
        %v = memref.load %V[%b, %h, %j, %d] : memref<?x?x?x64xf64>
        %o = memref.load %O[%b, %h, %i, %d] : memref<?x?x?x64xf64>
        %product = arith.mulf %p, %v : f64
        %next = arith.addf %o, %product : f64
        memref.store %next, %O[%b, %h, %i, %d] : memref<?x?x?x64xf64>
      }
      %next = arith.addf %l, %p : f64
      scf.yield %next : f64
    }
    %nothing = arith.cmpf oeq, %sum, %zero : f64
    %divisor = arith.select %nothing, %one, %sum : f64
    scf.for %d = %c0 to %c64 step %c1 {
      %o = memref.load %O[%b, %h, %i, %d] : memref<?x?x?x64xf64>
      %normal = arith.divf %o, %divisor : f64
      memref.store %normal, %O[%b, %h, %i, %d] : memref<?x?x?x64xf64>
    }
    %log = math.log %sum : f64
    %row = arith.addf %max, %log : f64
    memref.store %row, %lse[%b, %h, %i] : memref<?x?x?xf64>
    scf.reduce
  }
  return
}

func.func @flash_attention_reference(
    %Q: memref<?x?x?x64xf64>, %K: memref<?x?x?x64xf64>,
    %V: memref<?x?x?x64xf64>, %O: memref<?x?x?x64xf64>,
    %lse: memref<?x?x?xf64>) {
  %causal = arith.constant false
  call @attention(%Q, %K, %V, %O, %lse, %causal)
    : (memref<?x?x?x64xf64>, memref<?x?x?x64xf64>, memref<?x?x?x64xf64>,
       memref<?x?x?x64xf64>, memref<?x?x?xf64>, i1) -> ()
  return
}

func.func @flash_attention_causal_reference(
    %Q: memref<?x?x?x64xf64>, %K: memref<?x?x?x64xf64>,
    %V: memref<?x?x?x64xf64>, %O: memref<?x?x?x64xf64>,
    %lse: memref<?x?x?xf64>) {
  %causal = arith.constant true
  call @attention(%Q, %K, %V, %O, %lse, %causal)
    : (memref<?x?x?x64xf64>, memref<?x?x?x64xf64>, memref<?x?x?x64xf64>,
       memref<?x?x?x64xf64>, memref<?x?x?xf64>, i1) -> ()
  return
}

func.func @attention_map_reference(
    %Q: memref<?x?x?x64xf64>, %K: memref<?x?x?x64xf64>,
    %lse: memref<?x?x?xf64>, %P: memref<?x?x?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %lowest = arith.constant 0xFFF0000000000000 : f64
  %batches = memref.dim %P, %c0 : memref<?x?x?x?xf64>
  %heads = memref.dim %P, %c1 : memref<?x?x?x?xf64>
  %queries = memref.dim %P, %c2 : memref<?x?x?x?xf64>
  %keys = memref.dim %P, %c3 : memref<?x?x?x?xf64>
  scf.parallel (%b, %h, %i, %j) = (%c0, %c0, %c0, %c0)
      to (%batches, %heads, %queries, %keys) step (%c1, %c1, %c1, %c1) {
    %s = func.call @score(%Q, %K, %b, %h, %i, %j)
      : (memref<?x?x?x64xf64>, memref<?x?x?x64xf64>, index, index, index, index) -> f64
    %n = memref.load %lse[%b, %h, %i] : memref<?x?x?xf64>
    %distance = arith.subf %s, %n : f64
    %e = math.exp %distance : f64
    %nothing = arith.cmpf oeq, %n, %lowest : f64
    %p = arith.select %nothing, %zero, %e : f64
    memref.store %p, %P[%b, %h, %i, %j] : memref<?x?x?x?xf64>
    scf.reduce
  }
  return
}
