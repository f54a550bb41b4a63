// RUN: tile-opt %s -tile-infer-layouts=chip=sm_80 -tile-plan-shared-memory=chip=sm_80 -tile-insert-sync -convert-tile-to-gpu=chip=sm_80 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tile-opt %s -tile-infer-layouts=chip=sm_90 -tile-plan-shared-memory=chip=sm_90 -tile-insert-sync -convert-tile-to-gpu=chip=sm_90 -split-input-file | FileCheck %s --check-prefixes=CHECK,SM90

// Four neighbours at a time where the chip can, else each by itself.
// CHECK: gpu.module @words_kernels
// SM90: red.relaxed.gpu.global.add.v4.f32 [$4], {$0, $1, $2, $3};
// SM80-COUNT-4: llvm.atomicrmw fadd {{.*}} syncscope("device") monotonic
func.func @words(%x: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) alignment(16) {
    %F = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    tile.atomic_add %F to %x[0] : memref<128xf32, #tile.fragment> to memref<?xf32>
  }
  return
}

// -----

// Pairs of f16 everywhere, vectors of pairs where the chip can.
// CHECK: gpu.module @halves_kernels
// SM90: red.relaxed.gpu.global.add.noftz.v4.f16x2 [$4], {$0, $1, $2, $3};
// SM80: red.relaxed.gpu.global.add.noftz.f16x2 [$1], $0;
func.func @halves(%x: memref<?xf16>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) alignment(16) {
    %S = tile.alloc_shared : memref<256xf16, #tile.shared>
    tile.atomic_add %S to %x[0] : memref<256xf16, #tile.shared> to memref<?xf16>
  }
  return
}

// -----

// What no instruction updates is swapped until nobody came between.
// CHECK: gpu.module @swapped_kernels
// CHECK: scf.while
// CHECK: arith.maximumf
// CHECK: llvm.cmpxchg {{.*}} syncscope("device") monotonic monotonic
// CHECK: scf.while
// CHECK: arith.minimumf
// CHECK: atom.relaxed.gpu.global.cas.b16 $0, [$1], $2, $3;
func.func @swapped(%x: memref<32xf32>, %y: memref<32xbf16>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %F = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    tile.atomic_max %F to %x : memref<32xf32, #tile.fragment> to memref<32xf32>
    tile.atomic_min %F to %y : memref<32xf32, #tile.fragment> to memref<32xbf16>
  }
  return
}

// -----

// Of the threads that hold an element one adds it.
// CHECK: gpu.module @once_kernels
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK-NEXT: llvm.atomicrmw add
// CHECK-NOT: llvm.atomicrmw
// CHECK: gpu.return
func.func @once(%x: memref<32xi32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(64) {
    %F = tile.alloc_fragment : memref<32xi32, #tile.fragment<"32 threads 64 (32,2):(1@0,0) registers ():()">>
    tile.atomic_add %F to %x : memref<32xi32, #tile.fragment<"32 threads 64 (32,2):(1@0,0) registers ():()">> to memref<32xi32>
  }
  return
}

// -----

// A statement of the block is one thread's, and all learn what it found.
// CHECK: gpu.module @statement_kernels
// CHECK: llvm.atomicrmw add
// CHECK: llvm.store
// CHECK: gpu.barrier
// CHECK: llvm.load
func.func @statement(%x: memref<?xi32>, %y: memref<?xi32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %one = arith.constant 1 : i32
    %old = memref.atomic_rmw addi %one, %x[%b] : (i32, memref<?xi32>) -> i32
    tile.parallel (%i) in (32) {
      memref.store %old, %y[%i] : memref<?xi32>
    }
  }
  return
}

// -----

// A loop that uses what it found runs each lane on one thread: the fragment
// moves to shared memory.
// CHECK: gpu.module @found_kernels
// CHECK: scf.for
// CHECK: %[[OLD:.*]] = scf.if
// CHECK: llvm.atomicrmw add
// CHECK: llvm.store %[[OLD]], %{{.*}} : i32, !llvm.ptr<3>
func.func @found(%x: memref<?xi32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %one = arith.constant 1 : i32
    %F = tile.alloc_fragment : memref<64xi32, #tile.fragment>
    tile.parallel (%i) in (64) {
      %old = memref.atomic_rmw addi %one, %x[%i] : (i32, memref<?xi32>) -> i32
      memref.store %old, %F[%i] : memref<64xi32, #tile.fragment>
    }
  }
  return
}
