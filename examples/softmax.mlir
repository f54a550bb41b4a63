// Softmax of each row by the online recurrence: one pass finds the maximum and
// the sum together, whatever the length of the row.
//
// Seen so far are a maximum m and the sum l of exp(x - m). A further tile may
// raise the maximum; then l, which was taken relative to the old one, shrinks
// by exp(old - new). The same recurrence is the heart of flash attention.

func.func @softmax(
    %x: memref<?x?xf32> {tile.name = "X", tile.default = "randn(0,3):500x1000xf32"},
    %y: memref<?x?xf32> {tile.name = "Y", tile.default = "empty:X[0]xX[1]xf32"})
    attributes {tile.reference = @softmax_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-30, rtol = 1.0e-5>,
                tile.flops = "5 * X[0] * X[1]",
                tile.bytes = "8 * X[0] * X[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %grid = arith.ceildivsi %rows, %c32 : index

  tile.launch blocks(%b) in (%grid) threads(128) {
    %row = arith.muli %b, %c32 : index
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32 // -inf
    %tile = tile.alloc_fragment : memref<32x128xf32, #tile.fragment>
    %max = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    %newMax = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    %shift = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    tile.fill %max, %lowest : memref<32xf32, #tile.fragment>
    tile.fill %shift, %zero : memref<32xf32, #tile.fragment>
    tile.fill %sum, %zero : memref<32xf32, #tile.fragment>

    tile.pipelined %k = %c0 to %columns step %c128 stages(2) {
      // Beyond the end of a row read -inf, which changes neither m nor l.
      tile.copy %x[%row, %k] to %tile pad(%lowest : f32)
        : memref<?x?xf32> to memref<32x128xf32, #tile.fragment>
      tile.copy %max to %newMax
        : memref<32xf32, #tile.fragment> to memref<32xf32, #tile.fragment>
      tile.reduce max %tile along 1 into %newMax accumulate
        : memref<32x128xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
      tile.parallel (%i) in (32) {
        %old = memref.load %max[%i] : memref<32xf32, #tile.fragment>
        %new = memref.load %newMax[%i] : memref<32xf32, #tile.fragment>
        // While all of a row is -inf, subtracting m would give -inf + inf.
        %nothing = arith.cmpf oeq, %new, %lowest : f32
        %from = arith.select %nothing, %zero, %new : f32
        %distance = arith.subf %old, %from : f32
        %shrink = math.exp %distance : f32
        %l = memref.load %sum[%i] : memref<32xf32, #tile.fragment>
        %scaled = arith.mulf %l, %shrink : f32
        memref.store %scaled, %sum[%i] : memref<32xf32, #tile.fragment>
        memref.store %new, %max[%i] : memref<32xf32, #tile.fragment>
        memref.store %from, %shift[%i] : memref<32xf32, #tile.fragment>
      }
      tile.parallel (%i, %j) in (32, 128) {
        %v = memref.load %tile[%i, %j] : memref<32x128xf32, #tile.fragment>
        %m = memref.load %shift[%i] : memref<32xf32, #tile.fragment>
        %d = arith.subf %v, %m : f32
        %e = math.exp %d : f32
        memref.store %e, %tile[%i, %j] : memref<32x128xf32, #tile.fragment>
      }
      tile.reduce sum %tile along 1 into %sum accumulate
        : memref<32x128xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
    }

    // One division a row, and products with it after that.
    tile.parallel (%i) in (32) {
      %one = arith.constant 1.0 : f32
      %l = memref.load %sum[%i] : memref<32xf32, #tile.fragment>
      %inverse = arith.divf %one, %l : f32
      memref.store %inverse, %sum[%i] : memref<32xf32, #tile.fragment>
    }
    tile.pipelined %k = %c0 to %columns step %c128 stages(2) {
      tile.copy %x[%row, %k] to %tile
        : memref<?x?xf32> to memref<32x128xf32, #tile.fragment>
      tile.parallel (%i, %j) in (32, 128) {
        %v = memref.load %tile[%i, %j] : memref<32x128xf32, #tile.fragment>
        %m = memref.load %shift[%i] : memref<32xf32, #tile.fragment>
        %inverse = memref.load %sum[%i] : memref<32xf32, #tile.fragment>
        %d = arith.subf %v, %m : f32
        %e = math.exp %d : f32
        %p = arith.mulf %e, %inverse : f32
        memref.store %p, %tile[%i, %j] : memref<32x128xf32, #tile.fragment>
      }
      tile.copy %tile to %y[%row, %k]
        : memref<32x128xf32, #tile.fragment> to memref<?x?xf32>
    }
  }
  return
}

func.func @softmax_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %lowest = arith.constant 0xFFF0000000000000 : f64 // -inf
  %rows = memref.dim %x, %c0 : memref<?x?xf64>
  %columns = memref.dim %x, %c1 : memref<?x?xf64>
  affine.for %i = 0 to %rows {
    %max = affine.for %j = 0 to %columns iter_args(%m = %lowest) -> f64 {
      %v = affine.load %x[%i, %j] : memref<?x?xf64>
      %larger = arith.maximumf %m, %v : f64
      affine.yield %larger : f64
    }
    %sum = affine.for %j = 0 to %columns iter_args(%l = %zero) -> f64 {
      %v = affine.load %x[%i, %j] : memref<?x?xf64>
      %d = arith.subf %v, %max : f64
      %e = math.exp %d : f64
      affine.store %e, %y[%i, %j] : memref<?x?xf64>
      %next = arith.addf %l, %e : f64
      affine.yield %next : f64
    }
    affine.for %j = 0 to %columns {
      %e = affine.load %y[%i, %j] : memref<?x?xf64>
      %p = arith.divf %e, %sum : f64
      affine.store %p, %y[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
