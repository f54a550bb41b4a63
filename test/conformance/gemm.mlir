// Products of tiles: element types, transposes, odd shapes, operands anywhere.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Extents that no machine has an instruction for.
func.func @odd_shape_f32(
    %A: memref<17x5xf32> {tile.name = "A", tile.default = "randn:17x5xf32"},
    %B: memref<5x23xf32> {tile.name = "B", tile.default = "randn:5x23xf32"},
    %C: memref<17x23xf32> {tile.name = "C", tile.default = "empty:17x23xf32"})
    attributes {tile.reference = @odd_shape_f32_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 4.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %a = tile.alloc_shared : memref<17x5xf32, #tile.shared>
    %bb = tile.alloc_shared : memref<5x23xf32, #tile.shared>
    %c = tile.alloc_fragment : memref<17x23xf32, #tile.fragment>
    tile.copy %A to %a : memref<17x5xf32> to memref<17x5xf32, #tile.shared>
    tile.copy %B to %bb : memref<5x23xf32> to memref<5x23xf32, #tile.shared>
    tile.gemm %a, %bb, %c clear
      : memref<17x5xf32, #tile.shared>, memref<5x23xf32, #tile.shared>, memref<17x23xf32, #tile.fragment>
    tile.copy %c to %C : memref<17x23xf32, #tile.fragment> to memref<17x23xf32>
  }
  return
}
func.func @odd_shape_f32_reference(%A: memref<17x5xf64>, %B: memref<5x23xf64>, %C: memref<17x23xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<17x23xf64>)
  linalg.matmul ins(%A, %B : memref<17x5xf64>, memref<5x23xf64>) outs(%C : memref<17x23xf64>)
  return
}

// The four transposes of one product, added up: C = AB + AB + AB + AB.
func.func @transposes_f16(
    %A: memref<32x48xf16> {tile.name = "A", tile.default = "randn:32x48xf16"},
    %B: memref<48x40xf16> {tile.name = "B", tile.default = "randn:48x40xf16"},
    %C: memref<32x40xf32> {tile.name = "C", tile.default = "empty:32x40xf32"})
    attributes {tile.reference = @transposes_f16_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 4.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %a = tile.alloc_shared : memref<32x48xf16, #tile.shared>
    %at = tile.alloc_shared : memref<48x32xf16, #tile.shared>
    %bb = tile.alloc_shared : memref<48x40xf16, #tile.shared>
    %bt = tile.alloc_shared : memref<40x48xf16, #tile.shared>
    %c = tile.alloc_fragment : memref<32x40xf32, #tile.fragment>
    tile.copy %A to %a : memref<32x48xf16> to memref<32x48xf16, #tile.shared>
    tile.copy %B to %bb : memref<48x40xf16> to memref<48x40xf16, #tile.shared>
    tile.parallel (%i, %j) in (32, 48) {
      %v = memref.load %a[%i, %j] : memref<32x48xf16, #tile.shared>
      memref.store %v, %at[%j, %i] : memref<48x32xf16, #tile.shared>
    }
    tile.parallel (%i, %j) in (48, 40) {
      %v = memref.load %bb[%i, %j] : memref<48x40xf16, #tile.shared>
      memref.store %v, %bt[%j, %i] : memref<40x48xf16, #tile.shared>
    }
    tile.gemm %a, %bb, %c clear
      : memref<32x48xf16, #tile.shared>, memref<48x40xf16, #tile.shared>, memref<32x40xf32, #tile.fragment>
    tile.gemm %at, %bb, %c transpose_a
      : memref<48x32xf16, #tile.shared>, memref<48x40xf16, #tile.shared>, memref<32x40xf32, #tile.fragment>
    tile.gemm %a, %bt, %c transpose_b
      : memref<32x48xf16, #tile.shared>, memref<40x48xf16, #tile.shared>, memref<32x40xf32, #tile.fragment>
    tile.gemm %at, %bt, %c transpose_a transpose_b
      : memref<48x32xf16, #tile.shared>, memref<40x48xf16, #tile.shared>, memref<32x40xf32, #tile.fragment>
    tile.copy %c to %C : memref<32x40xf32, #tile.fragment> to memref<32x40xf32>
  }
  return
}
func.func @transposes_f16_reference(%A: memref<32x48xf64>, %B: memref<48x40xf64>, %C: memref<32x40xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<32x40xf64>)
  affine.for %t = 0 to 4 {
    linalg.matmul ins(%A, %B : memref<32x48xf64>, memref<48x40xf64>) outs(%C : memref<32x40xf64>)
  }
  return
}

// f16 products in f16, each step rounded: a looser bound, in units of f16.
func.func @accumulate_f16(
    %A: memref<16x32xf16> {tile.name = "A", tile.default = "randn:16x32xf16"},
    %B: memref<32x16xf16> {tile.name = "B", tile.default = "randn:32x16xf16"},
    %C: memref<16x16xf16> {tile.name = "C", tile.default = "empty:16x16xf16"})
    attributes {tile.reference = @accumulate_f16_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-2, products = 16.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %a = tile.alloc_shared : memref<16x32xf16, #tile.shared>
    %bb = tile.alloc_shared : memref<32x16xf16, #tile.shared>
    %c = tile.alloc_fragment : memref<16x16xf16, #tile.fragment>
    tile.copy %A to %a : memref<16x32xf16> to memref<16x32xf16, #tile.shared>
    tile.copy %B to %bb : memref<32x16xf16> to memref<32x16xf16, #tile.shared>
    tile.gemm %a, %bb, %c clear
      : memref<16x32xf16, #tile.shared>, memref<32x16xf16, #tile.shared>, memref<16x16xf16, #tile.fragment>
    tile.copy %c to %C : memref<16x16xf16, #tile.fragment> to memref<16x16xf16>
  }
  return
}
func.func @accumulate_f16_reference(%A: memref<16x32xf64>, %B: memref<32x16xf64>, %C: memref<16x16xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<16x16xf64>)
  linalg.matmul ins(%A, %B : memref<16x32xf64>, memref<32x16xf64>) outs(%C : memref<16x16xf64>)
  return
}

// C starts as the input: D = A * B + C, in f64.
func.func @with_addend_f64(
    %A: memref<?x?xf64> {tile.name = "A", tile.default = "randn:11x70xf64"},
    %B: memref<?x?xf64> {tile.name = "B", tile.default = "randn:A[1]x9xf64"},
    %C: memref<?x?xf64> {tile.name = "C", tile.default = "randn:A[0]xB[1]xf64"},
    %D: memref<?x?xf64> {tile.name = "D", tile.default = "empty:A[0]xB[1]xf64"})
    attributes {tile.reference = @with_addend_f64_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-14, products = 16.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %K = memref.dim %A, %c1 : memref<?x?xf64>
  tile.launch blocks(%b) in (%c1) {
    %a = tile.alloc_shared : memref<16x16xf64, #tile.shared>
    %bb = tile.alloc_shared : memref<16x16xf64, #tile.shared>
    %c = tile.alloc_fragment : memref<16x16xf64, #tile.fragment>
    tile.copy %C[0, 0] to %c : memref<?x?xf64> to memref<16x16xf64, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c16 stages(2) {
      tile.copy %A[0, %k] to %a : memref<?x?xf64> to memref<16x16xf64, #tile.shared>
      tile.copy %B[%k, 0] to %bb : memref<?x?xf64> to memref<16x16xf64, #tile.shared>
      tile.gemm %a, %bb, %c
        : memref<16x16xf64, #tile.shared>, memref<16x16xf64, #tile.shared>, memref<16x16xf64, #tile.fragment>
    }
    tile.copy %c to %D[0, 0] : memref<16x16xf64, #tile.fragment> to memref<?x?xf64>
  }
  return
}
func.func @with_addend_f64_reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>,
                                     %C: memref<?x?xf64>, %D: memref<?x?xf64>) {
  memref.copy %C, %D : memref<?x?xf64> to memref<?x?xf64>
  linalg.matmul ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>) outs(%D : memref<?x?xf64>)
  return
}

// Both operands in fragments, the second product fed by the first: (A * B) * C.
func.func @chained_bf16(
    %A: memref<32x32xbf16> {tile.name = "A", tile.default = "randn:32x32xbf16"},
    %B: memref<32x32xbf16> {tile.name = "B", tile.default = "randn:32x32xbf16"},
    %C: memref<32x32xbf16> {tile.name = "C", tile.default = "randn:32x32xbf16"},
    %D: memref<32x32xf32> {tile.name = "D", tile.default = "empty:32x32xf32"})
    attributes {tile.reference = @chained_bf16_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 8.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %a = tile.alloc_fragment : memref<32x32xbf16, #tile.fragment>
    %bb = tile.alloc_shared : memref<32x32xbf16, #tile.shared>
    %c = tile.alloc_fragment : memref<32x32xbf16, #tile.fragment>
    %ab = tile.alloc_fragment : memref<32x32xf32, #tile.fragment>
    %abRounded = tile.alloc_fragment : memref<32x32xbf16, #tile.fragment>
    %d = tile.alloc_fragment : memref<32x32xf32, #tile.fragment>
    tile.copy %A to %a : memref<32x32xbf16> to memref<32x32xbf16, #tile.fragment>
    tile.copy %B to %bb : memref<32x32xbf16> to memref<32x32xbf16, #tile.shared>
    tile.copy %C to %c : memref<32x32xbf16> to memref<32x32xbf16, #tile.fragment>
    tile.gemm %a, %bb, %ab clear
      : memref<32x32xbf16, #tile.fragment>, memref<32x32xbf16, #tile.shared>, memref<32x32xf32, #tile.fragment>
    // Ones and zeros keep the rounding to bf16 out of the comparison.
    tile.parallel (%i, %j) in (32, 32) {
      %v = memref.load %ab[%i, %j] : memref<32x32xf32, #tile.fragment>
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %positive = arith.cmpf ogt, %v, %zero : f32
      %s = arith.select %positive, %one, %zero : f32
      memref.store %s, %ab[%i, %j] : memref<32x32xf32, #tile.fragment>
    }
    tile.copy %ab to %abRounded : memref<32x32xf32, #tile.fragment> to memref<32x32xbf16, #tile.fragment>
    tile.gemm %abRounded, %c, %d clear
      : memref<32x32xbf16, #tile.fragment>, memref<32x32xbf16, #tile.fragment>, memref<32x32xf32, #tile.fragment>
    tile.copy %d to %D : memref<32x32xf32, #tile.fragment> to memref<32x32xf32>
  }
  return
}
func.func @chained_bf16_reference(%A: memref<32x32xf64>, %B: memref<32x32xf64>,
                                  %C: memref<32x32xf64>, %D: memref<32x32xf64>) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %ab = memref.alloc() : memref<32x32xf64>
  linalg.fill ins(%zero : f64) outs(%ab : memref<32x32xf64>)
  linalg.matmul ins(%A, %B : memref<32x32xf64>, memref<32x32xf64>) outs(%ab : memref<32x32xf64>)
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 32 {
      %v = affine.load %ab[%i, %j] : memref<32x32xf64>
      %positive = arith.cmpf ogt, %v, %zero : f64
      %s = arith.select %positive, %one, %zero : f64
      affine.store %s, %ab[%i, %j] : memref<32x32xf64>
    }
  }
  linalg.fill ins(%zero : f64) outs(%D : memref<32x32xf64>)
  linalg.matmul ins(%ab, %C : memref<32x32xf64>, memref<32x32xf64>) outs(%D : memref<32x32xf64>)
  memref.dealloc %ab : memref<32x32xf64>
  return
}

// Operands that are parts of larger buffers, the result too.
func.func @parts_of_buffers(
    %A: memref<64x64xf32> {tile.name = "A", tile.default = "randn:64x64xf32"},
    %C: memref<32x32xf32> {tile.name = "C", tile.default = "empty:32x32xf32"})
    attributes {tile.reference = @parts_of_buffers_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 4.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %zero = arith.constant 0.0 : f32
    %s = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %f = tile.alloc_fragment : memref<32x32xf32, #tile.fragment>
    tile.copy %A to %s : memref<64x64xf32> to memref<64x64xf32, #tile.shared>
    tile.fill %f, %zero : memref<32x32xf32, #tile.fragment>
    %a = memref.subview %s[8, 16] [16, 24] [1, 1]
      : memref<64x64xf32, #tile.shared> to memref<16x24xf32, strided<[64, 1], offset: 528>, #tile.shared>
    %bb = memref.subview %s[32, 40] [24, 16] [1, 1]
      : memref<64x64xf32, #tile.shared> to memref<24x16xf32, strided<[64, 1], offset: 2088>, #tile.shared>
    %c = memref.subview %f[16, 0] [16, 16] [1, 1]
      : memref<32x32xf32, #tile.fragment> to memref<16x16xf32, strided<[32, 1], offset: 512>, #tile.fragment>
    tile.gemm %a, %bb, %c
      : memref<16x24xf32, strided<[64, 1], offset: 528>, #tile.shared>,
        memref<24x16xf32, strided<[64, 1], offset: 2088>, #tile.shared>,
        memref<16x16xf32, strided<[32, 1], offset: 512>, #tile.fragment>
    tile.copy %f to %C : memref<32x32xf32, #tile.fragment> to memref<32x32xf32>
  }
  return
}
func.func @parts_of_buffers_reference(%A: memref<64x64xf64>, %C: memref<32x32xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<32x32xf64>)
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 16 {
      %sum = affine.for %k = 0 to 24 iter_args(%s = %zero) -> f64 {
        %a = affine.load %A[%i + 8, %k + 16] : memref<64x64xf64>
        %b = affine.load %A[%k + 32, %j + 40] : memref<64x64xf64>
        %p = arith.mulf %a, %b : f64
        %n = arith.addf %s, %p : f64
        affine.yield %n : f64
      }
      affine.store %sum, %C[%i + 16, %j] : memref<32x32xf64>
    }
  }
  return
}

// Bytes, signed times unsigned, in i32.
func.func @bytes(
    %A: memref<16x32xi8> {tile.name = "A", tile.default = "randint(-128,128):16x32xi8"},
    %B: memref<24x32xi8> {tile.name = "B", tile.default = "randint(-128,128):24x32xi8"},
    %C: memref<16x24xi32> {tile.name = "C", tile.default = "empty:16x24xi32"})
    attributes {tile.reference = @bytes_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %a = tile.alloc_shared : memref<16x32xi8, #tile.shared>
    %bb = tile.alloc_shared : memref<24x32xi8, #tile.shared>
    %c = tile.alloc_fragment : memref<16x24xi32, #tile.fragment>
    tile.copy %A to %a : memref<16x32xi8> to memref<16x32xi8, #tile.shared>
    tile.copy %B to %bb : memref<24x32xi8> to memref<24x32xi8, #tile.shared>
    tile.gemm %a, %bb, %c transpose_b unsigned_b clear
      : memref<16x32xi8, #tile.shared>, memref<24x32xi8, #tile.shared>, memref<16x24xi32, #tile.fragment>
    tile.copy %c to %C : memref<16x24xi32, #tile.fragment> to memref<16x24xi32>
  }
  return
}
func.func @bytes_reference(%A: memref<16x32xi8>, %B: memref<24x32xi8>, %C: memref<16x24xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%C : memref<16x24xi32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %B : memref<16x32xi8>, memref<24x32xi8>) outs(%C : memref<16x24xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %x = arith.extsi %a : i8 to i32
    %y = arith.extui %b : i8 to i32
    %p = arith.muli %x, %y : i32
    %s = arith.addi %c, %p : i32
    linalg.yield %s : i32
  }
  return
}

// A tile of one row times a tile of one column.
func.func @ones(
    %A: memref<1x64xf32> {tile.name = "A", tile.default = "randn:1x64xf32"},
    %B: memref<64x1xf32> {tile.name = "B", tile.default = "randn:64x1xf32"},
    %C: memref<1x1xf32> {tile.name = "C", tile.default = "empty:1x1xf32"})
    attributes {tile.reference = @ones_reference,
                tile.tolerance = #tile.tolerance<products = 8.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %a = tile.alloc_shared : memref<1x64xf32, #tile.shared>
    %bb = tile.alloc_shared : memref<64x1xf32, #tile.shared>
    %c = tile.alloc_fragment : memref<1x1xf32, #tile.fragment>
    tile.copy %A to %a : memref<1x64xf32> to memref<1x64xf32, #tile.shared>
    tile.copy %B to %bb : memref<64x1xf32> to memref<64x1xf32, #tile.shared>
    tile.gemm %a, %bb, %c clear
      : memref<1x64xf32, #tile.shared>, memref<64x1xf32, #tile.shared>, memref<1x1xf32, #tile.fragment>
    tile.copy %c to %C : memref<1x1xf32, #tile.fragment> to memref<1x1xf32>
  }
  return
}
func.func @ones_reference(%A: memref<1x64xf64>, %B: memref<64x1xf64>, %C: memref<1x1xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<1x1xf64>)
  linalg.matmul ins(%A, %B : memref<1x64xf64>, memref<64x1xf64>) outs(%C : memref<1x1xf64>)
  return
}
