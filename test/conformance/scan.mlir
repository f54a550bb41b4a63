// Running results: directions, dimensions, kinds, element types.

// Along the rows, whose length is no multiple of a vector's.
func.func @rows(
    %x: memref<5x77xf32> {tile.name = "x", tile.default = "randn:5x77xf32"},
    %y: memref<5x77xf32> {tile.name = "y", tile.default = "empty:5x77xf32"})
    attributes {tile.reference = @rows_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_fragment : memref<5x77xf32, #tile.fragment>
    %r = tile.alloc_shared : memref<5x77xf32, #tile.shared>
    tile.copy %x to %t : memref<5x77xf32> to memref<5x77xf32, #tile.fragment>
    tile.scan sum %t along 1 into %r : memref<5x77xf32, #tile.fragment> into memref<5x77xf32, #tile.shared>
    tile.copy %r to %y : memref<5x77xf32, #tile.shared> to memref<5x77xf32>
  }
  return
}
func.func @rows_reference(%x: memref<5x77xf64>, %y: memref<5x77xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to 77 iter_args(%sum = %zero) -> f64 {
      %v = affine.load %x[%i, %j] : memref<5x77xf64>
      %next = arith.addf %sum, %v : f64
      affine.store %next, %y[%i, %j] : memref<5x77xf64>
      affine.yield %next : f64
    }
  }
  return
}

// In place, from the end, each without itself.
func.func @suffixes(
    %x: memref<3x45xf32> {tile.name = "x", tile.default = "randn:3x45xf32"},
    %y: memref<3x45xf32> {tile.name = "y", tile.default = "empty:3x45xf32"})
    attributes {tile.reference = @suffixes_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-5>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_fragment : memref<3x45xf32, #tile.fragment>
    tile.copy %x to %t : memref<3x45xf32> to memref<3x45xf32, #tile.fragment>
    tile.scan sum %t along 1 into %t reverse exclusive : memref<3x45xf32, #tile.fragment> into memref<3x45xf32, #tile.fragment>
    tile.copy %t to %y : memref<3x45xf32, #tile.fragment> to memref<3x45xf32>
  }
  return
}
func.func @suffixes_reference(%x: memref<3x45xf64>, %y: memref<3x45xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 45 iter_args(%sum = %zero) -> f64 {
      affine.store %sum, %y[%i, 44 - %j] : memref<3x45xf64>
      %v = affine.load %x[%i, 44 - %j] : memref<3x45xf64>
      %next = arith.addf %sum, %v : f64
      affine.yield %next : f64
    }
  }
  return
}

// Along the first and the middle dimension of three; a NaN stays from where it
// is met.
func.func @other_dimensions(
    %x: memref<9x6x11xf32> {tile.name = "x", tile.default = "randn:9x6x11xf32"},
    %first: memref<9x6x11xf32> {tile.name = "first", tile.default = "empty:9x6x11xf32"},
    %middle: memref<9x6x11xf32> {tile.name = "middle", tile.default = "empty:9x6x11xf32"})
    attributes {tile.reference = @other_dimensions_reference,
                tile.tolerance = #tile.tolerance<atol = 0.0>} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %nan = arith.constant 0x7FC00000 : f32
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_fragment : memref<9x6x11xf32, #tile.fragment>
    %r = tile.alloc_fragment : memref<9x6x11xf32, #tile.fragment>
    tile.copy %x to %t : memref<9x6x11xf32> to memref<9x6x11xf32, #tile.fragment>
    tile.parallel (%i) in (1) {
      memref.store %nan, %t[%c2, %c1, %c2] : memref<9x6x11xf32, #tile.fragment>
    }
    tile.scan max %t along 0 into %r : memref<9x6x11xf32, #tile.fragment> into memref<9x6x11xf32, #tile.fragment>
    tile.copy %r to %first : memref<9x6x11xf32, #tile.fragment> to memref<9x6x11xf32>
    tile.scan min %t along 1 into %r reverse : memref<9x6x11xf32, #tile.fragment> into memref<9x6x11xf32, #tile.fragment>
    tile.copy %r to %middle : memref<9x6x11xf32, #tile.fragment> to memref<9x6x11xf32>
  }
  return
}
func.func @other_dimensions_reference(%x: memref<9x6x11xf64>, %first: memref<9x6x11xf64>, %middle: memref<9x6x11xf64>) {
  %nan = arith.constant 0x7FF8000000000000 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %ninf = arith.constant 0xFFF0000000000000 : f64
  affine.store %nan, %x[2, 1, 2] : memref<9x6x11xf64>
  affine.for %j = 0 to 6 {
    affine.for %k = 0 to 11 {
      affine.for %i = 0 to 9 iter_args(%most = %ninf) -> f64 {
        %v = affine.load %x[%i, %j, %k] : memref<9x6x11xf64>
        %next = arith.maximumf %most, %v : f64
        affine.store %next, %first[%i, %j, %k] : memref<9x6x11xf64>
        affine.yield %next : f64
      }
    }
  }
  affine.for %i = 0 to 9 {
    affine.for %k = 0 to 11 {
      affine.for %j = 0 to 6 iter_args(%least = %inf) -> f64 {
        %v = affine.load %x[%i, 5 - %j, %k] : memref<9x6x11xf64>
        %next = arith.minimumf %least, %v : f64
        affine.store %next, %middle[%i, 5 - %j, %k] : memref<9x6x11xf64>
        affine.yield %next : f64
      }
    }
  }
  return
}

// Integers: products that wrap around, the least of unsigned bytes in words.
func.func @integers(
    %x: memref<70xi32> {tile.name = "x", tile.default = "randint(-1000,1000):70xi32"},
    %u: memref<70xi8> {tile.name = "u", tile.default = "randint(-128,128):70xi8"},
    %p: memref<70xi32> {tile.name = "p", tile.default = "empty:70xi32"},
    %m: memref<70xi32> {tile.name = "m", tile.default = "empty:70xi32"})
    attributes {tile.reference = @integers_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_fragment : memref<70xi32, #tile.fragment>
    %s = tile.alloc_fragment : memref<70xi8, #tile.fragment>
    tile.copy %x to %t : memref<70xi32> to memref<70xi32, #tile.fragment>
    tile.copy %u to %s : memref<70xi8> to memref<70xi8, #tile.fragment>
    tile.scan product %t along 0 into %t exclusive : memref<70xi32, #tile.fragment> into memref<70xi32, #tile.fragment>
    tile.copy %t to %p : memref<70xi32, #tile.fragment> to memref<70xi32>
    tile.scan min %s along 0 into %t unsigned : memref<70xi8, #tile.fragment> into memref<70xi32, #tile.fragment>
    tile.copy %t to %m : memref<70xi32, #tile.fragment> to memref<70xi32>
  }
  return
}
func.func @integers_reference(%x: memref<70xi32>, %u: memref<70xi8>, %p: memref<70xi32>, %m: memref<70xi32>) {
  %one = arith.constant 1 : i32
  %most = arith.constant -1 : i32
  affine.for %i = 0 to 70 iter_args(%product = %one) -> i32 {
    affine.store %product, %p[%i] : memref<70xi32>
    %v = affine.load %x[%i] : memref<70xi32>
    %next = arith.muli %product, %v : i32
    affine.yield %next : i32
  }
  affine.for %i = 0 to 70 iter_args(%least = %most) -> i32 {
    %v = affine.load %u[%i] : memref<70xi8>
    %w = arith.extui %v : i8 to i32
    %next = arith.minui %least, %w : i32
    affine.store %next, %m[%i] : memref<70xi32>
    affine.yield %next : i32
  }
  return
}

// Narrow floats are added in f32: bf16 alone could count ones up to 256 only.
func.func @narrow(
    %x: memref<600xbf16> {tile.name = "x", tile.default = "ones:600xbf16"},
    %y: memref<600xbf16> {tile.name = "y", tile.default = "empty:600xbf16"})
    attributes {tile.reference = @narrow_reference,
                tile.tolerance = #tile.tolerance<rtol = 4.0e-3>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_fragment : memref<600xbf16, #tile.fragment>
    tile.copy %x to %t : memref<600xbf16> to memref<600xbf16, #tile.fragment>
    tile.scan sum %t along 0 into %t : memref<600xbf16, #tile.fragment> into memref<600xbf16, #tile.fragment>
    tile.copy %t to %y : memref<600xbf16, #tile.fragment> to memref<600xbf16>
  }
  return
}
func.func @narrow_reference(%x: memref<600xf64>, %y: memref<600xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to 600 iter_args(%sum = %zero) -> f64 {
    %v = affine.load %x[%i] : memref<600xf64>
    %next = arith.addf %sum, %v : f64
    affine.store %next, %y[%i] : memref<600xf64>
    affine.yield %next : f64
  }
  return
}
