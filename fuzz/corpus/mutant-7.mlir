// A tile inside the buffer is copied without tests; one that sticks out is filled
// with the pad value first.
// CHECK-LABEL: func.func @copy
// CHECK: %[[WHOLE:.*]] = arith.andi
// CHECK: scf.if
// CHECK: vector.load %{{.*}} : memref<?x?xf16>, vector<8xf16>
// CHECK: arith.extf
// CHECK: vector.store
// CHECK: else
// CHECK: memref.store
// CHECK: vector.load
func.func @copy(%A: memref<?x?xf16>, %g: index) {
  tile.launch blocks(%b) in (%g) {
    %S = tile.alloc_shared : memref<16x65xf32, #tile.shared>
    tile.copy %A[%b, %b] to %S saturate : memref<?x?xf16> to memref<16x65xf32, #tile.shared>
  }
  return
}
