// What canonicalisation does to tile ops, one claim a function.
// RUN: tile-opt %s --canonicalize --split-input-file | FileCheck %s

// A constant number of threads or stages becomes part of the op.
// CHECK-LABEL: func.func @constants
func.func @constants(%n: index, %x: memref<?xf32>) {
  %c128 = arith.constant 128 : index
  %c3 = arith.constant 3 : index
  // CHECK: tile.launch blocks(%bx) in (%{{.*}}) threads(128) {
  tile.launch blocks(%b) in (%n) threads(%c128) {
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    // CHECK: tile.pipelined %k = %{{.*}} to %{{.*}} stages(3) {
    tile.pipelined %k = %b to %n stages(%c3) {
      tile.copy %x[%k] to %s : memref<?xf32> to memref<8xf32, #tile.shared>
      tile.copy %s to %x[%k] : memref<8xf32, #tile.shared> to memref<?xf32>
    }
  }
  return
}

// -----

// A constant the verifier would refuse stays a value: canonicalisation never
// makes a program invalid.
// CHECK-LABEL: func.func @bad_constants
func.func @bad_constants(%n: index, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c-1 = arith.constant -1 : index
  %v = arith.constant 0.0 : f32
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[M1:.*]] = arith.constant -1 : index
  tile.launch blocks(%b) in (%n) {
    // CHECK: tile.pipelined {{.*}} stages(%[[C0]]) {
    tile.pipelined %k = %b to %n stages(%c0) {
      // CHECK: tile.parallel (%i) in (%[[M1]]) {
      tile.parallel (%i) in (%c-1) {
        memref.store %v, %x[%i] : memref<?xf32>
      }
    }
  }
  return
}

// -----

// A launch, a loop or a box that is empty in range or body goes away.
// CHECK-LABEL: func.func @empty
// CHECK-NEXT: return
func.func @empty(%n: index, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %v = arith.constant 0.0 : f32
  tile.launch blocks(%b) in (%n) {
  }
  tile.launch blocks(%b, %c) in (%n, %c0) {
    memref.store %v, %x[%b] : memref<?xf32>
  }
  tile.launch blocks(%b) in (%n) {
    tile.pipelined %k = %c4 to %c4 {
      memref.store %v, %x[%b] : memref<?xf32>
    }
    tile.parallel (%i, %j) in (%n, 0) {
      memref.store %v, %x[%i] : memref<?xf32>
    }
    tile.parallel (%i) in (%c0) {
      memref.store %v, %x[%i] : memref<?xf32>
    }
    tile.parallel (%i) in (%n) {
    }
    tile.pipelined %k = %b to %n {
    }
  }
  return
}

// -----

// Constant extents become part of the box, the others stay in order.
// CHECK-LABEL: func.func @extents
// CHECK-SAME: (%[[N:.*]]: index
func.func @extents(%n: index, %x: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  %v = arith.constant 0.0 : f32
  tile.launch blocks(%b) in (%n) {
    // CHECK: tile.parallel (%i, %j, %k) in (4, %[[N]], 2) {
    tile.parallel (%i, %j, %k) in (%c4, %n, 2) {
      memref.store %v, %x[%j] : memref<?xf32>
    }
  }
  return
}

// -----

// A constant size becomes a static extent of the buffer and of every op that
// uses it.
// CHECK-LABEL: func.func @sizes
// CHECK-SAME: (%[[N:.*]]: index
func.func @sizes(%n: index, %x: memref<?x?xf32>) {
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %v = arith.constant 0.0 : f32
  tile.launch blocks(%b) in (%n) {
    // CHECK: %[[A:.*]] = tile.alloc_shared : memref<8x4xf32, #tile.shared>
    %A = tile.alloc_shared(%c8, %c4) : memref<?x?xf32, #tile.shared>
    // CHECK: %[[B:.*]] = tile.alloc_shared(%[[N]]) : memref<4x?xf32, #tile.shared>
    %B = tile.alloc_shared(%c4, %n) : memref<?x?xf32, #tile.shared>
    // CHECK: %[[C:.*]] = tile.alloc_fragment(%[[N]]) : memref<8x?xf32, #tile.fragment>
    %C = tile.alloc_fragment(%n) : memref<8x?xf32, #tile.fragment>
    // CHECK: %[[R:.*]] = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    %R = tile.alloc_fragment(%c8) : memref<?xf32, #tile.fragment>
    // CHECK: tile.copy %{{.*}}[0, %bx] to %[[A]] : memref<?x?xf32> to memref<8x4xf32, #tile.shared>
    tile.copy %x[0, %b] to %A : memref<?x?xf32> to memref<?x?xf32, #tile.shared>
    // CHECK: tile.fill %[[B]], %{{.*}} : memref<4x?xf32, #tile.shared>
    tile.fill %B, %v : memref<?x?xf32, #tile.shared>
    // CHECK: tile.gemm %[[A]], %[[B]], %[[C]] clear : memref<8x4xf32, #tile.shared>, memref<4x?xf32, #tile.shared>, memref<8x?xf32, #tile.fragment>
    tile.gemm %A, %B, %C clear : memref<?x?xf32, #tile.shared>, memref<?x?xf32, #tile.shared>, memref<8x?xf32, #tile.fragment>
    // CHECK: tile.reduce max %[[C]] along 1 into %[[R]] : memref<8x?xf32, #tile.fragment> into memref<8xf32, #tile.fragment>
    tile.reduce max %C along 1 into %R : memref<8x?xf32, #tile.fragment> into memref<?xf32, #tile.fragment>
    tile.copy %R to %x[%b, 0] : memref<?xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}

// -----

// Constant offsets become part of the copy; a side without offsets stays without.
// CHECK-LABEL: func.func @offsets
func.func @offsets(%n: index, %x: memref<?x?xf32>) {
  %c8 = arith.constant 8 : index
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4x4xf32, #tile.shared>
    // CHECK: tile.copy %{{.*}}[8, %bx] to %[[A:.*]] : memref<?x?xf32> to
    tile.copy %x[%c8, %b] to %A : memref<?x?xf32> to memref<4x4xf32, #tile.shared>
    // CHECK: tile.copy %[[A]] to %{{.*}}[%bx, 8] : memref
    tile.copy %A to %x[%b, %c8] : memref<4x4xf32, #tile.shared> to memref<?x?xf32>
  }
  return
}

// -----

// A buffer nobody uses goes away; so does one whose effects nobody sees.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: tile.alloc
func.func @unused(%n: index, %x: memref<?xf32>) {
  %v = arith.constant 0.0 : f32
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4xf32, #tile.shared>
    %B = tile.alloc_fragment(%n) : memref<?xf32, #tile.fragment>
    %C = tile.alloc_local : memref<4xf32, #tile.local>
    memref.store %v, %x[%b] : memref<?xf32>
  }
  return
}
