// RUN: tile-opt %s -tile-materialize-pipeline -tile-infer-layouts -tile-pipeline-operands -split-input-file -verify-diagnostics | FileCheck %s

// Two steps along K: the first is loaded in front of the loop, the second while
// the first is multiplied, and the next iteration's first behind the barrier,
// in front of the last product.
// CHECK-LABEL: func.func @gemm
// CHECK: %[[A0:.*]] = tile.alloc_fragment : memref<64x16xf16
// CHECK: %[[A1:.*]] = tile.alloc_fragment : memref<64x16xf16
// CHECK: %[[B0:.*]] = tile.alloc_fragment : memref<16x64xf16
// CHECK: %[[B1:.*]] = tile.alloc_fragment : memref<16x64xf16
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: tile.copy %{{.*}}[0, 0] to %[[A0]]
// CHECK: tile.copy %{{.*}}[0, 0] to %[[B0]]
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
// CHECK: tile.copy %{{.*}}[0, 16] to %[[A1]]
// CHECK: tile.copy %{{.*}}[16, 0] to %[[B1]]
// CHECK: tile.gemm %[[A0]], %[[B0]]
// CHECK: tile.copy {{.*}} async
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: gpu.barrier
// CHECK: arith.select
// CHECK: tile.copy %{{.*}}[0, 0] to %[[A0]]
// CHECK: tile.copy %{{.*}}[0, 0] to %[[B0]]
// CHECK: tile.gemm %[[A1]], %[[B1]]
// CHECK: memref.dealloc
func.func @gemm(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  tile.launch blocks(%b) in (%n) threads(128) {
    %As = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %n step %c32 stages(3) {
      tile.copy %A[0, %k] to %As : memref<?x?xf16> to memref<64x32xf16, #tile.shared>
      tile.copy %B[%k, 0] to %Bs : memref<?x?xf16> to memref<32x64xf16, #tile.shared>
      tile.gemm %As, %Bs, %C
        : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
  }
  return
}

// -----

// One step has no other to take turns with.
// CHECK-LABEL: func.func @odd
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: tile.gemm
func.func @odd(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  tile.launch blocks(%b) in (%n) threads(128) {
    %As = tile.alloc_shared : memref<64x16xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<16x64xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    // expected-remark @below {{does not load operands an iteration ahead: the number of steps along K is odd}}
    tile.pipelined %k = %c0 to %n step %c16 stages(3) {
      tile.copy %A[0, %k] to %As : memref<?x?xf16> to memref<64x16xf16, #tile.shared>
      tile.copy %B[%k, 0] to %Bs : memref<?x?xf16> to memref<16x64xf16, #tile.shared>
      tile.gemm %As, %Bs, %C
        : memref<64x16xf16, #tile.shared>, memref<16x64xf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
  }
  return
}
