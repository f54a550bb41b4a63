// RUN: tile-opt %s -pass-pipeline="builtin.module(func.func(tile-check-static))" -split-input-file -verify-diagnostics

// expected-note @+1 {{it depends on argument #0 of 'func.func'}}
func.func @alloc(%n: index) {
  %c2 = arith.constant 2 : index
  %m = arith.muli %n, %c2 : index
  tile.launch blocks(%b) in (%n) {
    // expected-error @+1 {{extent 0 of an on-chip buffer is not constant; on a chip it must follow from constants and tunables alone}}
    %S = tile.alloc_shared(%m) : memref<?x32xf16, #tile.shared>
  }
  return
}

// -----

func.func @tunables(%n: index) {
  // expected-note @+1 {{it depends on the tunable "threads", which tile-specialize fixes}}
  %t = tile.tunable "threads" in [128, 256] default(128)
  // expected-error @+1 {{'threads' is not constant}}
  tile.launch blocks(%b) in (%n) threads(%t) {
  }
  return
}

// -----

func.func @loops(%A: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{it depends on the result of 'memref.dim'}}
  %e = memref.dim %A, %c0 : memref<?xf32>
  // expected-note @+1 {{it depends on argument #0 of 'tile.launch'}}
  tile.launch blocks(%b) in (%n) {
    // expected-error @+1 {{an extent of the loop is not constant}}
    tile.parallel (%i) in (%e) {
    }
    // expected-error @+1 {{'stages' is not constant}}
    tile.pipelined %k = %c0 to %n stages(%b) {
    }
  }
  return
}

// -----

// expected-note @+1 {{it depends on argument #0 of 'func.func'}}
func.func @view(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    // expected-error @+1 {{extent 0 of an on-chip buffer is not constant}}
    %V = memref.subview %S[0, 0] [%n, 32] [1, 1]
      : memref<64x32xf16, #tile.shared> to memref<?x32xf16, strided<[32, 1]>, #tile.shared>
  }
  return
}

// -----

func.func @cast(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-note @+1 {{the buffer is here}}
    %S = tile.alloc_shared : memref<64xf16, #tile.shared>
    %D = memref.cast %S : memref<64xf16, #tile.shared> to memref<?xf16, #tile.shared>
    // expected-error @+1 {{expects a buffer of type 'memref<32xf16, #tile.shared>', but here it is one of 'memref<64xf16, #tile.shared>'}}
    %T = memref.cast %D : memref<?xf16, #tile.shared> to memref<32xf16, #tile.shared>
  }
  return
}
