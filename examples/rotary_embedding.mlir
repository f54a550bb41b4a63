// Rotary position embedding in f16: channel i and channel i + D/2 of each head
// form a pair, which is turned by an angle that grows with the position.
//
// Cosines and sines come as tables of [token, D/2]. A box of rank 3 gives each
// lane one token, one head and one pair. D is dynamic, so lanes whose pair does
// not exist are switched off by a condition: without it they would write into
// the second half.

func.func @rotary_embedding(
    %x: memref<?x?x?xf16> {tile.name = "X", tile.default = "randn:300x6x80xf16"},
    %cos: memref<?x?xf32> {tile.name = "cos", tile.default = "uniform(-1,1):X[0]x(X[2]/2)xf32"},
    %sin: memref<?x?xf32> {tile.name = "sin", tile.default = "uniform(-1,1):X[0]x(X[2]/2)xf32"},
    %y: memref<?x?x?xf16> {tile.name = "Y", tile.default = "empty:X[0]xX[1]xX[2]xf16"})
    attributes {tile.reference = @rotary_embedding_reference,
                tile.tolerance = #tile.tolerance<norm = 5.0e-4, atol = 5.0e-4, rtol = 1.0e-3>,
                tile.flops = "3 * X[0] * X[1] * X[2]",
                tile.bytes = "4 * X[0] * X[1] * X[2]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %tokens = memref.dim %x, %c0 : memref<?x?x?xf16>
  %heads = memref.dim %x, %c1 : memref<?x?x?xf16>
  %channels = memref.dim %x, %c2 : memref<?x?x?xf16>
  %pairs = arith.divui %channels, %c2 : index
  %gz = arith.ceildivsi %tokens, %c8 : index
  %gy = arith.ceildivsi %heads, %c8 : index
  %gx = arith.ceildivsi %pairs, %c32 : index

  tile.launch blocks(%bx, %by, %bz) in (%gx, %gy, %gz) threads(128) {
    %firstToken = arith.muli %bz, %c8 : index
    %firstHead = arith.muli %by, %c8 : index
    %firstPair = arith.muli %bx, %c32 : index
    tile.parallel (%t, %h, %p) in (8, 8, 32) {
      %token = arith.addi %firstToken, %t : index
      %head = arith.addi %firstHead, %h : index
      %low = arith.addi %firstPair, %p : index
      %exists = arith.cmpi ult, %low, %pairs : index
      scf.if %exists {
        %high = arith.addi %low, %pairs : index
        %c = memref.load %cos[%token, %low] : memref<?x?xf32>
        %s = memref.load %sin[%token, %low] : memref<?x?xf32>
        %a16 = memref.load %x[%token, %head, %low] : memref<?x?x?xf16>
        %b16 = memref.load %x[%token, %head, %high] : memref<?x?x?xf16>
        %a = arith.extf %a16 : f16 to f32
        %b = arith.extf %b16 : f16 to f32
        %ac = arith.mulf %a, %c : f32
        %bs = arith.mulf %b, %s : f32
        %as = arith.mulf %a, %s : f32
        %bc = arith.mulf %b, %c : f32
        %turnedA = arith.subf %ac, %bs : f32
        %turnedB = arith.addf %as, %bc : f32
        %outA = arith.truncf %turnedA : f32 to f16
        %outB = arith.truncf %turnedB : f32 to f16
        memref.store %outA, %y[%token, %head, %low] : memref<?x?x?xf16>
        memref.store %outB, %y[%token, %head, %high] : memref<?x?x?xf16>
      }
    }
  }
  return
}

func.func @rotary_embedding_reference(
    %x: memref<?x?x?xf64>, %cos: memref<?x?xf64>, %sin: memref<?x?xf64>,
    %y: memref<?x?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tokens = memref.dim %x, %c0 : memref<?x?x?xf64>
  %heads = memref.dim %x, %c1 : memref<?x?x?xf64>
  %pairs = memref.dim %cos, %c1 : memref<?x?xf64>
  affine.for %t = 0 to %tokens {
    affine.for %h = 0 to %heads {
      affine.for %p = 0 to %pairs {
        %c = affine.load %cos[%t, %p] : memref<?x?xf64>
        %s = affine.load %sin[%t, %p] : memref<?x?xf64>
        %a = affine.load %x[%t, %h, %p] : memref<?x?x?xf64>
        %b = affine.load %x[%t, %h, %p + symbol(%pairs)] : memref<?x?x?xf64>
        %ac = arith.mulf %a, %c : f64
        %bs = arith.mulf %b, %s : f64
        %as = arith.mulf %a, %s : f64
        %bc = arith.mulf %b, %c : f64
        %turnedA = arith.subf %ac, %bs : f64
        %turnedB = arith.addf %as, %bc : f64
        affine.store %turnedA, %y[%t, %h, %p] : memref<?x?x?xf64>
        affine.store %turnedB, %y[%t, %h, %p + symbol(%pairs)] : memref<?x?x?xf64>
      }
    }
  }
  return
}
