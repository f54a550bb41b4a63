// RUN: tile-opt %s -tile-infer-layouts -tile-insert-sync -split-input-file | FileCheck %s

// Threads that reduce across warps meet inside; the next to do so waits for
// those that read scratch still.
// CHECK-LABEL: func.func @twice
// CHECK-NOT: gpu.barrier
// CHECK: tile.reduce sum
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.reduce max
// CHECK-NEXT: }
func.func @twice(%n: index) {
  tile.launch blocks(%b) in (%n) threads(64) {
    %x = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %y = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    %z = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    tile.reduce sum %x along 0 into %y : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
    tile.reduce max %x along 0 into %z : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
  }
  return
}

// -----

// Around a loop as well.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.reduce
// CHECK-NEXT: }
func.func @loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%n) threads(64) {
    %x = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %y = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    scf.for %i = %c0 to %n step %c1 {
      tile.reduce sum %x along 0 into %y accumulate : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
    }
  }
  return
}

// -----

// Nothing of this within a warp.
// CHECK-LABEL: func.func @warp
// CHECK-NOT: gpu.barrier
func.func @warp(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %x = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    %y = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    tile.reduce sum %x along 0 into %y : memref<32xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
    tile.reduce sum %x along 0 into %y accumulate : memref<32xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
  }
  return
}

// -----

// What was written before the threads met in a reduction may be read behind it;
// a barrier in between makes scratch free, too.
// CHECK-LABEL: func.func @between
// CHECK: tile.copy
// CHECK-NEXT: tile.reduce
// CHECK-NEXT: tile.copy
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.fill
// CHECK-NEXT: tile.reduce
// CHECK-NEXT: }
func.func @between(%x: memref<64xf32>, %y: memref<64xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  tile.launch blocks(%b) in (%n) threads(64) {
    %S = tile.alloc_shared : memref<64xf32, #tile.shared>
    %f = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    tile.copy %x to %S : memref<64xf32> to memref<64xf32, #tile.shared>
    tile.reduce sum %f along 0 into %sum : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
    tile.copy %S to %y : memref<64xf32, #tile.shared> to memref<64xf32>
    tile.fill %S, %zero : memref<64xf32, #tile.shared>
    tile.reduce sum %f along 0 into %sum : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
  }
  return
}

// -----

// A thread takes what a scan has made of its own elements from where it puts them
// for the next scan; another dimension's are elsewhere.
// CHECK-LABEL: func.func @scans
// CHECK: scf.for
// CHECK-NEXT: tile.scan
// CHECK-NEXT: }
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.scan
// CHECK-NEXT: }
func.func @scans(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%n) threads(128) {
    %x = tile.alloc_fragment : memref<32x128xf32, #tile.fragment>
    scf.for %i = %c0 to %n step %c1 {
      tile.scan sum %x along 1 into %x : memref<32x128xf32, #tile.fragment> into memref<32x128xf32, #tile.fragment>
    }
    tile.scan sum %x along 0 into %x : memref<32x128xf32, #tile.fragment> into memref<32x128xf32, #tile.fragment>
  }
  return
}

// -----

// What one thread finds goes to the others through scratch, too.
// CHECK-LABEL: func.func @update
// CHECK-NOT: gpu.barrier
// CHECK: memref.generic_atomic_rmw
// CHECK: gpu.barrier
// CHECK-NEXT: tile.reduce
func.func @update(%x: memref<?xi32>, %y: memref<?xi32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(64) {
    %old = memref.generic_atomic_rmw %x[%b] : memref<?xi32> {
    ^bb0(%before: i32):
      %next = arith.muli %before, %before : i32
      memref.atomic_yield %next : i32
    }
    memref.store %old, %y[%b] : memref<?xi32>
    %f = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    tile.reduce sum %f along 0 into %sum : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
  }
  return
}

// -----

// Such an update is an access like any other.
// CHECK-LABEL: func.func @read
// CHECK: memref.generic_atomic_rmw
// CHECK: gpu.barrier
// CHECK-NEXT: tile.copy
func.func @read(%x: memref<64xi32>, %y: memref<64xi32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(64) {
    %old = memref.generic_atomic_rmw %x[%b] : memref<64xi32> {
    ^bb0(%before: i32):
      %next = arith.muli %before, %before : i32
      memref.atomic_yield %next : i32
    }
    tile.copy %x to %y : memref<64xi32> to memref<64xi32>
  }
  return
}

// -----

// Where a condition depends on the thread what was there before is not followed:
// each waits, also for those in front.
// CHECK-LABEL: func.func @parted
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.reduce
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.reduce
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.reduce
func.func @parted(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.launch blocks(%b) in (%n) threads(64) {
    %x = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %y = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    %t = gpu.thread_id x
    %all = arith.cmpi slt, %t, %c64 : index
    scf.for %i = %c0 to %n step %c1 {
      scf.if %all {
        tile.reduce sum %x along 0 into %y accumulate : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
        tile.reduce sum %x along 0 into %y accumulate : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
      }
    }
    tile.reduce sum %x along 0 into %y accumulate : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
  }
  return
}

// -----

// Lanes keep what they find to themselves.
// CHECK-LABEL: func.func @lanes
// CHECK-NOT: gpu.barrier
func.func @lanes(%x: memref<?xi32>, %y: memref<?xi32>, %n: index) {
  %one = arith.constant 1 : i32
  tile.launch blocks(%b) in (%n) threads(64) {
    tile.parallel (%i) in (64) {
      %old = memref.atomic_rmw addi %one, %x[%b] : (i32, memref<?xi32>) -> i32
      memref.store %old, %y[%i] : memref<?xi32>
    }
  }
  return
}
