// Running sums along the rows of a matrix, and the sums of what is to come.
//
// A block owns 32 rows and walks along them, 128 columns at a time: `scan` does
// the columns of one piece, and what the piece adds up to is carried to the next
// in a fragment. (prefix_sum.mlir spells the scan itself out in lockstep.) The
// second entry walks from the end: its scan is `reverse` and, since an element
// does not count itself, `exclusive`.

func.func @cumulative_sum(
    %x: memref<?x?xf32> {tile.name = "X", tile.default = "randn:100x1000xf32"},
    %y: memref<?x?xf32> {tile.name = "Y", tile.default = "empty:X[0]xX[1]xf32"})
    attributes {tile.reference = @cumulative_sum_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-4>,
                tile.flops = "X[0] * X[1]", tile.bytes = "8 * X[0] * X[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %blocks = arith.ceildivsi %rows, %c32 : index

  tile.launch blocks(%b) in (%blocks) threads(128) {
    %row = arith.muli %b, %c32 : index
    %zero = arith.constant 0.0 : f32
    %tile = tile.alloc_fragment : memref<32x128xf32, #tile.fragment>
    %sums = tile.alloc_fragment : memref<32x128xf32, #tile.fragment>
    %carry = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    tile.fill %carry, %zero : memref<32xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %columns step %c128 stages(2) {
      tile.copy %x[%row, %k] to %tile
        : memref<?x?xf32> to memref<32x128xf32, #tile.fragment>
      tile.scan sum %tile along 1 into %sums
        : memref<32x128xf32, #tile.fragment> into memref<32x128xf32, #tile.fragment>
      tile.parallel (%i, %j) in (32, 128) {
        %s = memref.load %sums[%i, %j] : memref<32x128xf32, #tile.fragment>
        %c = memref.load %carry[%i] : memref<32xf32, #tile.fragment>
        %sum = arith.addf %s, %c : f32
        memref.store %sum, %sums[%i, %j] : memref<32x128xf32, #tile.fragment>
      }
      tile.copy %sums to %y[%row, %k]
        : memref<32x128xf32, #tile.fragment> to memref<?x?xf32>
      tile.reduce sum %tile along 1 into %carry accumulate
        : memref<32x128xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
    }
  }
  return
}

func.func @cumulative_sum_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %rows = memref.dim %x, %c0 : memref<?x?xf64>
  %columns = memref.dim %x, %c1 : memref<?x?xf64>
  affine.for %i = 0 to %rows {
    affine.for %j = 0 to %columns iter_args(%sum = %zero) -> f64 {
      %v = affine.load %x[%i, %j] : memref<?x?xf64>
      %next = arith.addf %sum, %v : f64
      affine.store %next, %y[%i, %j] : memref<?x?xf64>
      affine.yield %next : f64
    }
  }
  return
}

// y[i, j] = the sum of x[i, j + 1], x[i, j + 2] and so on: what is to come.
func.func @sum_to_come(
    %x: memref<?x?xf32> {tile.name = "X", tile.default = "randn:70x333xf32"},
    %y: memref<?x?xf32> {tile.name = "Y", tile.default = "empty:X[0]xX[1]xf32"})
    attributes {tile.reference = @sum_to_come_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, atol = 1.0e-4>,
                tile.flops = "X[0] * X[1]", tile.bytes = "8 * X[0] * X[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %blocks = arith.ceildivsi %rows, %c32 : index
  %pieces = arith.ceildivsi %columns, %c128 : index

  tile.launch blocks(%b) in (%blocks) threads(128) {
    %row = arith.muli %b, %c32 : index
    %zero = arith.constant 0.0 : f32
    %tile = tile.alloc_fragment : memref<32x128xf32, #tile.fragment>
    %sums = tile.alloc_fragment : memref<32x128xf32, #tile.fragment>
    %carry = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    tile.fill %carry, %zero : memref<32xf32, #tile.fragment>
    tile.pipelined %n = %c0 to %pieces stages(2) {
      %fromEnd = arith.subi %pieces, %n : index
      %piece = arith.subi %fromEnd, %c1 : index
      %k = arith.muli %piece, %c128 : index
      // Columns past the end read as zeros, which add nothing.
      tile.copy %x[%row, %k] to %tile
        : memref<?x?xf32> to memref<32x128xf32, #tile.fragment>
      tile.scan sum %tile along 1 into %sums reverse exclusive
        : memref<32x128xf32, #tile.fragment> into memref<32x128xf32, #tile.fragment>
      tile.parallel (%i, %j) in (32, 128) {
        %s = memref.load %sums[%i, %j] : memref<32x128xf32, #tile.fragment>
        %c = memref.load %carry[%i] : memref<32xf32, #tile.fragment>
        %sum = arith.addf %s, %c : f32
        memref.store %sum, %sums[%i, %j] : memref<32x128xf32, #tile.fragment>
      }
      tile.copy %sums to %y[%row, %k]
        : memref<32x128xf32, #tile.fragment> to memref<?x?xf32>
      tile.reduce sum %tile along 1 into %carry accumulate
        : memref<32x128xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
    }
  }
  return
}

func.func @sum_to_come_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %rows = memref.dim %x, %c0 : memref<?x?xf64>
  %columns = memref.dim %x, %c1 : memref<?x?xf64>
  affine.for %i = 0 to %rows {
    affine.for %j = 0 to %columns iter_args(%sum = %zero) -> f64 {
      affine.store %sum, %y[%i, symbol(%columns) - %j - 1] : memref<?x?xf64>
      %v = affine.load %x[%i, symbol(%columns) - %j - 1] : memref<?x?xf64>
      %next = arith.addf %sum, %v : f64
      affine.yield %next : f64
    }
  }
  return
}
