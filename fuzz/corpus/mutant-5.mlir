// A function that only calls tile programs is one itself: its calls are inlined
// one after the other.
// CHECK-LABEL: func.func @both
// CHECK: tile.launch
// CHECK: tile.launch
// CHECK-LABEL: func.func @one
func.func @both(%x: memref<?xf32>, %n: index) {
  func.call @one(%x, %n) : (memref<?xf32>, index) -> ()
  func.call @one(%x, %n) : (memref<?xf32>, index) -> ()
  return
}
func.func @one(%x: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    tile.parallel (%i) in (1024) {
      %v = arith.constant 0.0 : f32
      memref.store %v, %x[%i] : memref<?xf32>
    }
  }
  return
}
