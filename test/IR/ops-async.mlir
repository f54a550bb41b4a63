// Roles, barriers and asynchronous ops in every form of their assembly, and that
// nothing moves across a wait.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --cse --canonicalize | FileCheck %s --check-prefix=FENCE

// CHECK-LABEL: func.func @barriers
// CHECK-SAME: (%[[A:.*]]: memref<?x?xf16>, %[[N:.*]]: index)
func.func @barriers(%a: memref<?x?xf16>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: %[[S:.*]] = tile.alloc_shared
    %s = tile.alloc_shared : memref<8x16xf16, #tile.shared>
    // CHECK: %[[FULL:.*]] = tile.alloc_barrier arrivals(1) : !tile.barrier<3>
    %full = tile.alloc_barrier arrivals(1) : !tile.barrier<3>
    // CHECK: %[[ONE:.*]] = tile.alloc_barrier arrivals(2) {test.note} : !tile.barrier
    %one = tile.alloc_barrier arrivals(2) {test.note} : !tile.barrier<1>
    // CHECK: tile.barrier_expect %[[FULL]][%bx], %[[N]] : !tile.barrier<3>
    tile.barrier_expect %full[%b], %n : !tile.barrier<3>
    // CHECK: tile.copy_async %[[A]][%bx, 0] to %[[S]] signal %[[FULL]][%bx] : memref<?x?xf16> to memref<8x16xf16, #tile.shared>, !tile.barrier<3>
    tile.copy_async %a[%b, 0] to %s signal %full[%b] : memref<?x?xf16> to memref<8x16xf16, #tile.shared>, !tile.barrier<3>
    // CHECK: tile.copy_async %[[A]][%bx, 0] sizes [4, 16] to %[[S]][4, 0] signal %[[FULL]][%bx] cache(evict_first) : memref
    tile.copy_async %a[%b, 0] sizes [4, 16] to %s[4, 0] signal %full[%b] cache(evict_first) : memref<?x?xf16> to memref<8x16xf16, #tile.shared>, !tile.barrier<3>
    // CHECK: tile.barrier_wait %[[FULL]][%bx], %[[N]] : !tile.barrier<3>
    tile.barrier_wait %full[%b], %n : !tile.barrier<3>
    // CHECK: tile.barrier_arrive %[[ONE]][%bx] : !tile.barrier
    tile.barrier_arrive %one[%b] : !tile.barrier
  }
  return
}

// CHECK-LABEL: func.func @products
func.func @products(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<8x16xf16, #tile.shared>
    %B = tile.alloc_shared : memref<4x16xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<8x4xf32, #tile.fragment>
    // CHECK: tile.gemm_async %{{.*}}, %{{.*}}, %{{.*}} transpose_b clear policy(square) : memref
    tile.gemm_async %A, %B, %C transpose_b clear policy(square) : memref<8x16xf16, #tile.shared>, memref<4x16xf16, #tile.shared>, memref<8x4xf32, #tile.fragment>
    // CHECK: tile.gemm_wait pending(1)
    tile.gemm_wait pending(1)
  }
  return
}

// CHECK-LABEL: func.func @roles
func.func @roles(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: tile.roles {
    tile.roles {
      // CHECK-NEXT: tile.role producer warps(4) registers(24) {
      tile.role producer warps(4) registers(24) {
      }
      // CHECK: tile.role consumer warps(8) attributes {test.note} {
      tile.role consumer warps(8) attributes {test.note} {
      }
    }
  }
  return
}

// What is loaded before a wait may have changed after it.
// FENCE-LABEL: func.func @fence
func.func @fence(%n: index, %y: memref<?xf32>) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    %full = tile.alloc_barrier arrivals(1) : !tile.barrier
    %c0 = arith.constant 0 : index
    // FENCE: memref.load
    %v = memref.load %s[%b] : memref<8xf32, #tile.shared>
    // FENCE: tile.barrier_wait
    tile.barrier_wait %full[%c0], %c0 : !tile.barrier
    // FENCE: memref.load
    %w = memref.load %s[%b] : memref<8xf32, #tile.shared>
    // FENCE: tile.barrier_arrive
    tile.barrier_arrive %full[%c0] : !tile.barrier
    // FENCE: memref.load
    %u = memref.load %s[%b] : memref<8xf32, #tile.shared>
    %x = arith.addf %v, %w : f32
    %z = arith.addf %x, %u : f32
    memref.store %z, %y[%b] : memref<?xf32>
  }
  return
}
