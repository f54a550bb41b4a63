// Flash attention over sequences of different lengths, packed one after the
// other without padding, in f16.
//
// `cu_q` and `cu_k` hold where each sequence starts, and the total at the end.
// A block takes a subview of its own sequence: the bounds of a subview are its
// own, so a tile that hangs over the end of the sequence neither reads nor
// overwrites the next one, without any guard in the program. Sequences may be
// empty; queries without any key give zeros.
//
// The grid has room for the longest sequence; blocks past the end of a shorter
// one have nothing to do.

func.func @flash_attention_varlen(
    %Q: memref<?x?x64xf16> {tile.name = "Q", tile.default = "randn:400x4x64xf16"},
    %K: memref<?x?x64xf16> {tile.name = "K", tile.default = "randn:500xQ[1]x64xf16"},
    %V: memref<?x?x64xf16> {tile.name = "V", tile.default = "randn:K[0]xK[1]x64xf16"},
    %cu_q: memref<?xi32> {tile.name = "cu_q", tile.default = "values(0,100,100,117,400):5xi32"},
    %cu_k: memref<?xi32> {tile.name = "cu_k", tile.default = "values(0,150,200,200,500):5xi32"},
    %longest: i32 {tile.name = "longest", tile.default = "283"},
    %O: memref<?x?x64xf16> {tile.name = "O", tile.default = "empty:Q[0]xQ[1]x64xf16"})
    attributes {tile.reference = @flash_attention_varlen_reference,
                tile.tolerance = #tile.tolerance<norm = 2.0e-3, atol = 2.0e-3, rtol = 4.0e-3>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %heads = memref.dim %Q, %c1 : memref<?x?x64xf16>
  %starts = memref.dim %cu_q, %c0 : memref<?xi32>
  %sequences = arith.subi %starts, %c1 : index
  %rows = arith.index_cast %longest : i32 to index
  %tiles = arith.ceildivsi %rows, %c64 : index

  tile.launch blocks(%bx, %h, %b) in (%tiles, %heads, %sequences) threads(128)
      fastmath<contract, afn> {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %lowest = arith.constant 0xFF800000 : f32 // -inf
    %scale = arith.constant 0.18033688 : f32 // log2(e) / sqrt(64)
    %row = arith.muli %bx, %c64 : index
    %next = arith.addi %b, %c1 : index
    %q0 = memref.load %cu_q[%b] : memref<?xi32>
    %q1 = memref.load %cu_q[%next] : memref<?xi32>
    %k0 = memref.load %cu_k[%b] : memref<?xi32>
    %k1 = memref.load %cu_k[%next] : memref<?xi32>
    %numQ = arith.subi %q1, %q0 : i32
    %numK = arith.subi %k1, %k0 : i32
    %startQ = arith.index_cast %q0 : i32 to index
    %startK = arith.index_cast %k0 : i32 to index
    %queries = arith.index_cast %numQ : i32 to index
    %keys = arith.index_cast %numK : i32 to index

    %any = arith.cmpi slt, %row, %queries : index
    scf.if %any {
      %q = memref.subview %Q[%startQ, 0, 0] [%queries, %heads, 64] [1, 1, 1]
        : memref<?x?x64xf16> to memref<?x?x64xf16, strided<[?, 64, 1], offset: ?>>
      %o = memref.subview %O[%startQ, 0, 0] [%queries, %heads, 64] [1, 1, 1]
        : memref<?x?x64xf16> to memref<?x?x64xf16, strided<[?, 64, 1], offset: ?>>
      %k = memref.subview %K[%startK, 0, 0] [%keys, %heads, 64] [1, 1, 1]
        : memref<?x?x64xf16> to memref<?x?x64xf16, strided<[?, 64, 1], offset: ?>>
      %v = memref.subview %V[%startK, 0, 0] [%keys, %heads, 64] [1, 1, 1]
        : memref<?x?x64xf16> to memref<?x?x64xf16, strided<[?, 64, 1], offset: ?>>

      %Qs = tile.alloc_shared : memref<64x64xf16, #tile.shared>
      %Ks = tile.alloc_shared : memref<64x64xf16, #tile.shared>
      %Vs = tile.alloc_shared : memref<64x64xf16, #tile.shared>
      %scores = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
      %probabilities = tile.alloc_fragment : memref<64x64xf16, #tile.fragment>
      %out = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
      %max = tile.alloc_fragment : memref<64xf32, #tile.fragment>
      %newMax = tile.alloc_fragment : memref<64xf32, #tile.fragment>
      %shift = tile.alloc_fragment : memref<64xf32, #tile.fragment>
      %shrink = tile.alloc_fragment : memref<64xf32, #tile.fragment>
      %sum = tile.alloc_fragment : memref<64xf32, #tile.fragment>
      // A tile of [tokens, 1 head, 64] becomes a matrix: ones are dropped.
      tile.copy %q[%row, %h, 0] sizes [64, 1, 64] to %Qs
        : memref<?x?x64xf16, strided<[?, 64, 1], offset: ?>> to memref<64x64xf16, #tile.shared>
      tile.fill %out, %zero : memref<64x64xf32, #tile.fragment>
      tile.fill %max, %lowest : memref<64xf32, #tile.fragment>
      tile.fill %sum, %zero : memref<64xf32, #tile.fragment>

      tile.pipelined %at = %c0 to %keys step %c64 stages(2) {
        tile.copy %k[%at, %h, 0] sizes [64, 1, 64] to %Ks
          : memref<?x?x64xf16, strided<[?, 64, 1], offset: ?>> to memref<64x64xf16, #tile.shared>
        tile.copy %v[%at, %h, 0] sizes [64, 1, 64] to %Vs
          : memref<?x?x64xf16, strided<[?, 64, 1], offset: ?>> to memref<64x64xf16, #tile.shared>
        tile.gemm %Qs, %Ks, %scores transpose_b clear
          : memref<64x64xf16, #tile.shared>, memref<64x64xf16, #tile.shared>,
            memref<64x64xf32, #tile.fragment>
        %left = arith.subi %keys, %at : index
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
        tile.parallel (%i) in (64) {
          %old = memref.load %max[%i] : memref<64xf32, #tile.fragment>
          %new = memref.load %newMax[%i] : memref<64xf32, #tile.fragment>
          // m = -inf: no score above -inf yet; see flash_attention.mlir.
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
        tile.parallel (%i, %j) in (64, 64) {
          %s = memref.load %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
          %from = memref.load %shift[%i] : memref<64xf32, #tile.fragment>
          %distance = arith.subf %s, %from : f32
          %p = math.exp2 %distance : f32
          memref.store %p, %scores[%i, %j] : memref<64x64xf32, #tile.fragment>
        }
        tile.reduce sum %scores along 1 into %sum accumulate
          : memref<64x64xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
        tile.parallel (%i, %d) in (64, 64) {
          %x = memref.load %out[%i, %d] : memref<64x64xf32, #tile.fragment>
          %factor = memref.load %shrink[%i] : memref<64xf32, #tile.fragment>
          %scaled = arith.mulf %x, %factor : f32
          memref.store %scaled, %out[%i, %d] : memref<64x64xf32, #tile.fragment>
        }
        // Tensor cores take f16 on both sides.
        tile.copy %scores to %probabilities
          : memref<64x64xf32, #tile.fragment> to memref<64x64xf16, #tile.fragment>
        tile.gemm %probabilities, %Vs, %out
          : memref<64x64xf16, #tile.fragment>, memref<64x64xf16, #tile.shared>,
            memref<64x64xf32, #tile.fragment>
      }

      tile.parallel (%i, %d) in (64, 64) {
        %l = memref.load %sum[%i] : memref<64xf32, #tile.fragment>
        %nothing = arith.cmpf oeq, %l, %zero : f32
        %divisor = arith.select %nothing, %one, %l : f32
        %x = memref.load %out[%i, %d] : memref<64x64xf32, #tile.fragment>
        %normal = arith.divf %x, %divisor : f32
        memref.store %normal, %out[%i, %d] : memref<64x64xf32, #tile.fragment>
      }
      tile.copy %out to %o[%row, %h, 0] sizes [64, 1, 64]
        : memref<64x64xf32, #tile.fragment> to memref<?x?x64xf16, strided<[?, 64, 1], offset: ?>>
    }
  }
  return
}

func.func @flash_attention_varlen_reference(
    %Q: memref<?x?x64xf64>, %K: memref<?x?x64xf64>, %V: memref<?x?x64xf64>,
    %cu_q: memref<?xi32>, %cu_k: memref<?xi32>, %longest: i32,
    %O: memref<?x?x64xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %lowest = arith.constant 0xFFF0000000000000 : f64
  %heads = memref.dim %Q, %c1 : memref<?x?x64xf64>
  %starts = memref.dim %cu_q, %c0 : memref<?xi32>
  %sequences = arith.subi %starts, %c1 : index
  scf.for %b = %c0 to %sequences step %c1 {
    %next = arith.addi %b, %c1 : index
    %q0 = memref.load %cu_q[%b] : memref<?xi32>
    %q1 = memref.load %cu_q[%next] : memref<?xi32>
    %k0 = memref.load %cu_k[%b] : memref<?xi32>
    %k1 = memref.load %cu_k[%next] : memref<?xi32>
    %fromQ = arith.index_cast %q0 : i32 to index
    %toQ = arith.index_cast %q1 : i32 to index
    %fromK = arith.index_cast %k0 : i32 to index
    %toK = arith.index_cast %k1 : i32 to index
    scf.parallel (%i, %h) = (%fromQ, %c0) to (%toQ, %heads) step (%c1, %c1) {
      %max = scf.for %j = %fromK to %toK step %c1 iter_args(%m = %lowest) -> f64 {
        %s = func.call @score(%Q, %K, %h, %i, %j)
          : (memref<?x?x64xf64>, memref<?x?x64xf64>, index, index, index) -> f64
        %larger = arith.maximumf %m, %s : f64
        scf.yield %larger : f64
      }
      // A row whose scores are all -inf counts as one that sees nothing.
      %none = arith.cmpf oeq, %max, %lowest : f64
      %from = arith.select %none, %zero, %max : f64
      scf.for %d = %c0 to %c64 step %c1 {
        memref.store %zero, %O[%i, %h, %d] : memref<?x?x64xf64>
      }
      %sum = scf.for %j = %fromK to %toK step %c1 iter_args(%l = %zero) -> f64 {
        %s = func.call @score(%Q, %K, %h, %i, %j)
          : (memref<?x?x64xf64>, memref<?x?x64xf64>, index, index, index) -> f64
        %distance = arith.subf %s, %from : f64
        %p = math.exp %distance : f64
        scf.for %d = %c0 to %c64 step %c1 {
          %v = memref.load %V[%j, %h, %d] : memref<?x?x64xf64>
          %o = memref.load %O[%i, %h, %d] : memref<?x?x64xf64>
          %product = arith.mulf %p, %v : f64
          %total = arith.addf %o, %product : f64
          memref.store %total, %O[%i, %h, %d] : memref<?x?x64xf64>
        }
        %more = arith.addf %l, %p : f64
        scf.yield %more : f64
      }
      %nothing = arith.cmpf oeq, %sum, %zero : f64
      %divisor = arith.select %nothing, %one, %sum : f64
      scf.for %d = %c0 to %c64 step %c1 {
        %o = memref.load %O[%i, %h, %d] : memref<?x?x64xf64>
        %normal = arith.divf %o, %divisor : f64
        memref.store %normal, %O[%i, %h, %d] : memref<?x?x64xf64>
      }
      scf.reduce
    }
  }
  return
}

func.func private @score(%Q: memref<?x?x64xf64>, %K: memref<?x?x64xf64>,
                         %h: index, %i: index, %j: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f64
  %scale = arith.constant 0.125 : f64 // 1 / sqrt(64)
  %dot = scf.for %d = %c0 to %c64 step %c1 iter_args(%sum = %zero) -> f64 {
    %q = memref.load %Q[%i, %h, %d] : memref<?x?x64xf64>
    %k = memref.load %K[%j, %h, %d] : memref<?x?x64xf64>
    %product = arith.mulf %q, %k : f64
    %next = arith.addf %sum, %product fastmath<reassoc> : f64
    scf.yield %next : f64
  }
  %score = arith.mulf %dot, %scale : f64
  return %score : f64
}
