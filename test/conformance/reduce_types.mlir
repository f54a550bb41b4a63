// Reductions of the element types that reduce.mlir leaves out, with infinities
// and NaN among them.

func.func @floats(
    %x: memref<6x37xf64> {tile.name = "x", tile.default = "randn:6x37xf64"},
    %b: memref<6x37xbf16> {tile.name = "b", tile.default = "randn:6x37xbf16"},
    %e: memref<6x37xf8E4M3FN> {tile.name = "e", tile.default = "randn:6x37xf8E4M3FN"},
    %sum: memref<3x37xf64> {tile.name = "sum", tile.default = "empty:3x37xf64"},
    %least: memref<3x6xf32> {tile.name = "least", tile.default = "empty:3x6xf32"})
    attributes {tile.reference = @floats_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%block) in (%c1) {
    %xs = tile.alloc_fragment : memref<6x37xf64, #tile.fragment>
    %bs = tile.alloc_shared : memref<6x37xbf16, #tile.shared>
    %es = tile.alloc_fragment : memref<6x37xf8E4M3FN, #tile.fragment>
    %d = tile.alloc_fragment : memref<37xf64, #tile.fragment>
    %s = tile.alloc_fragment : memref<6xf32, #tile.fragment>
    %w = tile.alloc_fragment : memref<6xf64, #tile.fragment>
    tile.copy %x to %xs : memref<6x37xf64> to memref<6x37xf64, #tile.fragment>
    tile.copy %b to %bs : memref<6x37xbf16> to memref<6x37xbf16, #tile.shared>
    tile.copy %e to %es : memref<6x37xf8E4M3FN> to memref<6x37xf8E4M3FN, #tile.fragment>
    tile.reduce sum %xs along 0 into %d : memref<6x37xf64, #tile.fragment> into memref<37xf64, #tile.fragment>
    tile.copy %d to %sum[0, 0] : memref<37xf64, #tile.fragment> to memref<3x37xf64>
    tile.reduce sum %bs along 0 into %d : memref<6x37xbf16, #tile.shared> into memref<37xf64, #tile.fragment>
    tile.copy %d to %sum[1, 0] : memref<37xf64, #tile.fragment> to memref<3x37xf64>
    tile.reduce abs_sum %es along 0 into %d : memref<6x37xf8E4M3FN, #tile.fragment> into memref<37xf64, #tile.fragment>
    tile.copy %d to %sum[2, 0] : memref<37xf64, #tile.fragment> to memref<3x37xf64>
    tile.reduce min %xs along 1 into %w : memref<6x37xf64, #tile.fragment> into memref<6xf64, #tile.fragment>
    tile.copy %w to %least[0, 0] : memref<6xf64, #tile.fragment> to memref<3x6xf32>
    tile.reduce min %bs along 1 into %s : memref<6x37xbf16, #tile.shared> into memref<6xf32, #tile.fragment>
    tile.copy %s to %least[1, 0] : memref<6xf32, #tile.fragment> to memref<3x6xf32>
    tile.reduce abs_max %es along 1 into %s : memref<6x37xf8E4M3FN, #tile.fragment> into memref<6xf32, #tile.fragment>
    tile.copy %s to %least[2, 0] : memref<6xf32, #tile.fragment> to memref<3x6xf32>
  }
  return
}
func.func @floats_reference(%x: memref<6x37xf64>, %b: memref<6x37xf64>, %e: memref<6x37xf64>, %sum: memref<3x37xf64>, %least: memref<3x6xf64>) {
  %zero = arith.constant 0.0 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  affine.for %j = 0 to 37 {
    %r:3 = affine.for %i = 0 to 6 iter_args(%s0 = %zero, %s1 = %zero, %s2 = %zero) -> (f64, f64, f64) {
      %a = affine.load %x[%i, %j] : memref<6x37xf64>
      %c = affine.load %b[%i, %j] : memref<6x37xf64>
      %d0 = affine.load %e[%i, %j] : memref<6x37xf64>
      %d = math.absf %d0 : f64
      %n0 = arith.addf %s0, %a : f64
      %n1 = arith.addf %s1, %c : f64
      %n2 = arith.addf %s2, %d : f64
      affine.yield %n0, %n1, %n2 : f64, f64, f64
    }
    affine.store %r#0, %sum[0, %j] : memref<3x37xf64>
    affine.store %r#1, %sum[1, %j] : memref<3x37xf64>
    affine.store %r#2, %sum[2, %j] : memref<3x37xf64>
  }
  affine.for %i = 0 to 6 {
    %r:3 = affine.for %j = 0 to 37 iter_args(%s0 = %inf, %s1 = %inf, %s2 = %zero) -> (f64, f64, f64) {
      %a = affine.load %x[%i, %j] : memref<6x37xf64>
      %c = affine.load %b[%i, %j] : memref<6x37xf64>
      %d0 = affine.load %e[%i, %j] : memref<6x37xf64>
      %d = math.absf %d0 : f64
      %n0 = arith.minimumf %s0, %a : f64
      %n1 = arith.minimumf %s1, %c : f64
      %n2 = arith.maximumf %s2, %d : f64
      affine.yield %n0, %n1, %n2 : f64, f64, f64
    }
    affine.store %r#0, %least[0, %i] : memref<3x6xf64>
    affine.store %r#1, %least[1, %i] : memref<3x6xf64>
    affine.store %r#2, %least[2, %i] : memref<3x6xf64>
  }
  return
}

// Infinities of both signs, and NaN, which max and min pass on and a sum becomes.
func.func @special(
    %x: memref<4x3xf32> {tile.name = "x", tile.default = "values(inf,-inf,1,nan,2,3,-inf,-inf,-inf,inf,5,inf):4x3xf32"},
    %y: memref<4x4xf32> {tile.name = "y", tile.default = "empty:4x4xf32"})
    attributes {tile.reference = @special_reference,
                tile.tolerance = #tile.tolerance<atol = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%block) in (%c1) {
    %t = tile.alloc_fragment : memref<4x3xf32, #tile.fragment>
    %r = tile.alloc_fragment : memref<4xf32, #tile.fragment>
    tile.copy %x to %t : memref<4x3xf32> to memref<4x3xf32, #tile.fragment>
    tile.reduce sum %t along 1 into %r : memref<4x3xf32, #tile.fragment> into memref<4xf32, #tile.fragment>
    tile.copy %r to %y[0, 0] : memref<4xf32, #tile.fragment> to memref<4x4xf32>
    tile.reduce max %t along 1 into %r : memref<4x3xf32, #tile.fragment> into memref<4xf32, #tile.fragment>
    tile.copy %r to %y[1, 0] : memref<4xf32, #tile.fragment> to memref<4x4xf32>
    tile.reduce min %t along 1 into %r : memref<4x3xf32, #tile.fragment> into memref<4xf32, #tile.fragment>
    tile.copy %r to %y[2, 0] : memref<4xf32, #tile.fragment> to memref<4x4xf32>
    tile.reduce abs_max %t along 1 into %r : memref<4x3xf32, #tile.fragment> into memref<4xf32, #tile.fragment>
    tile.copy %r to %y[3, 0] : memref<4xf32, #tile.fragment> to memref<4x4xf32>
  }
  return
}
func.func @special_reference(%x: memref<4x3xf64>, %y: memref<4x4xf64>) {
  %zero = arith.constant 0.0 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %ninf = arith.constant 0xFFF0000000000000 : f64
  affine.for %i = 0 to 4 {
    %r:4 = affine.for %j = 0 to 3 iter_args(%s = %zero, %u = %ninf, %l = %inf, %m = %zero) -> (f64, f64, f64, f64) {
      %v = affine.load %x[%i, %j] : memref<4x3xf64>
      %a = math.absf %v : f64
      %n0 = arith.addf %s, %v : f64
      %n1 = arith.maximumf %u, %v : f64
      %n2 = arith.minimumf %l, %v : f64
      %n3 = arith.maximumf %m, %a : f64
      affine.yield %n0, %n1, %n2, %n3 : f64, f64, f64, f64
    }
    affine.store %r#0, %y[0, %i] : memref<4x4xf64>
    affine.store %r#1, %y[1, %i] : memref<4x4xf64>
    affine.store %r#2, %y[2, %i] : memref<4x4xf64>
    affine.store %r#3, %y[3, %i] : memref<4x4xf64>
  }
  return
}

// Integers of every width: sums that wrap, extremes of either sign, bits.
func.func @integers(
    %a: memref<70xi8> {tile.name = "a", tile.default = "randint(-128,128):70xi8"},
    %b: memref<70xi16> {tile.name = "b", tile.default = "randint(-30000,30000):70xi16"},
    %c: memref<70xi64> {tile.name = "c", tile.default = "randint(-1000000000000,1000000000000):70xi64"},
    %y: memref<8xi64> {tile.name = "y", tile.default = "empty:8xi64"},
    %z: memref<1xi8> {tile.name = "z", tile.default = "empty:1xi8"})
    attributes {tile.reference = @integers_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%block) in (%c1) {
    %as = tile.alloc_fragment : memref<70xi8, #tile.fragment>
    %bs = tile.alloc_fragment : memref<70xi16, #tile.fragment>
    %cs = tile.alloc_fragment : memref<70xi64, #tile.fragment>
    %r = tile.alloc_fragment : memref<1xi64, #tile.fragment>
    %n = tile.alloc_fragment : memref<1xi8, #tile.fragment>
    tile.copy %a to %as : memref<70xi8> to memref<70xi8, #tile.fragment>
    tile.copy %b to %bs : memref<70xi16> to memref<70xi16, #tile.fragment>
    tile.copy %c to %cs : memref<70xi64> to memref<70xi64, #tile.fragment>
    tile.reduce sum %as along 0 into %n : memref<70xi8, #tile.fragment> into memref<1xi8, #tile.fragment>
    tile.copy %n to %z : memref<1xi8, #tile.fragment> to memref<1xi8>
    tile.reduce sum %bs along 0 into %r : memref<70xi16, #tile.fragment> into memref<1xi64, #tile.fragment>
    tile.copy %r to %y[0] : memref<1xi64, #tile.fragment> to memref<8xi64>
    tile.reduce max %as along 0 into %r unsigned : memref<70xi8, #tile.fragment> into memref<1xi64, #tile.fragment>
    tile.copy %r to %y[1] : memref<1xi64, #tile.fragment> to memref<8xi64>
    tile.reduce max %as along 0 into %r : memref<70xi8, #tile.fragment> into memref<1xi64, #tile.fragment>
    tile.copy %r to %y[2] : memref<1xi64, #tile.fragment> to memref<8xi64>
    tile.reduce min %cs along 0 into %r : memref<70xi64, #tile.fragment> into memref<1xi64, #tile.fragment>
    tile.copy %r to %y[3] : memref<1xi64, #tile.fragment> to memref<8xi64>
    tile.reduce abs_max %cs along 0 into %r : memref<70xi64, #tile.fragment> into memref<1xi64, #tile.fragment>
    tile.copy %r to %y[4] : memref<1xi64, #tile.fragment> to memref<8xi64>
    tile.reduce product %bs along 0 into %r : memref<70xi16, #tile.fragment> into memref<1xi64, #tile.fragment>
    tile.copy %r to %y[5] : memref<1xi64, #tile.fragment> to memref<8xi64>
    tile.reduce xor %cs along 0 into %r : memref<70xi64, #tile.fragment> into memref<1xi64, #tile.fragment>
    tile.copy %r to %y[6] : memref<1xi64, #tile.fragment> to memref<8xi64>
    tile.reduce or %bs along 0 into %r unsigned : memref<70xi16, #tile.fragment> into memref<1xi64, #tile.fragment>
    tile.copy %r to %y[7] : memref<1xi64, #tile.fragment> to memref<8xi64>
  }
  return
}
func.func @integers_reference(%a: memref<70xi8>, %b: memref<70xi16>, %c: memref<70xi64>, %y: memref<8xi64>, %z: memref<1xi8>) {
  %n0 = arith.constant 0 : i8
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %least = arith.constant -9223372036854775808 : i64
  %most = arith.constant 9223372036854775807 : i64
  %r:9 = affine.for %i = 0 to 70 iter_args(%s = %n0, %t = %zero, %u = %zero, %m = %least, %l = %most, %p = %zero, %q = %one, %x = %zero, %o = %zero) -> (i8, i64, i64, i64, i64, i64, i64, i64, i64) {
    %av = affine.load %a[%i] : memref<70xi8>
    %bv = affine.load %b[%i] : memref<70xi16>
    %cv = affine.load %c[%i] : memref<70xi64>
    %as = arith.extsi %av : i8 to i64
    %au = arith.extui %av : i8 to i64
    %bs = arith.extsi %bv : i16 to i64
    %bu = arith.extui %bv : i16 to i64
    %ca = math.absi %cv : i64
    %s1 = arith.addi %s, %av : i8
    %t1 = arith.addi %t, %bs : i64
    %u1 = arith.maxui %u, %au : i64
    %m1 = arith.maxsi %m, %as : i64
    %l1 = arith.minsi %l, %cv : i64
    %p1 = arith.maxui %p, %ca : i64
    %q1 = arith.muli %q, %bs : i64
    %x1 = arith.xori %x, %cv : i64
    %o1 = arith.ori %o, %bu : i64
    affine.yield %s1, %t1, %u1, %m1, %l1, %p1, %q1, %x1, %o1 : i8, i64, i64, i64, i64, i64, i64, i64, i64
  }
  affine.store %r#0, %z[0] : memref<1xi8>
  affine.store %r#1, %y[0] : memref<8xi64>
  affine.store %r#2, %y[1] : memref<8xi64>
  affine.store %r#3, %y[2] : memref<8xi64>
  affine.store %r#4, %y[3] : memref<8xi64>
  affine.store %r#5, %y[4] : memref<8xi64>
  affine.store %r#6, %y[5] : memref<8xi64>
  affine.store %r#7, %y[6] : memref<8xi64>
  affine.store %r#8, %y[7] : memref<8xi64>
  return
}

// Truth values are 0 and 1, so that some is the greatest and all the least of them.
func.func @truth_values(
    %a: memref<3x70xi8> {tile.name = "a", tile.default = "randint(0,2):3x70xi8"},
    %y: memref<2x3xi8> {tile.name = "y", tile.default = "empty:2x3xi8"},
    %z: memref<3x70xi8> {tile.name = "z", tile.default = "empty:3x70xi8"})
    attributes {tile.reference = @truth_values_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) threads(64) {
    %t = tile.alloc_fragment : memref<3x70xi1, #tile.fragment>
    %r = tile.alloc_fragment : memref<3xi1, #tile.fragment>
    tile.copy %a to %t : memref<3x70xi8> to memref<3x70xi1, #tile.fragment>
    tile.reduce max %t along 1 into %r : memref<3x70xi1, #tile.fragment> into memref<3xi1, #tile.fragment>
    tile.copy %r to %y[0, 0] sizes [1, 3] : memref<3xi1, #tile.fragment> to memref<2x3xi8>
    tile.reduce min %t along 1 into %r : memref<3x70xi1, #tile.fragment> into memref<3xi1, #tile.fragment>
    tile.copy %r to %y[1, 0] sizes [1, 3] : memref<3xi1, #tile.fragment> to memref<2x3xi8>
    tile.scan min %t along 1 into %t : memref<3x70xi1, #tile.fragment> into memref<3x70xi1, #tile.fragment>
    tile.copy %t to %z : memref<3x70xi1, #tile.fragment> to memref<3x70xi8>
  }
  return
}
func.func @truth_values_reference(%a: memref<3x70xi8>, %y: memref<2x3xi8>, %z: memref<3x70xi8>) {
  %zero = arith.constant 0 : i8
  %one = arith.constant 1 : i8
  affine.for %i = 0 to 3 {
    %r:2 = affine.for %j = 0 to 70 iter_args(%some = %zero, %all = %one) -> (i8, i8) {
      %v = affine.load %a[%i, %j] : memref<3x70xi8>
      %s = arith.ori %some, %v : i8
      %l = arith.andi %all, %v : i8
      affine.store %l, %z[%i, %j] : memref<3x70xi8>
      affine.yield %s, %l : i8, i8
    }
    affine.store %r#0, %y[0, %i] : memref<2x3xi8>
    affine.store %r#1, %y[1, %i] : memref<2x3xi8>
  }
  return
}
