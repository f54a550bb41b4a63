// A loop that only reads has no effect and goes away; one that writes stays.
// CHECK-LABEL: func.func @loops
func.func @loops(%n: index, %x: memref<?xf32>) {
  // CHECK: tile.launch
  tile.launch blocks(%b) in (%n) {
    // CHECK-NOT: tile.pipelined
    tile.pipelined %k = %b to %n {
      %v = memref.load %x[%k] : memref<?xf32>
    }
    // CHECK-NEXT: tile.parallel
    tile.parallel (%i) in (33) {
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %x[%b] : memref<?xf32>
      memref.store %v, %x[%b] : memref<?xf32>
    }
  }
  // CHECK-NOT: tile.launch
  tile.launch blocks(%b) in (%n) {
    tile.parallel (%i) in (8) {
      %v = memref.load %x[%i] : memref<?xf32>
    }
  }
  return
}
