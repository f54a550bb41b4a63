// What the embedder's compiler is given: rows of y are those of x, doubled.
func.func @double(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %rows: index) {
  tile.launch blocks(%row) in (%rows) {
    %t = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    tile.copy %x[%row, 0] to %t : memref<?x64xf32> to memref<64xf32, #tile.fragment>
    tile.parallel (%i) in (64) {
      %v = memref.load %t[%i] : memref<64xf32, #tile.fragment>
      %w = arith.addf %v, %v : f32
      memref.store %w, %t[%i] : memref<64xf32, #tile.fragment>
    }
    tile.copy %t to %y[%row, 0] : memref<64xf32, #tile.fragment> to memref<?x64xf32>
  }
  return
}
