// --device picks one of several GPUs: the code is for its chip, and runs there. The driver is one with devices of the
// test's choosing, whose kernels do nothing but say where they run.
// REQUIRES: tile-run
// RUN: %fake-cuda=80,90 not tile-run %s 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: %fake-cuda=80,90 not tile-run %s --device=1 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: %fake-cuda=80,90 tile-run %s --device=1 --emit=ptx | FileCheck %s --check-prefix=CHIP
// RUN: %fake-cuda=80,90 tile-run %s --device=1 --chip=sm_80 --emit=ptx | FileCheck %s --check-prefix=NAMED
// FIRST: a launch on device 0
// SECOND: a launch on device 1
// CHIP: .target sm_90
// NAMED: .target sm_80

// An artifact is for the chip of the device too, and runs on any.
// RUN: %fake-cuda=80,90 tile-run %s --device=1 --emit=artifact -o %t.tile
// RUN: %fake-cuda=80,90 not tile-run %t.tile --device=1 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: %fake-cuda=80,90 not tile-run %t.tile --device=0 2>&1 | FileCheck %s --check-prefix=NEWER
// NEWER: the artifact has no code of 'ones' for fake GPU 0 (sm_80) among those for sm_90

// One cache serves devices of several chips.
// RUN: rm -rf %t.cache
// RUN: %fake-cuda=80,90 not tile-run %s --cache=%t.cache --device=0 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: %fake-cuda=80,90 not tile-run %s --cache=%t.cache --device=1 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: ls %t.cache | count 2

// A number that is none of theirs.
// RUN: %fake-cuda=80,90 not tile-run %s --device=2 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %fake-cuda=80 not tile-run %s --device=-1 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: %fake-cuda= not tile-run %s --device=0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: %fake-cuda=80 not tile-run %t.tile --device=1 2>&1 | FileCheck %s --check-prefix=ARTIFACT
// RUN: env LD_LIBRARY_PATH= not tile-run %s --device=99 2>&1 | FileCheck %s --check-prefix=DRIVER
// TWO: error: there is no device 2: this machine has 2, numbered from 0 to 1
// ONE: error: there is no device -1: the only one of this machine is number 0
// NONE: error: there is no device 0: this machine has none
// ARTIFACT: error: there is no device 1: the only one of this machine is number 0
// DRIVER: error: there is no device 99: {{no CUDA driver|the only one|this machine has}}

// Other targets have no GPU to choose.
// RUN: %fake-cuda=80,90 not tile-run %s --target=emulator --device=1 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: echo "" > %t.ptx
// RUN: not tile-run %t.ptx --device=0 2>&1 | FileCheck %s --check-prefix=PTX
// TARGET: error: device 1 is a choice among GPUs; expected the target cuda, got emulator
// PTX: error: --device: PTX kernels run in the emulator

// RUN: tile-run --help | FileCheck %s --check-prefix=HELP
// HELP: --device=<N> - the GPU to run on

func.func @ones(%x: memref<64xf32> {tile.name = "x", tile.default = "empty:64xf32"}) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) threads(64) {
    tile.parallel (%i) in (64) {
      %one = arith.constant 1.0 : f32
      memref.store %one, %x[%i] : memref<64xf32>
    }
  }
  return
}
