// Roles, barriers and asynchronous ops, written by hand.

// One warp brings tiles into a ring of three, four multiply them; the two meet
// on full and empty barriers.
func.func @ring(
    %A: memref<?x?xf16> {tile.name = "A", tile.default = "randint(-3,4):70x165xf16"},
    %B: memref<?x?xf16> {tile.name = "B", tile.default = "randint(-3,4):165x90xf16"},
    %C: memref<?x?xf32> {tile.name = "C", tile.default = "empty:70x90xf32"})
    attributes {tile.reference = @ring_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %m = memref.dim %C, %c0 : memref<?x?xf32>
  %n = memref.dim %C, %c1 : memref<?x?xf32>
  %k = memref.dim %A, %c1 : memref<?x?xf16>
  %gx = arith.ceildivsi %m, %c64 : index
  %gy = arith.ceildivsi %n, %c64 : index
  %steps = arith.ceildivsi %k, %c32 : index
  tile.launch blocks(%bx, %by) in (%gx, %gy) {
    %c3 = arith.constant 3 : index
    %row = arith.muli %bx, %c64 : index
    %column = arith.muli %by, %c64 : index
    %As = tile.alloc_shared : memref<3x64x32xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<3x32x64xf16, #tile.shared>
    %full = tile.alloc_barrier arrivals(1) : !tile.barrier<3>
    %empty = tile.alloc_barrier arrivals(1) : !tile.barrier<3>
    tile.roles {
      tile.role producer warps(1) {
        %bytes = arith.constant 8192 : index
        scf.for %step = %c0 to %steps step %c1 {
          %slot = arith.remui %step, %c3 : index
          %phase = arith.divui %step, %c3 : index
          %before = arith.subi %phase, %c1 : index
          %at = arith.muli %step, %c32 : index
          %a = memref.subview %As[%slot, 0, 0] [1, 64, 32] [1, 1, 1] : memref<3x64x32xf16, #tile.shared> to memref<64x32xf16, strided<[32, 1], offset: ?>, #tile.shared>
          %b = memref.subview %Bs[%slot, 0, 0] [1, 32, 64] [1, 1, 1] : memref<3x32x64xf16, #tile.shared> to memref<32x64xf16, strided<[64, 1], offset: ?>, #tile.shared>
          tile.barrier_wait %empty[%slot], %before : !tile.barrier<3>
          tile.barrier_expect %full[%slot], %bytes : !tile.barrier<3>
          tile.copy_async %A[%row, %at] to %a signal %full[%slot]
            : memref<?x?xf16> to memref<64x32xf16, strided<[32, 1], offset: ?>, #tile.shared>, !tile.barrier<3>
          tile.copy_async %B[%at, %column] to %b signal %full[%slot]
            : memref<?x?xf16> to memref<32x64xf16, strided<[64, 1], offset: ?>, #tile.shared>, !tile.barrier<3>
        }
      }
      tile.role consumer warps(4) registers(168) {
        %zero = arith.constant 0.0 : f32
        %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
        tile.fill %acc, %zero : memref<64x64xf32, #tile.fragment>
        scf.for %step = %c0 to %steps step %c1 {
          %slot = arith.remui %step, %c3 : index
          %phase = arith.divui %step, %c3 : index
          %a = memref.subview %As[%slot, 0, 0] [1, 64, 32] [1, 1, 1] : memref<3x64x32xf16, #tile.shared> to memref<64x32xf16, strided<[32, 1], offset: ?>, #tile.shared>
          %b = memref.subview %Bs[%slot, 0, 0] [1, 32, 64] [1, 1, 1] : memref<3x32x64xf16, #tile.shared> to memref<32x64xf16, strided<[64, 1], offset: ?>, #tile.shared>
          tile.barrier_wait %full[%slot], %phase : !tile.barrier<3>
          tile.gemm_async %a, %b, %acc
            : memref<64x32xf16, strided<[32, 1], offset: ?>, #tile.shared>, memref<32x64xf16, strided<[64, 1], offset: ?>, #tile.shared>, memref<64x64xf32, #tile.fragment>
          tile.gemm_wait pending(0)
          tile.barrier_arrive %empty[%slot] : !tile.barrier<3>
        }
        tile.copy %acc to %C[%row, %column] : memref<64x64xf32, #tile.fragment> to memref<?x?xf32>
      }
    }
  }
  return
}
func.func @ring_reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>) outs(%C : memref<?x?xf64>)
  return
}

// Two roles of other widths that reduce at the same time, through scratch of
// their own, and what follows sees both results.
func.func @halves(
    %x: memref<2x500xf32> {tile.name = "x", tile.default = "randint(-9,10):2x500xf32"},
    %y: memref<1xf32> {tile.name = "y", tile.default = "empty:1xf32"})
    attributes {tile.reference = @halves_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %sums = tile.alloc_shared : memref<2xf32, #tile.shared>
    tile.roles {
      tile.role producer warps(2) {
        %t = tile.alloc_fragment : memref<500xf32, #tile.fragment>
        %s = tile.alloc_fragment : memref<1xf32, #tile.fragment>
        tile.copy %x[0, 0] sizes [1, 500] to %t : memref<2x500xf32> to memref<500xf32, #tile.fragment>
        tile.reduce sum %t along 0 into %s : memref<500xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
        tile.copy %s to %sums[0] : memref<1xf32, #tile.fragment> to memref<2xf32, #tile.shared>
      }
      tile.role consumer warps(3) {
        %t = tile.alloc_fragment : memref<500xf32, #tile.fragment>
        tile.copy %x[1, 0] sizes [1, 500] to %t : memref<2x500xf32> to memref<500xf32, #tile.fragment>
        tile.scan sum %t along 0 into %t : memref<500xf32, #tile.fragment> into memref<500xf32, #tile.fragment>
        %last = tile.alloc_shared : memref<500xf32, #tile.shared>
        tile.copy %t to %last : memref<500xf32, #tile.fragment> to memref<500xf32, #tile.shared>
        tile.copy %last[499] sizes [1] to %sums[1] : memref<500xf32, #tile.shared> to memref<2xf32, #tile.shared>
      }
    }
    %a = memref.load %sums[%c0] : memref<2xf32, #tile.shared>
    %d = memref.load %sums[%c1] : memref<2xf32, #tile.shared>
    %product = arith.mulf %a, %d : f32
    memref.store %product, %y[%c0] : memref<1xf32>
  }
  return
}
func.func @halves_reference(%x: memref<2x500xf64>, %y: memref<1xf64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %s:2 = affine.for %i = 0 to 500 iter_args(%a = %zero, %b = %zero) -> (f64, f64) {
    %u = affine.load %x[0, %i] : memref<2x500xf64>
    %v = affine.load %x[1, %i] : memref<2x500xf64>
    %c = arith.addf %a, %u : f64
    %d = arith.addf %b, %v : f64
    affine.yield %c, %d : f64, f64
  }
  %p = arith.mulf %s#0, %s#1 : f64
  memref.store %p, %y[%c0] : memref<1xf64>
  return
}

// Threads and lanes by upstream's ops: each thread stores its own, warps sum
// by butterflies, lane 0 of each tells.
func.func @warps(
    %x: memref<96xi32> {tile.name = "x", tile.default = "randint(-100,101):96xi32"},
    %y: memref<96xi32> {tile.name = "y", tile.default = "empty:96xi32"},
    %sums: memref<3xi32> {tile.name = "sums", tile.default = "empty:3xi32"})
    attributes {tile.reference = @warps_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) threads(96) {
    %s = tile.alloc_shared : memref<96xi32, #tile.shared>
    %width = arith.constant 32 : i32
    %c0 = arith.constant 0 : index
    %c95 = arith.constant 95 : index
    %c32 = arith.constant 32 : index
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<96xi32>
    memref.store %v, %s[%t] : memref<96xi32, #tile.shared>
    gpu.barrier
    %back = arith.subi %c95, %t : index
    %w = memref.load %s[%back] : memref<96xi32, #tile.shared>
    memref.store %w, %y[%t] : memref<96xi32>
    %lane = gpu.lane_id
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %four = arith.constant 4 : i32
    %eight = arith.constant 8 : i32
    %sixteen = arith.constant 16 : i32
    %v1, %p1 = gpu.shuffle xor %v, %one, %width : i32
    %s1 = arith.addi %v, %v1 : i32
    %v2, %p2 = gpu.shuffle xor %s1, %two, %width : i32
    %s2 = arith.addi %s1, %v2 : i32
    %v3, %p3 = gpu.shuffle xor %s2, %four, %width : i32
    %s3 = arith.addi %s2, %v3 : i32
    %v4, %p4 = gpu.shuffle xor %s3, %eight, %width : i32
    %s4 = arith.addi %s3, %v4 : i32
    %v5, %p5 = gpu.shuffle xor %s4, %sixteen, %width : i32
    %s5 = arith.addi %s4, %v5 : i32
    %isFirst = arith.cmpi eq, %lane, %c0 : index
    %warp = arith.divui %t, %c32 : index
    scf.if %isFirst {
      memref.store %s5, %sums[%warp] : memref<3xi32>
    }
  }
  return
}
func.func @warps_reference(%x: memref<96xi32>, %y: memref<96xi32>, %sums: memref<3xi32>) {
  %zero = arith.constant 0 : i32
  affine.for %i = 0 to 96 {
    %v = affine.load %x[%i] : memref<96xi32>
    affine.store %v, %y[95 - %i] : memref<96xi32>
  }
  affine.for %w = 0 to 3 {
    %s = affine.for %i = 0 to 32 iter_args(%a = %zero) -> i32 {
      %v = affine.load %x[%w * 32 + %i] : memref<96xi32>
      %n = arith.addi %a, %v : i32
      affine.yield %n : i32
    }
    affine.store %s, %sums[%w] : memref<3xi32>
  }
  return
}
