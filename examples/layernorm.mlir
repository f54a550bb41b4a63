// Layer normalisation of a rank-4 tensor over its last two dimensions, with a
// weight and a bias for each normalised element.
//
// The kernel sees the tensor as a matrix: (batch, token) is the row and (head,
// channel) the column, taken apart again by division and remainder. That costs
// a few integer operations and spares the caller a reshape, which a strided
// tensor would pay for with a copy.
//
// Columns past the end need a guard: read as zero they are right for the mean,
// but (0 - mean)^2 would spoil the variance.

func.func @layernorm(
    %x: memref<?x?x?x?xf32> {tile.name = "X", tile.default = "randn(1,2):2x75x6x50xf32"},
    %weight: memref<?xf32> {tile.name = "weight", tile.default = "randn:(X[2]*X[3])xf32"},
    %bias: memref<?xf32> {tile.name = "bias", tile.default = "randn:(X[2]*X[3])xf32"},
    %epsilon: f32 {tile.name = "epsilon", tile.default = "0.00001"},
    %y: memref<?x?x?x?xf32> {tile.name = "Y", tile.default = "empty:X[0]xX[1]xX[2]xX[3]xf32"})
    attributes {tile.reference = @layernorm_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5, rtol = 1.0e-5>,
                tile.flops = "8 * X[0] * X[1] * X[2] * X[3]",
                tile.bytes = "8 * X[0] * X[1] * X[2] * X[3]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %batches = memref.dim %x, %c0 : memref<?x?x?x?xf32>
  %tokens = memref.dim %x, %c1 : memref<?x?x?x?xf32>
  %heads = memref.dim %x, %c2 : memref<?x?x?x?xf32>
  %channels = memref.dim %x, %c3 : memref<?x?x?x?xf32>
  %rows = arith.muli %batches, %tokens : index
  %columns = arith.muli %heads, %channels : index
  %grid = arith.ceildivsi %rows, %c16 : index

  tile.launch blocks(%block) in (%grid) threads(128) {
    %first = arith.muli %block, %c16 : index
    %zero = arith.constant 0.0 : f32
    %count = arith.index_cast %columns : index to i32
    %n = arith.sitofp %count : i32 to f32
    %tile = tile.alloc_fragment : memref<16x128xf32, #tile.fragment>
    %mean = tile.alloc_fragment : memref<16xf32, #tile.fragment>
    %scale = tile.alloc_fragment : memref<16xf32, #tile.fragment>

    tile.fill %mean, %zero : memref<16xf32, #tile.fragment>
    scf.for %k = %c0 to %columns step %c128 {
      tile.parallel (%i, %j) in (16, 128) {
        %r = arith.addi %first, %i : index
        %b = arith.divui %r, %tokens : index
        %t = arith.remui %r, %tokens : index
        %c = arith.addi %k, %j : index
        %h = arith.divui %c, %channels : index
        %d = arith.remui %c, %channels : index
        %v = memref.load %x[%b, %t, %h, %d] : memref<?x?x?x?xf32>
        memref.store %v, %tile[%i, %j] : memref<16x128xf32, #tile.fragment>
      }
      tile.reduce sum %tile along 1 into %mean accumulate
        : memref<16x128xf32, #tile.fragment> into memref<16xf32, #tile.fragment>
    }
    tile.parallel (%i) in (16) {
      %sum = memref.load %mean[%i] : memref<16xf32, #tile.fragment>
      %m = arith.divf %sum, %n : f32
      memref.store %m, %mean[%i] : memref<16xf32, #tile.fragment>
    }

    tile.fill %scale, %zero : memref<16xf32, #tile.fragment>
    scf.for %k = %c0 to %columns step %c128 {
      tile.fill %tile, %zero : memref<16x128xf32, #tile.fragment>
      tile.parallel (%i, %j) in (16, 128) {
        %r = arith.addi %first, %i : index
        %b = arith.divui %r, %tokens : index
        %t = arith.remui %r, %tokens : index
        %c = arith.addi %k, %j : index
        %h = arith.divui %c, %channels : index
        %d = arith.remui %c, %channels : index
        %inside = arith.cmpi ult, %c, %columns : index
        scf.if %inside {
          %v = memref.load %x[%b, %t, %h, %d] : memref<?x?x?x?xf32>
          %m = memref.load %mean[%i] : memref<16xf32, #tile.fragment>
          %distance = arith.subf %v, %m : f32
          %square = arith.mulf %distance, %distance : f32
          memref.store %square, %tile[%i, %j] : memref<16x128xf32, #tile.fragment>
        }
      }
      tile.reduce sum %tile along 1 into %scale accumulate
        : memref<16x128xf32, #tile.fragment> into memref<16xf32, #tile.fragment>
    }
    tile.parallel (%i) in (16) {
      %sum = memref.load %scale[%i] : memref<16xf32, #tile.fragment>
      %variance = arith.divf %sum, %n : f32
      %positive = arith.addf %variance, %epsilon : f32
      %s = math.rsqrt %positive : f32
      memref.store %s, %scale[%i] : memref<16xf32, #tile.fragment>
    }

    scf.for %k = %c0 to %columns step %c128 {
      tile.parallel (%i, %j) in (16, 128) {
        %r = arith.addi %first, %i : index
        %b = arith.divui %r, %tokens : index
        %t = arith.remui %r, %tokens : index
        %c = arith.addi %k, %j : index
        %h = arith.divui %c, %channels : index
        %d = arith.remui %c, %channels : index
        %v = memref.load %x[%b, %t, %h, %d] : memref<?x?x?x?xf32>
        %m = memref.load %mean[%i] : memref<16xf32, #tile.fragment>
        %s = memref.load %scale[%i] : memref<16xf32, #tile.fragment>
        %w = memref.load %weight[%c] : memref<?xf32>
        %o = memref.load %bias[%c] : memref<?xf32>
        %centred = arith.subf %v, %m : f32
        %normal = arith.mulf %centred, %s : f32
        %weighted = arith.mulf %normal, %w : f32
        %result = arith.addf %weighted, %o : f32
        memref.store %result, %y[%b, %t, %h, %d] : memref<?x?x?x?xf32>
      }
    }
  }
  return
}

func.func @layernorm_reference(
    %x: memref<?x?x?x?xf64>, %weight: memref<?xf64>, %bias: memref<?xf64>,
    %epsilon: f32, %y: memref<?x?x?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %batches = memref.dim %x, %c0 : memref<?x?x?x?xf64>
  %tokens = memref.dim %x, %c1 : memref<?x?x?x?xf64>
  %heads = memref.dim %x, %c2 : memref<?x?x?x?xf64>
  %channels = memref.dim %x, %c3 : memref<?x?x?x?xf64>
  %columns = arith.muli %heads, %channels : index
  %count = arith.index_cast %columns : index to i64
  %n = arith.sitofp %count : i64 to f64
  %eps = arith.extf %epsilon : f32 to f64
  affine.for %b = 0 to %batches {
    affine.for %t = 0 to %tokens {
      %sum = affine.for %h = 0 to %heads iter_args(%outer = %zero) -> f64 {
        %s = affine.for %d = 0 to %channels iter_args(%inner = %outer) -> f64 {
          %v = affine.load %x[%b, %t, %h, %d] : memref<?x?x?x?xf64>
          %next = arith.addf %inner, %v : f64
          affine.yield %next : f64
        }
        affine.yield %s : f64
      }
      %mean = arith.divf %sum, %n : f64
      %squares = affine.for %h = 0 to %heads iter_args(%outer = %zero) -> f64 {
        %s = affine.for %d = 0 to %channels iter_args(%inner = %outer) -> f64 {
          %v = affine.load %x[%b, %t, %h, %d] : memref<?x?x?x?xf64>
          %distance = arith.subf %v, %mean : f64
          %square = arith.mulf %distance, %distance : f64
          %next = arith.addf %inner, %square : f64
          affine.yield %next : f64
        }
        affine.yield %s : f64
      }
      %variance = arith.divf %squares, %n : f64
      %positive = arith.addf %variance, %eps : f64
      %deviation = math.sqrt %positive : f64
      affine.for %h = 0 to %heads {
        affine.for %d = 0 to %channels {
          %v = affine.load %x[%b, %t, %h, %d] : memref<?x?x?x?xf64>
          %w = affine.load %weight[%h * symbol(%channels) + %d] : memref<?xf64>
          %o = affine.load %bias[%h * symbol(%channels) + %d] : memref<?xf64>
          %centred = arith.subf %v, %mean : f64
          %normal = arith.divf %centred, %deviation : f64
          %weighted = arith.mulf %normal, %w : f64
          %result = arith.addf %weighted, %o : f64
          affine.store %result, %y[%b, %t, %h, %d] : memref<?x?x?x?xf64>
        }
      }
    }
  }
  return
}
