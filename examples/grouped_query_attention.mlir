// Grouped-query attention in bf16: several heads of queries share one head of
// keys and values, as in most language models today.
//
// The only difference from flash_attention.mlir is which head of K and V a
// block reads: head h of the queries uses head h / (query heads / key heads).
// It is causal, laid out as [batch, token, head, 128], and the tile is 64
// queries by 32 keys.

func.func @grouped_query_attention(
    %Q: memref<?x?x?x128xbf16> {tile.name = "Q", tile.default = "randn:2x200x8x128xbf16"},
    %K: memref<?x?x?x128xbf16> {tile.name = "K", tile.default = "randn:Q[0]x300x2x128xbf16"},
    %V: memref<?x?x?x128xbf16> {tile.name = "V", tile.default = "randn:K[0]xK[1]xK[2]x128xbf16"},
    %O: memref<?x?x?x128xbf16> {tile.name = "O", tile.default = "empty:Q[0]xQ[1]xQ[2]x128xbf16"})
    attributes {tile.reference = @grouped_query_attention_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-2, atol = 1.6e-2, rtol = 2.0e-2>,
                tile.flops = "2 * Q[0] * Q[2] * min(Q[1], K[1]) * (2 * K[1] - min(Q[1], K[1]) + 1) * 128",
                tile.bytes = "4 * 128 * Q[0] * (Q[1] * Q[2] + K[1] * K[2])"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %batches = memref.dim %Q, %c0 : memref<?x?x?x128xbf16>
  %queries = memref.dim %Q, %c1 : memref<?x?x?x128xbf16>
  %heads = memref.dim %Q, %c2 : memref<?x?x?x128xbf16>
  %keys = memref.dim %K, %c1 : memref<?x?x?x128xbf16>
  %groups = memref.dim %K, %c2 : memref<?x?x?x128xbf16>
  %headsOfGroup = arith.divui %heads, %groups : index
  %tiles = arith.ceildivsi %queries, %c64 : index
  %offset = arith.subi %keys, %queries : index

  tile.launch blocks(%bx, %h, %b) in (%tiles, %heads, %batches) threads(128)
      fastmath<contract, afn> {
    %row = arith.muli %bx, %c64 : index
    %group = arith.divui %h, %headsOfGroup : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %lowest = arith.constant 0xFF800000 : f32 // -inf
    %scale = arith.constant 0.127517432 : f32 // log2(e) / sqrt(128)
    %Qs = tile.alloc_shared : memref<64x128xbf16, #tile.shared>
    %Ks = tile.alloc_shared : memref<32x128xbf16, #tile.shared>
    %Vs = tile.alloc_shared : memref<32x128xbf16, #tile.shared>
    %scores = tile.alloc_fragment : memref<64x32xf32, #tile.fragment>
    %probabilities = tile.alloc_fragment : memref<64x32xbf16, #tile.fragment>
    %out = tile.alloc_fragment : memref<64x128xf32, #tile.fragment>
    %max = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %newMax = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %shift = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %shrink = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    tile.copy %Q[%b, %row, %h, 0] sizes [1, 64, 1, 128] to %Qs
      : memref<?x?x?x128xbf16> to memref<64x128xbf16, #tile.shared>
    tile.fill %out, %zero : memref<64x128xf32, #tile.fragment>
    tile.fill %max, %lowest : memref<64xf32, #tile.fragment>
    tile.fill %sum, %zero : memref<64xf32, #tile.fragment>

    %lastVisible = arith.addi %row, %offset : index
    %seenByLast = arith.addi %lastVisible, %c64 : index
    %end = arith.minsi %seenByLast, %keys : index
    tile.pipelined %k = %c0 to %end step %c32 stages(2) {
      tile.copy %K[%b, %k, %group, 0] sizes [1, 32, 1, 128] to %Ks
        : memref<?x?x?x128xbf16> to memref<32x128xbf16, #tile.shared>
      tile.copy %V[%b, %k, %group, 0] sizes [1, 32, 1, 128] to %Vs
        : memref<?x?x?x128xbf16> to memref<32x128xbf16, #tile.shared>
      tile.gemm %Qs, %Ks, %scores transpose_b clear
        : memref<64x128xbf16, #tile.shared>, memref<32x128xbf16, #tile.shared>,
          memref<64x32xf32, #tile.fragment>
      %visible = arith.subi %lastVisible, %k : index
      tile.parallel (%i, %j) in (64, 32) {
        %s = memref.load %scores[%i, %j] : memref<64x32xf32, #tile.fragment>
        %scaled = arith.mulf %s, %scale : f32
        %limit = arith.addi %visible, %i : index
        %seen = arith.cmpi sle, %j, %limit : index
        %masked = arith.select %seen, %scaled, %lowest : f32
        memref.store %masked, %scores[%i, %j] : memref<64x32xf32, #tile.fragment>
      }
      tile.copy %max to %newMax
        : memref<64xf32, #tile.fragment> to memref<64xf32, #tile.fragment>
      tile.reduce max %scores along 1 into %newMax accumulate
        : memref<64x32xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
      tile.parallel (%i) in (64) {
        %old = memref.load %max[%i] : memref<64xf32, #tile.fragment>
        %new = memref.load %newMax[%i] : memref<64xf32, #tile.fragment>
        %nothing = arith.cmpf oeq, %new, %lowest : f32
        %from = arith.select %nothing, %zero, %new : f32
        %distance = arith.subf %old, %from : f32
        %factor = math.exp2 %distance : f32
        %l = memref.load %sum[%i] : memref<64xf32, #tile.fragment>
        %scaled = arith.mulf %l, %factor : f32
        memref.store %scaled, %sum[%i] : memref<64xf32, #tile.fragment>
        memref.store %new, %max[%i] : memref<64xf32, #tile.fragment>
        memref.store %from, %shift[%i] : memref<64xf32, #tile.fragment>
        memref.store %factor, %shrink[%i] : memref<64xf32, #tile.fragment>
      }
      tile.parallel (%i, %j) in (64, 32) {
        %s = memref.load %scores[%i, %j] : memref<64x32xf32, #tile.fragment>
        %from = memref.load %shift[%i] : memref<64xf32, #tile.fragment>
        %distance = arith.subf %s, %from : f32
        %p = math.exp2 %distance : f32
        memref.store %p, %scores[%i, %j] : memref<64x32xf32, #tile.fragment>
      }
      tile.reduce sum %scores along 1 into %sum accumulate
        : memref<64x32xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
      tile.parallel (%i, %d) in (64, 128) {
        %x = memref.load %out[%i, %d] : memref<64x128xf32, #tile.fragment>
        %factor = memref.load %shrink[%i] : memref<64xf32, #tile.fragment>
        %scaled = arith.mulf %x, %factor : f32
        memref.store %scaled, %out[%i, %d] : memref<64x128xf32, #tile.fragment>
      }
      tile.copy %scores to %probabilities
        : memref<64x32xf32, #tile.fragment> to memref<64x32xbf16, #tile.fragment>
      tile.gemm %probabilities, %Vs, %out
        : memref<64x32xbf16, #tile.fragment>, memref<32x128xbf16, #tile.shared>,
          memref<64x128xf32, #tile.fragment>
    }

    tile.parallel (%i, %d) in (64, 128) {
      %l = memref.load %sum[%i] : memref<64xf32, #tile.fragment>
      %nothing = arith.cmpf oeq, %l, %zero : f32
      %divisor = arith.select %nothing, %one, %l : f32
      %x = memref.load %out[%i, %d] : memref<64x128xf32, #tile.fragment>
      %normal = arith.divf %x, %divisor : f32
      memref.store %normal, %out[%i, %d] : memref<64x128xf32, #tile.fragment>
    }
    tile.copy %out to %O[%b, %row, %h, 0] sizes [1, 64, 1, 128]
      : memref<64x128xf32, #tile.fragment> to memref<?x?x?x128xbf16>
  }
  return
}

func.func @grouped_query_attention_reference(
    %Q: memref<?x?x?x128xf64>, %K: memref<?x?x?x128xf64>,
    %V: memref<?x?x?x128xf64>, %O: memref<?x?x?x128xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %lowest = arith.constant 0xFFF0000000000000 : f64
  %batches = memref.dim %Q, %c0 : memref<?x?x?x128xf64>
  %queries = memref.dim %Q, %c1 : memref<?x?x?x128xf64>
  %heads = memref.dim %Q, %c2 : memref<?x?x?x128xf64>
  %keys = memref.dim %K, %c1 : memref<?x?x?x128xf64>
  %groups = memref.dim %K, %c2 : memref<?x?x?x128xf64>
  %headsOfGroup = arith.divui %heads, %groups : index
  %offset = arith.subi %keys, %queries : index
  scf.parallel (%b, %i, %h) = (%c0, %c0, %c0) to (%batches, %queries, %heads)
      step (%c1, %c1, %c1) {
    %g = arith.divui %h, %headsOfGroup : index
    %last = arith.addi %i, %offset : index
    %visible = arith.addi %last, %c1 : index
    %max = scf.for %j = %c0 to %visible step %c1 iter_args(%m = %lowest) -> f64 {
      %s = func.call @score(%Q, %K, %b, %i, %h, %j, %g)
        : (memref<?x?x?x128xf64>, memref<?x?x?x128xf64>, index, index, index, index, index) -> f64
      %larger = arith.maximumf %m, %s : f64
      scf.yield %larger : f64
    }
    // A row whose scores are all -inf counts as one that sees nothing.
    %none = arith.cmpf oeq, %max, %lowest : f64
    %from = arith.select %none, %zero, %max : f64
    scf.for %d = %c0 to %c128 step %c1 {
      memref.store %zero, %O[%b, %i, %h, %d] : memref<?x?x?x128xf64>
    }
    %sum = scf.for %j = %c0 to %visible step %c1 iter_args(%l = %zero) -> f64 {
      %s = func.call @score(%Q, %K, %b, %i, %h, %j, %g)
        : (memref<?x?x?x128xf64>, memref<?x?x?x128xf64>, index, index, index, index, index) -> f64
      %distance = arith.subf %s, %from : f64
      %p = math.exp %distance : f64
      scf.for %d = %c0 to %c128 step %c1 {
        %v = memref.load %V[%b, %j, %g, %d] : memref<?x?x?x128xf64>
        %o = memref.load %O[%b, %i, %h, %d] : memref<?x?x?x128xf64>
        %product = arith.mulf %p, %v : f64
        %total = arith.addf %o, %product : f64
        memref.store %total, %O[%b, %i, %h, %d] : memref<?x?x?x128xf64>
      }
      %more = arith.addf %l, %p : f64
      scf.yield %more : f64
    }
    %nothing = arith.cmpf oeq, %sum, %zero : f64
    %divisor = arith.select %nothing, %one, %sum : f64
    scf.for %d = %c0 to %c128 step %c1 {
      %o = memref.load %O[%b, %i, %h, %d] : memref<?x?x?x128xf64>
      %normal = arith.divf %o, %divisor : f64
      memref.store %normal, %O[%b, %i, %h, %d] : memref<?x?x?x128xf64>
    }
    scf.reduce
  }
  return
}

// The scaled product of query (b, i, h) and key (b, j, g).
func.func private @score(%Q: memref<?x?x?x128xf64>, %K: memref<?x?x?x128xf64>,
                         %b: index, %i: index, %h: index, %j: index,
                         %g: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f64
  %scale = arith.constant 0.08838834764831845 : f64 // 1 / sqrt(128)
  %dot = scf.for %d = %c0 to %c128 step %c1 iter_args(%sum = %zero) -> f64 {
    %q = memref.load %Q[%b, %i, %h, %d] : memref<?x?x?x128xf64>
    %k = memref.load %K[%b, %j, %g, %d] : memref<?x?x?x128xf64>
    %product = arith.mulf %q, %k : f64
    %next = arith.addf %sum, %product fastmath<reassoc> : f64
    scf.yield %next : f64
  }
  %score = arith.mulf %dot, %scale : f64
  return %score : f64
}
