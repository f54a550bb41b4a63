// Running sums of each row of an i32 matrix, by Hillis and Steele's scan.
//
// In round d = 1, 2, 4, ... every lane adds what stands d places to its left.
// Lanes read what others wrote the round before, and since lockstep does each
// statement for all lanes before the next, both reads happen before any write.
// What is left over from one piece of the row is carried to the next as an
// ordinary loop variable.

func.func @prefix_sum(
    %x: memref<?x?xi32> {tile.name = "X", tile.default = "randint(-100,100):300x1000xi32"},
    %y: memref<?x?xi32> {tile.name = "Y", tile.default = "empty:X[0]xX[1]xi32"})
    attributes {tile.reference = @prefix_sum_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>,
                tile.bytes = "8 * X[0] * X[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c255 = arith.constant 255 : index
  %c256 = arith.constant 256 : index
  %rows = memref.dim %x, %c0 : memref<?x?xi32>
  %columns = memref.dim %x, %c1 : memref<?x?xi32>

  tile.launch blocks(%row) in (%rows) threads(128) {
    %zero = arith.constant 0 : i32
    %sums = tile.alloc_shared : memref<256xi32, #tile.shared>
    %total = scf.for %k = %c0 to %columns step %c256 iter_args(%carry = %zero) -> i32 {
      tile.copy %x[%row, %k] to %sums : memref<?x?xi32> to memref<256xi32, #tile.shared>
      tile.parallel (%i) in (256) {
        scf.for %round = %c0 to %c8 step %c1 {
          %distance = arith.shli %c1, %round : index
          %reaches = arith.cmpi uge, %i, %distance : index
          scf.if %reaches {
            %left = arith.subi %i, %distance : index
            %a = memref.load %sums[%left] : memref<256xi32, #tile.shared>
            %b = memref.load %sums[%i] : memref<256xi32, #tile.shared>
            %sum = arith.addi %a, %b : i32
            memref.store %sum, %sums[%i] : memref<256xi32, #tile.shared>
          }
        }
        %own = memref.load %sums[%i] : memref<256xi32, #tile.shared>
        %result = arith.addi %own, %carry : i32
        %column = arith.addi %k, %i : index
        memref.store %result, %y[%row, %column] : memref<?x?xi32>
      }
      %ofPiece = memref.load %sums[%c255] : memref<256xi32, #tile.shared>
      %next = arith.addi %carry, %ofPiece : i32
      scf.yield %next : i32
    }
  }
  return
}

func.func @prefix_sum_reference(%x: memref<?x?xi32>, %y: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %rows = memref.dim %x, %c0 : memref<?x?xi32>
  %columns = memref.dim %x, %c1 : memref<?x?xi32>
  affine.for %i = 0 to %rows {
    %total = affine.for %j = 0 to %columns iter_args(%sum = %zero) -> i32 {
      %v = affine.load %x[%i, %j] : memref<?x?xi32>
      %next = arith.addi %sum, %v : i32
      affine.store %next, %y[%i, %j] : memref<?x?xi32>
      affine.yield %next : i32
    }
  }
  return
}
