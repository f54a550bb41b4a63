// The last dimension runs in vectors; one test in front picks the version
// without masks.
// CHECK-LABEL: func.func @elementwise
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi slt
// CHECK: arith.andi
// CHECK: scf.if
// CHECK: vector.load %{{.*}} unsigned : memref<?xf32>, vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: else
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
func.func @elementwise(%x: memref<?xf32>, %y: memref<?xf32>, %g: index) {
  tile.launch blocks(%b) in (%g) {
    tile.parallel (%i) in (64) {
      %at = arith.addi %b, %i : index
      %v = memref.load %x[%at] : memref<?xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %y[%at] : memref<?xf32>
    }
  }
  return
}
