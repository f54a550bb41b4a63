// --tune tries the combinations of tunables, tells why some do not run, and runs
// the best.
// REQUIRES: tile-run
// RUN: rm -rf %t.cache
// RUN: tile-run %s --entry blocks --target=cpu --tune=1000 --cache=%t.cache 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=PROGRESS < %t.err
// RUN: tile-run %s --entry blocks --target=cpu --tune=1000 --cache=%t.cache | FileCheck %s --check-prefix=AGAIN
// RUN: tile-run %s --entry blocks --target=emulator --tune=1000 --set rows=8 --no-cache | FileCheck %s --check-prefix=FIXED
// RUN: not tile-run %s --entry wrong --target=cpu --tune=1000 --no-cache 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not tile-run %s --entry plain --target=cpu --tune=1000 --no-cache 2>&1 | FileCheck %s --check-prefix=PLAIN

// CHECK: tunables
// CHECK-DAG: rows=4 width=32 {{[0-9]}}
// CHECK-DAG: rows=8 width=32 {{[0-9]}}
// CHECK-DAG: rows=4 width=64 {{[0-9]}}
// CHECK-DAG: rows=8 width=64 - {{.*}}a tile may have at most 256 elements
// CHECK: best of 'blocks': --set rows={{[48]}} --set width={{32|64}}
// CHECK: blocks cpu {{.*}} 0
// PROGRESS: tuning 'blocks': {{[0-9]}} of 4, best {{.*}} with rows=
// AGAIN: best of 'blocks': {{.*}} (found by an earlier run)
// FIXED-NOT: rows=4
// FIXED: best of 'blocks': --set rows=8 --set width=32
// PLAIN: error: 'plain' has no tunables, so there is nothing to tune
func.func @blocks(
    %x: memref<?x?xf32> {tile.name = "x", tile.default = "randn:20x100xf32"},
    %y: memref<?x?xf32> {tile.name = "y", tile.default = "empty:x[0]xx[1]xf32"})
    attributes {tile.reference = @same} {
  %rows = tile.tunable "rows" in [4, 8] default(4)
  %width = tile.tunable "width" in [32, 64] default(32)
  %c256 = arith.constant 256 : index
  %size = arith.muli %rows, %width : index
  %fits = arith.cmpi sle, %size, %c256 : index
  tile.require %fits, "a tile may have at most 256 elements"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %gy = arith.ceildivsi %m, %rows : index
  %gx = arith.ceildivsi %n, %width : index
  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(64) {
    %row = arith.muli %by, %rows : index
    %column = arith.muli %bx, %width : index
    tile.parallel (%i, %j) in (%rows, %width) {
      %r = arith.addi %row, %i : index
      %c = arith.addi %column, %j : index
      %v = memref.load %x[%r, %c] : memref<?x?xf32>
      memref.store %v, %y[%r, %c] : memref<?x?xf32>
    }
  }
  return
}

func.func @same(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  linalg.copy ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
  return
}

// Whatever is wrong is never the best.
// WRONG: error: no combination of the tunables of 'wrong' runs and is right
// WRONG: part=1 {{.*}} WRONG:
// WRONG: part=2 {{.*}} WRONG:
func.func @wrong(
    %x: memref<8x8xf32> {tile.name = "x", tile.default = "randn:8x8xf32"},
    %y: memref<8x8xf32> {tile.name = "y", tile.default = "zeros:8x8xf32"})
    attributes {tile.reference = @same8} {
  %part = tile.tunable "part" in [1, 2] default(1)
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i, %j) in (%part, 8) {
      %v = memref.load %x[%i, %j] : memref<8x8xf32>
      memref.store %v, %y[%i, %j] : memref<8x8xf32>
    }
  }
  return
}

func.func @same8(%x: memref<8x8xf32>, %y: memref<8x8xf32>) {
  linalg.copy ins(%x : memref<8x8xf32>) outs(%y : memref<8x8xf32>)
  return
}

func.func @plain(%y: memref<8xf32> {tile.default = "zeros:8xf32"}) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (8) {
      %zero = arith.constant 0.0 : f32
      memref.store %zero, %y[%i] : memref<8xf32>
    }
  }
  return
}
