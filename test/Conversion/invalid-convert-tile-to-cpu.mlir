// RUN: tile-opt %s -convert-tile-to-cpu -split-input-file -verify-diagnostics

func.func private @helper()
func.func @call(%g: index) {
  tile.launch blocks(%b) in (%g) {
    // expected-error @+1 {{cannot be called from a launch on the cpu; run tile-inline-calls first}}
    func.call @helper() : () -> ()
  }
  return
}

// -----

func.func @dynamic(%g: index) {
  %bm = tile.tunable "block_m" in [64, 128] default(64)
  tile.launch blocks(%b) in (%g) {
    // expected-error @+1 {{names an on-chip buffer of dynamic shape, 'memref<?x64xf32, #tile.shared>'; run tile-specialize first}}
    %S = tile.alloc_shared(%bm) : memref<?x64xf32, #tile.shared>
  }
  return
}

// -----

func.func @large(%g: index) {
  tile.launch blocks(%b) in (%g) {
    // expected-error @+1 {{brings the on-chip buffers of a block to more than 268435456 bytes}}
    %S = tile.alloc_shared : memref<65536x65536xf32, #tile.shared>
  }
  return
}
