// Sines and cosines of angles from 2^-20 to 2^49, both signs, which need digits
// of pi that f32 and f64 do not have; and of what is not an angle.

func.func private @angle(%at: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c70 = arith.constant 70 : i32
  %c107 = arith.constant 107 : i32
  %c23 = arith.constant 23 : i32
  %one = arith.constant 1 : i32
  %odd = arith.constant 0x9E3779B1 : i32
  %fraction = arith.constant 0x7FFFFF : i32
  %signBit = arith.constant 0x80000000 : i32
  %infinity = arith.constant 0x7F800000 : f32
  %none = arith.constant 0x7FC00000 : f32
  %n = arith.index_cast %at : index to i32
  %power = arith.remui %n, %c70 : i32
  %biased = arith.addi %power, %c107 : i32
  %exponent = arith.shli %biased, %c23 : i32
  %mixed = arith.muli %n, %odd : i32
  %low = arith.andi %mixed, %fraction : i32
  %sign = arith.andi %mixed, %signBit : i32
  %magnitude = arith.ori %exponent, %low : i32
  %bits = arith.ori %magnitude, %sign : i32
  %x = arith.bitcast %bits : i32 to f32
  %isFirst = arith.cmpi eq, %at, %c0 : index
  %isSecond = arith.cmpi eq, %at, %c1 : index
  %y = arith.select %isFirst, %infinity, %x : f32
  %z = arith.select %isSecond, %none, %y : f32
  return %z : f32
}

func.func @angles(%s: memref<16384xf32> {tile.name = "s", tile.default = "empty:16384xf32"},
                  %c: memref<16384xf32> {tile.name = "c", tile.default = "empty:16384xf32"})
    attributes {tile.reference = @angles_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-7, atol = 1.8e-7, rtol = 0.0>} {
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  tile.launch blocks(%b) in (%c16) {
    %first = arith.muli %b, %c1024 : index
    tile.parallel (%i) in (1024) {
      %at = arith.addi %first, %i : index
      %x = func.call @angle(%at) : (index) -> f32
      %sine = math.sin %x : f32
      memref.store %sine, %s[%at] : memref<16384xf32>
      %cosine = math.cos %x : f32
      memref.store %cosine, %c[%at] : memref<16384xf32>
    }
  }
  return
}

func.func @angles_reference(%s: memref<16384xf64>, %c: memref<16384xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.constant 16384 : index
  scf.for %at = %c0 to %count step %c1 {
    %x = func.call @angle(%at) : (index) -> f32
    %wide = arith.extf %x : f32 to f64
    %sine = math.sin %wide : f64
    memref.store %sine, %s[%at] : memref<16384xf64>
    %cosine = math.cos %wide : f64
    memref.store %cosine, %c[%at] : memref<16384xf64>
  }
  return
}

func.func @narrow_angles(%h: memref<16384xf16> {tile.name = "h", tile.default = "empty:16384xf16"})
    attributes {tile.reference = @narrow_angles_reference,
                tile.tolerance = #tile.tolerance<norm = 3.0e-4, atol = 6.0e-8, rtol = 5.0e-4>} {
  %c16 = arith.constant 16 : index
  %c1024 = arith.constant 1024 : index
  tile.launch blocks(%b) in (%c16) {
    %first = arith.muli %b, %c1024 : index
    tile.parallel (%i) in (1024) {
      %at = arith.addi %first, %i : index
      %x = func.call @angle(%at) : (index) -> f32
      %narrow = arith.truncf %x : f32 to f16
      %half = math.cos %narrow : f16
      memref.store %half, %h[%at] : memref<16384xf16>
    }
  }
  return
}

func.func @narrow_angles_reference(%h: memref<16384xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.constant 16384 : index
  scf.for %at = %c0 to %count step %c1 {
    %x = func.call @angle(%at) : (index) -> f32
    %narrow = arith.truncf %x : f32 to f16
    %again = arith.extf %narrow : f16 to f64
    %half = math.cos %again : f64
    memref.store %half, %h[%at] : memref<16384xf64>
  }
  return
}
