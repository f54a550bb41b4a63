// RUN: tile-opt %s -tile-infer-layouts -tile-plan-shared-memory -tile-insert-sync -convert-tile-to-gpu -split-input-file | FileCheck %s

// Rows that begin with whole bytes move by words of eight elements.
// CHECK: gpu.module @words_kernels
// CHECK: ld.global.b32
// CHECK: arith.trunci %{{.*}} : i8 to i4
// CHECK: st.global.b32
func.func @words(%x: memref<?x?xi4>, %y: memref<?x?xi4>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) alignment(16) {
    tile.copy %x[%b, 0] sizes [1, 256] to %y[%b, 0] : memref<?x?xi4> to memref<?x?xi4>
  }
  return
}

// -----

// A row of 37 begins in the middle of a byte: halves are loaded by themselves
// and swapped in, since the other half may be another thread's.
// CHECK: gpu.module @halves_kernels
// CHECK: arith.shrui
// CHECK: atom.relaxed.gpu.global.cas.b16
func.func @halves(%x: memref<8x37xi4>, %y: memref<8x37xi4>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    tile.copy %x[%b, 0] sizes [1, 37] to %y[%b, 0] : memref<8x37xi4> to memref<8x37xi4>
  }
  return
}
