// RUN: tile-opt %s --tile-infer-layouts=chip=sm_90 | FileCheck %s

// A buffer that roles share is laid out by how they access it: the result of a
// product lands in it without bank conflicts. (Its fragment had no layout yet
// where that was asked for.)
// CHECK-LABEL: func @shared_by_roles
// CHECK-COUNT-3: tile.alloc_shared : memref<64x64xf16, #tile.shared<strides = [64, 1], swizzle = [3, 3, 3]>>
// CHECK: tile.alloc_fragment : memref<64x64xf32, #tile.fragment<"64x64 threads 128
func.func @shared_by_roles(%A: memref<64x64xf16>, %B: memref<64x64xf16>) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %As = tile.alloc_shared : memref<64x64xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<64x64xf16, #tile.shared>
    %Cs = tile.alloc_shared : memref<64x64xf16, #tile.shared>
    tile.copy %A to %As : memref<64x64xf16> to memref<64x64xf16, #tile.shared>
    tile.copy %B to %Bs : memref<64x64xf16> to memref<64x64xf16, #tile.shared>
    tile.roles {
      tile.role consumer warps(4) {
        %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
        tile.gemm %As, %Bs, %acc clear : memref<64x64xf16, #tile.shared>, memref<64x64xf16, #tile.shared>, memref<64x64xf32, #tile.fragment>
        tile.copy %acc to %Cs : memref<64x64xf32, #tile.fragment> to memref<64x64xf16, #tile.shared>
      }
      tile.role producer warps(4) {
      }
    }
    tile.copy %Cs to %B : memref<64x64xf16, #tile.shared> to memref<64x64xf16>
  }
  return
}
