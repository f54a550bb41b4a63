// RUN: tile-opt %s -tile-infer-layouts -tile-plan-shared-memory -tile-insert-sync -convert-tile-to-gpu | FileCheck %s

// Fragments of one layout that no sums express find their elements in one
// table; those of another in another.
// CHECK: gpu.module @tables_kernels
// CHECK-DAG: llvm.mlir.global internal constant @[[ROWS:tile_layout[_0-9]*]](dense<[0, 1, 2, {{.*}}> : tensor<64xi32>)
// CHECK-DAG: llvm.mlir.global internal constant @[[OTHER:tile_layout[_0-9]*]](dense<{{.*}}> : tensor<64xi32>)
// CHECK-NOT: llvm.mlir.global internal constant @tile_layout
// CHECK: gpu.func @tables
func.func @tables(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(64) {
    %f = tile.alloc_fragment : memref<5x7xf32, #tile.fragment>
    %g = tile.alloc_fragment : memref<5x7xf32, #tile.fragment>
    tile.copy %x[0, 0] to %f : memref<?x?xf32> to memref<5x7xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %g : memref<?x?xf32> to memref<5x7xf32, #tile.fragment>
    tile.parallel (%i, %j) in (5, 7) {
      %a = memref.load %f[%i, %j] : memref<5x7xf32, #tile.fragment>
      %c = memref.load %g[%i, %j] : memref<5x7xf32, #tile.fragment>
      %s = arith.addf %a, %c : f32
      memref.store %s, %f[%i, %j] : memref<5x7xf32, #tile.fragment>
    }
    %h = tile.alloc_fragment : memref<6x7xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %h : memref<?x?xf32> to memref<6x7xf32, #tile.fragment>
    tile.parallel (%i, %j) in (6, 7) {
      %a = memref.load %h[%i, %j] : memref<6x7xf32, #tile.fragment>
      %s = arith.addf %a, %a : f32
      memref.store %s, %h[%i, %j] : memref<6x7xf32, #tile.fragment>
    }
    tile.copy %h to %y[8, 0] : memref<6x7xf32, #tile.fragment> to memref<?x?xf32>
    tile.copy %f to %y[0, 0] : memref<5x7xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}
