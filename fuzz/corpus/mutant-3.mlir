// expected-note @+1 {{it depends on argument #0 of 'func.func'}}
func.func @view(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<1x32xf16, #tile.shared>
    // expected-error @+1 {{extent 0 of an on-chip buffer is not constant}}
    %V = memref.subview %S[0, 0] [%n, 32] [1, 1]
      : memref<1x32xf16, #tile.shared> to memref<?x32xf16, strided<[32, 1]>, #tile.shared>
  }
  return
}
