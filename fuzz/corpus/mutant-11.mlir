// A lane's buffer that lives across pieces becomes a part of one of all lanes,
// also where it is accessed through a view; one that does not stays.
// CHECK-LABEL: func.func @locals
// CHECK: %[[L:.*]] = tile.alloc_fragment : memref<0x2x16xf32, #tile.fragment>
// CHECK: tile.parallel (%[[I:.*]]) in (0)
// CHECK: tile.alloc_local : memref<1xf32, #tile.local>
// CHECK: memref.store %{{.*}}, %[[L]][%[[I]], %{{.*}}, %{{.*}}]
// CHECK: tile.parallel (%[[I:.*]]) in (0)
// CHECK: memref.load %[[L]][%[[I]], %{{.*}}, %{{.*}}]
// CHECK-NOT: memref.subview
func.func @locals(%y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<128xf32, #tile.shared>
    tile.parallel (%i) in (0) {
      %L = tile.alloc_local : memref<2x16xf32, #tile.local>
      %M = tile.alloc_local : memref<1xf32, #tile.local>
      %row = memref.subview %L[1, 0] [1, 16] [1, 1]
        : memref<2x16xf32, #tile.local> to memref<16xf32, strided<[1], offset: 16>, #tile.local>
      %j = arith.addi %i, %c1 : index
      %v = memref.load %S[%j] : memref<128xf32, #tile.shared>
      memref.store %v, %M[%c0] : memref<1xf32, #tile.local>
      %w = memref.load %M[%c0] : memref<1xf32, #tile.local>
      memref.store %w, %row[%c1] : memref<16xf32, strided<[1], offset: 16>, #tile.local>
      memref.store %w, %S[%i] : memref<128xf32, #tile.shared>
      %u = memref.load %row[%c1] : memref<16xf32, strided<[1], offset: 16>, #tile.local>
      memref.store %u, %y[%i] : memref<?xf32>
    }
  }
  return
}
