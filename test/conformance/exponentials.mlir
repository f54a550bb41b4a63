// Exponentials in vectors: arguments whose results are normal numbers, those on
// the way to zero and to infinity, and vectors that have both or hold what is
// not a number.

func.func @ordinary_and_not(
    %o: memref<65536xf32> {tile.name = "o", tile.default = "empty:65536xf32"},
    %p: memref<65536xf32> {tile.name = "p", tile.default = "empty:65536xf32"},
    %q: memref<65536xf32> {tile.name = "q", tile.default = "empty:65536xf32"})
    attributes {tile.reference = @ordinary_and_not_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 3.0e-45, rtol = 4.0e-7>} {
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  tile.launch blocks(%b) in (%c64) {
    %first = arith.muli %b, %c1024 : index
    tile.parallel (%i) in (1024) {
      %middle = arith.constant 32768.0 : f32
      %step = arith.constant 0.00390625 : f32
      %infinity = arith.constant 0x7F800000 : f32
      %none = arith.constant 0x7FC00000 : f32
      %c0 = arith.constant 0 : index
      %c3 = arith.constant 3 : index
      %c37 = arith.constant 37 : index
      %at = arith.addi %first, %i : index
      %n = arith.index_cast %at : index to i32
      %f = arith.sitofp %n : i32 to f32
      %centred = arith.subf %f, %middle : f32
      %x = arith.mulf %centred, %step : f32
      %e = math.exp %x : f32
      memref.store %e, %o[%at] : memref<65536xf32>
      %e2 = math.exp2 %x : f32
      memref.store %e2, %p[%at] : memref<65536xf32>

      // Every 37th lane, -infinity, and some beside them NaN.
      %r = arith.remui %at, %c37 : index
      %isLow = arith.cmpi eq, %r, %c0 : index
      %isNone = arith.cmpi eq, %r, %c3 : index
      %lowest = arith.negf %infinity : f32
      %s = arith.select %isLow, %lowest, %x : f32
      %t = arith.select %isNone, %none, %s : f32
      %u = math.exp %t : f32
      memref.store %u, %q[%at] : memref<65536xf32>
    }
  }
  return
}

func.func @ordinary_and_not_reference(%o: memref<65536xf64>, %p: memref<65536xf64>, %q: memref<65536xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c37 = arith.constant 37 : index
  %count = arith.constant 65536 : index
  %middle = arith.constant 32768.0 : f64
  %step = arith.constant 0.00390625 : f64
  %infinity = arith.constant 0x7FF0000000000000 : f64
  %lowest = arith.constant 0xFFF0000000000000 : f64
  %none = arith.constant 0x7FF8000000000000 : f64
  scf.for %at = %c0 to %count step %c1 {
    %n = arith.index_cast %at : index to i32
    %f = arith.sitofp %n : i32 to f64
    %centred = arith.subf %f, %middle : f64
    %x = arith.mulf %centred, %step : f64
    %e = math.exp %x : f64
    memref.store %e, %o[%at] : memref<65536xf64>
    %e2 = math.exp2 %x : f64
    memref.store %e2, %p[%at] : memref<65536xf64>
    %r = arith.remui %at, %c37 : index
    %isLow = arith.cmpi eq, %r, %c0 : index
    %isNone = arith.cmpi eq, %r, %c3 : index
    %s = arith.select %isLow, %lowest, %x : f64
    %t = arith.select %isNone, %none, %s : f64
    %u = math.exp %t : f64
    memref.store %u, %q[%at] : memref<65536xf64>
  }
  return
}
