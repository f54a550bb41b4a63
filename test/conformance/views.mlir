// Views: subviews with offsets and strides, casts and reshapes of buffers.

// Every second row and every third column of a global matrix, as a matrix.
func.func @strided_global(
    %x: memref<?x?xf32> {tile.name = "x", tile.default = "randn:31x50xf32"},
    %y: memref<?x?xf32> {tile.name = "y", tile.default = "empty:(ceildiv(x[0],2))x(ceildiv(x[1],3))xf32"})
    attributes {tile.reference = @strided_global_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %y, %c0 : memref<?x?xf32>
  %n = memref.dim %y, %c1 : memref<?x?xf32>
  tile.launch blocks(%b) in (%c1) {
    %v = memref.subview %x[0, 0] [%m, %n] [2, 3]
      : memref<?x?xf32> to memref<?x?xf32, strided<[?, 3]>>
    %s = tile.alloc_shared : memref<16x32xf32, #tile.shared>
    tile.copy %v[0, 0] to %s : memref<?x?xf32, strided<[?, 3]>> to memref<16x32xf32, #tile.shared>
    tile.copy %s to %y[0, 0] : memref<16x32xf32, #tile.shared> to memref<?x?xf32>
  }
  return
}
func.func @strided_global_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %y, %c0 : memref<?x?xf64>
  %n = memref.dim %y, %c1 : memref<?x?xf64>
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %v = affine.load %x[%i * 2, %j * 3] : memref<?x?xf64>
      affine.store %v, %y[%i, %j] : memref<?x?xf64>
    }
  }
  return
}

// Elementwise access to a strided view keeps to the view's bounds, also where
// the buffer behind it goes on.
func.func @bounds_of_a_view(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:100xf32"},
    %from: index {tile.name = "from", tile.default = "20"},
    %count: index {tile.name = "count", tile.default = "11"},
    %y: memref<32xf32> {tile.name = "y", tile.default = "empty:32xf32"})
    attributes {tile.reference = @bounds_of_a_view_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %c8 = arith.constant 8 : index
    %v = memref.subview %x[%from] [%count] [2]
      : memref<?xf32> to memref<?xf32, strided<[2], offset: ?>>
    tile.parallel (%i) in (32) {
      %at = arith.subi %i, %c8 : index
      %e = memref.load %v[%at] : memref<?xf32, strided<[2], offset: ?>>
      memref.store %e, %y[%i] : memref<32xf32>
    }
  }
  return
}
func.func @bounds_of_a_view_reference(%x: memref<?xf64>, %from: index, %count: index, %y: memref<32xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%y : memref<32xf64>)
  scf.for %i = %c0 to %count step %c1 {
    %twice = arith.muli %i, %c2 : index
    %at = arith.addi %from, %twice : index
    %to = arith.addi %i, %c8 : index
    %v = memref.load %x[%at] : memref<?xf64>
    memref.store %v, %y[%to] : memref<32xf64>
  }
  return
}

// Views of shared and fragment buffers, filled, copied and reduced in part.
func.func @parts_on_chip(
    %x: memref<16x16xf32> {tile.name = "x", tile.default = "randn:16x16xf32"},
    %y: memref<16x16xf32> {tile.name = "y", tile.default = "empty:16x16xf32"},
    %z: memref<4xf32> {tile.name = "z", tile.default = "empty:4xf32"})
    attributes {tile.reference = @parts_on_chip_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %five = arith.constant 5.0 : f32
    %s = tile.alloc_shared : memref<16x16xf32, #tile.shared>
    %f = tile.alloc_fragment : memref<16x16xf32, #tile.fragment>
    %r = tile.alloc_fragment : memref<4xf32, #tile.fragment>
    tile.copy %x to %s : memref<16x16xf32> to memref<16x16xf32, #tile.shared>
    tile.copy %s to %f : memref<16x16xf32, #tile.shared> to memref<16x16xf32, #tile.fragment>
    // Odd rows of the left half.
    %odd = memref.subview %f[1, 0] [8, 8] [2, 1]
      : memref<16x16xf32, #tile.fragment> to memref<8x8xf32, strided<[32, 1], offset: 16>, #tile.fragment>
    tile.fill %odd, %five : memref<8x8xf32, strided<[32, 1], offset: 16>, #tile.fragment>
    %corner = memref.subview %s[12, 4] [4, 8] [1, 1]
      : memref<16x16xf32, #tile.shared> to memref<4x8xf32, strided<[16, 1], offset: 196>, #tile.shared>
    tile.reduce sum %corner along 1 into %r
      : memref<4x8xf32, strided<[16, 1], offset: 196>, #tile.shared> into memref<4xf32, #tile.fragment>
    tile.copy %r to %z : memref<4xf32, #tile.fragment> to memref<4xf32>
    tile.copy %f to %y : memref<16x16xf32, #tile.fragment> to memref<16x16xf32>
  }
  return
}
func.func @parts_on_chip_reference(%x: memref<16x16xf64>, %y: memref<16x16xf64>, %z: memref<4xf64>) {
  %five = arith.constant 5.0 : f64
  %zero = arith.constant 0.0 : f64
  memref.copy %x, %y : memref<16x16xf64> to memref<16x16xf64>
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      affine.store %five, %y[%i * 2 + 1, %j] : memref<16x16xf64>
    }
  }
  affine.for %i = 0 to 4 {
    %sum = affine.for %j = 0 to 8 iter_args(%s = %zero) -> f64 {
      %v = affine.load %x[%i + 12, %j + 4] : memref<16x16xf64>
      %t = arith.addf %s, %v : f64
      affine.yield %t : f64
    }
    affine.store %sum, %z[%i] : memref<4xf64>
  }
  return
}

// A vector seen as a matrix and back.
func.func @reshapes(
    %x: memref<96xf32> {tile.name = "x", tile.default = "randn:96xf32"},
    %y: memref<12xf32> {tile.name = "y", tile.default = "empty:12xf32"},
    %z: memref<96xf32> {tile.name = "z", tile.default = "empty:96xf32"})
    attributes {tile.reference = @reshapes_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<96xf32, #tile.shared>
    %r = tile.alloc_fragment : memref<12xf32, #tile.fragment>
    tile.copy %x to %s : memref<96xf32> to memref<96xf32, #tile.shared>
    %m = memref.expand_shape %s [[0, 1]] output_shape [8, 12]
      : memref<96xf32, #tile.shared> into memref<8x12xf32, #tile.shared>
    tile.reduce max %m along 0 into %r : memref<8x12xf32, #tile.shared> into memref<12xf32, #tile.fragment>
    tile.copy %r to %y : memref<12xf32, #tile.fragment> to memref<12xf32>
    tile.parallel (%i, %j) in (8, 12) {
      %v = memref.load %m[%i, %j] : memref<8x12xf32, #tile.shared>
      %w = arith.negf %v : f32
      memref.store %w, %m[%i, %j] : memref<8x12xf32, #tile.shared>
    }
    %flat = memref.collapse_shape %m [[0, 1]] : memref<8x12xf32, #tile.shared> into memref<96xf32, #tile.shared>
    tile.copy %flat to %z : memref<96xf32, #tile.shared> to memref<96xf32>
  }
  return
}
func.func @reshapes_reference(%x: memref<96xf64>, %y: memref<12xf64>, %z: memref<96xf64>) {
  affine.for %j = 0 to 12 {
    %first = affine.load %x[%j] : memref<96xf64>
    %max = affine.for %i = 1 to 8 iter_args(%m = %first) -> f64 {
      %v = affine.load %x[%i * 12 + %j] : memref<96xf64>
      %n = arith.maximumf %m, %v : f64
      affine.yield %n : f64
    }
    affine.store %max, %y[%j] : memref<12xf64>
  }
  affine.for %i = 0 to 96 {
    %v = affine.load %x[%i] : memref<96xf64>
    %w = arith.negf %v : f64
    affine.store %w, %z[%i] : memref<96xf64>
  }
  return
}

// A view taken at an offset that the loop computes.
func.func @moving_window(
    %x: memref<?x?xf32> {tile.name = "x", tile.default = "randn:20x33xf32"},
    %y: memref<?x?xf32> {tile.name = "y", tile.default = "empty:x[0]xx[1]xf32"})
    attributes {tile.reference = @moving_window_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<64xf32, #tile.shared>
    scf.for %i = %c0 to %m step %c1 {
      %row = memref.subview %x[%i, 0] [1, %n] [1, 1]
        : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
      %last = arith.subi %m, %i : index
      %k = arith.subi %last, %c1 : index
      %out = memref.subview %y[%k, 0] [1, %n] [1, 1]
        : memref<?x?xf32> to memref<?xf32, strided<[1], offset: ?>>
      tile.copy %row[0] to %s : memref<?xf32, strided<[1], offset: ?>> to memref<64xf32, #tile.shared>
      tile.copy %s to %out[0] : memref<64xf32, #tile.shared> to memref<?xf32, strided<[1], offset: ?>>
    }
  }
  return
}
func.func @moving_window_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf64>
  %n = memref.dim %x, %c1 : memref<?x?xf64>
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %v = affine.load %x[%i, %j] : memref<?x?xf64>
      affine.store %v, %y[symbol(%m) - 1 - %i, %j] : memref<?x?xf64>
    }
  }
  return
}

// Arguments with strides and offsets of their own, and a gap between rows.
func.func @strided_arguments(
    %x: memref<?x?xf16, strided<[?, ?], offset: ?>> {tile.name = "x", tile.default = "randn:20x30xf16:strides=2,50:offset=3"},
    %y: memref<?x?xf32, strided<[?, 1], offset: ?>> {tile.name = "y", tile.default = "empty:x[0]xx[1]xf32:strides=37,1:offset=5"})
    attributes {tile.reference = @strided_arguments_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<32x32xf16, #tile.shared>
    tile.copy %x[0, 0] to %s
      : memref<?x?xf16, strided<[?, ?], offset: ?>> to memref<32x32xf16, #tile.shared>
    tile.copy %s to %y[0, 0]
      : memref<32x32xf16, #tile.shared> to memref<?x?xf32, strided<[?, 1], offset: ?>>
  }
  return
}
func.func @strided_arguments_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  memref.copy %x, %y : memref<?x?xf64> to memref<?x?xf64>
  return
}
