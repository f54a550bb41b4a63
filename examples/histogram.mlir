// Counts how often each of 256 values occurs.
//
// A block counts its own part in shared memory, where lanes that meet in a bin
// cost little, and then adds its counts to everybody's with one `atomic_add` of
// the whole tile. Integer sums do not depend on the order in which blocks
// arrive, so the result is the same in every run.

func.func @histogram(
    %x: memref<?xi32> {tile.name = "X", tile.default = "randint(0,256):100000xi32"},
    %counts: memref<256xi32> {tile.name = "counts", tile.default = "zeros:256xi32"})
    attributes {tile.reference = @histogram_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>,
                tile.bytes = "4 * X[0]"} {
  %c0 = arith.constant 0 : index
  %c4096 = arith.constant 4096 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %blocks = arith.ceildivsi %n, %c4096 : index
  tile.launch blocks(%b) in (%blocks) threads(256) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %base = arith.muli %b, %c4096 : index
    %bins = tile.alloc_shared : memref<256xi32, #tile.shared>
    tile.fill %bins, %zero : memref<256xi32, #tile.shared>
    tile.parallel (%i) in (4096) {
      %at = arith.addi %base, %i : index
      %exists = arith.cmpi slt, %at, %n : index
      scf.if %exists {
        %v = memref.load %x[%at] : memref<?xi32>
        %bin = arith.index_cast %v : i32 to index
        %old = memref.atomic_rmw addi %one, %bins[%bin]
          : (i32, memref<256xi32, #tile.shared>) -> i32
      }
    }
    tile.atomic_add %bins to %counts
      : memref<256xi32, #tile.shared> to memref<256xi32>
  }
  return
}

func.func @histogram_reference(%x: memref<?xi32>, %counts: memref<256xi32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xi32>
    %bin = arith.index_cast %v : i32 to index
    %old = memref.load %counts[%bin] : memref<256xi32>
    %new = arith.addi %old, %one : i32
    memref.store %new, %counts[%bin] : memref<256xi32>
  }
  return
}
