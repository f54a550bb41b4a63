// Conversions of copies.

func.func @f32_to_f16_and_back(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn(0,100):1000xf32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @f32_to_f16_and_back_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivsi %n, %c64 : index
  tile.launch blocks(%b) in (%g) {
    %i = arith.muli %b, %c64 : index
    %s = tile.alloc_shared : memref<64xf16, #tile.shared>
    tile.copy %x[%i] to %s : memref<?xf32> to memref<64xf16, #tile.shared>
    tile.copy %s to %y[%i] : memref<64xf16, #tile.shared> to memref<?xf32>
  }
  return
}
func.func @f32_to_f16_and_back_reference(%x: memref<?xf32>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf32>
    %h = arith.truncf %v : f32 to f16
    %w = arith.extf %h : f16 to f64
    affine.store %w, %y[%i] : memref<?xf64>
  }
  return
}

func.func @f32_to_bf16_and_back(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn(0,100):1000xf32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @f32_to_bf16_and_back_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivsi %n, %c64 : index
  tile.launch blocks(%b) in (%g) {
    %i = arith.muli %b, %c64 : index
    %s = tile.alloc_fragment : memref<64xbf16, #tile.fragment>
    tile.copy %x[%i] to %s : memref<?xf32> to memref<64xbf16, #tile.fragment>
    tile.copy %s to %y[%i] : memref<64xbf16, #tile.fragment> to memref<?xf32>
  }
  return
}
func.func @f32_to_bf16_and_back_reference(%x: memref<?xf32>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %half = arith.constant 32767 : i32
  %one = arith.constant 1 : i32
  %c16 = arith.constant 16 : i32
  affine.for %i = 0 to %n {
    // By the bits: half a unit and the last kept bit are added, then 16 bits cut.
    %v = affine.load %x[%i] : memref<?xf32>
    %bits = arith.bitcast %v : f32 to i32
    %high = arith.shrui %bits, %c16 : i32
    %odd = arith.andi %high, %one : i32
    %up = arith.addi %half, %odd : i32
    %sum = arith.addi %bits, %up : i32
    %cut = arith.shrui %sum, %c16 : i32
    %rounded = arith.shli %cut, %c16 : i32
    %w = arith.bitcast %rounded : i32 to f32
    %wide = arith.extf %w : f32 to f64
    affine.store %wide, %y[%i] : memref<?xf64>
  }
  return
}

// Integers become floats exactly where those have room, and nearest elsewhere.
func.func @i32_to_f32(
    %x: memref<?xi32> {tile.name = "x", tile.default = "randint(-2000000000,2000000000):500xi32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @i32_to_f32_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-7, rtol = 6.0e-8>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %g = arith.ceildivsi %n, %c64 : index
  tile.launch blocks(%b) in (%g) {
    %i = arith.muli %b, %c64 : index
    tile.copy %x[%i] sizes [64] to %y[%i] : memref<?xi32> to memref<?xf32>
  }
  return
}
func.func @i32_to_f32_reference(%x: memref<?xi32>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xi32>
    %w = arith.sitofp %v : i32 to f64
    affine.store %w, %y[%i] : memref<?xf64>
  }
  return
}

// Floats become integers towards zero; past the ends of the range they give the
// ends, and NaN gives zero.
func.func @f32_to_i32(
    %x: memref<?xf32> {tile.name = "x", tile.default = "values(0.5,1.5,-0.5,-2.5,-7.51,1e6,3e9,-3e9,2147483647,nan,inf,-inf):12xf32"},
    %y: memref<?xi32> {tile.name = "y", tile.default = "empty:x[0]xi32"})
    attributes {tile.reference = @f32_to_i32_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivsi %n, %c64 : index
  tile.launch blocks(%b) in (%g) {
    %i = arith.muli %b, %c64 : index
    tile.copy %x[%i] sizes [64] to %y[%i] : memref<?xf32> to memref<?xi32>
  }
  return
}
func.func @f32_to_i32_reference(%x: memref<?xf64>, %y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %zero = arith.constant 0.0 : f64
  %most = arith.constant 2147483647.0 : f64
  %least = arith.constant -2147483648.0 : f64
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    %isNaN = arith.cmpf uno, %v, %v : f64
    %number = arith.select %isNaN, %zero, %v : f64
    %low = arith.maximumf %number, %least : f64
    %clamped = arith.minimumf %low, %most : f64
    %w = arith.fptosi %clamped : f64 to i32
    affine.store %w, %y[%i] : memref<?xi32>
  }
  return
}

// Integers wrap, or clamp with `saturate`.
func.func @i32_to_i8(
    %x: memref<64xi32> {tile.name = "x", tile.default = "randint(-400,400):64xi32"},
    %y: memref<64xi8> {tile.name = "y", tile.default = "empty:64xi8"},
    %z: memref<64xi8> {tile.name = "z", tile.default = "empty:64xi8"})
    attributes {tile.reference = @i32_to_i8_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.copy %x to %y : memref<64xi32> to memref<64xi8>
    tile.copy %x to %z saturate : memref<64xi32> to memref<64xi8>
  }
  return
}
func.func @i32_to_i8_reference(%x: memref<64xi32>, %y: memref<64xi8>, %z: memref<64xi8>) {
  %most = arith.constant 127 : i32
  %least = arith.constant -128 : i32
  affine.for %i = 0 to 64 {
    %v = affine.load %x[%i] : memref<64xi32>
    %w = arith.trunci %v : i32 to i8
    affine.store %w, %y[%i] : memref<64xi8>
    %low = arith.maxsi %v, %least : i32
    %clamped = arith.minsi %low, %most : i32
    %c = arith.trunci %clamped : i32 to i8
    affine.store %c, %z[%i] : memref<64xi8>
  }
  return
}

// `saturate` clamps to the largest finite f16; without it there is infinity.
func.func @saturate(
    %x: memref<?xf32> {tile.name = "x", tile.default = "values(1,70000,-70000,65504,65519,65521,inf,-inf):8xf32"},
    %y: memref<?xf16> {tile.name = "y", tile.default = "empty:x[0]xf16"},
    %z: memref<?xf16> {tile.name = "z", tile.default = "empty:x[0]xf16"})
    attributes {tile.reference = @saturate_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-3, rtol = 5.0e-4>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    tile.copy %x[0] to %s : memref<?xf32> to memref<8xf32, #tile.shared>
    tile.copy %s to %y[0] saturate : memref<8xf32, #tile.shared> to memref<?xf16>
    tile.copy %s to %z[0] : memref<8xf32, #tile.shared> to memref<?xf16>
  }
  return
}
func.func @saturate_reference(%x: memref<?xf64>, %y: memref<?xf64>, %z: memref<?xf64>) {
  %largest = arith.constant 65504.0 : f64
  %least = arith.constant -65504.0 : f64
  %limit = arith.constant 65520.0 : f64 // halfway to what would be next
  %inf = arith.constant 0x7FF0000000000000 : f64
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    %low = arith.maximumf %v, %least : f64
    %clamped = arith.minimumf %low, %largest : f64
    affine.store %clamped, %y[%i] : memref<?xf64>
    %size = math.absf %v : f64
    %over = arith.cmpf oge, %size, %limit : f64
    %signed = math.copysign %inf, %v : f64
    %w = arith.select %over, %signed, %v : f64
    affine.store %w, %z[%i] : memref<?xf64>
  }
  return
}

// The ends of the range of f16 are no numbers of bf16.
func.func @saturate_across(
    %x: memref<6xbf16> {tile.name = "x", tile.default = "values(65536,-65536,inf,-inf,60000,3e38):6xbf16"},
    %y: memref<6xf16> {tile.name = "y", tile.default = "empty:6xf16"})
    attributes {tile.reference = @saturate_across_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %f = tile.alloc_fragment : memref<6xbf16, #tile.fragment>
    tile.copy %x to %f : memref<6xbf16> to memref<6xbf16, #tile.fragment>
    tile.copy %f to %y saturate : memref<6xbf16, #tile.fragment> to memref<6xf16>
  }
  return
}
func.func @saturate_across_reference(%x: memref<6xf64>, %y: memref<6xf64>) {
  %high = arith.constant 65504.0 : f64
  %low = arith.constant -65504.0 : f64
  affine.for %i = 0 to 6 {
    %v = affine.load %x[%i] : memref<6xf64>
    %a = arith.minimumf %v, %high : f64
    %w = arith.maximumf %a, %low : f64
    affine.store %w, %y[%i] : memref<6xf64>
  }
  return
}

// Nothing of f16 is out of the range of bf16, and infinity is none of its numbers.
func.func @saturate_wider(
    %x: memref<4xf16> {tile.name = "x", tile.default = "values(inf,-inf,2,32768):4xf16"},
    %y: memref<4xbf16> {tile.name = "y", tile.default = "empty:4xbf16"})
    attributes {tile.reference = @saturate_wider_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %f = tile.alloc_fragment : memref<4xf16, #tile.fragment>
    tile.copy %x to %f : memref<4xf16> to memref<4xf16, #tile.fragment>
    tile.copy %f to %y saturate : memref<4xf16, #tile.fragment> to memref<4xbf16>
  }
  return
}
func.func @saturate_wider_reference(%x: memref<4xf64>, %y: memref<4xf64>) {
  memref.copy %x, %y : memref<4xf64> to memref<4xf64>
  return
}

// The same from integers, signed and unsigned, and to 8 bits. i32 holds none of
// what bf16 would have to clamp.
func.func @saturate_integers(
    %x: memref<8xi32> {tile.name = "x", tile.default = "values(1,70000,-70000,65504,-65505,500,-449,2147483647):8xi32"},
    %y: memref<8xf16> {tile.name = "y", tile.default = "empty:8xf16"},
    %u: memref<8xf16> {tile.name = "u", tile.default = "empty:8xf16"},
    %z: memref<8xf8E4M3FN> {tile.name = "z", tile.default = "empty:8xf8E4M3FN"},
    %w: memref<8xbf16> {tile.name = "w", tile.default = "empty:8xbf16"})
    attributes {tile.reference = @saturate_integers_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-1, rtol = 1.0e-1>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.copy %x to %y saturate : memref<8xi32> to memref<8xf16>
    tile.copy %x to %u saturate unsigned : memref<8xi32> to memref<8xf16>
    tile.copy %x to %z saturate : memref<8xi32> to memref<8xf8E4M3FN>
    tile.copy %x to %w saturate : memref<8xi32> to memref<8xbf16>
  }
  return
}
func.func @saturate_integers_reference(%x: memref<8xi32>, %y: memref<8xf64>, %u: memref<8xf64>,
                                       %z: memref<8xf64>, %w: memref<8xf64>) {
  %most = arith.constant 65504.0 : f64
  %least = arith.constant -65504.0 : f64
  %most8 = arith.constant 448.0 : f64
  %least8 = arith.constant -448.0 : f64
  affine.for %i = 0 to 8 {
    %v = affine.load %x[%i] : memref<8xi32>
    %s = arith.sitofp %v : i32 to f64
    %low = arith.maximumf %s, %least : f64
    %clamped = arith.minimumf %low, %most : f64
    affine.store %clamped, %y[%i] : memref<8xf64>
    %n = arith.uitofp %v : i32 to f64
    %high = arith.minimumf %n, %most : f64
    affine.store %high, %u[%i] : memref<8xf64>
    %low8 = arith.maximumf %s, %least8 : f64
    %clamped8 = arith.minimumf %low8, %most8 : f64
    affine.store %clamped8, %z[%i] : memref<8xf64>
    affine.store %s, %w[%i] : memref<8xf64>
  }
  return
}

// f64 through the tile and down to f32.
func.func @f64_to_f32(
    %x: memref<?x?xf64> {tile.name = "x", tile.default = "randn:13x21xf64"},
    %y: memref<?x?xf32> {tile.name = "y", tile.default = "empty:x[0]xx[1]xf32"})
    attributes {tile.reference = @f64_to_f32_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-7, rtol = 6.0e-8>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %f = tile.alloc_fragment : memref<16x32xf64, #tile.fragment>
    tile.copy %x[0, 0] to %f : memref<?x?xf64> to memref<16x32xf64, #tile.fragment>
    tile.copy %f to %y[0, 0] : memref<16x32xf64, #tile.fragment> to memref<?x?xf32>
  }
  return
}
func.func @f64_to_f32_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  memref.copy %x, %y : memref<?x?xf64> to memref<?x?xf64>
  return
}

// Bytes as signed and as unsigned numbers.
func.func @signedness(
    %x: memref<256xi8> {tile.name = "x", tile.default = "randint(-128,128):256xi8"},
    %y: memref<256xi32> {tile.name = "y", tile.default = "empty:256xi32"},
    %z: memref<256xf32> {tile.name = "z", tile.default = "empty:256xf32"})
    attributes {tile.reference = @signedness_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<256xi8, #tile.shared>
    tile.copy %x to %s : memref<256xi8> to memref<256xi8, #tile.shared>
    tile.copy %s to %y : memref<256xi8, #tile.shared> to memref<256xi32>
    tile.copy %s to %z unsigned : memref<256xi8, #tile.shared> to memref<256xf32>
  }
  return
}
func.func @signedness_reference(%x: memref<256xi8>, %y: memref<256xi32>, %z: memref<256xf64>) {
  affine.for %i = 0 to 256 {
    %v = affine.load %x[%i] : memref<256xi8>
    %s = arith.extsi %v : i8 to i32
    affine.store %s, %y[%i] : memref<256xi32>
    %u = arith.uitofp %v : i8 to f64
    affine.store %u, %z[%i] : memref<256xf64>
  }
  return
}

// An infinity becomes the end of the integer's range, also where the float type
// cannot hold that end.
func.func @infinities_to_integers(
    %x: memref<2xf16> {tile.name = "x", tile.default = "values(-inf, inf):2xf16"},
    %y: memref<2xi32> {tile.name = "y", tile.default = "empty:2xi32"})
    attributes {tile.reference = @infinities_to_integers_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.copy %x[0] sizes [2] to %y[0] : memref<2xf16> to memref<2xi32>
  }
  return
}

func.func @infinities_to_integers_reference(%x: memref<2xf16>, %y: memref<2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant -2147483648 : i32
  %high = arith.constant 2147483647 : i32
  memref.store %low, %y[%c0] : memref<2xi32>
  memref.store %high, %y[%c1] : memref<2xi32>
  return
}
