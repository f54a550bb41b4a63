// Constant offsets become part of the copy; a side without offsets stays without.
// CHECK-LABEL: func.func @offsets
func.func @offsets(%n: index, %x: memref<?x?xf32>) {
  %c8 = arith.constant 8 : index
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4x4xf32, #tile.shared>
    // CHECK: tile.copy %{{.*}}[8, %bx] to %[[A:.*]] : memref<?x?xf32> to
    // CHECK: tile.copy %[[A]] to %{{.*}}[%bx, 8] : memref
    tile.copy %A to %x[%b, %c8] : memref<4x4xf32, #tile.shared> to memref<?x?xf32>
  }
  return
}
