// Looks up the rows of a table by token: a gather, and the sum with a learned
// position, in one pass.
//
// The row that a lane reads is itself data. A token outside the table reads
// zeros, by the same rule that covers the edges.

func.func @embedding(
    %tokens: memref<?xi32> {tile.name = "tokens", tile.default = "randint(0,table[0]):500xi32"},
    %table: memref<?x?xbf16> {tile.name = "table", tile.default = "randn:1000x200xbf16"},
    %positions: memref<?x?xbf16> {tile.name = "positions", tile.default = "randn:tokens[0]xtable[1]xbf16"},
    %y: memref<?x?xf32> {tile.name = "Y", tile.default = "empty:tokens[0]xtable[1]xf32"})
    attributes {tile.reference = @embedding_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-7, rtol = 6.0e-8>,
                tile.flops = "tokens[0] * table[1]",
                tile.bytes = "8 * tokens[0] * table[1] + 4 * tokens[0]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %count = memref.dim %tokens, %c0 : memref<?xi32>
  %channels = memref.dim %table, %c1 : memref<?x?xbf16>
  %gy = arith.ceildivsi %count, %c32 : index
  %gx = arith.ceildivsi %channels, %c64 : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %first = arith.muli %by, %c32 : index
    %column = arith.muli %bx, %c64 : index
    tile.parallel (%i, %j) in (32, 64) {
      %at = arith.addi %first, %i : index
      %c = arith.addi %column, %j : index
      %token = memref.load %tokens[%at] : memref<?xi32>
      %row = arith.index_cast %token : i32 to index
      %e = memref.load %table[%row, %c] : memref<?x?xbf16>
      %p = memref.load %positions[%at, %c] : memref<?x?xbf16>
      %ef = arith.extf %e : bf16 to f32
      %pf = arith.extf %p : bf16 to f32
      %sum = arith.addf %ef, %pf : f32
      memref.store %sum, %y[%at, %c] : memref<?x?xf32>
    }
  }
  return
}

func.func @embedding_reference(
    %tokens: memref<?xi32>, %table: memref<?x?xf64>,
    %positions: memref<?x?xf64>, %y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %count = memref.dim %tokens, %c0 : memref<?xi32>
  %rows = memref.dim %table, %c0 : memref<?x?xf64>
  %channels = memref.dim %table, %c1 : memref<?x?xf64>
  scf.for %i = %c0 to %count step %c1 {
    %token = memref.load %tokens[%i] : memref<?xi32>
    %row = arith.index_cast %token : i32 to index
    %known = arith.cmpi ult, %row, %rows : index // negative ones are huge
    scf.for %j = %c0 to %channels step %c1 {
      %e = scf.if %known -> f64 {
        %v = memref.load %table[%row, %j] : memref<?x?xf64>
        scf.yield %v : f64
      } else {
        scf.yield %zero : f64
      }
      %p = memref.load %positions[%i, %j] : memref<?x?xf64>
      %sum = arith.addf %e, %p : f64
      memref.store %sum, %y[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
