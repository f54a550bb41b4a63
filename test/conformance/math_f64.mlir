// Functions of f64, to a few units of the last place.

func.func @exponentials(
    %x: memref<400xf64> {tile.name = "x", tile.default = "uniform(-700,700):400xf64"},
    %y: memref<8x400xf64> {tile.name = "y", tile.default = "empty:8x400xf64"})
    attributes {tile.reference = @exponentials_reference,
                tile.tolerance = #tile.tolerance<rtol = 2.0e-14, atol = 1.0e-300>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (400) {
      %v = memref.load %x[%i] : memref<400xf64>
      %r0 = math.exp %v : f64
      %k0 = arith.constant 0 : index
      memref.store %r0, %y[%k0, %i] : memref<8x400xf64>
      %r1 = math.exp2 %v : f64
      %k1 = arith.constant 1 : index
      memref.store %r1, %y[%k1, %i] : memref<8x400xf64>
      %r2 = math.expm1 %v : f64
      %k2 = arith.constant 2 : index
      memref.store %r2, %y[%k2, %i] : memref<8x400xf64>
      %r3 = math.sinh %v : f64
      %k3 = arith.constant 3 : index
      memref.store %r3, %y[%k3, %i] : memref<8x400xf64>
      %r4 = math.cosh %v : f64
      %k4 = arith.constant 4 : index
      memref.store %r4, %y[%k4, %i] : memref<8x400xf64>
      %r5 = math.tanh %v : f64
      %k5 = arith.constant 5 : index
      memref.store %r5, %y[%k5, %i] : memref<8x400xf64>
      %r6 = math.erf %v : f64
      %k6 = arith.constant 6 : index
      memref.store %r6, %y[%k6, %i] : memref<8x400xf64>
      %r7 = math.erfc %v : f64
      %k7 = arith.constant 7 : index
      memref.store %r7, %y[%k7, %i] : memref<8x400xf64>
    }
  }
  return
}
func.func @exponentials_reference(%x: memref<400xf64>, %y: memref<8x400xf64>) {
  affine.for %i = 0 to 400 {
    %v = affine.load %x[%i] : memref<400xf64>
    %r0 = math.exp %v : f64
    affine.store %r0, %y[0, %i] : memref<8x400xf64>
    %r1 = math.exp2 %v : f64
    affine.store %r1, %y[1, %i] : memref<8x400xf64>
    %r2 = math.expm1 %v : f64
    affine.store %r2, %y[2, %i] : memref<8x400xf64>
    %r3 = math.sinh %v : f64
    affine.store %r3, %y[3, %i] : memref<8x400xf64>
    %r4 = math.cosh %v : f64
    affine.store %r4, %y[4, %i] : memref<8x400xf64>
    %r5 = math.tanh %v : f64
    affine.store %r5, %y[5, %i] : memref<8x400xf64>
    %r6 = math.erf %v : f64
    affine.store %r6, %y[6, %i] : memref<8x400xf64>
    %r7 = math.erfc %v : f64
    affine.store %r7, %y[7, %i] : memref<8x400xf64>
  }
  return
}

func.func @near_zero(
    %x: memref<400xf64> {tile.name = "x", tile.default = "uniform(-2,2):400xf64"},
    %y: memref<13x400xf64> {tile.name = "y", tile.default = "empty:13x400xf64"})
    attributes {tile.reference = @near_zero_reference,
                tile.tolerance = #tile.tolerance<rtol = 4.0e-15, atol = 2.0e-16>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (400) {
      %v = memref.load %x[%i] : memref<400xf64>
      %r0 = math.exp %v : f64
      %k0 = arith.constant 0 : index
      memref.store %r0, %y[%k0, %i] : memref<13x400xf64>
      %r1 = math.expm1 %v : f64
      %k1 = arith.constant 1 : index
      memref.store %r1, %y[%k1, %i] : memref<13x400xf64>
      %r2 = math.sin %v : f64
      %k2 = arith.constant 2 : index
      memref.store %r2, %y[%k2, %i] : memref<13x400xf64>
      %r3 = math.cos %v : f64
      %k3 = arith.constant 3 : index
      memref.store %r3, %y[%k3, %i] : memref<13x400xf64>
      %r4 = math.tan %v : f64
      %k4 = arith.constant 4 : index
      memref.store %r4, %y[%k4, %i] : memref<13x400xf64>
      %r5 = math.sinh %v : f64
      %k5 = arith.constant 5 : index
      memref.store %r5, %y[%k5, %i] : memref<13x400xf64>
      %r6 = math.tanh %v : f64
      %k6 = arith.constant 6 : index
      memref.store %r6, %y[%k6, %i] : memref<13x400xf64>
      %r7 = math.asinh %v : f64
      %k7 = arith.constant 7 : index
      memref.store %r7, %y[%k7, %i] : memref<13x400xf64>
      %r8 = math.atan %v : f64
      %k8 = arith.constant 8 : index
      memref.store %r8, %y[%k8, %i] : memref<13x400xf64>
      %r9 = math.erf %v : f64
      %k9 = arith.constant 9 : index
      memref.store %r9, %y[%k9, %i] : memref<13x400xf64>
      %r10 = math.erfc %v : f64
      %k10 = arith.constant 10 : index
      memref.store %r10, %y[%k10, %i] : memref<13x400xf64>
      %r11 = math.cbrt %v : f64
      %k11 = arith.constant 11 : index
      memref.store %r11, %y[%k11, %i] : memref<13x400xf64>
      %a12 = math.absf %v : f64
      %r12 = math.log1p %a12 : f64
      %k12 = arith.constant 12 : index
      memref.store %r12, %y[%k12, %i] : memref<13x400xf64>
    }
  }
  return
}
func.func @near_zero_reference(%x: memref<400xf64>, %y: memref<13x400xf64>) {
  affine.for %i = 0 to 400 {
    %v = affine.load %x[%i] : memref<400xf64>
    %r0 = math.exp %v : f64
    affine.store %r0, %y[0, %i] : memref<13x400xf64>
    %r1 = math.expm1 %v : f64
    affine.store %r1, %y[1, %i] : memref<13x400xf64>
    %r2 = math.sin %v : f64
    affine.store %r2, %y[2, %i] : memref<13x400xf64>
    %r3 = math.cos %v : f64
    affine.store %r3, %y[3, %i] : memref<13x400xf64>
    %r4 = math.tan %v : f64
    affine.store %r4, %y[4, %i] : memref<13x400xf64>
    %r5 = math.sinh %v : f64
    affine.store %r5, %y[5, %i] : memref<13x400xf64>
    %r6 = math.tanh %v : f64
    affine.store %r6, %y[6, %i] : memref<13x400xf64>
    %r7 = math.asinh %v : f64
    affine.store %r7, %y[7, %i] : memref<13x400xf64>
    %r8 = math.atan %v : f64
    affine.store %r8, %y[8, %i] : memref<13x400xf64>
    %r9 = math.erf %v : f64
    affine.store %r9, %y[9, %i] : memref<13x400xf64>
    %r10 = math.erfc %v : f64
    affine.store %r10, %y[10, %i] : memref<13x400xf64>
    %r11 = math.cbrt %v : f64
    affine.store %r11, %y[11, %i] : memref<13x400xf64>
    %a12 = math.absf %v : f64
    %r12 = math.log1p %a12 : f64
    affine.store %r12, %y[12, %i] : memref<13x400xf64>
  }
  return
}

func.func @logarithms(
    %x: memref<400xf64> {tile.name = "x", tile.default = "uniform(0,1000):400xf64"},
    %y: memref<9x400xf64> {tile.name = "y", tile.default = "empty:9x400xf64"})
    attributes {tile.reference = @logarithms_reference,
                tile.tolerance = #tile.tolerance<rtol = 2.0e-15, atol = 1.0e-300>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (400) {
      %v = memref.load %x[%i] : memref<400xf64>
      %r0 = math.log %v : f64
      %k0 = arith.constant 0 : index
      memref.store %r0, %y[%k0, %i] : memref<9x400xf64>
      %r1 = math.log2 %v : f64
      %k1 = arith.constant 1 : index
      memref.store %r1, %y[%k1, %i] : memref<9x400xf64>
      %r2 = math.log10 %v : f64
      %k2 = arith.constant 2 : index
      memref.store %r2, %y[%k2, %i] : memref<9x400xf64>
      %r3 = math.log1p %v : f64
      %k3 = arith.constant 3 : index
      memref.store %r3, %y[%k3, %i] : memref<9x400xf64>
      %r4 = math.asinh %v : f64
      %k4 = arith.constant 4 : index
      memref.store %r4, %y[%k4, %i] : memref<9x400xf64>
      %r5 = math.cbrt %v : f64
      %k5 = arith.constant 5 : index
      memref.store %r5, %y[%k5, %i] : memref<9x400xf64>
      %r6 = math.sqrt %v : f64
      %k6 = arith.constant 6 : index
      memref.store %r6, %y[%k6, %i] : memref<9x400xf64>
      %r7 = math.rsqrt %v : f64
      %k7 = arith.constant 7 : index
      memref.store %r7, %y[%k7, %i] : memref<9x400xf64>
      %r8 = math.atan %v : f64
      %k8 = arith.constant 8 : index
      memref.store %r8, %y[%k8, %i] : memref<9x400xf64>
    }
  }
  return
}
func.func @logarithms_reference(%x: memref<400xf64>, %y: memref<9x400xf64>) {
  affine.for %i = 0 to 400 {
    %v = affine.load %x[%i] : memref<400xf64>
    %r0 = math.log %v : f64
    affine.store %r0, %y[0, %i] : memref<9x400xf64>
    %r1 = math.log2 %v : f64
    affine.store %r1, %y[1, %i] : memref<9x400xf64>
    %r2 = math.log10 %v : f64
    affine.store %r2, %y[2, %i] : memref<9x400xf64>
    %r3 = math.log1p %v : f64
    affine.store %r3, %y[3, %i] : memref<9x400xf64>
    %r4 = math.asinh %v : f64
    affine.store %r4, %y[4, %i] : memref<9x400xf64>
    %r5 = math.cbrt %v : f64
    affine.store %r5, %y[5, %i] : memref<9x400xf64>
    %r6 = math.sqrt %v : f64
    affine.store %r6, %y[6, %i] : memref<9x400xf64>
    %r7 = math.rsqrt %v : f64
    affine.store %r7, %y[7, %i] : memref<9x400xf64>
    %r8 = math.atan %v : f64
    affine.store %r8, %y[8, %i] : memref<9x400xf64>
  }
  return
}

func.func @angles(
    %x: memref<400xf64> {tile.name = "x", tile.default = "uniform(-100000,100000):400xf64"},
    %y: memref<6x400xf64> {tile.name = "y", tile.default = "empty:6x400xf64"})
    attributes {tile.reference = @angles_reference,
                tile.tolerance = #tile.tolerance<rtol = 2.0e-11, atol = 1.0e-300>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (400) {
      %v = memref.load %x[%i] : memref<400xf64>
      %r0 = math.sin %v : f64
      %k0 = arith.constant 0 : index
      memref.store %r0, %y[%k0, %i] : memref<6x400xf64>
      %r1 = math.cos %v : f64
      %k1 = arith.constant 1 : index
      memref.store %r1, %y[%k1, %i] : memref<6x400xf64>
      %r2 = math.tan %v : f64
      %k2 = arith.constant 2 : index
      memref.store %r2, %y[%k2, %i] : memref<6x400xf64>
      %r3 = math.atan %v : f64
      %k3 = arith.constant 3 : index
      memref.store %r3, %y[%k3, %i] : memref<6x400xf64>
      %r4 = math.cbrt %v : f64
      %k4 = arith.constant 4 : index
      memref.store %r4, %y[%k4, %i] : memref<6x400xf64>
      %r5 = math.asinh %v : f64
      %k5 = arith.constant 5 : index
      memref.store %r5, %y[%k5, %i] : memref<6x400xf64>
    }
  }
  return
}
func.func @angles_reference(%x: memref<400xf64>, %y: memref<6x400xf64>) {
  affine.for %i = 0 to 400 {
    %v = affine.load %x[%i] : memref<400xf64>
    %r0 = math.sin %v : f64
    affine.store %r0, %y[0, %i] : memref<6x400xf64>
    %r1 = math.cos %v : f64
    affine.store %r1, %y[1, %i] : memref<6x400xf64>
    %r2 = math.tan %v : f64
    affine.store %r2, %y[2, %i] : memref<6x400xf64>
    %r3 = math.atan %v : f64
    affine.store %r3, %y[3, %i] : memref<6x400xf64>
    %r4 = math.cbrt %v : f64
    affine.store %r4, %y[4, %i] : memref<6x400xf64>
    %r5 = math.asinh %v : f64
    affine.store %r5, %y[5, %i] : memref<6x400xf64>
  }
  return
}

func.func @unit(
    %x: memref<400xf64> {tile.name = "x", tile.default = "uniform(-1,1):400xf64"},
    %y: memref<3x400xf64> {tile.name = "y", tile.default = "empty:3x400xf64"})
    attributes {tile.reference = @unit_reference,
                tile.tolerance = #tile.tolerance<rtol = 4.0e-15, atol = 1.0e-300>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (400) {
      %v = memref.load %x[%i] : memref<400xf64>
      %r0 = math.asin %v : f64
      %k0 = arith.constant 0 : index
      memref.store %r0, %y[%k0, %i] : memref<3x400xf64>
      %r1 = math.acos %v : f64
      %k1 = arith.constant 1 : index
      memref.store %r1, %y[%k1, %i] : memref<3x400xf64>
      %r2 = math.atanh %v : f64
      %k2 = arith.constant 2 : index
      memref.store %r2, %y[%k2, %i] : memref<3x400xf64>
    }
  }
  return
}
func.func @unit_reference(%x: memref<400xf64>, %y: memref<3x400xf64>) {
  affine.for %i = 0 to 400 {
    %v = affine.load %x[%i] : memref<400xf64>
    %r0 = math.asin %v : f64
    affine.store %r0, %y[0, %i] : memref<3x400xf64>
    %r1 = math.acos %v : f64
    affine.store %r1, %y[1, %i] : memref<3x400xf64>
    %r2 = math.atanh %v : f64
    affine.store %r2, %y[2, %i] : memref<3x400xf64>
  }
  return
}

// Powers and angles of two numbers.
func.func @pairs(
    %x: memref<400xf64> {tile.name = "x", tile.default = "uniform(0,20):400xf64"},
    %z: memref<400xf64> {tile.name = "z", tile.default = "uniform(-30,30):400xf64"},
    %y: memref<3x400xf64> {tile.name = "y", tile.default = "empty:3x400xf64"})
    attributes {tile.reference = @pairs_reference,
                tile.tolerance = #tile.tolerance<rtol = 1.0e-14>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    tile.parallel (%i) in (400) {
      %v = memref.load %x[%i] : memref<400xf64>
      %w = memref.load %z[%i] : memref<400xf64>
      %p = math.powf %v, %w : f64
      %a = math.atan2 %w, %v : f64
      %l = math.atan2 %v, %w : f64
      memref.store %p, %y[%c0, %i] : memref<3x400xf64>
      memref.store %a, %y[%one, %i] : memref<3x400xf64>
      memref.store %l, %y[%c2, %i] : memref<3x400xf64>
    }
  }
  return
}
func.func @pairs_reference(%x: memref<400xf64>, %z: memref<400xf64>, %y: memref<3x400xf64>) {
  affine.for %i = 0 to 400 {
    %v = affine.load %x[%i] : memref<400xf64>
    %w = affine.load %z[%i] : memref<400xf64>
    %p = math.powf %v, %w : f64
    %a = math.atan2 %w, %v : f64
    %l = math.atan2 %v, %w : f64
    affine.store %p, %y[0, %i] : memref<3x400xf64>
    affine.store %a, %y[1, %i] : memref<3x400xf64>
    affine.store %l, %y[2, %i] : memref<3x400xf64>
  }
  return
}

// At zeros, infinities, a large and the smallest numbers and NaN the values
// are those of C: each is computed from a number with the bits given.

func.func @edges(
    %y: memref<20x10xf64> {tile.name = "y", tile.default = "empty:20x10xf64"})
    attributes {tile.reference = @edges_reference,
                tile.tolerance = #tile.tolerance<rtol = 1.0e-15, atol = 1.0e-320>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %k0 = arith.constant 0 : index
    %k1 = arith.constant 1 : index
    %k2 = arith.constant 2 : index
    %k3 = arith.constant 3 : index
    %k4 = arith.constant 4 : index
    %k5 = arith.constant 5 : index
    %k6 = arith.constant 6 : index
    %k7 = arith.constant 7 : index
    %k8 = arith.constant 8 : index
    %k9 = arith.constant 9 : index
    %k10 = arith.constant 10 : index
    %k11 = arith.constant 11 : index
    %k12 = arith.constant 12 : index
    %k13 = arith.constant 13 : index
    %k14 = arith.constant 14 : index
    %k15 = arith.constant 15 : index
    %k16 = arith.constant 16 : index
    %k17 = arith.constant 17 : index
    %k18 = arith.constant 18 : index
    %k19 = arith.constant 19 : index
    %s = tile.alloc_shared : memref<10xf64, #tile.shared>
    %v0 = arith.constant 0x0000000000000000 : f64
    memref.store %v0, %s[%k0] : memref<10xf64, #tile.shared>
    %v1 = arith.constant 0x8000000000000000 : f64
    memref.store %v1, %s[%k1] : memref<10xf64, #tile.shared>
    %v2 = arith.constant 0x7FF0000000000000 : f64
    memref.store %v2, %s[%k2] : memref<10xf64, #tile.shared>
    %v3 = arith.constant 0xFFF0000000000000 : f64
    memref.store %v3, %s[%k3] : memref<10xf64, #tile.shared>
    %v4 = arith.constant 0x7FF8000000000000 : f64
    memref.store %v4, %s[%k4] : memref<10xf64, #tile.shared>
    %v5 = arith.constant 0x0000000000000001 : f64
    memref.store %v5, %s[%k5] : memref<10xf64, #tile.shared>
    %v6 = arith.constant 0x8000000000000001 : f64
    memref.store %v6, %s[%k6] : memref<10xf64, #tile.shared>
    %v7 = arith.constant 0x4300000000000000 : f64
    memref.store %v7, %s[%k7] : memref<10xf64, #tile.shared>
    %v8 = arith.constant 0x3FF0000000000000 : f64
    memref.store %v8, %s[%k8] : memref<10xf64, #tile.shared>
    %v9 = arith.constant 0xBFF0000000000000 : f64
    memref.store %v9, %s[%k9] : memref<10xf64, #tile.shared>
    tile.parallel (%i) in (10) {
      %v = memref.load %s[%i] : memref<10xf64, #tile.shared>
      %r0 = math.exp %v : f64
      memref.store %r0, %y[%k0, %i] : memref<20x10xf64>
      %r1 = math.exp2 %v : f64
      memref.store %r1, %y[%k1, %i] : memref<20x10xf64>
      %r2 = math.expm1 %v : f64
      memref.store %r2, %y[%k2, %i] : memref<20x10xf64>
      %r3 = math.log %v : f64
      memref.store %r3, %y[%k3, %i] : memref<20x10xf64>
      %r4 = math.log2 %v : f64
      memref.store %r4, %y[%k4, %i] : memref<20x10xf64>
      %r5 = math.log10 %v : f64
      memref.store %r5, %y[%k5, %i] : memref<20x10xf64>
      %r6 = math.log1p %v : f64
      memref.store %r6, %y[%k6, %i] : memref<20x10xf64>
      %r7 = math.sin %v : f64
      memref.store %r7, %y[%k7, %i] : memref<20x10xf64>
      %r8 = math.cos %v : f64
      memref.store %r8, %y[%k8, %i] : memref<20x10xf64>
      %r9 = math.atan %v : f64
      memref.store %r9, %y[%k9, %i] : memref<20x10xf64>
      %r10 = math.tanh %v : f64
      memref.store %r10, %y[%k10, %i] : memref<20x10xf64>
      %r11 = math.sinh %v : f64
      memref.store %r11, %y[%k11, %i] : memref<20x10xf64>
      %r12 = math.cosh %v : f64
      memref.store %r12, %y[%k12, %i] : memref<20x10xf64>
      %r13 = math.erf %v : f64
      memref.store %r13, %y[%k13, %i] : memref<20x10xf64>
      %r14 = math.erfc %v : f64
      memref.store %r14, %y[%k14, %i] : memref<20x10xf64>
      %r15 = math.cbrt %v : f64
      memref.store %r15, %y[%k15, %i] : memref<20x10xf64>
      %r16 = math.asinh %v : f64
      memref.store %r16, %y[%k16, %i] : memref<20x10xf64>
      %r17 = math.asin %v : f64
      memref.store %r17, %y[%k17, %i] : memref<20x10xf64>
      %r18 = math.acos %v : f64
      memref.store %r18, %y[%k18, %i] : memref<20x10xf64>
      %r19 = math.atanh %v : f64
      memref.store %r19, %y[%k19, %i] : memref<20x10xf64>
    }
  }
  return
}
func.func @edges_reference(%y: memref<20x10xf64>) {
  %k0 = arith.constant 0 : index
  %k1 = arith.constant 1 : index
  %k2 = arith.constant 2 : index
  %k3 = arith.constant 3 : index
  %k4 = arith.constant 4 : index
  %k5 = arith.constant 5 : index
  %k6 = arith.constant 6 : index
  %k7 = arith.constant 7 : index
  %k8 = arith.constant 8 : index
  %k9 = arith.constant 9 : index
  %k10 = arith.constant 10 : index
  %k11 = arith.constant 11 : index
  %k12 = arith.constant 12 : index
  %k13 = arith.constant 13 : index
  %k14 = arith.constant 14 : index
  %k15 = arith.constant 15 : index
  %k16 = arith.constant 16 : index
  %k17 = arith.constant 17 : index
  %k18 = arith.constant 18 : index
  %k19 = arith.constant 19 : index
  %s = memref.alloca() : memref<10xf64>
  %v0 = arith.constant 0x0000000000000000 : f64
  memref.store %v0, %s[%k0] : memref<10xf64>
  %v1 = arith.constant 0x8000000000000000 : f64
  memref.store %v1, %s[%k1] : memref<10xf64>
  %v2 = arith.constant 0x7FF0000000000000 : f64
  memref.store %v2, %s[%k2] : memref<10xf64>
  %v3 = arith.constant 0xFFF0000000000000 : f64
  memref.store %v3, %s[%k3] : memref<10xf64>
  %v4 = arith.constant 0x7FF8000000000000 : f64
  memref.store %v4, %s[%k4] : memref<10xf64>
  %v5 = arith.constant 0x0000000000000001 : f64
  memref.store %v5, %s[%k5] : memref<10xf64>
  %v6 = arith.constant 0x8000000000000001 : f64
  memref.store %v6, %s[%k6] : memref<10xf64>
  %v7 = arith.constant 0x4300000000000000 : f64
  memref.store %v7, %s[%k7] : memref<10xf64>
  %v8 = arith.constant 0x3FF0000000000000 : f64
  memref.store %v8, %s[%k8] : memref<10xf64>
  %v9 = arith.constant 0xBFF0000000000000 : f64
  memref.store %v9, %s[%k9] : memref<10xf64>
  affine.for %i = 0 to 10 {
    %v = affine.load %s[%i] : memref<10xf64>
    %r0 = math.exp %v : f64
    affine.store %r0, %y[0, %i] : memref<20x10xf64>
    %r1 = math.exp2 %v : f64
    affine.store %r1, %y[1, %i] : memref<20x10xf64>
    %r2 = math.expm1 %v : f64
    affine.store %r2, %y[2, %i] : memref<20x10xf64>
    %r3 = math.log %v : f64
    affine.store %r3, %y[3, %i] : memref<20x10xf64>
    %r4 = math.log2 %v : f64
    affine.store %r4, %y[4, %i] : memref<20x10xf64>
    %r5 = math.log10 %v : f64
    affine.store %r5, %y[5, %i] : memref<20x10xf64>
    %r6 = math.log1p %v : f64
    affine.store %r6, %y[6, %i] : memref<20x10xf64>
    %r7 = math.sin %v : f64
    affine.store %r7, %y[7, %i] : memref<20x10xf64>
    %r8 = math.cos %v : f64
    affine.store %r8, %y[8, %i] : memref<20x10xf64>
    %r9 = math.atan %v : f64
    affine.store %r9, %y[9, %i] : memref<20x10xf64>
    %r10 = math.tanh %v : f64
    affine.store %r10, %y[10, %i] : memref<20x10xf64>
    %r11 = math.sinh %v : f64
    affine.store %r11, %y[11, %i] : memref<20x10xf64>
    %r12 = math.cosh %v : f64
    affine.store %r12, %y[12, %i] : memref<20x10xf64>
    %r13 = math.erf %v : f64
    affine.store %r13, %y[13, %i] : memref<20x10xf64>
    %r14 = math.erfc %v : f64
    affine.store %r14, %y[14, %i] : memref<20x10xf64>
    %r15 = math.cbrt %v : f64
    affine.store %r15, %y[15, %i] : memref<20x10xf64>
    %r16 = math.asinh %v : f64
    affine.store %r16, %y[16, %i] : memref<20x10xf64>
    %r17 = math.asin %v : f64
    affine.store %r17, %y[17, %i] : memref<20x10xf64>
    %r18 = math.acos %v : f64
    affine.store %r18, %y[18, %i] : memref<20x10xf64>
    %r19 = math.atanh %v : f64
    affine.store %r19, %y[19, %i] : memref<20x10xf64>
  }
  return
}
