// RUN: tile-opt %s -tile-expand-async | FileCheck %s

// The product keeps what it says; nothing is left to wait for.
// CHECK-LABEL: func.func @product
// CHECK: tile.gemm %{{.*}}, %{{.*}}, %{{.*}} transpose_b clear policy(full_row)
// CHECK-NOT: tile.gemm_wait
func.func @product(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %B = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.gemm_async %A, %B, %C transpose_b clear policy(full_row)
      : memref<64x32xf16, #tile.shared>, memref<64x32xf16, #tile.shared>, memref<64x64xf32, #tile.fragment>
    tile.gemm_wait pending(0)
  }
  return
}
