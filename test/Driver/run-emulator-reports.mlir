// What a kernel reports is told to whoever launched it, with its place, and the
// exit code says so; the same program is right where nothing fails.
// REQUIRES: tile-run
// RUN: tile-run %s --entry checked --target=emulator --arg n=4 | FileCheck %s --check-prefix=RIGHT
// RUN: not tile-run %s --entry checked --target=emulator --arg n=9 2>&1 | FileCheck %s --check-prefix=CHECKED
// RUN: not tile-run %s --entry checked --target=emulator --arg n=12 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not tile-run %s --entry outside --target=emulator 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: tile-run %s --entry workspace --target=emulator --arg n=4 | FileCheck %s --check-prefix=FITS
// RUN: not tile-run %s --entry workspace --target=emulator --arg n=4611686018427387904 2>&1 | FileCheck %s --check-prefix=WRAPS
// RUN: not tile-run %s --entry workspace --target=emulator --arg n=100000000000000 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: tile-run %s --emit=artifact --chip=sm_80 -o %t.tile
// RUN: not tile-run %t.tile --entry checked --target=emulator --arg n=9 2>&1 | FileCheck %s --check-prefix=CHECKED

// RIGHT: checked emulator
// CHECKED: 'checked' reported while it ran:
// CHECKED-NEXT: run-emulator-reports.mlir:[[#@LINE+21]]:7: assertion failed: block {{.*}} is not below eight
// CHECKED-NOT: assertion
// CHECKED: checked emulator {{.*}} TRAPPED
// HOST: run-emulator-reports.mlir:[[#@LINE+18]]:7: assertion failed: block
// HOST-NEXT: run-emulator-reports.mlir:[[#@LINE+9]]:3: assertion failed: at most ten
func.func @checked(
    %n: index {tile.name = "n", tile.default = "4"},
    %x: memref<16xi64> {tile.name = "x", tile.default = "zeros:16xi64"}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c10 = arith.constant 10 : index
  %few = arith.cmpi ule, %n, %c10 : index
  tile.assert %few, "at most ten"
  %pairs = arith.ceildivui %n, %c2 : index
  tile.launch blocks(%b, %p) in (%pairs, %c2) threads(32) {
    %twice = arith.muli %b, %c2 : index
    %i = arith.addi %twice, %p : index
    %is = arith.cmpi ult, %i, %n : index
    scf.if %is {
      %below = arith.cmpi ult, %i, %c8 : index
      tile.assert %below, "block  100% is not below eight"
      %v = arith.index_cast %i : index to i64
      memref.store %v, %x[%i] : memref<16xi64>
    }
  }
  return
}

// OUTSIDE: 'outside' reported while it ran:
// OUTSIDE-NEXT: run-emulator-reports.mlir:[[#@LINE+9]]:5: assertion failed: no copy of elements outside the buffer
// OUTSIDE-NEXT: run-emulator-reports.mlir:[[#@LINE+13]]:12: assertion failed: no load outside the buffer
// OUTSIDE-NOT: emulator.mlir
func.func @outside(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:100xf32"},
    %y: memref<128xf32> {tile.name = "y", tile.default = "empty:128xf32"}) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) threads(32) bounds(trap) {
    %s = tile.alloc_shared : memref<128xf32, #tile.shared>
    tile.copy %x[0] to %s : memref<?xf32> to memref<128xf32, #tile.shared>
    tile.parallel (%i) in (128) {
      %a = memref.load %s[%i] : memref<128xf32, #tile.shared>
      %c7 = arith.constant 7 : index
      %at = arith.muli %i, %c7 : index
      %v = memref.load %x[%at] : memref<?xf32>
      %w = arith.addf %a, %v : f32
      memref.store %w, %y[%i] : memref<128xf32>
    }
  }
  return
}

// A workspace is not to be had where its size in bytes does not fit an integer,
// nor where it is more than there is memory.
// FITS: workspace emulator
// WRAPS: a workspace: {{.*}} is too large
// HUGE: a workspace: {{.*}} of memory this machine has
func.func @workspace(
    %n: index {tile.name = "n", tile.default = "4"},
    %x: memref<4xf32> {tile.name = "x", tile.default = "randn:4xf32"}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %between = tile.alloc_global(%n) : memref<?xf32>
  tile.launch blocks(%b) in (%c4) threads(32) {
    %v = memref.load %x[%b] : memref<4xf32>
    memref.store %v, %between[%b] : memref<?xf32>
  }
  return
}
