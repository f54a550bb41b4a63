// The largest element of each row and where it stands: the first such column.
//
// Reductions combine values, not positions. So each tile is reduced twice: its
// maximum first, then the smallest column among the elements that equal it,
// as an i32 reduction over indices that the lanes compute. A later tile wins
// only with a strictly larger value.
//
// `fastmath<nnan>` on the launch is the program's word that there is no NaN.

func.func @argmax(
    %x: memref<?x?xf32> {tile.name = "X", tile.default = "randn:600x1100xf32"},
    %value: memref<?xf32> {tile.name = "value", tile.default = "empty:X[0]xf32"},
    %index: memref<?xi32> {tile.name = "index", tile.default = "empty:X[0]xi32"})
    attributes {tile.reference = @argmax_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>,
                tile.bytes = "4 * X[0] * X[1] + 8 * X[0]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %grid = arith.ceildivsi %rows, %c32 : index

  tile.launch blocks(%b) in (%grid) threads(128) fastmath<nnan> {
    %row = arith.muli %b, %c32 : index
    %lowest = arith.constant 0xFF800000 : f32 // -inf
    %zero = arith.constant 0 : i32
    %none = arith.constant 2147483647 : i32
    %tile = tile.alloc_fragment : memref<32x128xf32, #tile.fragment>
    %position = tile.alloc_fragment : memref<32x128xi32, #tile.fragment>
    %tileMax = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    %tileFirst = tile.alloc_fragment : memref<32xi32, #tile.fragment>
    %max = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    %first = tile.alloc_fragment : memref<32xi32, #tile.fragment>
    tile.fill %max, %lowest : memref<32xf32, #tile.fragment>
    tile.fill %first, %zero : memref<32xi32, #tile.fragment>

    tile.pipelined %k = %c0 to %columns step %c128 stages(2) {
      tile.copy %x[%row, %k] to %tile pad(%lowest : f32)
        : memref<?x?xf32> to memref<32x128xf32, #tile.fragment>
      tile.reduce max %tile along 1 into %tileMax
        : memref<32x128xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
      tile.parallel (%i, %j) in (32, 128) {
        %v = memref.load %tile[%i, %j] : memref<32x128xf32, #tile.fragment>
        %m = memref.load %tileMax[%i] : memref<32xf32, #tile.fragment>
        %c = arith.addi %k, %j : index
        %column = arith.index_cast %c : index to i32
        %isMax = arith.cmpf oeq, %v, %m : f32
        %p = arith.select %isMax, %column, %none : i32
        memref.store %p, %position[%i, %j] : memref<32x128xi32, #tile.fragment>
      }
      tile.reduce min %position along 1 into %tileFirst
        : memref<32x128xi32, #tile.fragment> into memref<32xi32, #tile.fragment>
      tile.parallel (%i) in (32) {
        %new = memref.load %tileMax[%i] : memref<32xf32, #tile.fragment>
        %old = memref.load %max[%i] : memref<32xf32, #tile.fragment>
        %larger = arith.cmpf ogt, %new, %old : f32
        scf.if %larger {
          %p = memref.load %tileFirst[%i] : memref<32xi32, #tile.fragment>
          memref.store %new, %max[%i] : memref<32xf32, #tile.fragment>
          memref.store %p, %first[%i] : memref<32xi32, #tile.fragment>
        }
      }
    }
    tile.copy %max to %value[%row]
      : memref<32xf32, #tile.fragment> to memref<?xf32>
    tile.copy %first to %index[%row]
      : memref<32xi32, #tile.fragment> to memref<?xi32>
  }
  return
}

func.func @argmax_reference(%x: memref<?x?xf64>, %value: memref<?xf64>,
                            %index: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %lowest = arith.constant 0xFFF0000000000000 : f64
  %rows = memref.dim %x, %c0 : memref<?x?xf64>
  %columns = memref.dim %x, %c1 : memref<?x?xf64>
  affine.for %i = 0 to %rows {
    %best:2 = affine.for %j = 0 to %columns
        iter_args(%m = %lowest, %at = %zero) -> (f64, i32) {
      %v = affine.load %x[%i, %j] : memref<?x?xf64>
      %column = arith.index_cast %j : index to i32
      %larger = arith.cmpf ogt, %v, %m : f64
      %newMax = arith.select %larger, %v, %m : f64
      %newAt = arith.select %larger, %column, %at : i32
      affine.yield %newMax, %newAt : f64, i32
    }
    affine.store %best#0, %value[%i] : memref<?xf64>
    affine.store %best#1, %index[%i] : memref<?xi32>
  }
  return
}
