// Kernels that memory bounds, on rows of 8192 in f16: one block takes one row and
// keeps it in registers.

func.func @softmax(%x: memref<?x8192xf16>, %y: memref<?x8192xf16>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8192xf16>
  tile.launch blocks(%row) in (%rows) threads(512) fastmath<afn, contract> {
    %v = tile.alloc_fragment : memref<8192xf32, #tile.fragment>
    %max = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    %c0_ = arith.constant 0 : index
    %log2e = arith.constant 1.44269504 : f32
    %one = arith.constant 1.0 : f32
    tile.copy %x[%row, 0] sizes [1, 8192] to %v : memref<?x8192xf16> to memref<8192xf32, #tile.fragment>
    tile.reduce max %v along 0 into %max : memref<8192xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
    tile.parallel (%i) in (8192) {
      %a = memref.load %v[%i] : memref<8192xf32, #tile.fragment>
      %m = memref.load %max[%c0_] : memref<1xf32, #tile.fragment>
      %d = arith.subf %a, %m : f32
      %s = arith.mulf %d, %log2e : f32
      %e = math.exp2 %s : f32
      memref.store %e, %v[%i] : memref<8192xf32, #tile.fragment>
    }
    tile.reduce sum %v along 0 into %sum : memref<8192xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
    tile.parallel (%i) in (8192) {
      %a = memref.load %v[%i] : memref<8192xf32, #tile.fragment>
      %s = memref.load %sum[%c0_] : memref<1xf32, #tile.fragment>
      %r = arith.divf %one, %s : f32
      %e = arith.mulf %a, %r : f32
      memref.store %e, %v[%i] : memref<8192xf32, #tile.fragment>
    }
    tile.copy %v to %y[%row, 0] sizes [1, 8192] : memref<8192xf32, #tile.fragment> to memref<?x8192xf16>
  }
  return
}

func.func @layernorm(%x: memref<?x8192xf16>, %w: memref<8192xf16>, %b: memref<8192xf16>, %y: memref<?x8192xf16>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8192xf16>
  tile.launch blocks(%row) in (%rows) threads(256) fastmath<afn, contract> {
    %v = tile.alloc_fragment : memref<8192xf32, #tile.fragment>
    %q = tile.alloc_fragment : memref<8192xf32, #tile.fragment>
    %mean = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    %var = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    %c0_ = arith.constant 0 : index
    %inv = arith.constant 1.220703125e-04 : f32
    %eps = arith.constant 1.0e-05 : f32
    tile.copy %x[%row, 0] sizes [1, 8192] to %v : memref<?x8192xf16> to memref<8192xf32, #tile.fragment>
    tile.reduce sum %v along 0 into %mean : memref<8192xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
    tile.parallel (%i) in (8192) {
      %a = memref.load %v[%i] : memref<8192xf32, #tile.fragment>
      %s = memref.load %mean[%c0_] : memref<1xf32, #tile.fragment>
      %m = arith.mulf %s, %inv : f32
      %d = arith.subf %a, %m : f32
      %sq = arith.mulf %d, %d : f32
      memref.store %d, %v[%i] : memref<8192xf32, #tile.fragment>
      memref.store %sq, %q[%i] : memref<8192xf32, #tile.fragment>
    }
    tile.reduce sum %q along 0 into %var : memref<8192xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
    tile.parallel (%i) in (8192) {
      %d = memref.load %v[%i] : memref<8192xf32, #tile.fragment>
      %s = memref.load %var[%c0_] : memref<1xf32, #tile.fragment>
      %va = arith.mulf %s, %inv : f32
      %ve = arith.addf %va, %eps : f32
      %r = math.rsqrt %ve : f32
      %n = arith.mulf %d, %r : f32
      %wv = memref.load %w[%i] : memref<8192xf16>
      %bv = memref.load %b[%i] : memref<8192xf16>
      %wf = arith.extf %wv : f16 to f32
      %bf = arith.extf %bv : f16 to f32
      %t = arith.mulf %n, %wf : f32
      %u = arith.addf %t, %bf : f32
      %o = arith.truncf %u : f32 to f16
      memref.store %o, %y[%row, %i] : memref<?x8192xf16>
    }
  }
  return
}

func.func @rmsnorm(%x: memref<?x8192xf16>, %w: memref<8192xf16>, %y: memref<?x8192xf16>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8192xf16>
  tile.launch blocks(%row) in (%rows) threads(512) fastmath<afn, contract> {
    %v = tile.alloc_fragment : memref<8192xf32, #tile.fragment>
    %q = tile.alloc_fragment : memref<8192xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    %c0_ = arith.constant 0 : index
    %inv = arith.constant 1.220703125e-04 : f32
    %eps = arith.constant 1.0e-06 : f32
    tile.copy %x[%row, 0] sizes [1, 8192] to %v : memref<?x8192xf16> to memref<8192xf32, #tile.fragment>
    tile.parallel (%i) in (8192) {
      %a = memref.load %v[%i] : memref<8192xf32, #tile.fragment>
      %sq = arith.mulf %a, %a : f32
      memref.store %sq, %q[%i] : memref<8192xf32, #tile.fragment>
    }
    tile.reduce sum %q along 0 into %sum : memref<8192xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
    tile.parallel (%i) in (8192) {
      %a = memref.load %v[%i] : memref<8192xf32, #tile.fragment>
      %s = memref.load %sum[%c0_] : memref<1xf32, #tile.fragment>
      %m = arith.mulf %s, %inv : f32
      %me = arith.addf %m, %eps : f32
      %r = math.rsqrt %me : f32
      %n = arith.mulf %a, %r : f32
      %wv = memref.load %w[%i] : memref<8192xf16>
      %wf = arith.extf %wv : f16 to f32
      %u = arith.mulf %n, %wf : f32
      %o = arith.truncf %u : f32 to f16
      memref.store %o, %y[%row, %i] : memref<?x8192xf16>
    }
  }
  return
}

func.func @add(%x: memref<?x8192xf16>, %y: memref<?x8192xf16>, %z: memref<?x8192xf16>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8192xf16>
  tile.launch blocks(%row) in (%rows) threads(512) {
    tile.parallel (%i) in (8192) {
      %a = memref.load %x[%row, %i] : memref<?x8192xf16>
      %b = memref.load %y[%row, %i] : memref<?x8192xf16>
      %s = arith.addf %a, %b : f16
      memref.store %s, %z[%row, %i] : memref<?x8192xf16>
    }
  }
  return
}

func.func @copy(%x: memref<?x8192xf16>, %z: memref<?x8192xf16>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8192xf16>
  tile.launch blocks(%row) in (%rows) threads(512) {
    tile.parallel (%i) in (8192) {
      %a = memref.load %x[%row, %i] : memref<?x8192xf16>
      memref.store %a, %z[%row, %i] : memref<?x8192xf16>
    }
  }
  return
}

// A block takes 16 rows of the matrix, four a warp, and walks along them.

func.func @gemv(%A: memref<?x?xf16>, %x: memref<?xf16>, %y: memref<?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %grid = arith.ceildivsi %M, %c16 : index
  tile.launch blocks(%b) in (%grid) threads(128) fastmath<contract> {
    %row = arith.muli %b, %c16 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc_fragment : memref<16x512xf16, #tile.fragment>
    %v = tile.alloc_fragment : memref<512xf16, #tile.fragment>
    %products = tile.alloc_fragment : memref<16x512xf32, #tile.fragment>
    %sums = tile.alloc_fragment : memref<16xf32, #tile.fragment>
    tile.fill %products, %zero : memref<16x512xf32, #tile.fragment>
    scf.for %k = %c0 to %K step %c512 {
      tile.copy %A[%row, %k] to %a : memref<?x?xf16> to memref<16x512xf16, #tile.fragment>
      tile.copy %x[%k] to %v : memref<?xf16> to memref<512xf16, #tile.fragment>
      tile.parallel (%i, %j) in (16, 512) {
        %s = memref.load %products[%i, %j] : memref<16x512xf32, #tile.fragment>
        %p = memref.load %a[%i, %j] : memref<16x512xf16, #tile.fragment>
        %q = memref.load %v[%j] : memref<512xf16, #tile.fragment>
        %pf = arith.extf %p : f16 to f32
        %qf = arith.extf %q : f16 to f32
        %pq = arith.mulf %pf, %qf : f32
        %t = arith.addf %s, %pq : f32
        memref.store %t, %products[%i, %j] : memref<16x512xf32, #tile.fragment>
      }
    }
    tile.reduce sum %products along 1 into %sums : memref<16x512xf32, #tile.fragment> into memref<16xf32, #tile.fragment>
    tile.copy %sums to %y[%row] : memref<16xf32, #tile.fragment> to memref<?xf16>
  }
  return
}
