// The stock mlir-opt runs our passes on our dialect through the plugin.
// The stock mlir-opt has no sanitizer's runtime.
// REQUIRES: plugin
// UNSUPPORTED: asan
// RUN: mlir-opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline="builtin.module(tile-specialize)" | FileCheck %s
// RUN: mlir-opt %s --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline="builtin.module(tile-to-cpu)" | FileCheck %s --check-prefix=LOWERED
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT

// CHECK-LABEL: func.func @zero
// LOWERED: llvm.func @zero
// LOWERED-NOT: tile.
// WITHOUT: error: Dialect `tile' not found
func.func @zero(%x: memref<?xf32>, %blocks: index) {
  // CHECK-NOT: tile.tunable
  %n = tile.tunable "n" in [16, 32] default(32)
  tile.launch blocks(%b) in (%blocks) {
    %v = arith.constant 0.0 : f32
    %row = arith.muli %b, %n : index
    // CHECK: tile.alloc_fragment : memref<32xf32, #tile.fragment>
    %f = tile.alloc_fragment(%n) : memref<?xf32, #tile.fragment>
    tile.fill %f, %v : memref<?xf32, #tile.fragment>
    tile.copy %f to %x[%row] : memref<?xf32, #tile.fragment> to memref<?xf32>
  }
  return
}
