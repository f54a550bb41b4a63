// A program compiled into a file runs without its source: here in the emulator.
// REQUIRES: tile-run
// RUN: tile-run %s --emit=artifact --chip=sm_80,sm_90 -o %t.tile
// RUN: tile-run %t.tile --target=emulator | FileCheck %s --check-prefix=ALL
// RUN: tile-run %t.tile --target=emulator --entry scale --chip=sm_90 --arg factor=3 --arg x=iota:2x64xf32 --save out=%t.npy
// RUN: tile-run %t.tile --target=emulator --entry scale --arg factor=3 --arg x=iota:2x64xf32 --expect out=%t.npy | FileCheck %s --check-prefix=EXPECT
// RUN: not tile-run %t.tile --target=emulator --entry scale --arg factor=2 --arg x=iota:2x64xf32 --expect out=%t.npy 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not tile-run %t.tile --target=emulator --chip=sm_120 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not tile-run %t.tile --target=cpu 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not tile-run %t.tile --target=emulator --entry scales 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not tile-run %t.tile --target=emulator --arg x=iota:2x65xf32 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not tile-run %t.tile --emit=ptx 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: not tile-run %s --emit=artifact 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not tile-run %s --emit=artifact --target=cpu -o %t.cpu.tile 2>&1 | FileCheck %s --check-prefix=FORCPU
// RUN: head -c 300 %t.tile > %t.cut.tile
// RUN: not tile-run %t.cut.tile 2>&1 | FileCheck %s --check-prefix=CUT

// ALL-DAG: scale emulator factor=2.5, x 3x64xf32 -> out 3x64xf32 unchecked
// ALL-DAG: twice emulator -> x 64xf32
// EXPECT: scale emulator {{.*}} 0
// WRONG: 'scale': output 'out': 127 of 128 elements differ from
// CHIP: error: there is no code of 'scale' for sm_120; there is for: sm_80, sm_90
// CPU: error: an artifact holds code for GPUs; expected the target cuda or emulator, got cpu
// ENTRY: error: there is no function 'scales'; did you mean 'scale'?
// SHAPE: error: argument 'x'
// EMIT: is compiled already; --emit, --dump-stages and --tune take a program
// OUTPUT: error: --emit=artifact: name the file to write with -o
// FORCPU: error: an artifact holds code for GPUs; expected the target cuda, got cpu
// CUT: run-artifact.mlir.tmp.cut.tile: a compiled tile program that is cut off
func.func @scale(
    %factor: f32 {tile.name = "factor", tile.default = "2.5"},
    %x: memref<?x64xf32> {tile.name = "x", tile.default = "iota:3x64xf32"},
    %y: memref<?x64xf32> {tile.name = "out", tile.default = "empty:x[0]x64xf32"})
    attributes {tile.flops = "64 * x[0]"} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  tile.launch blocks(%b) in (%n) threads(64) {
    tile.parallel (%i) in (64) {
      %v = memref.load %x[%b, %i] : memref<?x64xf32>
      %s = arith.mulf %v, %factor : f32
      memref.store %s, %y[%b, %i] : memref<?x64xf32>
    }
  }
  return
}

func.func @twice(%x: memref<64xf32> {tile.name = "x", tile.default = "ones:64xf32"}) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) threads(64) {
    tile.parallel (%i) in (64) {
      %v = memref.load %x[%i] : memref<64xf32>
      %s = arith.addf %v, %v : f32
      memref.store %s, %x[%i] : memref<64xf32>
    }
  }
  return
}
