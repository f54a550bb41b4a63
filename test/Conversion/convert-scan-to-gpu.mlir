// RUN: tile-opt %s -tile-infer-layouts -tile-plan-shared-memory -tile-insert-sync -convert-tile-to-gpu -split-input-file | FileCheck %s

// Many short lines: few lanes take each, and meet by shuffles.
// CHECK: gpu.module @short_kernels
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-3: gpu.shuffle up
// CHECK-NOT: gpu.barrier
// CHECK: gpu.barrier
// CHECK: gpu.return
func.func @short(%n: index) {
  tile.launch blocks(%b) in (%n) threads(128) {
    %x = tile.alloc_fragment : memref<32x16xf32, #tile.fragment>
    tile.scan sum %x along 1 into %x : memref<32x16xf32, #tile.fragment> into memref<32x16xf32, #tile.fragment>
  }
  return
}

// -----

// One long line: all warps take it, and meet in shared memory.
// CHECK: gpu.module @long_kernels
// CHECK-COUNT-6: gpu.shuffle up
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: arith.maximumf
// CHECK-COUNT-1: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
func.func @long(%n: index) {
  tile.launch blocks(%b) in (%n) threads(128) {
    %x = tile.alloc_fragment : memref<4096xf32, #tile.fragment>
    tile.scan max %x along 0 into %x reverse exclusive : memref<4096xf32, #tile.fragment> into memref<4096xf32, #tile.fragment>
  }
  return
}

// -----

// Of two lines, the second one's results of the warps wait for the readers of the
// first one's.
// CHECK: gpu.module @two_kernels
// CHECK-COUNT-6: gpu.shuffle up
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: arith.maximumf
// CHECK-COUNT-2: gpu.barrier
// CHECK: gpu.return
func.func @two(%n: index) {
  tile.launch blocks(%b) in (%n) threads(128) {
    %x = tile.alloc_fragment : memref<2x2048xf32, #tile.fragment>
    tile.scan max %x along 1 into %x : memref<2x2048xf32, #tile.fragment> into memref<2x2048xf32, #tile.fragment>
  }
  return
}
