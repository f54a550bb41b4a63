// RUN: tile-opt %s -tile-expand-persistent -split-input-file | FileCheck %s

// A block takes each tile whose number is its own modulo the number of blocks,
// row by row.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[W:.*]]: index, %[[M:.*]]: index, %[[N:.*]]: index, %[[Y:.*]]: memref
// CHECK: tile.launch blocks(%[[B:.*]]) in (%[[W]])
// CHECK: %[[ROWS:.*]] = arith.maxsi %[[M]]
// CHECK: %[[COLUMNS:.*]] = arith.maxsi %[[N]]
// CHECK: %[[COUNT:.*]] = arith.muli %[[ROWS]], %[[COLUMNS]]
// CHECK: scf.for %[[T:.*]] = %[[B]] to %[[COUNT]] step %[[W]]
// CHECK: %[[I:.*]] = arith.divui %[[T]], %[[COLUMNS]]
// CHECK: %[[J:.*]] = arith.remui %[[T]], %[[COLUMNS]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[I]], %[[J]]]
func.func @rows(%w: index, %m: index, %n: index, %y: memref<?x?xf32>) {
  tile.launch blocks(%b) in (%w) {
    %zero = arith.constant 0.0 : f32
    tile.persistent (%i, %j) in (%m, %n) {
      memref.store %zero, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// -----

// In bands of four columns the last band may be narrower.
// CHECK-LABEL: func.func @bands
// CHECK: scf.for
// CHECK: arith.subi
// CHECK: %[[WIDTH:.*]] = arith.minsi
// CHECK: arith.divui %{{.*}}, %[[WIDTH]]
// CHECK: arith.remui %{{.*}}, %[[WIDTH]]
func.func @bands(%w: index, %m: index, %n: index, %y: memref<?x?xf32>) {
  tile.launch blocks(%b) in (%w) {
    %zero = arith.constant 0.0 : f32
    tile.persistent (%i, %j) in (%m, %n) raster(column, 4) {
      memref.store %zero, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
