// Ops of dialects that are not loaded have no meaning in a launch.
// RUN: tile-opt %s --allow-unregistered-dialect --tile-to-cpu --split-input-file --verify-diagnostics

func.func @in_launch(%x: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'foo.bar' op is not registered}}
    "foo.bar"(%x) : (memref<?xf32>) -> ()
  }
  return
}

// -----

func.func @in_parallel(%x: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    tile.parallel (%i) in (4) {
      // expected-error @below {{'foo.q' op is not registered}}
      %q = "foo.q"(%i) : (index) -> f32
      memref.store %q, %x[%i] : memref<?xf32>
    }
  }
  return
}
