// The eight largest numbers of each row of a matrix and where they stand.
//
// A block owns 16 rows and walks along them, 120 columns at a time. It keeps the
// best eight so far in front of the next 120 candidates, in one tile of 128:
// eight rounds take the maximum, note it and its place, and strike it out. Of
// equal numbers the one further left wins. Rows with fewer than eight numbers
// are filled up with -inf at place -1.

func.func @top_k(
    %x: memref<?x?xf32> {tile.name = "X", tile.default = "randn:50x1000xf32"},
    %values: memref<?x8xf32> {tile.name = "values", tile.default = "empty:X[0]x8xf32"},
    %places: memref<?x8xi32> {tile.name = "places", tile.default = "empty:X[0]x8xi32"})
    attributes {tile.reference = @top_k_reference,
                tile.tolerance = #tile.tolerance<atol = 0.0>,
                tile.bytes = "4 * X[0] * X[1] + 64 * X[0]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c120 = arith.constant 120 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %blocks = arith.ceildivsi %rows, %c16 : index

  tile.launch blocks(%b) in (%blocks) threads(128) {
    %row = arith.muli %b, %c16 : index
    %lowest = arith.constant 0xFF800000 : f32 // -inf
    %nowhere = arith.constant -1 : i32
    %last = arith.constant 2147483647 : i32
    %candidates = tile.alloc_shared : memref<16x128xf32, #tile.shared>
    %where = tile.alloc_shared : memref<16x128xi32, #tile.shared>
    %position = tile.alloc_shared : memref<16x128xi32, #tile.shared>
    %best = tile.alloc_shared : memref<16x8xf32, #tile.shared>
    %bestPlace = tile.alloc_shared : memref<16x8xi32, #tile.shared>
    %max = tile.alloc_fragment : memref<16xf32, #tile.fragment>
    %first = tile.alloc_fragment : memref<16xi32, #tile.fragment>
    tile.fill %best, %lowest : memref<16x8xf32, #tile.shared>
    tile.fill %bestPlace, %nowhere : memref<16x8xi32, #tile.shared>

    scf.for %k = %c0 to %columns step %c120 {
      tile.copy %best to %candidates[0, 0] sizes [16, 8]
        : memref<16x8xf32, #tile.shared> to memref<16x128xf32, #tile.shared>
      tile.copy %bestPlace to %where[0, 0] sizes [16, 8]
        : memref<16x8xi32, #tile.shared> to memref<16x128xi32, #tile.shared>
      tile.copy %x[%row, %k] sizes [16, 120] to %candidates[0, 8] pad(%lowest : f32)
        : memref<?x?xf32> to memref<16x128xf32, #tile.shared>
      tile.parallel (%i, %j) in (16, 120) {
        %column = arith.addi %k, %j : index
        %exists = arith.cmpi slt, %column, %columns : index
        %n = arith.index_cast %column : index to i32
        %place = arith.select %exists, %n, %nowhere : i32
        %at = arith.addi %j, %c8 : index
        memref.store %place, %where[%i, %at] : memref<16x128xi32, #tile.shared>
      }
      scf.for %round = %c0 to %c8 step %c1 {
        tile.reduce max %candidates along 1 into %max
          : memref<16x128xf32, #tile.shared> into memref<16xf32, #tile.fragment>
        tile.parallel (%i, %j) in (16, 128) {
          %v = memref.load %candidates[%i, %j] : memref<16x128xf32, #tile.shared>
          %m = memref.load %max[%i] : memref<16xf32, #tile.fragment>
          %isMax = arith.cmpf oeq, %v, %m : f32
          %n = arith.index_cast %j : index to i32
          %mark = arith.select %isMax, %n, %last : i32
          memref.store %mark, %position[%i, %j] : memref<16x128xi32, #tile.shared>
        }
        tile.reduce min %position along 1 into %first
          : memref<16x128xi32, #tile.shared> into memref<16xi32, #tile.fragment>
        tile.parallel (%i) in (16) {
          %m = memref.load %max[%i] : memref<16xf32, #tile.fragment>
          %n = memref.load %first[%i] : memref<16xi32, #tile.fragment>
          %at = arith.index_cast %n : i32 to index
          %place = memref.load %where[%i, %at] : memref<16x128xi32, #tile.shared>
          memref.store %m, %best[%i, %round] : memref<16x8xf32, #tile.shared>
          memref.store %place, %bestPlace[%i, %round] : memref<16x8xi32, #tile.shared>
          memref.store %lowest, %candidates[%i, %at] : memref<16x128xf32, #tile.shared>
          memref.store %nowhere, %where[%i, %at] : memref<16x128xi32, #tile.shared>
        }
      }
    }
    tile.copy %best to %values[%row, 0]
      : memref<16x8xf32, #tile.shared> to memref<?x8xf32>
    tile.copy %bestPlace to %places[%row, 0]
      : memref<16x8xi32, #tile.shared> to memref<?x8xi32>
  }
  return
}

func.func @top_k_reference(%x: memref<?x?xf64>, %values: memref<?x8xf64>,
                           %places: memref<?x8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lowest = arith.constant 0xFFF0000000000000 : f64
  %nowhere = arith.constant -1 : i32
  %rows = memref.dim %x, %c0 : memref<?x?xf64>
  %columns = memref.dim %x, %c1 : memref<?x?xf64>
  affine.for %i = 0 to %rows {
    affine.for %k = 0 to 8 {
      %best:2 = affine.for %j = 0 to %columns iter_args(%m = %lowest, %p = %nowhere) -> (f64, i32) {
        %v = affine.load %x[%i, %j] : memref<?x?xf64>
        %greater = arith.cmpf ogt, %v, %m : f64
        %n = arith.index_cast %j : index to i32
        %m1 = arith.select %greater, %v, %m : f64
        %p1 = arith.select %greater, %n, %p : i32
        affine.yield %m1, %p1 : f64, i32
      }
      affine.store %best#0, %values[%i, %k] : memref<?x8xf64>
      affine.store %best#1, %places[%i, %k] : memref<?x8xi32>
      %isPlace = arith.cmpi ne, %best#1, %nowhere : i32
      scf.if %isPlace {
        %at = arith.index_cast %best#1 : i32 to index
        memref.store %lowest, %x[%i, %at] : memref<?x?xf64>
      }
    }
  }
  return
}
