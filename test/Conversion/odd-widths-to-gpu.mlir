// RUN: tile-opt %s -convert-tile-to-gpu -split-input-file | FileCheck %s

// Five registers of a row in a row: no vector of a power of two divides them, so each is stored by itself, ten of them
// and no eleventh.
// CHECK-LABEL: gpu.func @five
// CHECK-COUNT-10: st.global.b32
// CHECK-NOT: st.global
func.func @five(%x: memref<?x?xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  tile.launch blocks(%b) in (%n) threads(32) {
    %f = tile.alloc_fragment : memref<64x5xf32, #tile.fragment<"64x5 threads 32 (32):(1@0) registers (5,2):(1@1,32@0)">>
    tile.fill %f, %zero : memref<64x5xf32, #tile.fragment<"64x5 threads 32 (32):(1@0) registers (5,2):(1@1,32@0)">>
    tile.copy %f to %x[%b, 0] : memref<64x5xf32, #tile.fragment<"64x5 threads 32 (32):(1@0) registers (5,2):(1@1,32@0)">> to memref<?x?xf32>
  }
  return
}

// -----

// Six: vectors of two, where rows of eight would allow four.
// CHECK-LABEL: gpu.func @six
// CHECK-COUNT-6: st.global.v2.b32
// CHECK-NOT: st.global
func.func @six(%x: memref<64x8xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  tile.launch blocks(%b) in (%n) threads(32) alignment(16) {
    %f = tile.alloc_fragment : memref<64x6xf32, #tile.fragment<"64x6 threads 32 (32):(1@0) registers (6,2):(1@1,32@0)">>
    tile.fill %f, %zero : memref<64x6xf32, #tile.fragment<"64x6 threads 32 (32):(1@0) registers (6,2):(1@1,32@0)">>
    tile.copy %f to %x[0, 0] sizes [64, 6] : memref<64x6xf32, #tile.fragment<"64x6 threads 32 (32):(1@0) registers (6,2):(1@1,32@0)">> to memref<64x8xf32>
  }
  return
}
