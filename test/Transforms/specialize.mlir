// RUN: tile-opt %s -tile-specialize | FileCheck %s --check-prefixes=CHECK,DEFAULT
// RUN: tile-opt %s -tile-specialize="values=block_m=128,stages=2" | FileCheck %s --check-prefixes=CHECK,GIVEN
// RUN: tile-opt %s -tile-specialize="function=other" | FileCheck %s --check-prefix=ONLY

// Values reach buffers, views, copies, gemms, reductions, loops, threads and
// stages; the requirement holds and goes away.
// ONLY-LABEL: func.func @family
// ONLY: tile.tunable "block_m"
// CHECK-LABEL: func.func @family
// CHECK-NOT: tile.tunable
// CHECK-NOT: tile.require
// DEFAULT: tile.launch blocks(%{{.*}}) in (%{{.*}}) threads(128)
// DEFAULT: tile.alloc_shared : memref<64x32xf16, #tile.shared>
// DEFAULT: tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
// DEFAULT: tile.pipelined {{.*}} stages(3)
// DEFAULT: tile.copy {{.*}} : memref<?x?xf16> to memref<64x32xf16, #tile.shared>
// DEFAULT: memref.subview {{.*}} : memref<64x32xf16, #tile.shared> to memref<32x32xf16, strided<[32, 1]>, #tile.shared>
// DEFAULT: tile.gemm {{.*}} : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>, memref<64x64xf32, #tile.fragment>
// DEFAULT: tile.reduce {{.*}} : memref<64x64xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
// DEFAULT: tile.parallel (%{{.*}}, %{{.*}}) in (64, 64)
// GIVEN: threads(256)
// GIVEN: tile.alloc_shared : memref<128x32xf16, #tile.shared>
// GIVEN: stages(2)
// GIVEN: memref.subview {{.*}} to memref<64x32xf16, strided<[32, 1]>, #tile.shared>
// GIVEN: tile.parallel (%{{.*}}, %{{.*}}) in (128, 64)
// CHECK-NOT: memref.cast
func.func @family(%A: memref<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %bm = tile.tunable "block_m" in [32, 64, 128] default(64)
  %st = tile.tunable "stages" in range(1, 5, 1) default(3)
  %threads = arith.muli %bm, %c2 : index
  %ok = arith.cmpi uge, %bm, %c32 : index
  tile.require %ok, "block_m must be at least 32"
  tile.launch blocks(%b) in (%n) threads(%threads) {
    %zero = arith.constant 0.0 : f16
    %S = tile.alloc_shared(%bm) : memref<?x32xf16, #tile.shared>
    %T = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %C = tile.alloc_fragment(%bm) : memref<?x64xf32, #tile.fragment>
    %m = tile.alloc_fragment(%bm) : memref<?xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %n stages(%st) {
      tile.copy %A[%b, %k] to %S : memref<?x?xf16> to memref<?x32xf16, #tile.shared>
      %half = arith.divui %bm, %c2 : index
      %V = memref.subview %S[0, 0] [%half, 32] [1, 1]
        : memref<?x32xf16, #tile.shared> to memref<?x32xf16, strided<[32, 1]>, #tile.shared>
      tile.fill %V, %zero : memref<?x32xf16, strided<[32, 1]>, #tile.shared>
      tile.gemm %S, %T, %C
        : memref<?x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>, memref<?x64xf32, #tile.fragment>
      tile.reduce max %C along 1 into %m
        : memref<?x64xf32, #tile.fragment> into memref<?xf32, #tile.fragment>
    }
    tile.parallel (%i, %j) in (%bm, 64) {
      %v = memref.load %C[%i, %j] : memref<?x64xf32, #tile.fragment>
      %w = arith.addf %v, %v : f32
      memref.store %w, %C[%i, %j] : memref<?x64xf32, #tile.fragment>
    }
  }
  return
}

// A function takes the values it has tunables for; block_m is none of its.
// ONLY-LABEL: func.func @other
// ONLY-NOT: tile.tunable
// CHECK-LABEL: func.func @other
// DEFAULT: %[[C:.*]] = arith.constant 3 : index
// GIVEN: %[[C:.*]] = arith.constant 2 : index
// CHECK: return %[[C]]
func.func @other() -> index {
  %st = tile.tunable "stages" in [2, 3] default(3)
  return %st : index
}
