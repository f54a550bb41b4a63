// Each operation on narrow floats is rounded, also where one follows another.

// (x + 384) - 384 rounds x to a multiple of 2 in bf16, which has 8 bits, and
// (x + 3072) - 3072 in f16, which has 11.
func.func @sums(
    %x: memref<64xbf16> {tile.name = "x", tile.default = "uniform(-60,60):64xbf16"},
    %y: memref<64xf16> {tile.name = "y", tile.default = "uniform(-900,900):64xf16"},
    %o: memref<64xbf16> {tile.name = "o", tile.default = "empty:64xbf16"},
    %p: memref<64xf16> {tile.name = "p", tile.default = "empty:64xf16"})
    attributes {tile.reference = @sums_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %c384 = arith.constant 384.0 : bf16
    %c3072 = arith.constant 3072.0 : f16
    tile.parallel (%i) in (64) {
      %v = memref.load %x[%i] : memref<64xbf16>
      %s = arith.addf %v, %c384 : bf16
      %d = arith.subf %s, %c384 : bf16
      memref.store %d, %o[%i] : memref<64xbf16>
      %w = memref.load %y[%i] : memref<64xf16>
      %t = arith.addf %w, %c3072 : f16
      %e = arith.subf %t, %c3072 : f16
      memref.store %e, %p[%i] : memref<64xf16>
    }
  }
  return
}
func.func @sums_reference(%x: memref<64xf64>, %y: memref<64xf64>, %o: memref<64xf64>, %p: memref<64xf64>) {
  %half = arith.constant 0.5 : f64
  %two = arith.constant 2.0 : f64
  affine.for %i = 0 to 64 {
    %v = affine.load %x[%i] : memref<64xf64>
    %h = arith.mulf %v, %half : f64
    %r = math.roundeven %h : f64
    %d = arith.mulf %r, %two : f64
    affine.store %d, %o[%i] : memref<64xf64>
    %w = affine.load %y[%i] : memref<64xf64>
    %g = arith.mulf %w, %half : f64
    %s = math.roundeven %g : f64
    %e = arith.mulf %s, %two : f64
    affine.store %e, %p[%i] : memref<64xf64>
  }
  return
}

// Adding 1 to 256 in bf16 gives 256 each time, in a loop as well as outside of
// launches, where the reference stands.
func.func @loop(
    %o: memref<8xbf16> {tile.name = "o", tile.default = "empty:8xbf16"})
    attributes {tile.reference = @loop_reference, tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  tile.launch blocks(%b) in (%c1) {
    %start = arith.constant 256.0 : bf16
    %one = arith.constant 1.0 : bf16
    tile.parallel (%i) in (8) {
      %s = scf.for %k = %c0 to %c10 step %c1 iter_args(%sum = %start) -> (bf16) {
        %t = arith.addf %sum, %one : bf16
        scf.yield %t : bf16
      }
      memref.store %s, %o[%i] : memref<8xbf16>
    }
  }
  return
}
func.func @loop_reference(%o: memref<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %start = arith.constant 256.0 : bf16
  %one = arith.constant 1.0 : bf16
  %s = scf.for %k = %c0 to %c10 step %c1 iter_args(%sum = %start) -> (bf16) {
    %t = arith.addf %sum, %one : bf16
    scf.yield %t : bf16
  }
  %d = arith.extf %s : bf16 to f64
  linalg.fill ins(%d : f64) outs(%o : memref<8xf64>)
  return
}
