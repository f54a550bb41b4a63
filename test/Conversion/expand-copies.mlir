// RUN: tile-opt %s --tile-expand-copies --split-input-file | FileCheck %s

// A copy of which one side is strided becomes one that has a loop.
// CHECK-LABEL: func.func @strided
// CHECK: linalg.copy ins(%arg0 : memref<4x4xf32, strided<[?, 1]>>) outs(%arg1 : memref<4x4xf32>)
// CHECK-NOT: memref.copy
func.func @strided(%from: memref<4x4xf32, strided<[?, 1]>>, %to: memref<4x4xf32>) {
  memref.copy %from, %to : memref<4x4xf32, strided<[?, 1]>> to memref<4x4xf32>
  return
}

// -----

// One between dense buffers stays; it becomes a memcpy.
// CHECK-LABEL: func.func @dense
// CHECK: memref.copy
func.func @dense(%from: memref<?x4xf32>, %to: memref<?x4xf32>) {
  memref.copy %from, %to : memref<?x4xf32> to memref<?x4xf32>
  return
}
