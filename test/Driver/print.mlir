// What programs print and assert reaches the one who runs them.
// REQUIRES: tile-run
// RUN: tile-run %s --entry blocks | FileCheck %s --check-prefix=BLOCKS
// RUN: tile-run %s --entry lanes | FileCheck %s --check-prefix=LANES
// RUN: tile-run %s --entry holds
// RUN: not tile-run %s --entry fails 2>&1 | FileCheck %s --check-prefix=FAILS

// Lines come in the order of the program on the host, then of the blocks, then
// of the program in a block, and name their place.
// BLOCKS: print.mlir:[[#@LINE+15]]:3: on the host 3
// BLOCKS-NEXT: print.mlir:[[#@LINE+30]]:5: block (0, 0): tile {{\[\[}}0, 0.5], [1, 1.5]{{\]}}, -3, 1
// BLOCKS-NEXT: print.mlir:[[#@LINE+30]]:5: block (0, 0): done
// BLOCKS-NEXT: block (1, 0): tile
// BLOCKS-NEXT: block (1, 0): done
// BLOCKS-NEXT: block (2, 0): tile
// BLOCKS-NEXT: block (2, 0): done
// BLOCKS-NEXT: block (0, 1): tile
// BLOCKS: block (2, 1): done
// BLOCKS-NEXT: second launch
// BLOCKS-NOT: block (
func.func @blocks(%y: memref<1xi32> {tile.name = "y", tile.default = "zeros:1xi32"}) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  tile.print "on the host" %c3 : index
  tile.launch blocks(%bx, %by) in (%c3, %c2) {
    %half = arith.constant 0.5 : f32
    %t = tile.alloc_shared : memref<2x2xf16, #tile.shared>
    tile.parallel (%i, %j) in (2, 2) {
      %in = arith.index_cast %i : index to i32
      %jn = arith.index_cast %j : index to i32
      %a = arith.sitofp %in : i32 to f32
      %b = arith.sitofp %jn : i32 to f32
      %c = arith.mulf %b, %half : f32
      %v = arith.addf %a, %c : f32
      %h = arith.truncf %v : f32 to f16
      memref.store %h, %t[%i, %j] : memref<2x2xf16, #tile.shared>
    }
    %n = arith.constant -3 : i8
    %true = arith.constant true
    tile.print "tile" %t, %n, %true : memref<2x2xf16, #tile.shared>, i8, i1
    tile.print "done"
  }
  tile.launch blocks(%b) in (%c1) {
    tile.print "second launch" %b : index
  }
  return
}

// LANES: block (0): lane 0, 0
// LANES-NEXT: block (0): lane 1, 2
// LANES-NEXT: block (0): lane 2, 4
func.func @lanes(%y: memref<3xi32> {tile.name = "y", tile.default = "empty:3xi32"}) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (3) {
      %twice = arith.addi %i, %i : index
      %n = arith.index_cast %twice : index to i32
      tile.print "lane" %i, %n : index, i32
      memref.store %n, %y[%i] : memref<3xi32>
    }
  }
  return
}

func.func @holds(%y: memref<3xi32> {tile.name = "y", tile.default = "empty:3xi32"}) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (3) {
      %n = arith.index_cast %i : index to i32
      %three = arith.constant 3 : i32
      %ok = arith.cmpi slt, %n, %three : i32
      tile.assert %ok, "n is small"
      memref.store %n, %y[%i] : memref<3xi32>
    }
  }
  return
}

// FAILS: print.mlir:[[#@LINE+7]]:7: assertion failed: n is smaller still
func.func @fails(%y: memref<3xi32> {tile.name = "y", tile.default = "empty:3xi32"}) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (3) {
      %n = arith.index_cast %i : index to i32
      %ok = arith.cmpi slt, %n, %n : i32
      tile.assert %ok, "n is smaller still"
      memref.store %n, %y[%i] : memref<3xi32>
    }
  }
  return
}
