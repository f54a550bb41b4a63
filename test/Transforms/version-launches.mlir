// RUN: tile-opt %s -tile-version-launches | FileCheck %s

// The promise is tested on the host; both launches are there.
// CHECK-LABEL: func.func @copy
// CHECK: %[[OK:.*]] = arith.cmpi eq
// CHECK: scf.if %[[OK]]
// CHECK: tile.launch {{.*}} alignment(16)
// CHECK: else
// CHECK: tile.launch
// CHECK-NOT: alignment
func.func @copy(%x: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<8x64xf32, #tile.shared>
    tile.copy %x[%b, 0] to %S : memref<?x?xf32> to memref<8x64xf32, #tile.shared>
  }
  return
}
