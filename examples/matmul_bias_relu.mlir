// A linear layer with its activation in one kernel: relu(X * W + bias).
//
// The product stays in registers until bias and activation are applied, so the
// intermediate matrix never goes through memory. The epilogue is a helper
// function that takes the fragment itself: helpers are inlined, so on-chip
// buffers can be passed to them.

func.func private @add_bias_and_clamp(
    %tile: memref<64x128xf32, #tile.fragment>, %bias: memref<?xbf16>,
    %column: index) {
  %zero = arith.constant 0.0 : f32
  tile.parallel (%i, %j) in (64, 128) {
    %c = arith.addi %column, %j : index
    %b = memref.load %bias[%c] : memref<?xbf16>
    %wide = arith.extf %b : bf16 to f32
    %x = memref.load %tile[%i, %j] : memref<64x128xf32, #tile.fragment>
    %sum = arith.addf %x, %wide : f32
    %relu = arith.maximumf %sum, %zero : f32
    memref.store %relu, %tile[%i, %j] : memref<64x128xf32, #tile.fragment>
  }
  return
}

func.func @matmul_bias_relu(
    %X: memref<?x?xbf16> {tile.name = "X", tile.default = "randn:300x256xbf16"},
    %W: memref<?x?xbf16> {tile.name = "W", tile.default = "randn:X[1]x500xbf16"},
    %bias: memref<?xbf16> {tile.name = "bias", tile.default = "randn(0,8):W[1]xbf16"},
    %Y: memref<?x?xbf16> {tile.name = "Y", tile.default = "empty:X[0]xW[1]xbf16"})
    attributes {tile.reference = @matmul_bias_relu_reference,
                tile.tolerance = #tile.tolerance<norm = 4.0e-3, products = 2.0>,
                tile.flops = "2 * X[0] * X[1] * W[1] + 2 * X[0] * W[1]",
                tile.bytes = "2 * (X[0] * X[1] + W[0] * W[1] + W[1] + Y[0] * Y[1])"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %M = memref.dim %X, %c0 : memref<?x?xbf16>
  %K = memref.dim %X, %c1 : memref<?x?xbf16>
  %N = memref.dim %W, %c1 : memref<?x?xbf16>
  %gy = arith.ceildivsi %M, %c64 : index
  %gx = arith.ceildivsi %N, %c128 : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c128 : index
    %Xs = tile.alloc_shared : memref<64x32xbf16, #tile.shared>
    %Ws = tile.alloc_shared : memref<32x128xbf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<64x128xf32, #tile.fragment>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<64x128xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c32 stages(3) {
      tile.copy %X[%row, %k] to %Xs
        : memref<?x?xbf16> to memref<64x32xbf16, #tile.shared>
      tile.copy %W[%k, %column] to %Ws
        : memref<?x?xbf16> to memref<32x128xbf16, #tile.shared>
      tile.gemm %Xs, %Ws, %acc
        : memref<64x32xbf16, #tile.shared>, memref<32x128xbf16, #tile.shared>,
          memref<64x128xf32, #tile.fragment>
    }
    func.call @add_bias_and_clamp(%acc, %bias, %column)
      : (memref<64x128xf32, #tile.fragment>, memref<?xbf16>, index) -> ()
    tile.copy %acc to %Y[%row, %column]
      : memref<64x128xf32, #tile.fragment> to memref<?x?xbf16>
  }
  return
}

func.func @matmul_bias_relu_reference(%X: memref<?x?xf64>, %W: memref<?x?xf64>,
                                      %bias: memref<?xf64>, %Y: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.broadcast ins(%bias : memref<?xf64>) outs(%Y : memref<?x?xf64>)
                   dimensions = [0]
  linalg.matmul ins(%X, %W : memref<?x?xf64>, memref<?x?xf64>)
                outs(%Y : memref<?x?xf64>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      outs(%Y : memref<?x?xf64>) {
  ^bb0(%y: f64):
    %relu = arith.maximumf %y, %zero : f64
    linalg.yield %relu : f64
  }
  return
}
