// RUN: tile-opt %s -tile-plan-shared-memory=chip=sm_86 -split-input-file -verify-diagnostics | FileCheck %s

// Buffers that are in use one after the other lie in the same place, what is in
// use throughout lies behind them.
// CHECK-LABEL: func.func @reuse
// CHECK: tile.alloc_shared at 0 : memref<1024xf32
// CHECK: tile.alloc_shared at 0 : memref<512xf32
// CHECK: tile.alloc_shared at 4096 : memref<64xf32
func.func @reuse(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %first = tile.alloc_shared : memref<1024xf32, #tile.shared>
    %second = tile.alloc_shared : memref<512xf32, #tile.shared>
    %both = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.copy %x[0] to %both : memref<?xf32> to memref<64xf32, #tile.shared>
    tile.copy %x[0] to %first : memref<?xf32> to memref<1024xf32, #tile.shared>
    tile.copy %first to %y[0] : memref<1024xf32, #tile.shared> to memref<?xf32>
    tile.copy %x[0] to %second : memref<?xf32> to memref<512xf32, #tile.shared>
    tile.copy %second to %y[0] : memref<512xf32, #tile.shared> to memref<?xf32>
    tile.copy %both to %y[0] : memref<64xf32, #tile.shared> to memref<?xf32>
  }
  return
}

// -----

// What a loop touches and does not name is in use all of the loop long.
// CHECK-LABEL: func.func @loop
// CHECK: tile.alloc_shared at 0 : memref<64xf32
// CHECK: tile.alloc_shared at 256 : memref<64xf32
// CHECK: tile.alloc_shared at 512 : memref<64xf32
// CHECK: tile.alloc_shared at 512 : memref<64xf32
func.func @loop(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%n) threads(32) {
    %first = tile.alloc_shared : memref<64xf32, #tile.shared>
    %second = tile.alloc_shared : memref<64xf32, #tile.shared>
    scf.for %i = %c0 to %n step %c1 {
      tile.copy %x[%i] to %first : memref<?xf32> to memref<64xf32, #tile.shared>
      tile.copy %first to %y[%i] : memref<64xf32, #tile.shared> to memref<?xf32>
      tile.copy %x[%i] to %second : memref<?xf32> to memref<64xf32, #tile.shared>
      tile.copy %second to %y[%i] : memref<64xf32, #tile.shared> to memref<?xf32>
      %third = tile.alloc_shared : memref<64xf32, #tile.shared>
      tile.copy %x[%i] to %third : memref<?xf32> to memref<64xf32, #tile.shared>
      tile.copy %third to %y[%i] : memref<64xf32, #tile.shared> to memref<?xf32>
      %fourth = tile.alloc_shared : memref<64xf32, #tile.shared>
      tile.copy %x[%i] to %fourth : memref<?xf32> to memref<64xf32, #tile.shared>
      tile.copy %fourth to %y[%i] : memref<64xf32, #tile.shared> to memref<?xf32>
    }
  }
  return
}

// -----

// A copy in flight keeps its buffer until it is waited for.
// CHECK-LABEL: func.func @in_flight
// CHECK: tile.alloc_shared at 0 : memref<64xf32
// CHECK: tile.alloc_shared at 256 : memref<64xf32
// CHECK: tile.alloc_shared at 0 : memref<64xf32
func.func @in_flight(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %ahead = tile.alloc_shared : memref<64xf32, #tile.shared>
    %before = tile.alloc_shared : memref<64xf32, #tile.shared>
    %behind = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.copy %x[0] to %ahead async : memref<?xf32> to memref<64xf32, #tile.shared>
    nvvm.cp.async.commit.group
    tile.copy %x[0] to %before : memref<?xf32> to memref<64xf32, #tile.shared>
    tile.copy %before to %y[0] : memref<64xf32, #tile.shared> to memref<?xf32>
    nvvm.cp.async.wait.group 0
    tile.copy %x[0] to %behind : memref<?xf32> to memref<64xf32, #tile.shared>
    tile.copy %behind to %y[0] : memref<64xf32, #tile.shared> to memref<?xf32>
  }
  return
}

// -----

// Or until a memref.dealloc says that it has landed.
// CHECK-LABEL: func.func @landed
// CHECK: tile.alloc_shared at 0 : memref<64xf32
// CHECK: tile.alloc_shared at 0 : memref<64xf32
func.func @landed(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %ring = tile.alloc_shared : memref<64xf32, #tile.shared>
    %behind = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.copy %x[0] to %ring async : memref<?xf32> to memref<64xf32, #tile.shared>
    nvvm.cp.async.commit.group
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    tile.copy %ring to %y[0] : memref<64xf32, #tile.shared> to memref<?xf32>
    memref.dealloc %ring : memref<64xf32, #tile.shared>
    tile.copy %x[0] to %behind : memref<?xf32> to memref<64xf32, #tile.shared>
    tile.copy %behind to %y[0] : memref<64xf32, #tile.shared> to memref<?xf32>
  }
  return
}

// -----

// A swizzle needs a place at a multiple of its period.
// CHECK-LABEL: func.func @aligned
// CHECK: tile.alloc_shared at 0 : memref<8x64xf16
// CHECK: tile.alloc_shared at 1024 : memref<32xf32
func.func @aligned(%x: memref<?xf32>, %A: memref<8x64xf16>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %s = tile.alloc_shared : memref<8x64xf16, #tile.shared<strides = [64, 1], swizzle = [3, 3, 3]>>
    %t = tile.alloc_shared : memref<32xf32, #tile.shared>
    tile.copy %x[0] to %t : memref<?xf32> to memref<32xf32, #tile.shared>
    tile.copy %A to %s : memref<8x64xf16> to memref<8x64xf16, #tile.shared<strides = [64, 1], swizzle = [3, 3, 3]>>
    tile.copy %s to %A : memref<8x64xf16, #tile.shared<strides = [64, 1], swizzle = [3, 3, 3]>> to memref<8x64xf16>
    tile.copy %t to %x[0] : memref<32xf32, #tile.shared> to memref<?xf32>
  }
  return
}

// -----

// What does not fit is an error with a table.
func.func @too_much(%x: memref<?xf32>, %n: index) {
  // expected-error @below {{needs 106496 bytes of shared memory, but a block of sm_86 has 101376}}
  tile.launch blocks(%b) in (%n) threads(32) {
    // expected-note @below {{65536 bytes at 0 for 'memref<16384xf32, #tile.shared>'}}
    %large = tile.alloc_shared : memref<16384xf32, #tile.shared>
    // expected-note @below {{40960 bytes at 65536 for 'memref<10240xf32, #tile.shared>'}}
    %other = tile.alloc_shared : memref<10240xf32, #tile.shared>
    // expected-note @below {{256 bytes at 0 for 'memref<64xf32, #tile.shared>', at another time than the last}}
    %early = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.copy %x[0] to %early : memref<?xf32> to memref<64xf32, #tile.shared>
    tile.copy %early to %x[0] : memref<64xf32, #tile.shared> to memref<?xf32>
    tile.copy %x[0] to %large : memref<?xf32> to memref<16384xf32, #tile.shared>
    tile.copy %x[0] to %other : memref<?xf32> to memref<10240xf32, #tile.shared>
    tile.copy %other to %x[0] : memref<10240xf32, #tile.shared> to memref<?xf32>
    tile.copy %large to %x[0] : memref<16384xf32, #tile.shared> to memref<?xf32>
  }
  return
}
