// Attention of one new query a head to a long cache of keys, which is split.
//
// Decoding has one query for each head, so a block for each head would leave
// most of the machine idle. The keys are divided among `splits` blocks a head;
// each computes softmax(q K^T / sqrt(64)) V over its own part, with the maximum m
// and the sum l of exp(score - m), and leaves (m, l, unnormalised o) in a
// workspace. The second launch brings the parts to one maximum and adds them up:
//
//   o = sum of exp(m_s - m) o_s / sum of exp(m_s - m) l_s,  m = max of m_s

func.func @flash_decoding(
    %q: memref<?x64xf16> {tile.name = "q", tile.default = "randn:12x64xf16"},
    %K: memref<?x?x64xf16> {tile.name = "K", tile.default = "randn:q[0]x1000x64xf16"},
    %V: memref<?x?x64xf16> {tile.name = "V", tile.default = "randn:q[0]xK[1]x64xf16"},
    %o: memref<?x64xf32> {tile.name = "o", tile.default = "empty:q[0]x64xf32"})
    attributes {tile.reference = @flash_decoding_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-5, atol = 1.0e-5, rtol = 1.0e-4>,
                tile.flops = "4 * q[0] * K[1] * 64",
                tile.bytes = "4 * q[0] * K[1] * 64"} {
  %splits = tile.tunable "splits" in [1, 2, 4, 8, 16] default(8)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %heads = memref.dim %q, %c0 : memref<?x64xf16>
  %keys = memref.dim %K, %c1 : memref<?x?x64xf16>
  %tiles = arith.ceildivsi %keys, %c64 : index
  %tilesPerPart = arith.ceildivsi %tiles, %splits : index
  %part = arith.muli %tilesPerPart, %c64 : index
  %partMax = tile.alloc_global(%heads, %splits) : memref<?x?xf32>
  %partSum = tile.alloc_global(%heads, %splits) : memref<?x?xf32>
  %partOut = tile.alloc_global(%heads, %splits) : memref<?x?x64xf32>

  tile.launch blocks(%s, %h) in (%splits, %heads) threads(128) {
    %from = arith.muli %s, %part : index
    %end = arith.addi %from, %part : index
    %to = arith.minsi %end, %keys : index
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32 // -inf
    %scale = arith.constant 0.125 : f32
    %Ks = tile.alloc_shared : memref<64x64xf16, #tile.shared>
    %Vs = tile.alloc_shared : memref<64x64xf16, #tile.shared>
    %qs = tile.alloc_shared : memref<64xf32, #tile.shared>
    %terms = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %scores = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %max = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    %newMax = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    %out = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    tile.copy %q[%h, 0] sizes [1, 64] to %qs
      : memref<?x64xf16> to memref<64xf32, #tile.shared>
    tile.fill %max, %lowest : memref<1xf32, #tile.fragment>
    tile.fill %sum, %zero : memref<1xf32, #tile.fragment>
    tile.fill %out, %zero : memref<64xf32, #tile.fragment>

    tile.pipelined %k = %from to %to step %c64 stages(2) {
      tile.copy %K[%h, %k, 0] to %Ks
        : memref<?x?x64xf16> to memref<64x64xf16, #tile.shared>
      tile.copy %V[%h, %k, 0] to %Vs
        : memref<?x?x64xf16> to memref<64x64xf16, #tile.shared>
      // The product with one row is a sum of products.
      tile.parallel (%i, %d) in (64, 64) {
        %kh = memref.load %Ks[%i, %d] : memref<64x64xf16, #tile.shared>
        %kv = arith.extf %kh : f16 to f32
        %qv = memref.load %qs[%d] : memref<64xf32, #tile.shared>
        %p = arith.mulf %kv, %qv : f32
        memref.store %p, %terms[%i, %d] : memref<64x64xf32, #tile.fragment>
      }
      tile.reduce sum %terms along 1 into %scores
        : memref<64x64xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
      %left = arith.subi %to, %k : index
      tile.parallel (%i) in (64) {
        %s0 = memref.load %scores[%i] : memref<64xf32, #tile.fragment>
        %s1 = arith.mulf %s0, %scale : f32
        %seen = arith.cmpi slt, %i, %left : index
        %s2 = arith.select %seen, %s1, %lowest : f32
        memref.store %s2, %scores[%i] : memref<64xf32, #tile.fragment>
      }
      tile.copy %max to %newMax
        : memref<1xf32, #tile.fragment> to memref<1xf32, #tile.fragment>
      tile.reduce max %scores along 0 into %newMax accumulate
        : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
      // Every tile of the loop has a key, so the maximum is a number.
      tile.parallel (%i) in (64) {
        %m = memref.load %newMax[%c0] : memref<1xf32, #tile.fragment>
        %old = memref.load %max[%c0] : memref<1xf32, #tile.fragment>
        %s0 = memref.load %scores[%i] : memref<64xf32, #tile.fragment>
        %distance = arith.subf %s0, %m : f32
        %p = math.exp %distance : f32
        memref.store %p, %scores[%i] : memref<64xf32, #tile.fragment>
        %shrink0 = arith.subf %old, %m : f32
        %shrink = math.exp %shrink0 : f32
        %o0 = memref.load %out[%i] : memref<64xf32, #tile.fragment>
        %o1 = arith.mulf %o0, %shrink : f32
        memref.store %o1, %out[%i] : memref<64xf32, #tile.fragment>
      }
      tile.parallel (%i) in (1) {
        %m = memref.load %newMax[%i] : memref<1xf32, #tile.fragment>
        %old = memref.load %max[%i] : memref<1xf32, #tile.fragment>
        %shrink0 = arith.subf %old, %m : f32
        %shrink = math.exp %shrink0 : f32
        %l0 = memref.load %sum[%i] : memref<1xf32, #tile.fragment>
        %l1 = arith.mulf %l0, %shrink : f32
        memref.store %l1, %sum[%i] : memref<1xf32, #tile.fragment>
        memref.store %m, %max[%i] : memref<1xf32, #tile.fragment>
      }
      tile.reduce sum %scores along 0 into %sum accumulate
        : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
      tile.parallel (%i, %d) in (64, 64) {
        %p = memref.load %scores[%i] : memref<64xf32, #tile.fragment>
        %vh = memref.load %Vs[%i, %d] : memref<64x64xf16, #tile.shared>
        %v = arith.extf %vh : f16 to f32
        %pv = arith.mulf %p, %v : f32
        memref.store %pv, %terms[%i, %d] : memref<64x64xf32, #tile.fragment>
      }
      tile.reduce sum %terms along 0 into %out accumulate
        : memref<64x64xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
    }
    tile.copy %max to %partMax[%h, %s]
      : memref<1xf32, #tile.fragment> to memref<?x?xf32>
    tile.copy %sum to %partSum[%h, %s]
      : memref<1xf32, #tile.fragment> to memref<?x?xf32>
    tile.copy %out to %partOut[%h, %s, 0]
      : memref<64xf32, #tile.fragment> to memref<?x?x64xf32>
  }

  tile.launch blocks(%h) in (%heads) threads(64) {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    // A part without keys has m = -inf and then a weight of zero.
    tile.parallel (%d) in (64) {
      %m = scf.for %s = %c0 to %splits step %c1 iter_args(%most = %lowest) -> f32 {
        %ms = memref.load %partMax[%h, %s] : memref<?x?xf32>
        %next = arith.maximumf %most, %ms : f32
        scf.yield %next : f32
      }
      %r:2 = scf.for %s = %c0 to %splits step %c1 iter_args(%l = %zero, %acc = %zero) -> (f32, f32) {
        %ms = memref.load %partMax[%h, %s] : memref<?x?xf32>
        %ls = memref.load %partSum[%h, %s] : memref<?x?xf32>
        %os = memref.load %partOut[%h, %s, %d] : memref<?x?x64xf32>
        %distance = arith.subf %ms, %m : f32
        %weight = math.exp %distance : f32
        %lw = arith.mulf %ls, %weight : f32
        %ow = arith.mulf %os, %weight : f32
        %l1 = arith.addf %l, %lw : f32
        %o1 = arith.addf %acc, %ow : f32
        scf.yield %l1, %o1 : f32, f32
      }
      %result = arith.divf %r#1, %r#0 : f32
      memref.store %result, %o[%h, %d] : memref<?x64xf32>
    }
  }
  return
}

func.func @flash_decoding_reference(
    %q: memref<?x64xf64>, %K: memref<?x?x64xf64>, %V: memref<?x?x64xf64>,
    %o: memref<?x64xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %lowest = arith.constant 0xFFF0000000000000 : f64
  %scale = arith.constant 0.125 : f64
  %heads = memref.dim %q, %c0 : memref<?x64xf64>
  %keys = memref.dim %K, %c1 : memref<?x?x64xf64>
  %scores = memref.alloc(%keys) : memref<?xf64>
  affine.for %h = 0 to %heads {
    %m = affine.for %k = 0 to %keys iter_args(%most = %lowest) -> f64 {
      %dot = affine.for %d = 0 to 64 iter_args(%sum = %zero) -> f64 {
        %a = affine.load %q[%h, %d] : memref<?x64xf64>
        %b = affine.load %K[%h, %k, %d] : memref<?x?x64xf64>
        %p = arith.mulf %a, %b : f64
        %next = arith.addf %sum, %p : f64
        affine.yield %next : f64
      }
      %s = arith.mulf %dot, %scale : f64
      affine.store %s, %scores[%k] : memref<?xf64>
      %next = arith.maximumf %most, %s : f64
      affine.yield %next : f64
    }
    %l = affine.for %k = 0 to %keys iter_args(%sum = %zero) -> f64 {
      %s = affine.load %scores[%k] : memref<?xf64>
      %distance = arith.subf %s, %m : f64
      %p = math.exp %distance : f64
      affine.store %p, %scores[%k] : memref<?xf64>
      %next = arith.addf %sum, %p : f64
      affine.yield %next : f64
    }
    affine.for %d = 0 to 64 {
      %acc = affine.for %k = 0 to %keys iter_args(%sum = %zero) -> f64 {
        %p = affine.load %scores[%k] : memref<?xf64>
        %v = affine.load %V[%h, %k, %d] : memref<?x?x64xf64>
        %pv = arith.mulf %p, %v : f64
        %next = arith.addf %sum, %pv : f64
        affine.yield %next : f64
      }
      %result = arith.divf %acc, %l : f64
      affine.store %result, %o[%h, %d] : memref<?x64xf64>
    }
  }
  memref.dealloc %scores : memref<?xf64>
  return
}
