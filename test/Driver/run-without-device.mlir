// A machine without a GPU compiles for one, and says why it cannot run the code.
// REQUIRES: tile-run
// UNSUPPORTED: cuda-device
// RUN: tile-run %s --target=cuda --chip=sm_90 --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: not tile-run %s --target=cuda 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: tile-run %s | FileCheck %s --check-prefix=DEFAULT
// PTX: .target sm_90
// NONE: error: 'ones' cannot run here: no CUDA driver: {{.*}}; --target=emulator runs a GPU's code without one
// DEFAULT: ones cpu
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
