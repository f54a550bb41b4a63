// RUN: tile-opt %s -tile-infer-layouts=chip=sm_86 -split-input-file | FileCheck %s --check-prefixes=CHECK,SMALL
// RUN: tile-opt %s -tile-infer-layouts=chip=sm_80 -split-input-file | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: tile-opt %s -tile-infer-layouts=chip=sm_86 -tile-plan-shared-memory=chip=sm_86 -split-input-file -o /dev/null

// Where a chip has no room for padded rows, pieces of 16 bytes change places
// instead; in rows of no power of two, none.
// CHECK-LABEL: func.func @no_room
// LARGE: tile.alloc_shared : memref<5x64x64xf32, #tile.shared<strides = [4352, 68, 1]>>
// LARGE: tile.alloc_shared : memref<16x96xf32, #tile.shared<strides = [100, 1]>>
// SMALL: tile.alloc_shared : memref<5x64x64xf32, #tile.shared<strides = [4096, 64, 1], swizzle = [3, 2, 4]>>
// SMALL: tile.alloc_shared : memref<16x96xf32, #tile.shared<strides = [96, 1]>>
// The program's own strides stay.
// CHECK: tile.alloc_shared : memref<32x32xf32, #tile.shared<strides = [36, 1]>>
// CHECK: tile.alloc_shared : memref<32x16xf16, #tile.shared<strides = [24, 1]>>
func.func @no_room(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(128) {
    %ring = tile.alloc_shared : memref<5x64x64xf32, #tile.shared>
    %rows = tile.alloc_shared : memref<16x96xf32, #tile.shared>
    %own = tile.alloc_shared : memref<32x32xf32, #tile.shared<strides = [36, 1]>>
    %half = tile.alloc_shared : memref<32x16xf16, #tile.shared<strides = [24, 1]>>
    tile.parallel (%k, %i, %j) in (5, 64, 64) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      memref.store %v, %ring[%k, %i, %j] : memref<5x64x64xf32, #tile.shared>
    }
    tile.parallel (%i, %j) in (16, 96) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      memref.store %v, %rows[%i, %j] : memref<16x96xf32, #tile.shared>
    }
    tile.parallel (%i, %j) in (32, 16) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %h = arith.truncf %v : f32 to f16
      memref.store %v, %own[%i, %j] : memref<32x32xf32, #tile.shared<strides = [36, 1]>>
      memref.store %h, %half[%i, %j] : memref<32x16xf16, #tile.shared<strides = [24, 1]>>
    }
    tile.parallel (%i, %j) in (16, 16) {
      %c4 = arith.constant 4 : index
      %a = memref.load %ring[%c4, %j, %i] : memref<5x64x64xf32, #tile.shared>
      %c = memref.load %rows[%i, %j] : memref<16x96xf32, #tile.shared>
      %d = memref.load %own[%j, %i] : memref<32x32xf32, #tile.shared<strides = [36, 1]>>
      %h = memref.load %half[%i, %j] : memref<32x16xf16, #tile.shared<strides = [24, 1]>>
      %e = arith.extf %h : f16 to f32
      %0 = arith.addf %a, %c : f32
      %1 = arith.addf %0, %d : f32
      %2 = arith.addf %1, %e : f32
      memref.store %2, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// -----

// A row of 32 bytes shares its banks with three others.
// CHECK-LABEL: func.func @short_rows
// LARGE: tile.alloc_shared : memref<2560x16xf16, #tile.shared<strides = [24, 1]>>
// SMALL: tile.alloc_shared : memref<2560x16xf16, #tile.shared<strides = [16, 1], swizzle = [1, 3, 3]>>
func.func @short_rows(%x: memref<?x?xf16>, %y: memref<?x?xf16>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(128) {
    %rows = tile.alloc_shared : memref<2560x16xf16, #tile.shared>
    tile.parallel (%i, %j) in (2560, 16) {
      %v = memref.load %x[%i, %j] : memref<?x?xf16>
      memref.store %v, %rows[%i, %j] : memref<2560x16xf16, #tile.shared>
    }
    tile.parallel (%i, %j) in (16, 16) {
      %v = memref.load %rows[%j, %i] : memref<2560x16xf16, #tile.shared>
      memref.store %v, %y[%i, %j] : memref<?x?xf16>
    }
  }
  return
}
