// Reductions: kinds, dimensions, ranks, element types, accumulation.

// Sum, maximum and minimum along the rows of one tile.
func.func @rows(
    %x: memref<32x80xf32> {tile.name = "x", tile.default = "randn:32x80xf32"},
    %sum: memref<32xf32> {tile.name = "sum", tile.default = "empty:32xf32"},
    %max: memref<32xf32> {tile.name = "max", tile.default = "empty:32xf32"},
    %min: memref<32xf32> {tile.name = "min", tile.default = "empty:32xf32"})
    attributes {tile.reference = @rows_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5, rtol = 1.0e-6>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_fragment : memref<32x80xf32, #tile.fragment>
    %r = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    tile.copy %x to %t : memref<32x80xf32> to memref<32x80xf32, #tile.fragment>
    tile.reduce sum %t along 1 into %r : memref<32x80xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
    tile.copy %r to %sum : memref<32xf32, #tile.fragment> to memref<32xf32>
    tile.reduce max %t along 1 into %r : memref<32x80xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
    tile.copy %r to %max : memref<32xf32, #tile.fragment> to memref<32xf32>
    tile.reduce min %t along 1 into %r : memref<32x80xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
    tile.copy %r to %min : memref<32xf32, #tile.fragment> to memref<32xf32>
  }
  return
}
func.func @rows_reference(%x: memref<32x80xf64>, %sum: memref<32xf64>, %max: memref<32xf64>, %min: memref<32xf64>) {
  affine.for %i = 0 to 32 {
    %first = affine.load %x[%i, 0] : memref<32x80xf64>
    %r:3 = affine.for %j = 1 to 80 iter_args(%s = %first, %u = %first, %l = %first) -> (f64, f64, f64) {
      %v = affine.load %x[%i, %j] : memref<32x80xf64>
      %a = arith.addf %s, %v : f64
      %m = arith.maximumf %u, %v : f64
      %n = arith.minimumf %l, %v : f64
      affine.yield %a, %m, %n : f64, f64, f64
    }
    affine.store %r#0, %sum[%i] : memref<32xf64>
    affine.store %r#1, %max[%i] : memref<32xf64>
    affine.store %r#2, %min[%i] : memref<32xf64>
  }
  return
}

// Along the columns, from shared memory, the dimension kept with an extent of one.
func.func @columns_kept(
    %x: memref<24x33xf32> {tile.name = "x", tile.default = "randn:24x33xf32"},
    %y: memref<3x33xf32> {tile.name = "y", tile.default = "empty:3x33xf32"})
    attributes {tile.reference = @columns_kept_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5, rtol = 1.0e-5>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_shared : memref<24x33xf32, #tile.shared>
    %r = tile.alloc_fragment : memref<1x33xf32, #tile.fragment>
    tile.copy %x to %t : memref<24x33xf32> to memref<24x33xf32, #tile.shared>
    tile.reduce abs_sum %t along 0 into %r : memref<24x33xf32, #tile.shared> into memref<1x33xf32, #tile.fragment>
    tile.copy %r to %y[0, 0] : memref<1x33xf32, #tile.fragment> to memref<3x33xf32>
    tile.reduce abs_max %t along 0 into %r : memref<24x33xf32, #tile.shared> into memref<1x33xf32, #tile.fragment>
    tile.copy %r to %y[1, 0] : memref<1x33xf32, #tile.fragment> to memref<3x33xf32>
    tile.reduce product %t along 0 into %r : memref<24x33xf32, #tile.shared> into memref<1x33xf32, #tile.fragment>
    tile.copy %r to %y[2, 0] : memref<1x33xf32, #tile.fragment> to memref<3x33xf32>
  }
  return
}
func.func @columns_kept_reference(%x: memref<24x33xf64>, %y: memref<3x33xf64>) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  affine.for %j = 0 to 33 {
    %r:3 = affine.for %i = 0 to 24 iter_args(%s = %zero, %u = %zero, %p = %one) -> (f64, f64, f64) {
      %v = affine.load %x[%i, %j] : memref<24x33xf64>
      %w = math.absf %v : f64
      %a = arith.addf %s, %w : f64
      %m = arith.maximumf %u, %w : f64
      %q = arith.mulf %p, %v : f64
      affine.yield %a, %m, %q : f64, f64, f64
    }
    affine.store %r#0, %y[0, %j] : memref<3x33xf64>
    affine.store %r#1, %y[1, %j] : memref<3x33xf64>
    affine.store %r#2, %y[2, %j] : memref<3x33xf64>
  }
  return
}

// The middle of three dimensions.
func.func @middle(
    %x: memref<5x12x7xf32> {tile.name = "x", tile.default = "randn:5x12x7xf32"},
    %y: memref<5x7xf32> {tile.name = "y", tile.default = "empty:5x7xf32"})
    attributes {tile.reference = @middle_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_fragment : memref<5x12x7xf32, #tile.fragment>
    %r = tile.alloc_shared : memref<5x7xf32, #tile.shared>
    tile.copy %x to %t : memref<5x12x7xf32> to memref<5x12x7xf32, #tile.fragment>
    tile.reduce sum %t along 1 into %r : memref<5x12x7xf32, #tile.fragment> into memref<5x7xf32, #tile.shared>
    tile.copy %r to %y : memref<5x7xf32, #tile.shared> to memref<5x7xf32>
  }
  return
}
func.func @middle_reference(%x: memref<5x12x7xf64>, %y: memref<5x7xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%y : memref<5x7xf64>)
  linalg.reduce {arith.addf} ins(%x : memref<5x12x7xf64>) outs(%y : memref<5x7xf64>) dimensions = [1]
  return
}

// A vector down to one element.
func.func @vector(
    %x: memref<77xf32> {tile.name = "x", tile.default = "randn:77xf32"},
    %y: memref<1xf32> {tile.name = "y", tile.default = "empty:1xf32"})
    attributes {tile.reference = @vector_reference,
                tile.tolerance = #tile.tolerance<atol = 1.0e-5>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_fragment : memref<77xf32, #tile.fragment>
    %r = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    tile.copy %x to %t : memref<77xf32> to memref<77xf32, #tile.fragment>
    tile.reduce sum %t along 0 into %r : memref<77xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
    tile.copy %r to %y : memref<1xf32, #tile.fragment> to memref<1xf32>
  }
  return
}
func.func @vector_reference(%x: memref<77xf64>, %y: memref<1xf64>) {
  %zero = arith.constant 0.0 : f64
  %sum = affine.for %i = 0 to 77 iter_args(%s = %zero) -> f64 {
    %v = affine.load %x[%i] : memref<77xf64>
    %n = arith.addf %s, %v : f64
    affine.yield %n : f64
  }
  affine.store %sum, %y[0] : memref<1xf64>
  return
}

// f16 combined in f32: a sum of 2048 ones and a little must not stall.
func.func @f16_in_f32(
    %x: memref<4x3000xf16> {tile.name = "x", tile.default = "uniform(0.5,1.5):4x3000xf16"},
    %y: memref<4xf32> {tile.name = "y", tile.default = "empty:4xf32"},
    %z: memref<4xf16> {tile.name = "z", tile.default = "empty:4xf16"})
    attributes {tile.reference = @f16_in_f32_reference,
                tile.tolerance = #tile.tolerance<rtol = 5.0e-4>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_shared : memref<4x3000xf16, #tile.shared>
    %r = tile.alloc_fragment : memref<4xf32, #tile.fragment>
    %h = tile.alloc_fragment : memref<4xf16, #tile.fragment>
    tile.copy %x to %t : memref<4x3000xf16> to memref<4x3000xf16, #tile.shared>
    tile.reduce sum %t along 1 into %r : memref<4x3000xf16, #tile.shared> into memref<4xf32, #tile.fragment>
    tile.reduce sum %t along 1 into %h : memref<4x3000xf16, #tile.shared> into memref<4xf16, #tile.fragment>
    tile.copy %r to %y : memref<4xf32, #tile.fragment> to memref<4xf32>
    tile.copy %h to %z : memref<4xf16, #tile.fragment> to memref<4xf16>
  }
  return
}
func.func @f16_in_f32_reference(%x: memref<4x3000xf64>, %y: memref<4xf64>, %z: memref<4xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%y : memref<4xf64>)
  linalg.reduce {arith.addf} ins(%x : memref<4x3000xf64>) outs(%y : memref<4xf64>) dimensions = [1]
  memref.copy %y, %z : memref<4xf64> to memref<4xf64>
  return
}

// What the target held takes part with `accumulate`, and only then.
func.func @accumulate(
    %x: memref<?x?xi32> {tile.name = "x", tile.default = "randint(-1000,1000):16x70xi32"},
    %y: memref<16xi32> {tile.name = "y", tile.default = "empty:16xi32"},
    %z: memref<16xi32> {tile.name = "z", tile.default = "empty:16xi32"})
    attributes {tile.reference = @accumulate_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %x, %c1 : memref<?x?xi32>
  tile.launch blocks(%b) in (%c1) {
    %start = arith.constant 100 : i32
    %lowest = arith.constant -2147483648 : i32
    %t = tile.alloc_fragment : memref<16x32xi32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<16xi32, #tile.fragment>
    %max = tile.alloc_fragment : memref<16xi32, #tile.fragment>
    tile.fill %sum, %start : memref<16xi32, #tile.fragment>
    scf.for %k = %c0 to %n step %c32 {
      tile.copy %x[0, %k] to %t pad(%lowest : i32) : memref<?x?xi32> to memref<16x32xi32, #tile.fragment>
      %first = arith.cmpi eq, %k, %c0 : index
      scf.if %first {
        tile.reduce max %t along 1 into %max : memref<16x32xi32, #tile.fragment> into memref<16xi32, #tile.fragment>
      } else {
        tile.reduce max %t along 1 into %max accumulate : memref<16x32xi32, #tile.fragment> into memref<16xi32, #tile.fragment>
      }
      tile.copy %x[0, %k] to %t : memref<?x?xi32> to memref<16x32xi32, #tile.fragment>
      tile.reduce sum %t along 1 into %sum accumulate : memref<16x32xi32, #tile.fragment> into memref<16xi32, #tile.fragment>
    }
    tile.copy %sum to %y : memref<16xi32, #tile.fragment> to memref<16xi32>
    tile.copy %max to %z : memref<16xi32, #tile.fragment> to memref<16xi32>
  }
  return
}
func.func @accumulate_reference(%x: memref<?x?xi32>, %y: memref<16xi32>, %z: memref<16xi32>) {
  %start = arith.constant 100 : i32
  %lowest = arith.constant -2147483648 : i32
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<?x?xi32>
  affine.for %i = 0 to 16 {
    %r:2 = affine.for %j = 0 to %n iter_args(%s = %start, %m = %lowest) -> (i32, i32) {
      %v = affine.load %x[%i, %j] : memref<?x?xi32>
      %a = arith.addi %s, %v : i32
      %u = arith.maxsi %m, %v : i32
      affine.yield %a, %u : i32, i32
    }
    affine.store %r#0, %y[%i] : memref<16xi32>
    affine.store %r#1, %z[%i] : memref<16xi32>
  }
  return
}

// Bitwise kinds, and the maximum of unsigned integers.
func.func @bitwise(
    %x: memref<8x40xi32> {tile.name = "x", tile.default = "randint(-2147483648,2147483648):8x40xi32"},
    %y: memref<4x8xi32> {tile.name = "y", tile.default = "empty:4x8xi32"})
    attributes {tile.reference = @bitwise_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_fragment : memref<8x40xi32, #tile.fragment>
    %r = tile.alloc_fragment : memref<8xi32, #tile.fragment>
    tile.copy %x to %t : memref<8x40xi32> to memref<8x40xi32, #tile.fragment>
    tile.reduce and %t along 1 into %r : memref<8x40xi32, #tile.fragment> into memref<8xi32, #tile.fragment>
    tile.copy %r to %y[0, 0] : memref<8xi32, #tile.fragment> to memref<4x8xi32>
    tile.reduce or %t along 1 into %r : memref<8x40xi32, #tile.fragment> into memref<8xi32, #tile.fragment>
    tile.copy %r to %y[1, 0] : memref<8xi32, #tile.fragment> to memref<4x8xi32>
    tile.reduce xor %t along 1 into %r : memref<8x40xi32, #tile.fragment> into memref<8xi32, #tile.fragment>
    tile.copy %r to %y[2, 0] : memref<8xi32, #tile.fragment> to memref<4x8xi32>
    tile.reduce max %t along 1 into %r unsigned : memref<8x40xi32, #tile.fragment> into memref<8xi32, #tile.fragment>
    tile.copy %r to %y[3, 0] : memref<8xi32, #tile.fragment> to memref<4x8xi32>
  }
  return
}
func.func @bitwise_reference(%x: memref<8x40xi32>, %y: memref<4x8xi32>) {
  %zero = arith.constant 0 : i32
  %ones = arith.constant -1 : i32
  affine.for %i = 0 to 8 {
    %r:4 = affine.for %j = 0 to 40 iter_args(%a = %ones, %o = %zero, %e = %zero, %m = %zero) -> (i32, i32, i32, i32) {
      %v = affine.load %x[%i, %j] : memref<8x40xi32>
      %p = arith.andi %a, %v : i32
      %q = arith.ori %o, %v : i32
      %s = arith.xori %e, %v : i32
      %u = arith.maxui %m, %v : i32
      affine.yield %p, %q, %s, %u : i32, i32, i32, i32
    }
    affine.store %r#0, %y[0, %i] : memref<4x8xi32>
    affine.store %r#1, %y[1, %i] : memref<4x8xi32>
    affine.store %r#2, %y[2, %i] : memref<4x8xi32>
    affine.store %r#3, %y[3, %i] : memref<4x8xi32>
  }
  return
}

// A NaN makes its row's maximum NaN; infinities are ordinary.
func.func @not_a_number(
    %x: memref<4x4xf32> {tile.name = "x", tile.default = "values(1,nan,3,4,inf,1,2,3,-inf,-inf,-inf,-inf,nan,inf,-inf,0):4x4xf32"},
    %y: memref<4xf32> {tile.name = "y", tile.default = "empty:4xf32"},
    %z: memref<4xf32> {tile.name = "z", tile.default = "empty:4xf32"})
    attributes {tile.reference = @not_a_number_reference,
                tile.tolerance = #tile.tolerance<atol = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    %r = tile.alloc_fragment : memref<4xf32, #tile.fragment>
    tile.copy %x to %t : memref<4x4xf32> to memref<4x4xf32, #tile.fragment>
    tile.reduce max %t along 1 into %r : memref<4x4xf32, #tile.fragment> into memref<4xf32, #tile.fragment>
    tile.copy %r to %y : memref<4xf32, #tile.fragment> to memref<4xf32>
    tile.reduce min %t along 1 into %r : memref<4x4xf32, #tile.fragment> into memref<4xf32, #tile.fragment>
    tile.copy %r to %z : memref<4xf32, #tile.fragment> to memref<4xf32>
  }
  return
}
func.func @not_a_number_reference(%x: memref<4x4xf64>, %y: memref<4xf64>, %z: memref<4xf64>) {
  affine.for %i = 0 to 4 {
    %first = affine.load %x[%i, 0] : memref<4x4xf64>
    %r:2 = affine.for %j = 1 to 4 iter_args(%m = %first, %l = %first) -> (f64, f64) {
      %v = affine.load %x[%i, %j] : memref<4x4xf64>
      %n = arith.maximumf %m, %v : f64
      %k = arith.minimumf %l, %v : f64
      affine.yield %n, %k : f64, f64
    }
    affine.store %r#0, %y[%i] : memref<4xf64>
    affine.store %r#1, %z[%i] : memref<4xf64>
  }
  return
}

// One NaN in a row, in each column once, makes the row's extremes NaN; infinities
// do not, nor do rows without any. Whole registers, a part of one, and rows that
// are left over.
func.func @places_of_nan(
    %x: memref<168x151xf32> {tile.name = "x", tile.default = "randn:168x151xf32"},
    %y: memref<4x168xf32> {tile.name = "y", tile.default = "empty:4x168xf32"})
    attributes {tile.reference = @places_of_nan_reference} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c7 = arith.constant 7 : index
  %c3 = arith.constant 3 : index
  %c28 = arith.constant 28 : index
  %c6 = arith.constant 6 : index
  tile.launch blocks(%b) in (%c6) {
    %nan = arith.constant 0x7FC00000 : f32
    %inf = arith.constant 0x7F800000 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %row = arith.muli %b, %c28 : index
    %t = tile.alloc_fragment : memref<28x151xf32, #tile.fragment>
    %r = tile.alloc_fragment : memref<28xf32, #tile.fragment>
    %kept = tile.alloc_fragment : memref<28x1xf32, #tile.fragment>
    tile.copy %x[%row, 0] to %t : memref<168x151xf32> to memref<28x151xf32, #tile.fragment>
    tile.parallel (%i, %j) in (28, 151) {
      %v = memref.load %t[%i, %j] : memref<28x151xf32, #tile.fragment>
      %number = arith.addi %row, %i : index
      %left = arith.subi %number, %j : index
      %rest = arith.remui %j, %c7 : index
      %isLow = arith.cmpi eq, %rest, %c3 : index
      %isNaN = arith.cmpi eq, %left, %c8 : index
      %v1 = arith.select %isLow, %lowest, %v : f32
      %v2 = arith.select %isNaN, %nan, %v1 : f32
      memref.store %v2, %t[%i, %j] : memref<28x151xf32, #tile.fragment>
    }
    tile.reduce max %t along 1 into %r : memref<28x151xf32, #tile.fragment> into memref<28xf32, #tile.fragment>
    tile.copy %r to %y[0, %row] : memref<28xf32, #tile.fragment> to memref<4x168xf32>
    tile.reduce min %t along 1 into %r : memref<28x151xf32, #tile.fragment> into memref<28xf32, #tile.fragment>
    tile.copy %r to %y[1, %row] : memref<28xf32, #tile.fragment> to memref<4x168xf32>
    tile.reduce abs_max %t along 1 into %kept : memref<28x151xf32, #tile.fragment> into memref<28x1xf32, #tile.fragment>
    tile.parallel (%i) in (28) {
      %v = memref.load %kept[%i, %c0] : memref<28x1xf32, #tile.fragment>
      memref.store %v, %r[%i] : memref<28xf32, #tile.fragment>
    }
    tile.copy %r to %y[2, %row] : memref<28xf32, #tile.fragment> to memref<4x168xf32>
    // What was there before counts, too.
    tile.fill %r, %inf : memref<28xf32, #tile.fragment>
    tile.reduce max %t along 1 into %r accumulate : memref<28x151xf32, #tile.fragment> into memref<28xf32, #tile.fragment>
    tile.copy %r to %y[3, %row] : memref<28xf32, #tile.fragment> to memref<4x168xf32>
  }
  return
}
func.func @places_of_nan_reference(%x: memref<168x151xf64>, %y: memref<4x168xf64>) {
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %lowest = arith.constant 0xFFF0000000000000 : f64
  affine.for %i = 0 to 168 {
    %r:3 = affine.for %j = 0 to 151 iter_args(%u = %lowest, %l = %inf, %a = %zero) -> (f64, f64, f64) {
      %v = affine.load %x[%i, %j] : memref<168x151xf64>
      %left = arith.subi %i, %j : index
      %rest = arith.remui %j, %c7 : index
      %isLow = arith.cmpi eq, %rest, %c3 : index
      %isNaN = arith.cmpi eq, %left, %c8 : index
      %v1 = arith.select %isLow, %lowest, %v : f64
      %v2 = arith.select %isNaN, %nan, %v1 : f64
      %m = arith.maximumf %u, %v2 : f64
      %n = arith.minimumf %l, %v2 : f64
      %w = math.absf %v2 : f64
      %b = arith.maximumf %a, %w : f64
      affine.yield %m, %n, %b : f64, f64, f64
    }
    %with = arith.maximumf %r#0, %inf : f64
    affine.store %r#0, %y[0, %i] : memref<4x168xf64>
    affine.store %r#1, %y[1, %i] : memref<4x168xf64>
    affine.store %r#2, %y[2, %i] : memref<4x168xf64>
    affine.store %with, %y[3, %i] : memref<4x168xf64>
  }
  return
}
