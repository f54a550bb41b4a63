// Attention forward, f16 with a head width of 128: 128 queries a block of four
// warps, 48 keys a step. Each warp keeps 32 whole rows, so that softmax stays
// inside it, the probabilities are the next product's operand as they are, and
// what it loads of K and V serves two rows of matrix instructions. With 64 keys
// registers spill.

func.func @attention(%Q: memref<?x?x?x128xf16>, %K: memref<?x?x?x128xf16>, %V: memref<?x?x?x128xf16>, %O: memref<?x?x?x128xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c48 = arith.constant 48 : index
  %c128 = arith.constant 128 : index
  %batches = memref.dim %Q, %c0 : memref<?x?x?x128xf16>
  %heads = memref.dim %Q, %c1 : memref<?x?x?x128xf16>
  %queries = memref.dim %Q, %c2 : memref<?x?x?x128xf16>
  %keys = memref.dim %K, %c2 : memref<?x?x?x128xf16>
  %tiles = arith.ceildivsi %queries, %c128 : index
  tile.launch blocks(%bx, %h, %b) in (%tiles, %heads, %batches) threads(128) fastmath<contract, afn, nnan> {
    %row = arith.muli %bx, %c128 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %lowest = arith.constant -1.0e+30 : f32
    // log2(e) / sqrt(128)
    %scale = arith.constant 0.127517432 : f32
    %Qs = tile.alloc_shared : memref<128x128xf16, #tile.shared>
    %Ks = tile.alloc_shared : memref<48x128xf16, #tile.shared>
    %Vs = tile.alloc_shared : memref<48x128xf16, #tile.shared>
    %S = tile.alloc_fragment : memref<128x48xf32, #tile.fragment>
    %P = tile.alloc_fragment : memref<128x48xf16, #tile.fragment>
    %acc = tile.alloc_fragment : memref<128x128xf32, #tile.fragment>
    %max = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    %old = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    %shrink = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    tile.copy %Q[%b, %h, %row, 0] to %Qs : memref<?x?x?x128xf16> to memref<128x128xf16, #tile.shared>
    tile.fill %acc, %zero : memref<128x128xf32, #tile.fragment>
    tile.fill %max, %lowest : memref<128xf32, #tile.fragment>
    tile.fill %sum, %zero : memref<128xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %keys step %c48 stages(2) {
      tile.copy %K[%b, %h, %k, 0] to %Ks : memref<?x?x?x128xf16> to memref<48x128xf16, #tile.shared>
      tile.copy %V[%b, %h, %k, 0] to %Vs : memref<?x?x?x128xf16> to memref<48x128xf16, #tile.shared>
      tile.gemm %Qs, %Ks, %S transpose_b clear policy(full_row)
        : memref<128x128xf16, #tile.shared>, memref<48x128xf16, #tile.shared>, memref<128x48xf32, #tile.fragment>
      %left = arith.subi %keys, %k : index
      %partial = arith.cmpi slt, %left, %c48 : index
      scf.if %partial {
        // In 32 bits, since registers are what this kernel lacks.
        %left32 = arith.index_cast %left : index to i32
        tile.parallel (%i, %j) in (128, 48) {
          %s = memref.load %S[%i, %j] : memref<128x48xf32, #tile.fragment>
          %j32 = arith.index_cast %j : index to i32
          %seen = arith.cmpi slt, %j32, %left32 : i32
          %m = arith.select %seen, %s, %lowest : f32
          memref.store %m, %S[%i, %j] : memref<128x48xf32, #tile.fragment>
        }
      }
      tile.copy %max to %old : memref<128xf32, #tile.fragment> to memref<128xf32, #tile.fragment>
      tile.reduce max %S along 1 into %max accumulate : memref<128x48xf32, #tile.fragment> into memref<128xf32, #tile.fragment>
      tile.parallel (%i) in (128) {
        %o = memref.load %old[%i] : memref<128xf32, #tile.fragment>
        %n = memref.load %max[%i] : memref<128xf32, #tile.fragment>
        %d = arith.subf %o, %n : f32
        %sd = arith.mulf %d, %scale : f32
        %e = math.exp2 %sd : f32
        memref.store %e, %shrink[%i] : memref<128xf32, #tile.fragment>
        %l = memref.load %sum[%i] : memref<128xf32, #tile.fragment>
        %ls = arith.mulf %l, %e : f32
        memref.store %ls, %sum[%i] : memref<128xf32, #tile.fragment>
      }
      tile.parallel (%i, %j) in (128, 48) {
        %s = memref.load %S[%i, %j] : memref<128x48xf32, #tile.fragment>
        %m = memref.load %max[%i] : memref<128xf32, #tile.fragment>
        %sm = arith.mulf %s, %scale : f32
        %mm = arith.mulf %m, %scale : f32
        %d = arith.subf %sm, %mm : f32
        %e = math.exp2 %d : f32
        memref.store %e, %S[%i, %j] : memref<128x48xf32, #tile.fragment>
      }
      tile.reduce sum %S along 1 into %sum accumulate : memref<128x48xf32, #tile.fragment> into memref<128xf32, #tile.fragment>
      tile.copy %S to %P : memref<128x48xf32, #tile.fragment> to memref<128x48xf16, #tile.fragment>
      tile.parallel (%i, %j) in (128, 128) {
        %a = memref.load %acc[%i, %j] : memref<128x128xf32, #tile.fragment>
        %e = memref.load %shrink[%i] : memref<128xf32, #tile.fragment>
        %s = arith.mulf %a, %e : f32
        memref.store %s, %acc[%i, %j] : memref<128x128xf32, #tile.fragment>
      }
      tile.gemm %P, %Vs, %acc policy(full_row)
        : memref<128x48xf16, #tile.fragment>, memref<48x128xf16, #tile.shared>, memref<128x128xf32, #tile.fragment>
    }
    tile.parallel (%i, %j) in (128, 128) {
      %a = memref.load %acc[%i, %j] : memref<128x128xf32, #tile.fragment>
      %s = memref.load %sum[%i] : memref<128xf32, #tile.fragment>
      %r = arith.divf %one, %s : f32
      %n = arith.mulf %a, %r : f32
      memref.store %n, %acc[%i, %j] : memref<128x128xf32, #tile.fragment>
    }
    tile.copy %acc to %O[%b, %h, %row, 0] : memref<128x128xf32, #tile.fragment> to memref<?x?x?x128xf16>
  }
  return
}

// Query i sees keys up to i + keys - queries.

func.func @attention_causal(%Q: memref<?x?x?x128xf16>, %K: memref<?x?x?x128xf16>, %V: memref<?x?x?x128xf16>, %O: memref<?x?x?x128xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c48 = arith.constant 48 : index
  %c128 = arith.constant 128 : index
  %batches = memref.dim %Q, %c0 : memref<?x?x?x128xf16>
  %heads = memref.dim %Q, %c1 : memref<?x?x?x128xf16>
  %queries = memref.dim %Q, %c2 : memref<?x?x?x128xf16>
  %keys = memref.dim %K, %c2 : memref<?x?x?x128xf16>
  %tiles = arith.ceildivsi %queries, %c128 : index
  tile.launch blocks(%h, %bx, %b) in (%heads, %tiles, %batches) threads(128) fastmath<contract, afn, nnan> {
    // The longest rows of all heads first, so that the last blocks to run are
    // short ones.
    %last = arith.subi %tiles, %c1 : index
    %at = arith.subi %last, %bx : index
    %row = arith.muli %at, %c128 : index
    %ahead = arith.subi %keys, %queries : index
    %first = arith.addi %row, %ahead : index
    %behind = arith.addi %first, %c128 : index
    %end = arith.minsi %behind, %keys : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %lowest = arith.constant -1.0e+30 : f32
    // log2(e) / sqrt(128)
    %scale = arith.constant 0.127517432 : f32
    %Qs = tile.alloc_shared : memref<128x128xf16, #tile.shared>
    %Ks = tile.alloc_shared : memref<48x128xf16, #tile.shared>
    %Vs = tile.alloc_shared : memref<48x128xf16, #tile.shared>
    %S = tile.alloc_fragment : memref<128x48xf32, #tile.fragment>
    %P = tile.alloc_fragment : memref<128x48xf16, #tile.fragment>
    %acc = tile.alloc_fragment : memref<128x128xf32, #tile.fragment>
    %max = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    %old = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    %shrink = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    tile.copy %Q[%b, %h, %row, 0] to %Qs : memref<?x?x?x128xf16> to memref<128x128xf16, #tile.shared>
    tile.fill %acc, %zero : memref<128x128xf32, #tile.fragment>
    tile.fill %max, %lowest : memref<128xf32, #tile.fragment>
    tile.fill %sum, %zero : memref<128xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %end step %c48 stages(2) {
      tile.copy %K[%b, %h, %k, 0] to %Ks : memref<?x?x?x128xf16> to memref<48x128xf16, #tile.shared>
      tile.copy %V[%b, %h, %k, 0] to %Vs : memref<?x?x?x128xf16> to memref<48x128xf16, #tile.shared>
      tile.gemm %Qs, %Ks, %S transpose_b clear policy(full_row)
        : memref<128x128xf16, #tile.shared>, memref<48x128xf16, #tile.shared>, memref<128x48xf32, #tile.fragment>
      %left = arith.subi %first, %k : index
      %partial = arith.cmpi slt, %left, %c48 : index
      scf.if %partial {
        // In 32 bits, since registers are what this kernel lacks.
        %left32 = arith.index_cast %left : index to i32
        tile.parallel (%i, %j) in (128, 48) {
          %s = memref.load %S[%i, %j] : memref<128x48xf32, #tile.fragment>
          %i32 = arith.index_cast %i : index to i32
          %j32 = arith.index_cast %j : index to i32
          %limit = arith.addi %i32, %left32 : i32
          %seen = arith.cmpi sle, %j32, %limit : i32
          %m = arith.select %seen, %s, %lowest : f32
          memref.store %m, %S[%i, %j] : memref<128x48xf32, #tile.fragment>
        }
      }
      tile.copy %max to %old : memref<128xf32, #tile.fragment> to memref<128xf32, #tile.fragment>
      tile.reduce max %S along 1 into %max accumulate : memref<128x48xf32, #tile.fragment> into memref<128xf32, #tile.fragment>
      tile.parallel (%i) in (128) {
        %o = memref.load %old[%i] : memref<128xf32, #tile.fragment>
        %n = memref.load %max[%i] : memref<128xf32, #tile.fragment>
        %d = arith.subf %o, %n : f32
        %sd = arith.mulf %d, %scale : f32
        %e = math.exp2 %sd : f32
        memref.store %e, %shrink[%i] : memref<128xf32, #tile.fragment>
        %l = memref.load %sum[%i] : memref<128xf32, #tile.fragment>
        %ls = arith.mulf %l, %e : f32
        memref.store %ls, %sum[%i] : memref<128xf32, #tile.fragment>
      }
      tile.parallel (%i, %j) in (128, 48) {
        %s = memref.load %S[%i, %j] : memref<128x48xf32, #tile.fragment>
        %m = memref.load %max[%i] : memref<128xf32, #tile.fragment>
        %sm = arith.mulf %s, %scale : f32
        %mm = arith.mulf %m, %scale : f32
        %d = arith.subf %sm, %mm : f32
        %e = math.exp2 %d : f32
        memref.store %e, %S[%i, %j] : memref<128x48xf32, #tile.fragment>
      }
      tile.reduce sum %S along 1 into %sum accumulate : memref<128x48xf32, #tile.fragment> into memref<128xf32, #tile.fragment>
      tile.copy %S to %P : memref<128x48xf32, #tile.fragment> to memref<128x48xf16, #tile.fragment>
      tile.parallel (%i, %j) in (128, 128) {
        %a = memref.load %acc[%i, %j] : memref<128x128xf32, #tile.fragment>
        %e = memref.load %shrink[%i] : memref<128xf32, #tile.fragment>
        %s = arith.mulf %a, %e : f32
        memref.store %s, %acc[%i, %j] : memref<128x128xf32, #tile.fragment>
      }
      tile.gemm %P, %Vs, %acc policy(full_row)
        : memref<128x48xf16, #tile.fragment>, memref<48x128xf16, #tile.shared>, memref<128x128xf32, #tile.fragment>
    }
    tile.parallel (%i, %j) in (128, 128) {
      %a = memref.load %acc[%i, %j] : memref<128x128xf32, #tile.fragment>
      %s = memref.load %sum[%i] : memref<128xf32, #tile.fragment>
      %r = arith.divf %one, %s : f32
      %n = arith.mulf %a, %r : f32
      memref.store %n, %acc[%i, %j] : memref<128x128xf32, #tile.fragment>
    }
    tile.copy %acc to %O[%b, %h, %row, 0] : memref<128x128xf32, #tile.fragment> to memref<?x?x?x128xf16>
  }
  return
}
