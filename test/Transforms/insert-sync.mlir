// RUN: tile-opt %s -tile-insert-sync -split-input-file | FileCheck %s

// One barrier between a write and the read of it, and one around the loop between
// that read and the next write.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.copy
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.copy
// CHECK-NOT: gpu.barrier
func.func @loop(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%n) threads(32) {
    %S = tile.alloc_shared : memref<64xf32, #tile.shared>
    scf.for %i = %c0 to %n step %c1 {
      tile.copy %x[%i] to %S : memref<?xf32> to memref<64xf32, #tile.shared>
      tile.copy %S to %y[%i] : memref<64xf32, #tile.shared> to memref<?xf32>
    }
  }
  return
}

// -----

// Two reads need none.
// CHECK-LABEL: func.func @reads
// CHECK-NOT: gpu.barrier
func.func @reads(%y: memref<?xf32>, %z: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %S = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.copy %S to %y[0] : memref<64xf32, #tile.shared> to memref<?xf32>
    tile.copy %S to %z[0] : memref<64xf32, #tile.shared> to memref<?xf32>
  }
  return
}

// -----

// A copy in flight counts where it is waited for.
// CHECK-LABEL: func.func @wait
// CHECK: tile.copy {{.*}} async
// CHECK-NOT: gpu.barrier
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: gpu.barrier
// CHECK-NEXT: tile.copy
func.func @wait(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %S = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.copy %x[0] to %S async : memref<?xf32> to memref<64xf32, #tile.shared>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    tile.copy %S to %y[0] : memref<64xf32, #tile.shared> to memref<?xf32>
  }
  return
}

// -----

// What stands between the barrier of a pipeline's copies and the next one may as
// well stand in front of both: one is enough.
// CHECK-LABEL: func.func @followed
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: tile.fill
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.gemm
// CHECK-NEXT: }
func.func @followed(%x: memref<?x16xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  tile.launch blocks(%b) in (%n) threads(32) {
    %A = tile.alloc_shared : memref<16x16xf16, #tile.shared>
    %B = tile.alloc_shared : memref<16x16xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<16x16xf32, #tile.fragment>
    tile.copy %x[0, 0] to %A async : memref<?x16xf16> to memref<16x16xf16, #tile.shared>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    tile.fill %B, %zero : memref<16x16xf16, #tile.shared>
    tile.gemm %A, %B, %C : memref<16x16xf16, #tile.shared>, memref<16x16xf16, #tile.shared>, memref<16x16xf32, #tile.fragment>
  }
  return
}

// -----

// Not where something in between waits for it, or may: the second operand is
// read a round before, the first of two products reads what was copied.
// CHECK-LABEL: func.func @needed
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.fill
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.gemm
// CHECK-NEXT: }
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.gemm
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.fill
func.func @needed(%x: memref<?x16xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  tile.launch blocks(%b) in (%n) threads(32) {
    %A = tile.alloc_shared : memref<16x16xf16, #tile.shared>
    %B = tile.alloc_shared : memref<16x16xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<16x16xf32, #tile.fragment>
    scf.for %i = %c0 to %n step %c1 {
      tile.copy %x[%i, 0] to %A async : memref<?x16xf16> to memref<16x16xf16, #tile.shared>
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 0
      gpu.barrier
      tile.fill %B, %zero : memref<16x16xf16, #tile.shared>
      tile.gemm %A, %B, %C : memref<16x16xf16, #tile.shared>, memref<16x16xf16, #tile.shared>, memref<16x16xf32, #tile.fragment>
    }
    tile.copy %x[%b, 0] to %A async : memref<?x16xf16> to memref<16x16xf16, #tile.shared>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    tile.gemm %A, %B, %C : memref<16x16xf16, #tile.shared>, memref<16x16xf16, #tile.shared>, memref<16x16xf32, #tile.fragment>
    tile.fill %A, %zero : memref<16x16xf16, #tile.shared>
  }
  return
}

// -----

// Nor where the program speaks to the threads itself.
// CHECK-LABEL: func.func @hidden
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.fill
// CHECK-NEXT: gpu.barrier
func.func @hidden(%x: memref<16x16xf16>, %n: index) {
  %zero = arith.constant 0.0 : f16
  tile.launch blocks(%b) in (%n) threads(32) {
    %B = tile.alloc_shared : memref<16x16xf16, #tile.shared>
    llvm.inline_asm has_side_effects "cp.async.ca.shared.global [0], [0], 4;", "" : () -> ()
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    tile.fill %B, %zero : memref<16x16xf16, #tile.shared>
    tile.copy %B to %x : memref<16x16xf16, #tile.shared> to memref<16x16xf16>
  }
  return
}

// -----

// Behind the end of a ring nothing is in flight: what lies in its place waits
// for its readers, and the next wait is for others.
// CHECK-LABEL: func.func @ended
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: gpu.barrier
// CHECK-NEXT: tile.copy
// CHECK-NEXT: memref.dealloc
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.fill
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: nvvm.cp.async.wait.group 0
// CHECK-NEXT: tile.copy
// CHECK-NEXT: }
func.func @ended(%y: memref<?xf32>, %x: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %zero = arith.constant 0.0 : f32
    %ring = tile.alloc_shared at 0 : memref<64xf32, #tile.shared>
    %behind = tile.alloc_shared at 0 : memref<64xf32, #tile.shared>
    tile.copy %x[0] to %ring async : memref<?xf32> to memref<64xf32, #tile.shared>
    nvvm.cp.async.commit.group
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    tile.copy %ring to %y[0] : memref<64xf32, #tile.shared> to memref<?xf32>
    memref.dealloc %ring : memref<64xf32, #tile.shared>
    tile.fill %behind, %zero : memref<64xf32, #tile.shared>
    gpu.barrier
    nvvm.cp.async.wait.group 0
    tile.copy %behind to %x[0] : memref<64xf32, #tile.shared> to memref<?xf32>
  }
  return
}

// -----

// Buffers in one place are one buffer.
// CHECK-LABEL: func.func @place
// CHECK: gpu.barrier
// CHECK-NEXT: tile.copy %{{.*}} to %[[SECOND:.*]] :
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.copy %[[SECOND]]
// CHECK-NOT: gpu.barrier
func.func @place(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %first = tile.alloc_shared at 0 : memref<64xf32, #tile.shared>
    %second = tile.alloc_shared at 128 : memref<64xf32, #tile.shared>
    %third = tile.alloc_shared at 512 : memref<64xf32, #tile.shared>
    tile.copy %first to %y[0] : memref<64xf32, #tile.shared> to memref<?xf32>
    tile.copy %x[0] to %second : memref<?xf32> to memref<64xf32, #tile.shared>
    tile.copy %second to %z[0] : memref<64xf32, #tile.shared> to memref<?xf32>
    tile.copy %x[0] to %third : memref<?xf32> to memref<64xf32, #tile.shared>
  }
  return
}

// -----

// Arguments that may be one buffer are one to barriers.
// CHECK-LABEL: func.func @same_memory
// CHECK: tile.copy
// CHECK: gpu.barrier
// CHECK: tile.copy
func.func @same_memory(%x: memref<64xf32> {tile.name = "x", tile.may_alias = ["y"]},
                       %y: memref<64xf32> {tile.name = "y"}, %n: index {tile.name = "n"}) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %F = tile.alloc_fragment : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">>
    tile.copy %x to %F : memref<64xf32> to memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">>
    tile.copy %F to %y : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">> to memref<64xf32>
  }
  return
}

// -----

// Each round has a part of %y of its own; what comes after the loop meets all.
// CHECK-LABEL: func.func @parts
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
// CHECK: }
// CHECK: gpu.barrier
// CHECK-NEXT: tile.copy
func.func @parts(%y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.launch blocks(%b) in (%n) threads(32) {
    %F = tile.alloc_fragment : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">>
    scf.for %i = %c0 to %n step %c64 {
      tile.copy %F to %y[%i] : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">> to memref<?xf32>
    }
    tile.copy %y[0] to %F : memref<?xf32> to memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">>
  }
  return
}

// -----

// A round reads what it writes itself: it meets itself only.
// CHECK-LABEL: func.func @update
// CHECK: scf.for
// CHECK-NEXT: tile.copy
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.copy
// CHECK-NEXT: }
func.func @update(%y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.launch blocks(%b) in (%n) threads(32) {
    %F = tile.alloc_fragment : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">>
    scf.for %i = %c0 to %n step %c64 {
      tile.copy %y[%i] to %F : memref<?xf32> to memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">>
      tile.copy %F to %y[%i] : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">> to memref<?xf32>
    }
  }
  return
}

// -----

// Tiles longer than the step overlap.
// CHECK-LABEL: func.func @overlap
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
func.func @overlap(%y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  tile.launch blocks(%b) in (%n) threads(32) {
    %F = tile.alloc_fragment : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">>
    scf.for %i = %c0 to %n step %c32 {
      tile.copy %F to %y[%i] : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">> to memref<?xf32>
    }
  }
  return
}

// -----

// Rounds of a loop around it come back to the same parts, and another access
// may be anywhere.
// CHECK-LABEL: func.func @anywhere
// CHECK: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.copy
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.copy
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.copy
func.func @anywhere(%y: memref<?xf32>, %z: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.launch blocks(%b) in (%n) threads(32) {
    %F = tile.alloc_fragment : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">>
    scf.for %round = %c0 to %n step %c1 {
      scf.for %i = %c0 to %n step %c64 {
        tile.copy %F to %y[%i] : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">> to memref<?xf32>
      }
    }
    scf.for %i = %c0 to %n step %c64 {
      tile.copy %F to %z[%i] : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">> to memref<?xf32>
      tile.copy %F to %z[%b] : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">> to memref<?xf32>
    }
  }
  return
}

// -----

// The first condition asks whether threads hold different %a, and on the way to
// that whether they hold different %next, which is so because of %a.
// CHECK-LABEL: func.func @carried
// CHECK: memref.store %{{.*}}, %{{.*}} : memref<128xindex, #tile.shared>
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-NOT: gpu.barrier
// CHECK: scf.yield
func.func @carried(%y: memref<128xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c127 = arith.constant 127 : index
  tile.launch blocks(%b) in (%n) threads(128) {
    %s = tile.alloc_shared : memref<128xindex, #tile.shared>
    %thread = gpu.thread_id x
    %other = arith.subi %c127, %thread : index
    %r:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%m = %c0, %a = %c0) -> (index, index) {
      %next = arith.addi %a, %c1 : index
      %is_low = arith.cmpi ult, %a, %c64 : index
      scf.if %is_low {
        memref.store %k, %y[%thread] : memref<128xindex>
      }
      memref.store %thread, %s[%thread] : memref<128xindex, #tile.shared>
      %is_high = arith.cmpi ugt, %next, %c64 : index
      scf.if %is_high {
        %v = memref.load %s[%other] : memref<128xindex, #tile.shared>
        memref.store %v, %y[%thread] : memref<128xindex>
      }
      scf.yield %next, %thread : index, index
    }
  }
  return
}

// -----

// All threads begin the loop alike, and leave it at different times.
// CHECK-LABEL: func.func @leave
// CHECK: gpu.barrier
// CHECK: scf.while
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @leave(%y: memref<128xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c127 = arith.constant 127 : index
  tile.launch blocks(%b) in (%n) threads(128) {
    %s = tile.alloc_shared : memref<128xindex, #tile.shared>
    %thread = gpu.thread_id x
    %other = arith.subi %c127, %thread : index
    memref.store %thread, %s[%thread] : memref<128xindex, #tile.shared>
    %last = scf.while (%a = %c0) : (index) -> index {
      %goes_on = arith.cmpi ult, %a, %c127 : index
      scf.condition(%goes_on) %a : index
    } do {
    ^bb0(%a: index):
      %v = memref.load %s[%other] : memref<128xindex, #tile.shared>
      memref.store %v, %y[%thread] : memref<128xindex>
      %next = arith.addi %a, %thread : index
      %more = arith.addi %next, %c1 : index
      scf.yield %more : index
    }
  }
  return
}

// -----

// Each thread finds in a local buffer what it has put there.
// CHECK-LABEL: func.func @through_local
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @through_local(%y: memref<128xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c127 = arith.constant 127 : index
  tile.launch blocks(%b) in (%n) threads(128) {
    %s = tile.alloc_shared : memref<128xindex, #tile.shared>
    %own = tile.alloc_local : memref<1xindex, #tile.local>
    %thread = gpu.thread_id x
    %other = arith.subi %c127, %thread : index
    memref.store %thread, %own[%c0] : memref<1xindex, #tile.local>
    memref.store %thread, %s[%thread] : memref<128xindex, #tile.shared>
    %number = memref.load %own[%c0] : memref<1xindex, #tile.local>
    %is_low = arith.cmpi ult, %number, %c64 : index
    scf.if %is_low {
      %v = memref.load %s[%other] : memref<128xindex, #tile.shared>
      memref.store %v, %y[%thread] : memref<128xindex>
    }
  }
  return
}
