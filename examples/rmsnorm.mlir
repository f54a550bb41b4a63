// Root-mean-square normalisation: y = x / sqrt(mean(x^2) + epsilon) * weight,
// in f16 with f32 arithmetic.
//
// A copy converts as it moves: f16 in memory becomes f32 in the fragment and
// is rounded once on the way back. Copies fill what lies past the end of a row
// with zeros, which add nothing to a sum of squares, so no guard is needed.

func.func @rmsnorm(
    %x: memref<?x?xf16> {tile.name = "X", tile.default = "randn:400x1000xf16"},
    %weight: memref<?xf16> {tile.name = "weight", tile.default = "randn:X[1]xf16"},
    %epsilon: f32 {tile.name = "epsilon", tile.default = "0.000001"},
    %y: memref<?x?xf16> {tile.name = "Y", tile.default = "empty:X[0]xX[1]xf16"})
    attributes {tile.reference = @rmsnorm_reference,
                tile.tolerance = #tile.tolerance<norm = 5.0e-4, atol = 1.0e-6, rtol = 1.0e-3>,
                tile.flops = "4 * X[0] * X[1]",
                tile.bytes = "4 * X[0] * X[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf16>
  %columns = memref.dim %x, %c1 : memref<?x?xf16>
  %grid = arith.ceildivsi %rows, %c16 : index

  tile.launch blocks(%b) in (%grid) threads(128) {
    %row = arith.muli %b, %c16 : index
    %zero = arith.constant 0.0 : f32
    %count = arith.index_cast %columns : index to i32
    %n = arith.sitofp %count : i32 to f32
    %tile = tile.alloc_fragment : memref<16x256xf32, #tile.fragment>
    %w = tile.alloc_fragment : memref<256xf32, #tile.fragment>
    %scale = tile.alloc_fragment : memref<16xf32, #tile.fragment>

    tile.fill %scale, %zero : memref<16xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %columns step %c256 stages(2) {
      tile.copy %x[%row, %k] to %tile
        : memref<?x?xf16> to memref<16x256xf32, #tile.fragment>
      tile.parallel (%i, %j) in (16, 256) {
        %v = memref.load %tile[%i, %j] : memref<16x256xf32, #tile.fragment>
        %square = arith.mulf %v, %v : f32
        memref.store %square, %tile[%i, %j] : memref<16x256xf32, #tile.fragment>
      }
      tile.reduce sum %tile along 1 into %scale accumulate
        : memref<16x256xf32, #tile.fragment> into memref<16xf32, #tile.fragment>
    }
    tile.parallel (%i) in (16) {
      %sum = memref.load %scale[%i] : memref<16xf32, #tile.fragment>
      %mean = arith.divf %sum, %n : f32
      %positive = arith.addf %mean, %epsilon : f32
      %s = math.rsqrt %positive : f32
      memref.store %s, %scale[%i] : memref<16xf32, #tile.fragment>
    }

    tile.pipelined %k = %c0 to %columns step %c256 stages(2) {
      tile.copy %x[%row, %k] to %tile
        : memref<?x?xf16> to memref<16x256xf32, #tile.fragment>
      tile.copy %weight[%k] to %w
        : memref<?xf16> to memref<256xf32, #tile.fragment>
      tile.parallel (%i, %j) in (16, 256) {
        %v = memref.load %tile[%i, %j] : memref<16x256xf32, #tile.fragment>
        %s = memref.load %scale[%i] : memref<16xf32, #tile.fragment>
        %weight_j = memref.load %w[%j] : memref<256xf32, #tile.fragment>
        %normal = arith.mulf %v, %s : f32
        %result = arith.mulf %normal, %weight_j : f32
        memref.store %result, %tile[%i, %j] : memref<16x256xf32, #tile.fragment>
      }
      tile.copy %tile to %y[%row, %k]
        : memref<16x256xf32, #tile.fragment> to memref<?x?xf16>
    }
  }
  return
}

func.func @rmsnorm_reference(%x: memref<?x?xf64>, %weight: memref<?xf64>,
                             %epsilon: f32, %y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %rows = memref.dim %x, %c0 : memref<?x?xf64>
  %columns = memref.dim %x, %c1 : memref<?x?xf64>
  %count = arith.index_cast %columns : index to i64
  %n = arith.sitofp %count : i64 to f64
  %eps = arith.extf %epsilon : f32 to f64
  affine.for %i = 0 to %rows {
    %squares = affine.for %j = 0 to %columns iter_args(%sum = %zero) -> f64 {
      %v = affine.load %x[%i, %j] : memref<?x?xf64>
      %square = arith.mulf %v, %v : f64
      %next = arith.addf %sum, %square : f64
      affine.yield %next : f64
    }
    %mean = arith.divf %squares, %n : f64
    %positive = arith.addf %mean, %eps : f64
    %root = math.sqrt %positive : f64
    affine.for %j = 0 to %columns {
      %v = affine.load %x[%i, %j] : memref<?x?xf64>
      %w = affine.load %weight[%j] : memref<?xf64>
      %normal = arith.divf %v, %root : f64
      %result = arith.mulf %normal, %w : f64
      affine.store %result, %y[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
