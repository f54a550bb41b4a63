// The emulator target runs what a GPU would get and reports faults at the line of
// the program.
// REQUIRES: tile-run
// RUN: tile-run %s --entry rows --target=emulator --seeds=2 | FileCheck %s --check-prefix=RIGHT
// RUN: tile-run %s --entry rows --target=emulator --chip=sm_90 --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: not tile-run %s --entry race --target=emulator 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: not tile-run %s --entry unwritten --target=emulator 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// RUN: not tile-run %s --entry unset --target=emulator --no-reference 2>&1 | FileCheck %s --check-prefix=UNSET
// RUN: tile-run %s --entry unset --target=emulator --no-reference --arg x=randn:3x64xf32
// RUN: not tile-run %s --entry rows --target=emulator --chip=sm_81 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not tile-run %s --entry rows --target=emulator --checks=all,rase 2>&1 | FileCheck %s --check-prefix=CHECKS
// RUN: not tile-run %s --entry rows --target=emulator --seeds=0 2>&1 | FileCheck %s --check-prefix=SEEDS

// RIGHT: rows emulator x 5x64xf32 -> y 5x64xf32 0
// PTX: .target sm_90
// PTX: .entry rows_0
// PTX: .loc 1 [[#]]
// PTX: .file 1 "{{.*}}run-emulator.mlir"
// CHIP: error: there is no chip 'sm_81'; there are: sm_80,
// CHECKS: error: --checks: expected some of race, proxy, uninit, register and converge, or all or none, got 'all,rase'
// SEEDS: error: --seeds: expected one or more, got 0
func.func @rows(
    %x: memref<?x64xf32> {tile.name = "x", tile.default = "randn:5x64xf32"},
    %y: memref<?x64xf32> {tile.name = "y", tile.default = "empty:x[0]x64xf32"})
    attributes {tile.reference = @same} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  tile.launch blocks(%b) in (%n) threads(64) {
    tile.parallel (%i) in (64) {
      %v = memref.load %x[%b, %i] : memref<?x64xf32>
      memref.store %v, %y[%b, %i] : memref<?x64xf32>
    }
  }
  return
}

func.func @same(%x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  linalg.copy ins(%x : memref<?x64xf32>) outs(%y : memref<?x64xf32>)
  return
}

// Each block writes the one row.
// RACE: 'race' reported while it ran:
// RACE: data race: this write is not ordered after the other's write
// RACE-NEXT: where: y[{{[0-9]+}}]
// RACE-NEXT: by: thread ({{.*}}) of block ({{.*}}), `st.global{{.*}}` at PTX line [[#]] ({{.*}}run-emulator.mlir:[[#@LINE+12]])
// RACE-NEXT: and: thread ({{.*}}) of block ({{.*}}), `st.global{{.*}}` at PTX line [[#]] ({{.*}}run-emulator.mlir:[[#@LINE+11]])
// RACE: race emulator {{.*}} TRAPPED
func.func @race(
    %x: memref<?x64xf32> {tile.name = "x", tile.default = "randn:5x64xf32"},
    %y: memref<1x64xf32> {tile.name = "y", tile.default = "empty:1x64xf32"})
    attributes {tile.reference = @same} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  tile.launch blocks(%b) in (%n) threads(64) {
    tile.parallel (%i) in (64) {
      %v = memref.load %x[%b, %i] : memref<?x64xf32>
      memref.store %v, %y[%c0, %i] : memref<1x64xf32>
    }
  }
  return
}

// An empty output has no contents to read.
// UNWRITTEN: read of memory never written
// UNWRITTEN-NEXT: where: y[
// UNWRITTEN-NEXT: by: {{.*}}run-emulator.mlir:[[#@LINE+6]])
func.func @unwritten(
    %y: memref<64xf32> {tile.name = "y", tile.default = "empty:64xf32"}) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) threads(64) {
    tile.parallel (%i) in (64) {
      %v = memref.load %y[%i] : memref<64xf32>
      %s = arith.addf %v, %v : f32
      memref.store %s, %y[%i] : memref<64xf32>
    }
  }
  return
}

// Without a row no element of the fragment has a value.
// UNSET: 'unset' reported while it ran:
// UNSET-NEXT: read of a register never written: register %{{.*}} has no value yet
// UNSET-NEXT: by: thread ({{.*}}) of block ({{.*}}), `st.global{{.*}}` at PTX line [[#]] ({{.*}}run-emulator.mlir:[[#@LINE+15]])
func.func @unset(
    %x: memref<?x64xf32> {tile.name = "x", tile.default = "randn:0x64xf32"},
    %y: memref<64xf32> {tile.name = "y", tile.default = "empty:64xf32"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  tile.launch blocks(%b) in (%c1) threads(64) {
    %last = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    scf.for %row = %c0 to %n step %c1 {
      tile.parallel (%i) in (64) {
        %v = memref.load %x[%row, %i] : memref<?x64xf32>
        memref.store %v, %last[%i] : memref<64xf32, #tile.fragment>
      }
    }
    tile.copy %last to %y : memref<64xf32, #tile.fragment> to memref<64xf32>
  }
  return
}
