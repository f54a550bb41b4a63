// RUN: tile-opt %s --tile-guard-accesses | FileCheck %s

// A load runs where its index is inside and gives zero elsewhere.
// CHECK-LABEL: func.func @load
func.func @load(%x: memref<?xf32>, %i: index) -> f32 {
  // CHECK: %[[INSIDE:.*]] = arith.andi
  // CHECK: %[[VALUE:.*]] = scf.if %[[INSIDE]] -> (f32) {
  // CHECK-NEXT: memref.load
  // CHECK: } else {
  // CHECK: func.call @__tile_cpu_report
  // CHECK: %[[ZERO:.*]] = arith.constant 0.0
  // CHECK-NEXT: scf.yield %[[ZERO]]
  // CHECK-NOT: cf.assert
  // CHECK: return %[[VALUE]]
  %v = memref.load %x[%i] : memref<?xf32>
  return %v : f32
}

// An op on whole buffers is one access: its body is left alone.
// CHECK-LABEL: func.func @copy
func.func @copy(%x: memref<?xf32>, %y: memref<?xf32>) {
  // CHECK: scf.if
  // CHECK-NEXT: linalg.copy
  linalg.copy ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// Accesses of a launch have bounds of their own.
// CHECK-LABEL: func.func @launches
// CHECK-NOT: scf.if
func.func @launches(%x: memref<?xf32>, %i: index) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %x[%b] : memref<?xf32>
  }
  return
}
