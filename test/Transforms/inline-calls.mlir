// RUN: tile-opt %s -tile-inline-calls -split-input-file | FileCheck %s

// A helper's dynamic extents become static at the call, through views, loads
// and tile ops, and the helper goes away.
// CHECK-LABEL: func.func @static_types
// CHECK: tile.launch
// CHECK: %[[S:.*]] = tile.alloc_shared : memref<64x32xf16, #tile.shared>
// CHECK: tile.copy %{{.*}} to %[[S]] : memref<?x?xf16> to memref<64x32xf16, #tile.shared>
// CHECK: %[[V:.*]] = memref.subview %[[S]][0, 0] [32, 32] [1, 1] : memref<64x32xf16, #tile.shared> to memref<32x32xf16, strided<[32, 1]>, #tile.shared>
// CHECK: tile.fill %[[V]]
// CHECK: tile.parallel (%{{.*}}, %{{.*}}) in (64, 32)
// CHECK: memref.load %[[S]]{{.*}} : memref<64x32xf16, #tile.shared>
// CHECK-NOT: memref.cast
// CHECK-NOT: func.func
func.func @static_types(%A: memref<?x?xf16>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %T = memref.cast %S : memref<64x32xf16, #tile.shared> to memref<?x?xf16, #tile.shared>
    func.call @load(%A, %b, %T) : (memref<?x?xf16>, index, memref<?x?xf16, #tile.shared>) -> ()
    tile.yield
  }
  return
}
func.func private @load(%A: memref<?x?xf16>, %b: index, %S: memref<?x?xf16, #tile.shared>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f16
  %rows = memref.dim %S, %c0 : memref<?x?xf16, #tile.shared>
  %cols = memref.dim %S, %c1 : memref<?x?xf16, #tile.shared>
  %row = arith.muli %b, %rows : index
  tile.copy %A[%row, 0] to %S : memref<?x?xf16> to memref<?x?xf16, #tile.shared>
  %half = arith.divui %rows, %c2 : index
  %V = memref.subview %S[0, 0] [%half, %cols] [1, 1]
    : memref<?x?xf16, #tile.shared> to memref<?x?xf16, strided<[?, 1]>, #tile.shared>
  tile.fill %V, %zero : memref<?x?xf16, strided<[?, 1]>, #tile.shared>
  tile.parallel (%i, %j) in (%rows, %cols) {
    %v = memref.load %S[%i, %j] : memref<?x?xf16, #tile.shared>
    %w = arith.addf %v, %v : f16
    memref.store %w, %S[%i, %j] : memref<?x?xf16, #tile.shared>
  }
  return
}

// -----

// Calls in the host part and calls of helpers by helpers are inlined too, with
// their results; a helper that a program outside tile uses stays.
// CHECK-LABEL: func.func @nested
// CHECK-NOT: call
// CHECK: %[[G:.*]] = arith.ceildivui
// CHECK: tile.launch blocks(%{{.*}}) in (%[[G]])
// CHECK-NOT: call
// CHECK: memref.store
// CHECK: func.func private @blocks
// CHECK-NOT: func.func private @twice
// CHECK: func.func @other
func.func @nested(%x: memref<?xf32>, %n: index) {
  %g = func.call @blocks(%n) : (index) -> index
  tile.launch blocks(%b) in (%g) {
    tile.parallel (%i) in (32) {
      %v = memref.load %x[%i] : memref<?xf32>
      %w = func.call @four(%v) : (f32) -> f32
      memref.store %w, %x[%i] : memref<?xf32>
    }
  }
  return
}
func.func private @blocks(%n: index) -> index {
  %c32 = arith.constant 32 : index
  %g = arith.ceildivui %n, %c32 : index
  return %g : index
}
func.func private @four(%v: f32) -> f32 {
  %a = func.call @twice(%v) : (f32) -> f32
  %b = func.call @twice(%a) : (f32) -> f32
  return %b : f32
}
func.func private @twice(%v: f32) -> f32 {
  %w = arith.addf %v, %v : f32
  return %w : f32
}
func.func @other(%n: index) -> index {
  %g = func.call @blocks(%n) : (index) -> index
  return %g : index
}

// -----

// A function that only calls tile programs is one itself: its calls are inlined
// one after the other.
// CHECK-LABEL: func.func @both
// CHECK: tile.launch
// CHECK: tile.launch
// CHECK-LABEL: func.func @one
func.func @both(%x: memref<?xf32>, %n: index) {
  func.call @one(%x, %n) : (memref<?xf32>, index) -> ()
  func.call @one(%x, %n) : (memref<?xf32>, index) -> ()
  return
}
func.func @one(%x: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    tile.parallel (%i) in (32) {
      %v = arith.constant 0.0 : f32
      memref.store %v, %x[%i] : memref<?xf32>
    }
  }
  return
}

// -----

// Programs without launches are none of this pass's affair.
// CHECK-LABEL: func.func @plain
// CHECK: call @self
func.func @plain() {
  func.call @self() : () -> ()
  return
}
func.func private @self() {
  func.call @self() : () -> ()
  return
}
