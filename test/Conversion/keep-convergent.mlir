// RUN: tile-opt %s --pass-pipeline="builtin.module(gpu.module(tile-keep-convergent))" | FileCheck %s
// RUN: tile-opt %s --pass-pipeline="builtin.module(gpu.module(tile-keep-convergent,convert-scf-to-cf,convert-gpu-to-nvvm,reconcile-unrealized-casts))" \
// RUN:   | FileCheck %s --check-prefix=BLOCKS

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @rounds
  // Threads of a warp are apart behind the condition: a test that is the same
  // as one in the loop would lead ptxas to let some in further down.
  // CHECK: threads meet before a loop
  // CHECK-NEXT: %[[ALL:.*]] = llvm.mlir.constant(-1 : i32)
  // CHECK-NEXT: nvvm.bar.warp.sync %[[ALL]]
  // CHECK-NEXT: scf.while
  // CHECK-NEXT: threads meet at its test
  // CHECK-NEXT: gpu.barrier
  // CHECK: threads meet before its next round
  // CHECK-NEXT: scf.condition
  // CHECK: scf.if
  // CHECK: }
  // CHECK-NEXT: threads meet before its next round
  // CHECK-NEXT: llvm.mlir.constant(-1 : i32)
  // CHECK-NEXT: nvvm.bar.warp.sync
  // CHECK-NEXT: scf.yield

  // The loop begins with a barrier and ends with a condition on the thread, as
  // does the code before it. Unless something stands there, where the sides of
  // the second join is merged with where those of the first do, and threads go
  // round on two edges, or come in on two.
  // BLOCKS-LABEL: llvm.func @rounds
  // BLOCKS: threads meet before a loop
  // BLOCKS: nvvm.bar.warp.sync
  // BLOCKS-NEXT: llvm.br ^[[TEST:bb[0-9]+]]
  // BLOCKS: ^[[TEST]]: // 2 preds
  // BLOCKS-NEXT: threads meet at its test
  // BLOCKS-NEXT: nvvm.barrier
  // BLOCKS-NOT: llvm.br ^[[TEST]]
  // BLOCKS-NOT: ^[[TEST]],
  // BLOCKS: threads meet before its next round
  // BLOCKS: threads meet before its next round
  // BLOCKS: nvvm.bar.warp.sync
  // BLOCKS-NEXT: llvm.br ^[[TEST]]
  gpu.func @rounds(%flags: !llvm.ptr<1>, %out: !llvm.ptr<1>) kernel {
    %zero = arith.constant 0 : i32
    %limit = arith.constant 100 : index
    %thread = gpu.thread_id x
    %is_mine = arith.cmpi ult, %thread, %limit : index
    scf.if %is_mine {
      llvm.store %zero, %out : i32, !llvm.ptr<1>
    }
    scf.while : () -> () {
      gpu.barrier
      %flag = llvm.load %flags : !llvm.ptr<1> -> i32
      %more = arith.cmpi ne, %flag, %zero : i32
      scf.condition(%more)
    } do {
      scf.if %is_mine {
        llvm.store %zero, %flags : i32, !llvm.ptr<1>
      }
      scf.yield
    }
    gpu.return
  }

  // A shuffle in assembly counts; an inner loop without one is left alone.
  // CHECK-LABEL: gpu.func @shuffles
  // CHECK: threads meet before a loop
  // CHECK-NEXT: scf.for
  // CHECK-NOT: meet
  // CHECK: scf.for
  // CHECK-NOT: meet
  // CHECK: shfl
  // CHECK: threads meet before its next round
  // CHECK-NOT: meet
  gpu.func @shuffles(%out: !llvm.ptr<1>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %i step %c1 {
        llvm.store %zero, %out : i32, !llvm.ptr<1>
      }
      %other = llvm.inline_asm has_side_effects "shfl.sync.bfly.b32 $0, $1, 1, 31, -1;", "=r,r" %zero : (i32) -> i32
      llvm.store %other, %out : i32, !llvm.ptr<1>
    }
    gpu.return
  }

  // Nobody is apart: a barrier came last, or nothing that parts a warp.
  // CHECK-LABEL: gpu.func @together
  // CHECK-NOT: nvvm.bar.warp.sync
  gpu.func @together(%out: !llvm.ptr<1>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %thread = gpu.thread_id x
    %is_mine = arith.cmpi ult, %thread, %n : index
    scf.for %i = %c0 to %n step %c1 {
      gpu.barrier
      scf.if %is_mine {
        llvm.store %zero, %out : i32, !llvm.ptr<1>
      }
      gpu.barrier
    }
    // Nobody waits for others in this one.
    scf.for %i = %c0 to %n step %c1 {
      scf.if %is_mine {
        llvm.store %zero, %out : i32, !llvm.ptr<1>
      }
      %other = llvm.inline_asm has_side_effects "shfl.sync.bfly.b32 $0, $1, 1, 31, -1;", "=r,r" %zero : (i32) -> i32
      llvm.store %other, %out : i32, !llvm.ptr<1>
    }
    gpu.return
  }

  // A warp comes to a case of a switch as it comes to the switch.
  // CHECK-LABEL: gpu.func @in_a_case
  // CHECK: scf.index_switch
  // CHECK: case 1 {
  // CHECK: nvvm.bar.warp.sync
  // CHECK: scf.for
  gpu.func @in_a_case(%out: !llvm.ptr<1>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %thread = gpu.thread_id x
    %is_mine = arith.cmpi ult, %thread, %n : index
    scf.if %is_mine {
      llvm.store %zero, %out : i32, !llvm.ptr<1>
    }
    scf.index_switch %n
    case 1 {
      scf.for %i = %c0 to %n step %c1 {
        gpu.barrier
      }
      scf.yield
    }
    default {
    }
    gpu.return
  }

  // The older op for a barrier is one too.
  // CHECK-LABEL: gpu.func @barrier0
  // CHECK: nvvm.bar.warp.sync
  // CHECK: scf.for
  gpu.func @barrier0(%out: !llvm.ptr<1>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %thread = gpu.thread_id x
    %is_mine = arith.cmpi ult, %thread, %n : index
    scf.if %is_mine {
      llvm.store %zero, %out : i32, !llvm.ptr<1>
    }
    scf.for %i = %c0 to %n step %c1 {
      nvvm.barrier0
    }
    gpu.return
  }
}
