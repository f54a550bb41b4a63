// A trapping launch reports what a guarded one drops, with the place it is at.
// CHECK: func.func private @__tile_cpu_report(!llvm.ptr)
// CHECK: llvm.mlir.global internal constant @__tile_message_0
// CHECK-SAME: load outside the buffer
// CHECK-LABEL: func.func @trap
// CHECK: else
// CHECK: call @__tile_cpu_report
func.func @trap(%x: memref<?xf32>, %y: memref<1xf32>, %g: index) {
  %c0 = arith.constant 0 : index
  tile.launch blocks(%b) in (%g) bounds(assume) {
    %v = memref.load %x[%b] : memref<?xf32>
    memref.store %v, %y[%c0] : memref<1xf32>
  }
  return
}
