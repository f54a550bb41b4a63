// Products of 8-bit and 4-bit numbers.
//
// @int8_matmul multiplies signed bytes into 32-bit sums, exactly, and scales
// each row and column of the result. @fp8_matmul does the same with the two
// 8-bit float formats, E4M3 for A and E5M2 for B, and f32 sums.
// @int4_weight_matmul has f16 activations and weights of four bits, two in a
// byte, with a scale for every 32 weights along K: a tile of weights comes on
// the chip packed and is dequantised there, right before its product.

func.func @int8_matmul(
    %A: memref<?x?xi8> {tile.name = "A", tile.default = "randint(-128,128):150x300xi8"},
    %B: memref<?x?xi8> {tile.name = "B", tile.default = "randint(-128,128):130xA[1]xi8"},
    %rowScale: memref<?xf32> {tile.name = "row_scale", tile.default = "uniform(0.5,1.5):A[0]xf32"},
    %columnScale: memref<?xf32> {tile.name = "column_scale", tile.default = "uniform(0.5,1.5):B[0]xf32"},
    %C: memref<?x?xf32> {tile.name = "C", tile.default = "empty:A[0]xB[0]xf32"})
    attributes {tile.reference = @int8_matmul_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, rtol = 1.0e-6, atol = 1.0e-2>,
                tile.flops = "2 * A[0] * A[1] * B[0]",
                tile.bytes = "A[0] * A[1] + B[0] * B[1] + 4 * C[0] * C[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %A, %c0 : memref<?x?xi8>
  %K = memref.dim %A, %c1 : memref<?x?xi8>
  %N = memref.dim %B, %c0 : memref<?x?xi8>
  %gy = arith.ceildivsi %M, %c64 : index
  %gx = arith.ceildivsi %N, %c64 : index
  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    %zero = arith.constant 0 : i32
    %As = tile.alloc_shared : memref<64x64xi8, #tile.shared>
    %Bs = tile.alloc_shared : memref<64x64xi8, #tile.shared>
    %acc = tile.alloc_fragment : memref<64x64xi32, #tile.fragment>
    tile.fill %acc, %zero : memref<64x64xi32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c64 stages(3) {
      tile.copy %A[%row, %k] to %As
        : memref<?x?xi8> to memref<64x64xi8, #tile.shared>
      tile.copy %B[%column, %k] to %Bs
        : memref<?x?xi8> to memref<64x64xi8, #tile.shared>
      tile.gemm %As, %Bs, %acc transpose_b
        : memref<64x64xi8, #tile.shared>, memref<64x64xi8, #tile.shared>,
          memref<64x64xi32, #tile.fragment>
    }
    tile.parallel (%i, %j) in (64, 64) {
      %y = arith.addi %row, %i : index
      %x = arith.addi %column, %j : index
      %sum = memref.load %acc[%i, %j] : memref<64x64xi32, #tile.fragment>
      %real = arith.sitofp %sum : i32 to f32
      %r = memref.load %rowScale[%y] : memref<?xf32>
      %c = memref.load %columnScale[%x] : memref<?xf32>
      %scale = arith.mulf %r, %c : f32
      %result = arith.mulf %real, %scale : f32
      memref.store %result, %C[%y, %x] : memref<?x?xf32>
    }
  }
  return
}

func.func @int8_matmul_reference(
    %A: memref<?x?xi8>, %B: memref<?x?xi8>, %rowScale: memref<?xf64>,
    %columnScale: memref<?xf64>, %C: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %M = memref.dim %A, %c0 : memref<?x?xi8>
  %K = memref.dim %A, %c1 : memref<?x?xi8>
  %N = memref.dim %B, %c0 : memref<?x?xi8>
  affine.for %i = 0 to %M {
    affine.for %j = 0 to %N {
      %sum = affine.for %k = 0 to %K iter_args(%s = %zero) -> i32 {
        %a = affine.load %A[%i, %k] : memref<?x?xi8>
        %b = affine.load %B[%j, %k] : memref<?x?xi8>
        %aw = arith.extsi %a : i8 to i32
        %bw = arith.extsi %b : i8 to i32
        %p = arith.muli %aw, %bw : i32
        %next = arith.addi %s, %p : i32
        affine.yield %next : i32
      }
      %real = arith.sitofp %sum : i32 to f64
      %r = affine.load %rowScale[%i] : memref<?xf64>
      %c = affine.load %columnScale[%j] : memref<?xf64>
      %scale = arith.mulf %r, %c : f64
      %result = arith.mulf %real, %scale : f64
      affine.store %result, %C[%i, %j] : memref<?x?xf64>
    }
  }
  return
}

func.func @fp8_matmul(
    %A: memref<?x?xf8E4M3FN> {tile.name = "A", tile.default = "randn:150x300xf8E4M3FN"},
    %B: memref<?x?xf8E5M2> {tile.name = "B", tile.default = "randn:130xA[1]xf8E5M2"},
    %scale: f32 {tile.name = "scale", tile.default = "0.25"},
    %C: memref<?x?xbf16> {tile.name = "C", tile.default = "empty:A[0]xB[0]xbf16"})
    attributes {tile.reference = @fp8_matmul_reference,
                tile.tolerance = #tile.tolerance<norm = 4.0e-3, products = 2.0>,
                tile.flops = "2 * A[0] * A[1] * B[0]",
                tile.bytes = "A[0] * A[1] + B[0] * B[1] + 2 * C[0] * C[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %A, %c0 : memref<?x?xf8E4M3FN>
  %K = memref.dim %A, %c1 : memref<?x?xf8E4M3FN>
  %N = memref.dim %B, %c0 : memref<?x?xf8E5M2>
  %gy = arith.ceildivsi %M, %c64 : index
  %gx = arith.ceildivsi %N, %c64 : index
  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    %zero = arith.constant 0.0 : f32
    %As = tile.alloc_shared : memref<64x64xf8E4M3FN, #tile.shared>
    %Bs = tile.alloc_shared : memref<64x64xf8E5M2, #tile.shared>
    %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.fill %acc, %zero : memref<64x64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c64 stages(3) {
      tile.copy %A[%row, %k] to %As
        : memref<?x?xf8E4M3FN> to memref<64x64xf8E4M3FN, #tile.shared>
      tile.copy %B[%column, %k] to %Bs
        : memref<?x?xf8E5M2> to memref<64x64xf8E5M2, #tile.shared>
      tile.gemm %As, %Bs, %acc transpose_b
        : memref<64x64xf8E4M3FN, #tile.shared>, memref<64x64xf8E5M2, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
    tile.parallel (%i, %j) in (64, 64) {
      %sum = memref.load %acc[%i, %j] : memref<64x64xf32, #tile.fragment>
      %scaled = arith.mulf %sum, %scale : f32
      memref.store %scaled, %acc[%i, %j] : memref<64x64xf32, #tile.fragment>
    }
    tile.copy %acc to %C[%row, %column]
      : memref<64x64xf32, #tile.fragment> to memref<?x?xbf16>
  }
  return
}

func.func @fp8_matmul_reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>,
                                %scale: f32, %C: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %M = memref.dim %A, %c0 : memref<?x?xf64>
  %K = memref.dim %A, %c1 : memref<?x?xf64>
  %N = memref.dim %B, %c0 : memref<?x?xf64>
  %factor = arith.extf %scale : f32 to f64
  affine.for %i = 0 to %M {
    affine.for %j = 0 to %N {
      %sum = affine.for %k = 0 to %K iter_args(%s = %zero) -> f64 {
        %a = affine.load %A[%i, %k] : memref<?x?xf64>
        %b = affine.load %B[%j, %k] : memref<?x?xf64>
        %p = arith.mulf %a, %b : f64
        %next = arith.addf %s, %p : f64
        affine.yield %next : f64
      }
      %scaled = arith.mulf %sum, %factor : f64
      affine.store %scaled, %C[%i, %j] : memref<?x?xf64>
    }
  }
  return
}

func.func @int4_weight_matmul(
    %A: memref<?x?xf16> {tile.name = "A", tile.default = "randn:70x256xf16"},
    %W: memref<?x?xi4> {tile.name = "W", tile.default = "randint(-8,8):A[1]x131xi4"},
    %scales: memref<?x?xf16> {tile.name = "scales", tile.default = "uniform(0.05,0.2):(ceildiv(A[1],32))xW[1]xf16"},
    %C: memref<?x?xf16> {tile.name = "C", tile.default = "empty:A[0]xW[1]xf16"})
    attributes {tile.reference = @int4_weight_matmul_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-3, rtol = 2.0e-3, atol = 2.0e-2>,
                tile.flops = "2 * A[0] * A[1] * W[1]",
                tile.bytes = "2 * A[0] * A[1] + W[0] * W[1] / 2 + 2 * C[0] * C[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %M = memref.dim %A, %c0 : memref<?x?xf16>
  %K = memref.dim %A, %c1 : memref<?x?xf16>
  %N = memref.dim %W, %c1 : memref<?x?xi4>
  %gy = arith.ceildivsi %M, %c64 : index
  %gx = arith.ceildivsi %N, %c64 : index
  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c64 : index
    %column = arith.muli %bx, %c64 : index
    %zero = arith.constant 0.0 : f32
    %As = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %packed = tile.alloc_shared : memref<32x64xi4, #tile.shared>
    %scale = tile.alloc_shared : memref<64xf16, #tile.shared>
    %Ws = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.fill %acc, %zero : memref<64x64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c32 stages(2) {
      %group = arith.divui %k, %c32 : index
      tile.copy %A[%row, %k] to %As
        : memref<?x?xf16> to memref<64x32xf16, #tile.shared>
      tile.copy %W[%k, %column] to %packed
        : memref<?x?xi4> to memref<32x64xi4, #tile.shared>
      tile.copy %scales[%group, %column] sizes [1, 64] to %scale
        : memref<?x?xf16> to memref<64xf16, #tile.shared>
      tile.parallel (%i, %j) in (32, 64) {
        %w = memref.load %packed[%i, %j] : memref<32x64xi4, #tile.shared>
        %s = memref.load %scale[%j] : memref<64xf16, #tile.shared>
        %real = arith.sitofp %w : i4 to f16
        %weight = arith.mulf %real, %s : f16
        memref.store %weight, %Ws[%i, %j] : memref<32x64xf16, #tile.shared>
      }
      tile.gemm %As, %Ws, %acc
        : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
    tile.copy %acc to %C[%row, %column]
      : memref<64x64xf32, #tile.fragment> to memref<?x?xf16>
  }
  return
}

func.func @int4_weight_matmul_reference(
    %A: memref<?x?xf64>, %W: memref<?x?xi8>, %scales: memref<?x?xf64>,
    %C: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %M = memref.dim %A, %c0 : memref<?x?xf64>
  %K = memref.dim %A, %c1 : memref<?x?xf64>
  %N = memref.dim %W, %c1 : memref<?x?xi8>
  affine.for %i = 0 to %M {
    affine.for %j = 0 to %N {
      %sum = affine.for %k = 0 to %K iter_args(%s = %zero) -> f64 {
        %a = affine.load %A[%i, %k] : memref<?x?xf64>
        %w = affine.load %W[%k, %j] : memref<?x?xi8>
        %scale = affine.load %scales[%k floordiv 32, %j] : memref<?x?xf64>
        %real = arith.sitofp %w : i8 to f64
        %weight = arith.mulf %real, %scale : f64
        %p = arith.mulf %a, %weight : f64
        %next = arith.addf %s, %p : f64
        affine.yield %next : f64
      }
      affine.store %sum, %C[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
