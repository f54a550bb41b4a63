// REQUIRES: tile-run
// RUN: tile-run %s --emit=artifact --chip=sm_80 -o %t.tile
// RUN: %python %S/Inputs/remove_barriers.py %t.tile gemm sm_80 64x640xf16 640x64xf16 64x64xf16 | FileCheck %s

// No barrier is missing, and none is one too many: the emulator finds a race
// without any of them. One in front of the loop and one in it, where copies
// arrive, and two around the shared buffer through which results go, which lies
// where operands were.
// CHECK: gemm: 4 barriers, all needed
func.func @gemm(%A: memref<64x640xf16>, %B: memref<640x64xf16>, %C: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c640 = arith.constant 640 : index
  tile.launch blocks(%b) in (%c1) threads(128) alignment(16) {
    %As = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %Bs = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %acc = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<64x64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %c640 step %c32 stages(2) {
      tile.copy %A[0, %k] to %As : memref<64x640xf16> to memref<64x32xf16, #tile.shared>
      tile.copy %B[%k, 0] to %Bs : memref<640x64xf16> to memref<32x64xf16, #tile.shared>
      tile.gemm %As, %Bs, %acc
        : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
          memref<64x64xf32, #tile.fragment>
    }
    tile.copy %acc to %C[0, 0] : memref<64x64xf32, #tile.fragment> to memref<64x64xf16>
  }
  return
}
