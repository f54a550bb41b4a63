// A buffer nobody uses goes away; so does one whose effects nobody sees.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: tile.alloc
func.func @unused(%n: index, %x: memref<?xf32>) {
  %v = arith.constant 0.0 : f32
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4xf32, #tile.shared>
    %B = tile.alloc_fragment(%n) : memref<?xf32, #tile.fragment>
    %C = tile.alloc_local : memref<4xf32, #tile.local>
    memref.store %v, %x[%b] : memref<?xf32>
  }
  return
}
