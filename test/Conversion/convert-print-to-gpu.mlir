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

// Where the condition does not hold a word of the call's says so, the message's
// own; the program goes on. Both launches have the words.
// CHECK: gpu.module @checked_kernels
// CHECK: gpu.func @checked_0({{.*}}, %[[WORDS:.*]]: !llvm.ptr<1>) kernel
// CHECK: scf.if
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[WORDS]][0]
// CHECK: llvm.store volatile %{{.*}}, %[[FIRST]]
// CHECK: gpu.func @checked_1({{.*}}, %[[WORDS:.*]]: !llvm.ptr<1>) kernel
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[WORDS]][1]
// CHECK: llvm.store volatile %{{.*}}, %[[SECOND]]
// CHECK-NOT: gpu.printf
// CHECK: func.func @checked(
// CHECK: %[[ALL:.*]] = tile.alloc_global : memref<2xi32>
// CHECK: memref.store %[[ZERO:.*]], %[[ALL]][%[[AT0:.*]]]
// CHECK: memref.store %[[ZERO]], %[[ALL]][%[[AT1:.*]]]
// CHECK: gpu.launch_func
// CHECK: gpu.launch_func
// CHECK: %[[WORD0:.*]] = memref.load %[[ALL]][%[[AT0]]]
// CHECK: %[[HOLDS0:.*]] = arith.cmpi eq, %[[WORD0]], %[[ZERO]]
// CHECK: tile.assert %[[HOLDS0]], "never"
// CHECK: %[[WORD1:.*]] = memref.load %[[ALL]][%[[AT1]]]
// CHECK: %[[HOLDS1:.*]] = arith.cmpi eq, %[[WORD1]], %[[ZERO]]
// CHECK: tile.assert %[[HOLDS1]], "ever"
func.func @checked(%x: memref<?xi1>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    tile.parallel (%i) in (32) {
      %v = memref.load %x[%i] : memref<?xi1>
      tile.assert %v, "never"
    }
  }
  tile.launch blocks(%b) in (%n) threads(32) {
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<?xi1>
    tile.assert %v, "ever"
  }
  return
}

// -----

// With trapping bounds an access outside is left out and reported.
// CHECK: gpu.module @bounded_kernels
// CHECK: gpu.func @bounded({{.*}}, %[[WORDS:.*]]: !llvm.ptr<1>) kernel
// CHECK: llvm.getelementptr %[[WORDS]][0]
// CHECK-NOT: llvm.intr.trap
// CHECK: func.func @bounded(
// CHECK: tile.assert %{{.*}}, "no load outside the buffer"
// CHECK: tile.assert %{{.*}}, "no store outside the buffer"
func.func @bounded(%x: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) bounds(trap) {
    %c1 = arith.constant 1 : index
    %v = memref.load %x[%b] : memref<?xf32>
    %w = arith.addf %v, %v : f32
    %next = arith.addi %b, %c1 : index
    memref.store %w, %x[%next] : memref<?xf32>
  }
  return
}
