// RUN: tile-opt %s -tile-infer-layouts -tile-plan-shared-memory -tile-insert-sync -convert-tile-to-gpu -split-input-file | FileCheck %s

// Scalars are one call, of one thread; a percent sign is not a format.
// CHECK: gpu.module @scalars_kernels
// CHECK: scf.if
// CHECK: gpu.printf "{{.*}}convert-print-to-gpu.mlir:[[#@LINE+5]]:5: block (%lld): 100%% of %lld, %g\0A"
func.func @scalars(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %h = arith.constant 0.5 : f16
    %c = arith.constant -3 : i8
    tile.print "100% of" %c, %h : i8, f16
  }
  return
}

// -----

// A buffer is many calls, under the module's lock.
// CHECK: gpu.module @buffers_kernels
// CHECK: llvm.mlir.global internal @tile_print_lock(0 : i32) {addr_space = 1 : i32
// CHECK: llvm.cmpxchg
// CHECK: gpu.printf "{{.*}}: block (%lld): tile ["
// CHECK: scf.for
// CHECK: gpu.printf "%g"
// CHECK: llvm.atomicrmw xchg
func.func @buffers(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %x = tile.alloc_fragment : memref<4xf32, #tile.fragment>
    tile.print "tile" %x : memref<4xf32, #tile.fragment>
  }
  return
}

// -----

// Where the condition holds nothing is printed; the program goes on otherwise.
// CHECK: gpu.module @checked_kernels
// CHECK: scf.if
// CHECK: gpu.printf "{{.*}}: block (%lld): assertion failed: never\0A"
// CHECK-NOT: llvm.intr.trap
func.func @checked(%x: memref<?xi1>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    tile.parallel (%i) in (32) {
      %v = memref.load %x[%i] : memref<?xi1>
      tile.assert %v, "never"
    }
  }
  return
}
