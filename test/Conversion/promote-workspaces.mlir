// RUN: tile-opt --pass-pipeline='builtin.module(func.func(tile-promote-workspaces))' %s | FileCheck %s

// Allocations of the function become workspaces; one in a loop, one that is
// returned and one with a layout stay.
// CHECK-LABEL: func.func @promote
// CHECK: tile.alloc_global(%arg0) : memref<?x4xf32>
// CHECK-NOT: memref.dealloc
// CHECK: scf.for
// CHECK: memref.alloc() : memref<8xf32>
// CHECK: memref.dealloc
// CHECK: memref.alloc() : memref<16xf32>
// CHECK: memref.alloc() : memref<4x4xf32, strided<[8, 1]>>
func.func @promote(%n: index, %x: memref<?x4xf32>) -> memref<16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?x4xf32>
  memref.copy %x, %a : memref<?x4xf32> to memref<?x4xf32>
  memref.copy %a, %x : memref<?x4xf32> to memref<?x4xf32>
  memref.dealloc %a : memref<?x4xf32>
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<8xf32>
    memref.dealloc %b : memref<8xf32>
  }
  %c = memref.alloc() : memref<16xf32>
  %d = memref.alloc() : memref<4x4xf32, strided<[8, 1]>>
  return %c : memref<16xf32>
}
