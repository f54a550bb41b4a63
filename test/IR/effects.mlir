// Effects follow memory spaces and regions: what a pass may merge, drop or must
// keep.
// RUN: tile-opt %s --cse --canonicalize --split-input-file | FileCheck %s

// Naming a buffer changes no memory: loads around it are merged.
// CHECK-LABEL: func.func @merged
func.func @merged(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: %[[V:.*]] = memref.load
    %v = memref.load %x[%b] : memref<?xf32>
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    // CHECK-NOT: memref.load
    %w = memref.load %x[%b] : memref<?xf32>
    // CHECK: arith.addf %[[V]], %[[V]]
    %z = arith.addf %v, %w : f32
    tile.fill %s, %z : memref<8xf32, #tile.shared>
    tile.copy %s to %y[%b] : memref<8xf32, #tile.shared> to memref<?xf32>
  }
  return
}

// -----

// A copy to global memory may change what a load gives.
// CHECK-LABEL: func.func @kept
func.func @kept(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    // CHECK: memref.load
    %v = memref.load %x[%b] : memref<?xf32>
    // CHECK: tile.copy
    tile.copy %s to %x[%b] : memref<8xf32, #tile.shared> to memref<?xf32>
    // CHECK: memref.load
    %w = memref.load %x[%b] : memref<?xf32>
    %z = arith.addf %v, %w : f32
    memref.store %z, %y[%b] : memref<?xf32>
  }
  return
}

// -----

// A loop that only reads has no effect and goes away; one that writes stays.
// CHECK-LABEL: func.func @loops
func.func @loops(%n: index, %x: memref<?xf32>) {
  // CHECK: tile.launch
  tile.launch blocks(%b) in (%n) {
    // CHECK-NOT: tile.pipelined
    tile.pipelined %k = %b to %n {
      %v = memref.load %x[%k] : memref<?xf32>
    }
    // CHECK-NEXT: tile.parallel
    tile.parallel (%i) in (8) {
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %x[%b] : memref<?xf32>
    }
  }
  // CHECK-NOT: tile.launch
  tile.launch blocks(%b) in (%n) {
    tile.parallel (%i) in (8) {
      %v = memref.load %x[%i] : memref<?xf32>
    }
  }
  return
}

// -----

// Two gemms in a row are two accumulations.
// CHECK-LABEL: func.func @accumulation
func.func @accumulation(%n: index, %y: memref<?x?xf32>) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4x4xf32, #tile.shared>
    %C = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    // CHECK-COUNT-2: tile.gemm
    tile.gemm %A, %A, %C : memref<4x4xf32, #tile.shared>, memref<4x4xf32, #tile.shared>, memref<4x4xf32, #tile.fragment>
    tile.gemm %A, %A, %C : memref<4x4xf32, #tile.shared>, memref<4x4xf32, #tile.shared>, memref<4x4xf32, #tile.fragment>
    tile.copy %C to %y[%b, 0] : memref<4x4xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}
