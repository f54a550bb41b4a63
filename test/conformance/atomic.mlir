// Accumulation in global memory, by many blocks at once.

// Every block adds its tile to one and the same, which starts at zero and
// reaches over the end of the buffer.
func.func @sum_of_tiles(
    %x: memref<?x20xi32> {tile.name = "x", tile.default = "randint(-1000,1000):50x20xi32"},
    %sum: memref<?xi32> {tile.name = "sum", tile.default = "zeros:17xi32"},
    %most: memref<?xi64> {tile.name = "most", tile.default = "full(-5000):20xi64"},
    %least: memref<?xf32> {tile.name = "least", tile.default = "full(5000):20xf32"})
    attributes {tile.reference = @sum_of_tiles_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x20xi32>
  tile.launch blocks(%b) in (%n) {
    %t = tile.alloc_fragment : memref<20xi32, #tile.fragment>
    %f = tile.alloc_shared : memref<20xf32, #tile.shared>
    tile.copy %x[%b, 0] to %t : memref<?x20xi32> to memref<20xi32, #tile.fragment>
    tile.copy %t to %f : memref<20xi32, #tile.fragment> to memref<20xf32, #tile.shared>
    tile.atomic_add %t to %sum[0] : memref<20xi32, #tile.fragment> to memref<?xi32>
    tile.atomic_max %t to %most[0] : memref<20xi32, #tile.fragment> to memref<?xi64>
    tile.atomic_min %f to %least[0] : memref<20xf32, #tile.shared> to memref<?xf32>
  }
  return
}
func.func @sum_of_tiles_reference(%x: memref<?x20xi32>, %sum: memref<?xi32>, %most: memref<?xi64>, %least: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x20xi32>
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 17 {
      %v = affine.load %x[%i, %j] : memref<?x20xi32>
      %old = affine.load %sum[%j] : memref<?xi32>
      %new = arith.addi %old, %v : i32
      affine.store %new, %sum[%j] : memref<?xi32>
    }
    affine.for %j = 0 to 20 {
      %v = affine.load %x[%i, %j] : memref<?x20xi32>
      %wide = arith.extsi %v : i32 to i64
      %old = affine.load %most[%j] : memref<?xi64>
      %new = arith.maxsi %old, %wide : i64
      affine.store %new, %most[%j] : memref<?xi64>
      %real = arith.sitofp %v : i32 to f64
      %low = affine.load %least[%j] : memref<?xf64>
      %lower = arith.minimumf %low, %real : f64
      affine.store %lower, %least[%j] : memref<?xf64>
    }
  }
  return
}

// Floats of every width that can be added, small integers so that the order
// does not matter; unsigned maxima.
func.func @element_types(
    %x: memref<64x8xi32> {tile.name = "x", tile.default = "randint(-4,5):64x8xi32"},
    %d: memref<8xf64> {tile.name = "d", tile.default = "zeros:8xf64"},
    %h: memref<8xf16> {tile.name = "h", tile.default = "zeros:8xf16"},
    %bf: memref<8xbf16> {tile.name = "bf", tile.default = "zeros:8xbf16"},
    %u: memref<8xi32> {tile.name = "u", tile.default = "zeros:8xi32"})
    attributes {tile.reference = @element_types_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c64 = arith.constant 64 : index
  tile.launch blocks(%b) in (%c64) {
    %t = tile.alloc_fragment : memref<8xi32, #tile.fragment>
    %f = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    %r = tile.alloc_fragment : memref<8xf16, #tile.fragment>
    tile.copy %x[%b, 0] to %t : memref<64x8xi32> to memref<8xi32, #tile.fragment>
    tile.copy %t to %f : memref<8xi32, #tile.fragment> to memref<8xf32, #tile.fragment>
    tile.copy %t to %r : memref<8xi32, #tile.fragment> to memref<8xf16, #tile.fragment>
    tile.atomic_add %f to %d : memref<8xf32, #tile.fragment> to memref<8xf64>
    tile.atomic_add %r to %h : memref<8xf16, #tile.fragment> to memref<8xf16>
    tile.atomic_add %f to %bf : memref<8xf32, #tile.fragment> to memref<8xbf16>
    tile.atomic_max %t to %u unsigned : memref<8xi32, #tile.fragment> to memref<8xi32>
  }
  return
}
func.func @element_types_reference(%x: memref<64x8xi32>, %d: memref<8xf64>, %h: memref<8xf64>, %bf: memref<8xf64>, %u: memref<8xi32>) {
  %zero = arith.constant 0.0 : f64
  %none = arith.constant 0 : i32
  affine.for %j = 0 to 8 {
    %r:2 = affine.for %i = 0 to 64 iter_args(%sum = %zero, %most = %none) -> (f64, i32) {
      %v = affine.load %x[%i, %j] : memref<64x8xi32>
      %real = arith.sitofp %v : i32 to f64
      %next = arith.addf %sum, %real : f64
      %greater = arith.maxui %most, %v : i32
      affine.yield %next, %greater : f64, i32
    }
    affine.store %r#0, %d[%j] : memref<8xf64>
    affine.store %r#0, %h[%j] : memref<8xf64>
    affine.store %r#0, %bf[%j] : memref<8xf64>
    affine.store %r#1, %u[%j] : memref<8xi32>
  }
  return
}

// One element at a time in an elementwise loop; what lies outside is dropped,
// and its old value reads as zero.
func.func @scalars(
    %x: memref<?xi32> {tile.name = "x", tile.default = "randint(-3,20):1000xi32"},
    %bins: memref<?xi32> {tile.name = "bins", tile.default = "zeros:16xi32"},
    %old: memref<?xi32> {tile.name = "old", tile.default = "empty:x[0]xi32"})
    attributes {tile.reference = @scalars_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %sixteen = arith.constant 16 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  %g = arith.ceildivsi %n, %c64 : index
  tile.launch blocks(%b) in (%g) {
    %base = arith.muli %b, %c64 : index
    tile.parallel (%i) in (64) {
      %at = arith.addi %base, %i : index
      %exists = arith.cmpi ult, %at, %n : index
      scf.if %exists {
        %v = memref.load %x[%at] : memref<?xi32>
        %bin = arith.index_cast %v : i32 to index
        %was = memref.atomic_rmw addi %one, %bins[%bin] : (i32, memref<?xi32>) -> i32
        %inside = arith.cmpi ult, %v, %sixteen : i32
        %shown = arith.select %inside, %zero, %was : i32
        memref.store %shown, %old[%at] : memref<?xi32>
      }
    }
  }
  return
}
func.func @scalars_reference(%x: memref<?xi32>, %bins: memref<?xi32>, %old: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %sixteen = arith.constant 16 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xi32>
    affine.store %zero, %old[%i] : memref<?xi32>
    %inside = arith.cmpi ult, %v, %sixteen : i32
    scf.if %inside {
      %bin = arith.index_cast %v : i32 to index
      %was = memref.load %bins[%bin] : memref<?xi32>
      %is = arith.addi %was, %one : i32
      memref.store %is, %bins[%bin] : memref<?xi32>
    }
  }
  return
}

// What has no instruction: products, and any function of a float.
func.func @products(
    %y: memref<8xf32> {tile.name = "y", tile.default = "ones:8xf32"},
    %z: memref<8xi32> {tile.name = "z", tile.default = "ones:8xi32"},
    %h: memref<8xf16> {tile.name = "h", tile.default = "zeros:8xf16"},
    %old: memref<1xi64> {tile.name = "old", tile.default = "zeros:1xi64"})
    attributes {tile.reference = @products_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c20 = arith.constant 20 : index
  tile.launch blocks(%b) in (%c20) {
    %two = arith.constant 2.0 : f32
    %three = arith.constant 3 : i32
    %one = arith.constant 1.0 : f16
    tile.parallel (%i) in (16) {
      %a = memref.atomic_rmw mulf %two, %y[%i] : (f32, memref<8xf32>) -> f32
      %c = memref.atomic_rmw muli %three, %z[%i] : (i32, memref<8xi32>) -> i32
      %d = memref.generic_atomic_rmw %h[%i] : memref<8xf16> {
      ^bb0(%x: f16):
        %s = arith.addf %x, %one : f16
        memref.atomic_yield %s : f16
      }
      // Each old value but the outside ones, which are zero, is seen once.
      %t = arith.fptosi %d : f16 to i64
      %u = memref.atomic_rmw addi %t, %old[%c0] : (i64, memref<1xi64>) -> i64
    }
  }
  return
}
func.func @products_reference(%y: memref<8xf64>, %z: memref<8xi32>, %h: memref<8xf64>, %old: memref<1xi64>) {
  %two_to_20 = arith.constant 1048576.0 : f64
  // 3^20 modulo 2^32.
  %three_to_20 = arith.constant -808182895 : i32
  %twenty = arith.constant 20.0 : f64
  // 8 * (0 + 1 + ... + 19)
  %sum = arith.constant 1520 : i64
  linalg.fill ins(%two_to_20 : f64) outs(%y : memref<8xf64>)
  linalg.fill ins(%three_to_20 : i32) outs(%z : memref<8xi32>)
  linalg.fill ins(%twenty : f64) outs(%h : memref<8xf64>)
  linalg.fill ins(%sum : i64) outs(%old : memref<1xi64>)
  return
}

// Elements that an instruction on the way would change: subnormal numbers of bf16; and beside the update a row of no
// power of two, which only moves.
func.func @subnormal(
    %x: memref<1x33xbf16> {tile.name = "x", tile.default = "full(1.0e-39):1x33xbf16"},
    %y: memref<1x33xbf16> {tile.name = "y", tile.default = "full(1.0e-39):1x33xbf16"},
    %z: memref<1x33xbf16> {tile.name = "z", tile.default = "empty:1x33xbf16"})
    attributes {tile.reference = @subnormal_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_fragment : memref<1x33xbf16, #tile.fragment>
    tile.copy %x to %s : memref<1x33xbf16> to memref<1x33xbf16, #tile.fragment>
    tile.atomic_add %s to %y[0, 0] : memref<1x33xbf16, #tile.fragment> to memref<1x33xbf16>
    tile.copy %s to %z : memref<1x33xbf16, #tile.fragment> to memref<1x33xbf16>
  }
  return
}
func.func @subnormal_reference(%x: memref<1x33xbf16>, %y: memref<1x33xf64>, %z: memref<1x33xf64>) {
  linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : memref<1x33xbf16>) outs(%y, %z : memref<1x33xf64>, memref<1x33xf64>) {
  ^bb0(%v: bf16, %a: f64, %c: f64):
    %w = arith.extf %v : bf16 to f64
    %twice = arith.addf %w, %w : f64
    linalg.yield %twice, %w : f64, f64
  }
  return
}
