func.func @cast(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-note @+1 {{the buffer is here}}
    %S = tile.alloc_shared : memref<16xf16, #tile.shared>
    %D = memref.cast %S : memref<16xf16, #tile.shared> to memref<?xf16, #tile.shared>
    // expected-error @+1 {{expects a buffer of type 'memref<32xf16, #tile.shared>', but here it is one of 'memref<16xf16, #tile.shared>'}}
    %T = memref.cast %D : memref<?xf16, #tile.shared> to memref<32xf16, #tile.shared>
  }
  return
}
