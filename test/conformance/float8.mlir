// 8-bit floats: every one of them read, and every f16 and many f32 and f64
// rounded to them.

// The 256 values of both formats. Not-a-numbers are compared as such.
func.func @decode(
    %x: memref<256xi8> {tile.name = "x", tile.default = "iota:256xi8"},
    %e4: memref<256xf32> {tile.name = "e4", tile.default = "empty:256xf32"},
    %e5: memref<256xf16> {tile.name = "e5", tile.default = "empty:256xf16"})
    attributes {tile.reference = @decode_reference,
                tile.tolerance = #tile.tolerance<atol = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_shared : memref<256xf8E4M3FN, #tile.shared>
    %u = tile.alloc_shared : memref<256xf8E5M2, #tile.shared>
    tile.parallel (%i) in (256) {
      %v = memref.load %x[%i] : memref<256xi8>
      %a = arith.bitcast %v : i8 to f8E4M3FN
      %c = arith.bitcast %v : i8 to f8E5M2
      memref.store %a, %t[%i] : memref<256xf8E4M3FN, #tile.shared>
      memref.store %c, %u[%i] : memref<256xf8E5M2, #tile.shared>
    }
    tile.copy %t to %e4 : memref<256xf8E4M3FN, #tile.shared> to memref<256xf32>
    tile.copy %u to %e5 : memref<256xf8E5M2, #tile.shared> to memref<256xf16>
  }
  return
}
// The value of the code %i with `bias` and `mantissa` bits after the point.
func.func private @value(%i: i64, %bias: i64, %bits: i64) -> f64 {
  %c1 = arith.constant 1 : i64
  %c52 = arith.constant 52 : i64
  %c127 = arith.constant 127 : i64
  %c1023 = arith.constant 1023 : i64
  %zero = arith.constant 0 : i64
  %code = arith.andi %i, %c127 : i64
  %exponent = arith.shrui %code, %bits : i64
  %one = arith.shli %c1, %bits : i64
  %mask = arith.subi %one, %c1 : i64
  %fraction = arith.andi %code, %mask : i64
  %isSmall = arith.cmpi eq, %exponent, %zero : i64
  %whole = arith.addi %fraction, %one : i64
  %significand = arith.select %isSmall, %fraction, %whole : i64
  %clamped = arith.maxsi %exponent, %c1 : i64
  %scale0 = arith.subi %clamped, %bias : i64
  %scale = arith.subi %scale0, %bits : i64
  %biased = arith.addi %scale, %c1023 : i64
  %power = arith.shli %biased, %c52 : i64
  %factor = arith.bitcast %power : i64 to f64
  %real = arith.sitofp %significand : i64 to f64
  %magnitude = arith.mulf %real, %factor : f64
  %c128 = arith.constant 128 : i64
  %sign = arith.andi %i, %c128 : i64
  %isNegative = arith.cmpi ne, %sign, %zero : i64
  %negative = arith.negf %magnitude : f64
  %result = arith.select %isNegative, %negative, %magnitude : f64
  return %result : f64
}
func.func @decode_reference(%x: memref<256xi8>, %e4: memref<256xf64>, %e5: memref<256xf64>) {
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c7 = arith.constant 7 : i64
  %c15 = arith.constant 15 : i64
  %c127 = arith.constant 127 : i64
  %c124 = arith.constant 124 : i64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  affine.for %i = 0 to 256 {
    %n = affine.load %x[%i] : memref<256xi8>
    %code = arith.extui %n : i8 to i64
    %low = arith.andi %code, %c127 : i64
    %a = func.call @value(%code, %c7, %c3) : (i64, i64, i64) -> f64
    %isNaN = arith.cmpi eq, %low, %c127 : i64
    %v = arith.select %isNaN, %nan, %a : f64
    affine.store %v, %e4[%i] : memref<256xf64>
    %b = func.call @value(%code, %c15, %c2) : (i64, i64, i64) -> f64
    %isLarge = arith.cmpi eq, %low, %c124 : i64
    %signed = math.copysign %inf, %b : f64
    %w0 = arith.select %isLarge, %signed, %b : f64
    %isNot = arith.cmpi ugt, %low, %c124 : i64
    %w = arith.select %isNot, %nan, %w0 : f64
    affine.store %w, %e5[%i] : memref<256xf64>
  }
  return
}

// Every f16, by its bits, to both formats and back, with and without saturation.
func.func @encode(
    %x: memref<65536xi16> {tile.name = "x", tile.default = "iota:65536xi16"},
    %e4: memref<65536xf32> {tile.name = "e4", tile.default = "empty:65536xf32"},
    %e4s: memref<65536xf32> {tile.name = "e4s", tile.default = "empty:65536xf32"},
    %e5: memref<65536xf32> {tile.name = "e5", tile.default = "empty:65536xf32"},
    %e5s: memref<65536xf32> {tile.name = "e5s", tile.default = "empty:65536xf32"})
    attributes {tile.reference = @encode_reference,
                tile.tolerance = #tile.tolerance<atol = 0.0>} {
  %c256 = arith.constant 256 : index
  tile.launch blocks(%b) in (%c256) {
    %at = arith.muli %b, %c256 : index
    %s = tile.alloc_shared : memref<256xf16, #tile.shared>
    %t = tile.alloc_shared : memref<256xf8E4M3FN, #tile.shared>
    %u = tile.alloc_shared : memref<256xf8E5M2, #tile.shared>
    tile.parallel (%i) in (256) {
      %k = arith.addi %at, %i : index
      %v = memref.load %x[%k] : memref<65536xi16>
      %h = arith.bitcast %v : i16 to f16
      memref.store %h, %s[%i] : memref<256xf16, #tile.shared>
    }
    tile.copy %s to %t : memref<256xf16, #tile.shared> to memref<256xf8E4M3FN, #tile.shared>
    tile.copy %t to %e4[%at] : memref<256xf8E4M3FN, #tile.shared> to memref<65536xf32>
    tile.copy %s to %t saturate : memref<256xf16, #tile.shared> to memref<256xf8E4M3FN, #tile.shared>
    tile.copy %t to %e4s[%at] : memref<256xf8E4M3FN, #tile.shared> to memref<65536xf32>
    tile.copy %s to %u : memref<256xf16, #tile.shared> to memref<256xf8E5M2, #tile.shared>
    tile.copy %u to %e5[%at] : memref<256xf8E5M2, #tile.shared> to memref<65536xf32>
    tile.copy %s to %u saturate : memref<256xf16, #tile.shared> to memref<256xf8E5M2, #tile.shared>
    tile.copy %u to %e5s[%at] : memref<256xf8E5M2, #tile.shared> to memref<65536xf32>
  }
  return
}
// %x rounded to a multiple of the unit in its last place, ties to even; beyond
// the largest number, `over`.
func.func private @round(%x: f64, %bits: i64, %smallest: i64, %largest: f64, %over: f64) -> f64 {
  %c52 = arith.constant 52 : i64
  %c2047 = arith.constant 2047 : i64
  %c1023 = arith.constant 1023 : i64
  %raw = arith.bitcast %x : f64 to i64
  %shifted = arith.shrui %raw, %c52 : i64
  %field = arith.andi %shifted, %c2047 : i64
  %exponent0 = arith.subi %field, %c1023 : i64
  %exponent = arith.maxsi %exponent0, %smallest : i64
  %last = arith.subi %exponent, %bits : i64
  %biased = arith.addi %last, %c1023 : i64
  %power = arith.shli %biased, %c52 : i64
  %unit = arith.bitcast %power : i64 to f64
  %quotient = arith.divf %x, %unit : f64
  %nearest = math.roundeven %quotient : f64
  %result = arith.mulf %nearest, %unit : f64
  %magnitude = math.absf %result : f64
  %fits = arith.cmpf ule, %magnitude, %largest : f64
  %limit = math.copysign %over, %x : f64
  %rounded = arith.select %fits, %result, %limit : f64
  %isNumber = arith.cmpf ord, %x, %x : f64
  %final = arith.select %isNumber, %rounded, %x : f64
  return %final : f64
}
func.func @encode_reference(%x: memref<65536xi16>, %e4: memref<65536xf64>, %e4s: memref<65536xf64>, %e5: memref<65536xf64>, %e5s: memref<65536xf64>) {
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %m6 = arith.constant -6 : i64
  %m14 = arith.constant -14 : i64
  %most4 = arith.constant 448.0 : f64
  %most5 = arith.constant 57344.0 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  affine.for %i = 0 to 65536 {
    %n = affine.load %x[%i] : memref<65536xi16>
    %h = arith.bitcast %n : i16 to f16
    %v = arith.extf %h : f16 to f64
    %a = func.call @round(%v, %c3, %m6, %most4, %nan) : (f64, i64, i64, f64, f64) -> f64
    affine.store %a, %e4[%i] : memref<65536xf64>
    %as = func.call @round(%v, %c3, %m6, %most4, %most4) : (f64, i64, i64, f64, f64) -> f64
    affine.store %as, %e4s[%i] : memref<65536xf64>
    %b = func.call @round(%v, %c2, %m14, %most5, %inf) : (f64, i64, i64, f64, f64) -> f64
    affine.store %b, %e5[%i] : memref<65536xf64>
    %bs = func.call @round(%v, %c2, %m14, %most5, %most5) : (f64, i64, i64, f64, f64) -> f64
    affine.store %bs, %e5s[%i] : memref<65536xf64>
  }
  return
}

// From f64, rounded once: near ties that f32 could not tell from ties.
func.func @encode_f64(
    %x: memref<?xf64> {tile.name = "x", tile.default = "values(1.0625,1.0625000000001,1.0624999999999,1.1875,1.18750000000001,464,463.9999999999,464.0000000001,-1e300,2.44140625e-4,0.0009765625,0.00097656250000001,1.125,1.12500000000001,5e-324,65519.99999999,65520.0,-0.0):18xf64"},
    %e4: memref<?xf32> {tile.name = "e4", tile.default = "empty:x[0]xf32"},
    %e5: memref<?xf32> {tile.name = "e5", tile.default = "empty:x[0]xf32"},
    %h: memref<?xf32> {tile.name = "h", tile.default = "empty:x[0]xf32"},
    %bf: memref<?xf32> {tile.name = "bf", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @encode_f64_reference,
                tile.tolerance = #tile.tolerance<atol = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<18xf64, #tile.shared>
    %t = tile.alloc_shared : memref<18xf8E4M3FN, #tile.shared>
    %u = tile.alloc_shared : memref<18xf8E5M2, #tile.shared>
    %v = tile.alloc_shared : memref<18xf16, #tile.shared>
    %w = tile.alloc_shared : memref<18xbf16, #tile.shared>
    tile.copy %x[0] to %s : memref<?xf64> to memref<18xf64, #tile.shared>
    tile.copy %s to %t : memref<18xf64, #tile.shared> to memref<18xf8E4M3FN, #tile.shared>
    tile.copy %t to %e4[0] : memref<18xf8E4M3FN, #tile.shared> to memref<?xf32>
    tile.copy %s to %u : memref<18xf64, #tile.shared> to memref<18xf8E5M2, #tile.shared>
    tile.copy %u to %e5[0] : memref<18xf8E5M2, #tile.shared> to memref<?xf32>
    tile.copy %s to %v : memref<18xf64, #tile.shared> to memref<18xf16, #tile.shared>
    tile.copy %v to %h[0] : memref<18xf16, #tile.shared> to memref<?xf32>
    tile.copy %s to %w : memref<18xf64, #tile.shared> to memref<18xbf16, #tile.shared>
    tile.copy %w to %bf[0] : memref<18xbf16, #tile.shared> to memref<?xf32>
  }
  return
}
func.func @encode_f64_reference(%x: memref<?xf64>, %e4: memref<?xf64>, %e5: memref<?xf64>, %h: memref<?xf64>, %bf: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %c7 = arith.constant 7 : i64
  %c10 = arith.constant 10 : i64
  %m6 = arith.constant -6 : i64
  %m14 = arith.constant -14 : i64
  %m126 = arith.constant -126 : i64
  %most4 = arith.constant 448.0 : f64
  %most5 = arith.constant 57344.0 : f64
  %mostHalf = arith.constant 65504.0 : f64
  %mostBrain = arith.constant 3.3895313892515355e38 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    %a = func.call @round(%v, %c3, %m6, %most4, %nan) : (f64, i64, i64, f64, f64) -> f64
    affine.store %a, %e4[%i] : memref<?xf64>
    %b = func.call @round(%v, %c2, %m14, %most5, %inf) : (f64, i64, i64, f64, f64) -> f64
    affine.store %b, %e5[%i] : memref<?xf64>
    %c = func.call @round(%v, %c10, %m14, %mostHalf, %inf) : (f64, i64, i64, f64, f64) -> f64
    affine.store %c, %h[%i] : memref<?xf64>
    %d = func.call @round(%v, %c7, %m126, %mostBrain, %inf) : (f64, i64, i64, f64, f64) -> f64
    affine.store %d, %bf[%i] : memref<?xf64>
  }
  return
}

// Arithmetic on 8-bit floats themselves, integers to and from them.
func.func @arithmetic(
    %x: memref<96xi32> {tile.name = "x", tile.default = "randint(-20,20):96xi32"},
    %y: memref<96xf32> {tile.name = "y", tile.default = "empty:96xf32"},
    %z: memref<96xi32> {tile.name = "z", tile.default = "empty:96xi32"})
    attributes {tile.reference = @arithmetic_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (96) {
      %n = memref.load %x[%i] : memref<96xi32>
      %v = arith.sitofp %n : i32 to f8E5M2
      %two = arith.addf %v, %v : f8E5M2
      %wide = arith.extf %two : f8E5M2 to f32
      memref.store %wide, %y[%i] : memref<96xf32>
      %back = arith.fptosi %two : f8E5M2 to i32
      memref.store %back, %z[%i] : memref<96xi32>
    }
  }
  return
}
func.func @arithmetic_reference(%x: memref<96xi32>, %y: memref<96xf64>, %z: memref<96xi32>) {
  %c2 = arith.constant 2 : i64
  %m14 = arith.constant -14 : i64
  %two = arith.constant 2.0 : f64
  %most5 = arith.constant 57344.0 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  affine.for %i = 0 to 96 {
    %n = affine.load %x[%i] : memref<96xi32>
    %v = arith.sitofp %n : i32 to f64
    %a = func.call @round(%v, %c2, %m14, %most5, %inf) : (f64, i64, i64, f64, f64) -> f64
    %twice = arith.mulf %a, %two : f64
    affine.store %twice, %y[%i] : memref<96xf64>
    %back = arith.fptosi %twice : f64 to i32
    affine.store %back, %z[%i] : memref<96xi32>
  }
  return
}
