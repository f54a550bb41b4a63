// The reducer cuts away what an interesting program does not need.
// REQUIRES: tile-reduce
// RUN: tile-reduce %s -reduction-tree='traversal-mode=0 test=%S/Inputs/has-scan.sh' | FileCheck %s

// CHECK-NOT: @unrelated
func.func @unrelated(%n: index) {
  return
}

// CHECK: func.func @scanned
func.func @scanned(%x: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    tile.copy %x[%b] to %s : memref<?xf32> to memref<8xf32, #tile.fragment>
    // CHECK: tile.scan
    tile.scan sum %s along 0 into %s : memref<8xf32, #tile.fragment> into memref<8xf32, #tile.fragment>
    tile.copy %s to %x[%b] : memref<8xf32, #tile.fragment> to memref<?xf32>
  }
  return
}
