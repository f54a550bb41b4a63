// RUN: tile-opt %s -tile-specialize="values=block=48" -split-input-file -verify-diagnostics

// expected-error @+1 {{no function has a tunable "block"}}
module {
  func.func @unknown() {
    // expected-note @+1 {{there is "block_m", one of [32, 64]}}
    %bm = tile.tunable "block_m" in [32, 64] default(64)
    return
  }
}

// -----

func.func @no_choice() {
  // expected-error @+1 {{"block" cannot be 48; its choices are [32, 64]}}
  %bm = tile.tunable "block" in [32, 64] default(64)
  return
}

// -----

func.func @requirement() {
  %block = tile.tunable "block" in [32, 48] default(32)
  %k = tile.tunable "k" in [32, 64] default(32)
  %rest = arith.remui %block, %k : index
  %c0 = arith.constant 0 : index
  %ok = arith.cmpi eq, %rest, %c0 : index
  // expected-error @+1 {{does not hold: block must be a multiple of k (block = 48, k = 32)}}
  tile.require %ok, "block must be a multiple of k"
  return
}

// -----

// expected-note @+1 {{it depends on this value}}
func.func @runtime(%n: index) {
  %block = tile.tunable "block" in [32, 48] default(32)
  %ok = arith.cmpi ule, %block, %n : index
  // expected-error @+1 {{cannot be evaluated: its condition depends on more than constants and tunables}}
  tile.require %ok, "n must be at least block"
  return
}

// -----

func.func @undefined() {
  %block = tile.tunable "block" in [32, 48] default(32)
  %zero = tile.tunable "zero" in [0, 1] default(0)
  %rest = arith.remui %block, %zero : index
  %c0 = arith.constant 0 : index
  %ok = arith.cmpi eq, %rest, %c0 : index
  // expected-error @+1 {{cannot be evaluated: its condition has no value for block = 48, zero = 0}}
  tile.require %ok, "block must be a multiple of zero"
  return
}

// -----

// What a value makes invalid is reported by the op concerned.
func.func @mismatch(%n: index) {
  %block = tile.tunable "block" in [32, 48] default(32)
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared(%block) : memref<?x32xf16, #tile.shared>
    %B = tile.alloc_shared : memref<32x32xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<32x32xf32, #tile.fragment>
    // expected-error @+1 {{expects equal extents M, got 48 in 'a' and 32 in 'c'}}
    tile.gemm %A, %B, %C
      : memref<?x32xf16, #tile.shared>, memref<32x32xf16, #tile.shared>, memref<32x32xf32, #tile.fragment>
  }
  return
}
