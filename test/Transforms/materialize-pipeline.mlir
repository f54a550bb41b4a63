// RUN: tile-opt %s -tile-materialize-pipeline -split-input-file | FileCheck %s

// Three stages: two groups in front, a wait that leaves one in flight, the next
// copy behind the product. Behind the loop none is in flight, and the ring ends.
// CHECK-LABEL: func.func @gemm
// CHECK: %[[RING:.*]] = tile.alloc_shared : memref<3x64x32xf16, #tile.shared>
// CHECK-NOT: gpu.barrier
// CHECK-COUNT-2: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: gpu.barrier
// CHECK: memref.subview %[[RING]]
// CHECK: tile.gemm
// CHECK: scf.if
// CHECK: tile.copy {{.*}} async
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: memref.dealloc %[[RING]]
// CHECK-NOT: nvvm.cp.async
// CHECK: return
func.func @gemm(%A: memref<?x32xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.launch blocks(%b) in (%n) threads(128) {
    %As = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %n step %c64 stages(3) {
      tile.copy %A[%k, 0] to %As : memref<?x32xf16> to memref<64x32xf16, #tile.shared>
      tile.gemm %As, %As, %C transpose_b
        : memref<64x32xf16, #tile.shared>, memref<64x32xf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
  }
  return
}

// -----

// Around it another loop: what its last iteration read is overwritten.
// CHECK-LABEL: func.func @nested
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: tile.copy {{.*}} async
// CHECK: scf.for
func.func @nested(%A: memref<?x32xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.launch blocks(%b) in (%n) threads(128) {
    %As = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    scf.for %i = %c0 to %n step %c1 {
      tile.pipelined %k = %c0 to %n step %c64 stages(3) {
        tile.copy %A[%k, 0] to %As : memref<?x32xf16> to memref<64x32xf16, #tile.shared>
        tile.gemm %As, %As, %C transpose_b
          : memref<64x32xf16, #tile.shared>, memref<64x32xf16, #tile.shared>,
            memref<64x64xf32, #tile.fragment>
      }
    }
  }
  return
}

// -----

// With one stage the loop runs as written.
// CHECK-LABEL: func.func @serial
// CHECK: scf.for
// CHECK-NEXT: tile.copy
// CHECK-NOT: async
func.func @serial(%A: memref<?x32xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  tile.launch blocks(%b) in (%n) threads(128) {
    %As = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    tile.pipelined %k = %c0 to %n stages(1) {
      tile.copy %A[%k, 0] to %As : memref<?x32xf16> to memref<64x32xf16, #tile.shared>
    }
  }
  return
}
