// RUN: tile-opt %s -tile-infer-layouts -convert-tile-to-gpu -verify-diagnostics

func.func @not_planned(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    // expected-error@+1 {{has no place; run tile-plan-shared-memory first}}
    %A = tile.alloc_shared : memref<32xf32, #tile.shared>
  }
  return
}
