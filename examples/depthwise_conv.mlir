// Depthwise 3 x 3 convolution of images laid out as [batch, row, column,
// channel], padded with zeros so that the output has the input's size.
//
// The block copies its patch with a rim of one pixel. At the borders of the
// image the copy starts at offset -1; what lies outside reads as zero, which
// is just the padding the convolution asks for.

func.func @depthwise_conv(
    %x: memref<?x?x?x?xf32> {tile.name = "X", tile.default = "randn:2x45x50x40xf32"},
    %w: memref<3x3x?xf32> {tile.name = "W", tile.default = "randn:3x3xX[3]xf32"},
    %y: memref<?x?x?x?xf32> {tile.name = "Y", tile.default = "empty:X[0]xX[1]xX[2]xX[3]xf32"})
    attributes {tile.reference = @depthwise_conv_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 4.0>,
                tile.flops = "18 * X[0] * X[1] * X[2] * X[3]",
                tile.bytes = "8 * X[0] * X[1] * X[2] * X[3]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %batches = memref.dim %x, %c0 : memref<?x?x?x?xf32>
  %height = memref.dim %x, %c1 : memref<?x?x?x?xf32>
  %width = memref.dim %x, %c2 : memref<?x?x?x?xf32>
  %channels = memref.dim %x, %c3 : memref<?x?x?x?xf32>
  %tilesY = arith.ceildivsi %height, %c8 : index
  %tilesX = arith.ceildivsi %width, %c8 : index
  %gx = arith.ceildivsi %channels, %c32 : index
  %gy = arith.muli %tilesY, %tilesX : index

  tile.launch blocks(%bx, %by, %b) in (%gx, %gy, %batches) threads(128) {
    %zero = arith.constant 0.0 : f32
    %tileY = arith.divui %by, %tilesX : index
    %tileX = arith.remui %by, %tilesX : index
    %row = arith.muli %tileY, %c8 : index
    %column = arith.muli %tileX, %c8 : index
    %channel = arith.muli %bx, %c32 : index
    %above = arith.subi %row, %c1 : index
    %before = arith.subi %column, %c1 : index
    %patch = tile.alloc_shared : memref<10x10x32xf32, #tile.shared>
    %weights = tile.alloc_shared : memref<3x3x32xf32, #tile.shared>
    tile.copy %x[%b, %above, %before, %channel] to %patch
      : memref<?x?x?x?xf32> to memref<10x10x32xf32, #tile.shared>
    tile.copy %w[0, 0, %channel] to %weights
      : memref<3x3x?xf32> to memref<3x3x32xf32, #tile.shared>
    tile.parallel (%i, %j, %c) in (8, 8, 32) {
      %sum = scf.for %u = %c0 to %c3 step %c1 iter_args(%outer = %zero) -> f32 {
        %ofRow = scf.for %v = %c0 to %c3 step %c1 iter_args(%inner = %outer) -> f32 {
          %r = arith.addi %i, %u : index
          %s = arith.addi %j, %v : index
          %pixel = memref.load %patch[%r, %s, %c] : memref<10x10x32xf32, #tile.shared>
          %weight = memref.load %weights[%u, %v, %c] : memref<3x3x32xf32, #tile.shared>
          %product = arith.mulf %pixel, %weight : f32
          %next = arith.addf %inner, %product : f32
          scf.yield %next : f32
        }
        scf.yield %ofRow : f32
      }
      %outRow = arith.addi %row, %i : index
      %outColumn = arith.addi %column, %j : index
      %outChannel = arith.addi %channel, %c : index
      memref.store %sum, %y[%b, %outRow, %outColumn, %outChannel] : memref<?x?x?x?xf32>
    }
  }
  return
}

func.func @depthwise_conv_reference(
    %x: memref<?x?x?x?xf64>, %w: memref<3x3x?xf64>, %y: memref<?x?x?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %batches = memref.dim %x, %c0 : memref<?x?x?x?xf64>
  %height = memref.dim %x, %c1 : memref<?x?x?x?xf64>
  %width = memref.dim %x, %c2 : memref<?x?x?x?xf64>
  %channels = memref.dim %x, %c3 : memref<?x?x?x?xf64>
  // A copy with a rim of zeros, on which the convolution needs no cases.
  %paddedHeight = arith.addi %height, %c2 : index
  %paddedWidth = arith.addi %width, %c2 : index
  %padded = memref.alloc(%batches, %paddedHeight, %paddedWidth, %channels) : memref<?x?x?x?xf64>
  linalg.fill ins(%zero : f64) outs(%padded : memref<?x?x?x?xf64>)
  linalg.fill ins(%zero : f64) outs(%y : memref<?x?x?x?xf64>)
  affine.for %b = 0 to %batches {
    affine.for %i = 0 to %height {
      affine.for %j = 0 to %width {
        affine.for %c = 0 to %channels {
          %v = affine.load %x[%b, %i, %j, %c] : memref<?x?x?x?xf64>
          affine.store %v, %padded[%b, %i + 1, %j + 1, %c] : memref<?x?x?x?xf64>
        }
      }
    }
  }
  linalg.depthwise_conv_2d_nhwc_hwc
      ins(%padded, %w : memref<?x?x?x?xf64>, memref<3x3x?xf64>)
      outs(%y : memref<?x?x?x?xf64>)
  memref.dealloc %padded : memref<?x?x?x?xf64>
  return
}
