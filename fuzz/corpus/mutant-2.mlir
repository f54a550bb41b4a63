// A condition on the lane's index is compared in 32 bits and becomes a mask; the
// two branches become a select.
// CHECK-LABEL: func.func @condition
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : vector<100xi32>
// CHECK: arith.select %{{.*}} : vector<100xi1>, vector<100xf32>
func.func @condition(%n: index, %g: index) {
  tile.launch blocks(%b) in (%g) {
    %S = tile.alloc_fragment : memref<4x32xf32, #tile.fragment>
    tile.parallel (%i, %j) in (4, 32) {
      %c = arith.cmpi slt, %j, %n : index
      %w = scf.if %c -> f32 {
        %one = arith.constant 1.0 : f32
        scf.yield %one : f32
      } else {
        %v = memref.load %S[%i, %j] : memref<4x32xf32, #tile.fragment>
        scf.yield %v : f32
      }
      memref.store %w, %S[%i, %j] : memref<4x32xf32, #tile.fragment>
    }
  }
  return
}
