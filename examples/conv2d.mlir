// 2-d convolution as a matrix product whose left operand is gathered.
//
//   Y[n, p, q, f] = sum over r, s, c of X[n, p + r - 1, q + s - 1, c] * W[r, s, c, f]
//
// X is batch x height x width x channels; W is 3 x 3 x channels x filters. One row
// of the product is one pixel of Y, one column a filter, and the sum runs over
// the 9 * channels numbers (r, s, c). No matrix with a row for each pixel is ever
// built: an elementwise loop gathers the next 64 x 32 piece of it from X. Pixels
// over the edge lie outside X and read as zero, which is
// the padding that the sum wants.

func.func @conv2d(
    %X: memref<?x?x?x?xf16> {tile.name = "X", tile.default = "randn:2x19x23x40xf16"},
    %W: memref<3x3x?x?xf16> {tile.name = "W", tile.default = "randn:3x3xX[3]x50xf16"},
    %Y: memref<?x?x?x?xf32> {tile.name = "Y", tile.default = "empty:X[0]xX[1]xX[2]xW[3]xf32"})
    attributes {tile.reference = @conv2d_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 4.0>,
                tile.flops = "2 * 9 * X[0] * X[1] * X[2] * X[3] * W[3]",
                tile.bytes = "2 * X[0] * X[1] * X[2] * X[3] + 18 * W[2] * W[3] + 4 * Y[0] * Y[1] * Y[2] * Y[3]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %images = memref.dim %X, %c0 : memref<?x?x?x?xf16>
  %height = memref.dim %X, %c1 : memref<?x?x?x?xf16>
  %width = memref.dim %X, %c2 : memref<?x?x?x?xf16>
  %channels = memref.dim %X, %c3 : memref<?x?x?x?xf16>
  %filters = memref.dim %W, %c3 : memref<3x3x?x?xf16>
  %pixels = arith.muli %height, %width : index
  %depth = arith.muli %c9, %channels : index
  %gy = arith.ceildivsi %pixels, %c64 : index
  %gx = arith.ceildivsi %filters, %c64 : index

  tile.launch blocks(%bx, %by, %n) in (%gx, %gy, %images) threads(128) {
    %firstPixel = arith.muli %by, %c64 : index
    %firstFilter = arith.muli %bx, %c64 : index
    %zero = arith.constant 0.0 : f32
    %patches = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %weights = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.fill %acc, %zero : memref<64x64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %depth step %c32 stages(2) {
      tile.parallel (%i, %j) in (64, 32) {
        %pixel = arith.addi %firstPixel, %i : index
        %p = arith.divui %pixel, %width : index
        %q = arith.remui %pixel, %width : index
        // Position k in the sum is (r, s, c), c fastest.
        %at = arith.addi %k, %j : index
        %c = arith.remui %at, %channels : index
        %rs = arith.divui %at, %channels : index
        %r = arith.divui %rs, %c3 : index
        %s = arith.remui %rs, %c3 : index
        %pr = arith.addi %p, %r : index
        %qs = arith.addi %q, %s : index
        %y = arith.subi %pr, %c1 : index
        %x = arith.subi %qs, %c1 : index
        %v = memref.load %X[%n, %y, %x, %c] : memref<?x?x?x?xf16>
        memref.store %v, %patches[%i, %j] : memref<64x32xf16, #tile.shared>
      }
      tile.parallel (%i, %j) in (32, 64) {
        %at = arith.addi %k, %i : index
        %c = arith.remui %at, %channels : index
        %rs = arith.divui %at, %channels : index
        %r = arith.divui %rs, %c3 : index
        %s = arith.remui %rs, %c3 : index
        %f = arith.addi %firstFilter, %j : index
        // Past the end of the sum r is 3 or more, and the weight reads as zero.
        %w = memref.load %W[%r, %s, %c, %f] : memref<3x3x?x?xf16>
        memref.store %w, %weights[%i, %j] : memref<32x64xf16, #tile.shared>
      }
      tile.gemm %patches, %weights, %acc
        : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
    tile.parallel (%i, %j) in (64, 64) {
      %pixel = arith.addi %firstPixel, %i : index
      %p = arith.divui %pixel, %width : index
      %q = arith.remui %pixel, %width : index
      %f = arith.addi %firstFilter, %j : index
      %v = memref.load %acc[%i, %j] : memref<64x64xf32, #tile.fragment>
      memref.store %v, %Y[%n, %p, %q, %f] : memref<?x?x?x?xf32>
    }
  }
  return
}

func.func @conv2d_reference(%X: memref<?x?x?x?xf64>, %W: memref<3x3x?x?xf64>,
                            %Y: memref<?x?x?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %images = memref.dim %X, %c0 : memref<?x?x?x?xf64>
  %height = memref.dim %X, %c1 : memref<?x?x?x?xf64>
  %width = memref.dim %X, %c2 : memref<?x?x?x?xf64>
  %channels = memref.dim %X, %c3 : memref<?x?x?x?xf64>
  %filters = memref.dim %W, %c3 : memref<3x3x?x?xf64>
  affine.for %n = 0 to %images {
    affine.for %p = 0 to %height {
      affine.for %q = 0 to %width {
        affine.for %f = 0 to %filters {
          affine.store %zero, %Y[%n, %p, %q, %f] : memref<?x?x?x?xf64>
        }
        affine.for %r = 0 to 3 {
          affine.for %s = 0 to 3 {
            affine.if affine_set<(p, q, r, s)[h, w] : (p + r - 1 >= 0, h - p - r >= 0, q + s - 1 >= 0, w - q - s >= 0)>(%p, %q, %r, %s)[%height, %width] {
              affine.for %c = 0 to %channels {
                %x = affine.load %X[%n, %p + %r - 1, %q + %s - 1, %c] : memref<?x?x?x?xf64>
                affine.for %f = 0 to %filters {
                  %w = affine.load %W[%r, %s, %c, %f] : memref<3x3x?x?xf64>
                  %old = affine.load %Y[%n, %p, %q, %f] : memref<?x?x?x?xf64>
                  %product = arith.mulf %x, %w : f64
                  %new = arith.addf %old, %product : f64
                  affine.store %new, %Y[%n, %p, %q, %f] : memref<?x?x?x?xf64>
                }
              }
            }
          }
        }
      }
    }
  }
  return
}
