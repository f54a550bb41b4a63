// Products of the element types that gemm.mlir leaves out: 8-bit floats in every
// mix, tf32, bytes of either sign.

func.func @float8(
    %a: memref<19x37xf8E4M3FN> {tile.name = "a", tile.default = "randn:19x37xf8E4M3FN"},
    %b: memref<37x21xf8E4M3FN> {tile.name = "b", tile.default = "randn:37x21xf8E4M3FN"},
    %c: memref<19x37xf8E5M2> {tile.name = "c", tile.default = "randn:19x37xf8E5M2"},
    %d: memref<37x21xf8E5M2> {tile.name = "d", tile.default = "randn:37x21xf8E5M2"},
    %y: memref<3x19x21xf32> {tile.name = "y", tile.default = "empty:3x19x21xf32"},
    %h: memref<19x21xf16> {tile.name = "h", tile.default = "empty:19x21xf16"})
    attributes {tile.reference = @float8_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-3, products = 4.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%block) in (%c1) {
    %as = tile.alloc_shared : memref<19x37xf8E4M3FN, #tile.shared>
    %bs = tile.alloc_shared : memref<37x21xf8E4M3FN, #tile.shared>
    %cs = tile.alloc_fragment : memref<19x37xf8E5M2, #tile.fragment>
    %ds = tile.alloc_shared : memref<37x21xf8E5M2, #tile.shared>
    %acc = tile.alloc_fragment : memref<19x21xf32, #tile.fragment>
    %half = tile.alloc_fragment : memref<19x21xf16, #tile.fragment>
    tile.copy %a to %as : memref<19x37xf8E4M3FN> to memref<19x37xf8E4M3FN, #tile.shared>
    tile.copy %b to %bs : memref<37x21xf8E4M3FN> to memref<37x21xf8E4M3FN, #tile.shared>
    tile.copy %c to %cs : memref<19x37xf8E5M2> to memref<19x37xf8E5M2, #tile.fragment>
    tile.copy %d to %ds : memref<37x21xf8E5M2> to memref<37x21xf8E5M2, #tile.shared>
    tile.gemm %as, %bs, %acc clear : memref<19x37xf8E4M3FN, #tile.shared>, memref<37x21xf8E4M3FN, #tile.shared>, memref<19x21xf32, #tile.fragment>
    tile.copy %acc to %y[0, 0, 0] : memref<19x21xf32, #tile.fragment> to memref<3x19x21xf32>
    tile.gemm %as, %ds, %acc clear : memref<19x37xf8E4M3FN, #tile.shared>, memref<37x21xf8E5M2, #tile.shared>, memref<19x21xf32, #tile.fragment>
    tile.copy %acc to %y[1, 0, 0] : memref<19x21xf32, #tile.fragment> to memref<3x19x21xf32>
    tile.gemm %cs, %ds, %acc clear : memref<19x37xf8E5M2, #tile.fragment>, memref<37x21xf8E5M2, #tile.shared>, memref<19x21xf32, #tile.fragment>
    tile.copy %acc to %y[2, 0, 0] : memref<19x21xf32, #tile.fragment> to memref<3x19x21xf32>
    tile.gemm %cs, %bs, %half clear : memref<19x37xf8E5M2, #tile.fragment>, memref<37x21xf8E4M3FN, #tile.shared>, memref<19x21xf16, #tile.fragment>
    tile.copy %half to %h : memref<19x21xf16, #tile.fragment> to memref<19x21xf16>
  }
  return
}
func.func @float8_reference(%a: memref<19x37xf64>, %b: memref<37x21xf64>, %c: memref<19x37xf64>, %d: memref<37x21xf64>, %y: memref<3x19x21xf64>, %h: memref<19x21xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to 19 {
    affine.for %j = 0 to 21 {
      %r:4 = affine.for %k = 0 to 37 iter_args(%s0 = %zero, %s1 = %zero, %s2 = %zero, %s3 = %zero) -> (f64, f64, f64, f64) {
        %av = affine.load %a[%i, %k] : memref<19x37xf64>
        %bv = affine.load %b[%k, %j] : memref<37x21xf64>
        %cv = affine.load %c[%i, %k] : memref<19x37xf64>
        %dv = affine.load %d[%k, %j] : memref<37x21xf64>
        %p0 = arith.mulf %av, %bv : f64
        %p1 = arith.mulf %av, %dv : f64
        %p2 = arith.mulf %cv, %dv : f64
        %p3 = arith.mulf %cv, %bv : f64
        %n0 = arith.addf %s0, %p0 : f64
        %n1 = arith.addf %s1, %p1 : f64
        %n2 = arith.addf %s2, %p2 : f64
        %n3 = arith.addf %s3, %p3 : f64
        affine.yield %n0, %n1, %n2, %n3 : f64, f64, f64, f64
      }
      affine.store %r#0, %y[0, %i, %j] : memref<3x19x21xf64>
      affine.store %r#1, %y[1, %i, %j] : memref<3x19x21xf64>
      affine.store %r#2, %y[2, %i, %j] : memref<3x19x21xf64>
      affine.store %r#3, %h[%i, %j] : memref<19x21xf64>
    }
  }
  return
}

// The operands are rounded to ten bits after the point, the sums are f32.
func.func @tf32(
    %a: memref<16x40xf32> {tile.name = "a", tile.default = "randn:16x40xf32"},
    %b: memref<24x40xf32> {tile.name = "b", tile.default = "randn:24x40xf32"},
    %y: memref<16x24xf32> {tile.name = "y", tile.default = "empty:16x24xf32"})
    attributes {tile.reference = @tf32_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 4.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%block) in (%c1) {
    %as = tile.alloc_shared : memref<16x40xf32, #tile.shared>
    %bs = tile.alloc_shared : memref<24x40xf32, #tile.shared>
    %acc = tile.alloc_fragment : memref<16x24xf32, #tile.fragment>
    tile.copy %a to %as : memref<16x40xf32> to memref<16x40xf32, #tile.shared>
    tile.copy %b to %bs : memref<24x40xf32> to memref<24x40xf32, #tile.shared>
    tile.gemm %as, %bs, %acc transpose_b clear precision(tf32) : memref<16x40xf32, #tile.shared>, memref<24x40xf32, #tile.shared>, memref<16x24xf32, #tile.fragment>
    tile.copy %acc to %y : memref<16x24xf32, #tile.fragment> to memref<16x24xf32>
  }
  return
}
func.func private @to_tf32(%x: f32) -> f64 {
  %c1 = arith.constant 1 : i32
  %c13 = arith.constant 13 : i32
  %half = arith.constant 4095 : i32
  %mask = arith.constant -8192 : i32
  %bits = arith.bitcast %x : f32 to i32
  %shifted = arith.shrui %bits, %c13 : i32
  %odd = arith.andi %shifted, %c1 : i32
  %up = arith.addi %half, %odd : i32
  %sum = arith.addi %bits, %up : i32
  %cut = arith.andi %sum, %mask : i32
  %r = arith.bitcast %cut : i32 to f32
  %w = arith.extf %r : f32 to f64
  return %w : f64
}
func.func @tf32_reference(%a: memref<16x40xf32>, %b: memref<24x40xf32>, %y: memref<16x24xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 24 {
      %r = affine.for %k = 0 to 40 iter_args(%s = %zero) -> f64 {
        %a0 = affine.load %a[%i, %k] : memref<16x40xf32>
        %b0 = affine.load %b[%j, %k] : memref<24x40xf32>
        %a1 = func.call @to_tf32(%a0) : (f32) -> f64
        %b1 = func.call @to_tf32(%b0) : (f32) -> f64
        %p = arith.mulf %a1, %b1 : f64
        %n = arith.addf %s, %p : f64
        affine.yield %n : f64
      }
      affine.store %r, %y[%i, %j] : memref<16x24xf64>
    }
  }
  return
}

func.func @signs(
    %a: memref<9x33xi8> {tile.name = "a", tile.default = "randint(-128,128):9x33xi8"},
    %b: memref<33x17xi8> {tile.name = "b", tile.default = "randint(-128,128):33x17xi8"},
    %y: memref<4x9x17xi32> {tile.name = "y", tile.default = "empty:4x9x17xi32"})
    attributes {tile.reference = @signs_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%block) in (%c1) {
    %as = tile.alloc_shared : memref<9x33xi8, #tile.shared>
    %bs = tile.alloc_shared : memref<33x17xi8, #tile.shared>
    %acc = tile.alloc_fragment : memref<9x17xi32, #tile.fragment>
    tile.copy %a to %as : memref<9x33xi8> to memref<9x33xi8, #tile.shared>
    tile.copy %b to %bs : memref<33x17xi8> to memref<33x17xi8, #tile.shared>
    tile.gemm %as, %bs, %acc clear : memref<9x33xi8, #tile.shared>, memref<33x17xi8, #tile.shared>, memref<9x17xi32, #tile.fragment>
    tile.copy %acc to %y[0, 0, 0] : memref<9x17xi32, #tile.fragment> to memref<4x9x17xi32>
    tile.gemm %as, %bs, %acc unsigned_a clear : memref<9x33xi8, #tile.shared>, memref<33x17xi8, #tile.shared>, memref<9x17xi32, #tile.fragment>
    tile.copy %acc to %y[1, 0, 0] : memref<9x17xi32, #tile.fragment> to memref<4x9x17xi32>
    tile.gemm %as, %bs, %acc unsigned_b clear : memref<9x33xi8, #tile.shared>, memref<33x17xi8, #tile.shared>, memref<9x17xi32, #tile.fragment>
    tile.copy %acc to %y[2, 0, 0] : memref<9x17xi32, #tile.fragment> to memref<4x9x17xi32>
    tile.gemm %as, %bs, %acc unsigned_a unsigned_b clear : memref<9x33xi8, #tile.shared>, memref<33x17xi8, #tile.shared>, memref<9x17xi32, #tile.fragment>
    tile.copy %acc to %y[3, 0, 0] : memref<9x17xi32, #tile.fragment> to memref<4x9x17xi32>
  }
  return
}
func.func @signs_reference(%a: memref<9x33xi8>, %b: memref<33x17xi8>, %y: memref<4x9x17xi32>) {
  %zero = arith.constant 0 : i32
  affine.for %i = 0 to 9 {
    affine.for %j = 0 to 17 {
      %r:4 = affine.for %k = 0 to 33 iter_args(%s0 = %zero, %s1 = %zero, %s2 = %zero, %s3 = %zero) -> (i32, i32, i32, i32) {
        %av = affine.load %a[%i, %k] : memref<9x33xi8>
        %bv = affine.load %b[%k, %j] : memref<33x17xi8>
        %as = arith.extsi %av : i8 to i32
        %au = arith.extui %av : i8 to i32
        %bs = arith.extsi %bv : i8 to i32
        %bu = arith.extui %bv : i8 to i32
        %p0 = arith.muli %as, %bs : i32
        %p1 = arith.muli %au, %bs : i32
        %p2 = arith.muli %as, %bu : i32
        %p3 = arith.muli %au, %bu : i32
        %n0 = arith.addi %s0, %p0 : i32
        %n1 = arith.addi %s1, %p1 : i32
        %n2 = arith.addi %s2, %p2 : i32
        %n3 = arith.addi %s3, %p3 : i32
        affine.yield %n0, %n1, %n2, %n3 : i32, i32, i32, i32
      }
      affine.store %r#0, %y[0, %i, %j] : memref<4x9x17xi32>
      affine.store %r#1, %y[1, %i, %j] : memref<4x9x17xi32>
      affine.store %r#2, %y[2, %i, %j] : memref<4x9x17xi32>
      affine.store %r#3, %y[3, %i, %j] : memref<4x9x17xi32>
    }
  }
  return
}
