// RUN: tile-opt %s -tile-infer-layouts -tile-plan-shared-memory -tile-insert-sync -convert-tile-to-gpu -split-input-file | FileCheck %s

// A launch has the threads of its roles. Each meets on a barrier of its own,
// and its scratch lies behind that of the others.
// CHECK: gpu.func @two({{.*}}known_block_size = array<i32: 160, 1, 1>
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
// CHECK: nvvm.barrier id
// CHECK: gpu.barrier
// CHECK-NEXT: gpu.return
func.func @two(%x: memref<4096xf32>, %y: memref<4096xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    tile.roles {
      tile.role producer warps(1) {
        %f = tile.alloc_fragment : memref<4096xf32, #tile.fragment>
        tile.copy %x to %f : memref<4096xf32> to memref<4096xf32, #tile.fragment>
        tile.scan sum %f along 0 into %f : memref<4096xf32, #tile.fragment> into memref<4096xf32, #tile.fragment>
        tile.copy %f to %x : memref<4096xf32, #tile.fragment> to memref<4096xf32>
      }
      tile.role consumer warps(4) {
        %f = tile.alloc_fragment : memref<512xf32, #tile.fragment>
        %s = tile.alloc_fragment : memref<1xf32, #tile.fragment>
        tile.copy %y[0] to %f : memref<4096xf32> to memref<512xf32, #tile.fragment>
        tile.reduce max %f along 0 into %s : memref<512xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
        tile.copy %s to %y[0] : memref<1xf32, #tile.fragment> to memref<4096xf32>
      }
    }
  }
  return
}

// -----

// A barrier is a word: an arrival is one thread's, once all of them are here;
// all threads wait.
// CHECK: gpu.module @meet_kernels
// CHECK: llvm.store %{{.*}} : i64, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: llvm.cmpxchg {{.*}} syncscope("block") acq_rel monotonic
// CHECK: scf.while
// CHECK: llvm.load {{.*}} atomic syncscope("block") acquire
func.func @meet(%n: index) {
  tile.launch blocks(%b) in (%n) threads(64) {
    %full = tile.alloc_barrier arrivals(1) : !tile.barrier
    %c0 = arith.constant 0 : index
    tile.barrier_arrive %full[%c0] : !tile.barrier
    tile.barrier_wait %full[%c0], %c0 : !tile.barrier
  }
  return
}

// -----

// What depends on the thread is each thread's own; what does not is one's.
// CHECK: gpu.module @own_kernels
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<3>
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK-NEXT: llvm.store %{{.*}} : f32, !llvm.ptr<3>
func.func @own(%n: index, %v: f32) {
  tile.launch blocks(%b) in (%n) threads(64) {
    %c64 = arith.constant 64 : index
    %s = tile.alloc_shared : memref<65xf32, #tile.shared>
    %t = gpu.thread_id x
    memref.store %v, %s[%t] : memref<65xf32, #tile.shared>
    memref.store %v, %s[%c64] : memref<65xf32, #tile.shared>
  }
  return
}
