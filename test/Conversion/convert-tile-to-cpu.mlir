// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse -split-input-file | FileCheck %s
// RUN: tile-opt %s -convert-tile-to-cpu=vector-bytes=64 -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=WIDE

// Blocks are one loop over block numbers, the first grid dimension fastest, and
// each worker allocates the on-chip buffers once. A grid whose blocks cannot be
// counted is reported.
// CHECK-LABEL: func.func @launch
// CHECK-SAME: %[[GX:[a-z0-9]+]]: index, %[[GY:[a-z0-9]+]]: index
// CHECK-DAG: %[[X:.*]] = arith.maxsi %[[GX]], %c0
// CHECK-DAG: %[[Y:.*]] = arith.maxsi %[[GY]], %c0
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[X]], %[[Y]]
// CHECK: scf.if %[[MANY:.*]] {
// CHECK: call @__tile_cpu_report
// CHECK: %[[BLOCKS:.*]] = arith.select %[[MANY]], %c0, %[[PRODUCT]]
// CHECK: omp.parallel
// CHECK: %[[S:.*]] = memref.alloc() {alignment = 64 : i64} : memref<64x64xf32>
// CHECK: omp.wsloop schedule(dynamic = %{{.*}} : index)
// CHECK: omp.loop_nest (%[[B:.*]]) : index = (%c0) to (%[[BLOCKS]]) step (%c1)
// CHECK: %[[BX:.*]] = arith.remui %[[B]], %[[X]]
// CHECK: %[[BY:.*]] = arith.divui %[[B]], %[[X]]
// CHECK: memref.dealloc %[[S]]
func.func @launch(%gx: index, %gy: index, %out: memref<?x?xindex>) {
  tile.launch blocks(%bx, %by) in (%gx, %gy) bounds(assume) {
    %S = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %zero = arith.constant 0.0 : f32
    tile.fill %S, %zero : memref<64x64xf32, #tile.shared>
    memref.store %bx, %out[%bx, %by] : memref<?x?xindex>
  }
  return
}

// -----

// A tile inside the buffer is copied without tests; one that sticks out is filled
// with the pad value first.
// CHECK-LABEL: func.func @copy
// CHECK: %[[WHOLE:.*]] = arith.andi
// CHECK: scf.if
// CHECK: vector.load %{{.*}} : memref<?x?xf16>, vector<32xf16>
// CHECK: arith.extf
// CHECK: vector.store
// CHECK: else
// CHECK: memref.store
// CHECK: vector.load
func.func @copy(%A: memref<?x?xf16>, %g: index) {
  tile.launch blocks(%b) in (%g) {
    %S = tile.alloc_shared : memref<16x32xf32, #tile.shared>
    tile.copy %A[%b, %b] to %S : memref<?x?xf16> to memref<16x32xf32, #tile.shared>
  }
  return
}

// -----

// Known to be inside: no test but for the memory of the tile.
// CHECK-LABEL: func.func @copy_inside
// CHECK: %[[S:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32x32xf32>
// CHECK: memref.extract_aligned_pointer_as_index %[[S]]
// CHECK: scf.if
// CHECK: __tile_cpu_report
// CHECK: else
// CHECK-NOT: scf.if
// CHECK-NOT: memref.store
func.func @copy_inside(%A: memref<64x64xf32>, %g: index) {
  tile.launch blocks(%b) in (%g) {
    %S = tile.alloc_shared : memref<32x32xf32, #tile.shared>
    tile.copy %A[16, 32] to %S : memref<64x64xf32> to memref<32x32xf32, #tile.shared>
  }
  return
}

// -----

// Six rows of two registers are accumulated at a time, twelve where registers
// are wide.
// CHECK-LABEL: func.func @gemm
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-12: vector.fma
// WIDE-LABEL: func.func @gemm
// WIDE-COUNT-24: vector.fma {{.*}} : vector<16xf32>
func.func @gemm(%g: index) {
  tile.launch blocks(%b) in (%g) {
    %A = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %B = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.gemm %A, %B, %C : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>, memref<64x64xf32, #tile.fragment>
  }
  return
}

// -----

// Two rows left over share with the six before them: four and four.
// CHECK-LABEL: func.func @gemm_rest
// CHECK-COUNT-8: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-8: vector.fma
// CHECK: scf.yield
// CHECK-NOT: vector.fma
func.func @gemm_rest(%g: index) {
  tile.launch blocks(%b) in (%g) {
    %A = tile.alloc_shared : memref<8x32xf32, #tile.shared>
    %B = tile.alloc_shared : memref<32x16xf32, #tile.shared>
    %C = tile.alloc_fragment : memref<8x16xf32, #tile.fragment>
    tile.gemm %A, %B, %C : memref<8x32xf32, #tile.shared>, memref<32x16xf32, #tile.shared>, memref<8x16xf32, #tile.fragment>
  }
  return
}

// -----

// The last dimension runs in vectors; one test in front picks the version
// without masks.
// CHECK-LABEL: func.func @elementwise
// CHECK: arith.cmpi sge
// CHECK: arith.cmpi slt
// CHECK: arith.andi
// CHECK: scf.if
// CHECK: vector.load %{{.*}} : memref<?xf32>, vector<16xf32>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: else
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
func.func @elementwise(%x: memref<?xf32>, %y: memref<?xf32>, %g: index) {
  tile.launch blocks(%b) in (%g) {
    tile.parallel (%i) in (64) {
      %at = arith.addi %b, %i : index
      %v = memref.load %x[%at] : memref<?xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %y[%at] : memref<?xf32>
    }
  }
  return
}

// -----

// A condition on the lane's index is compared in 32 bits and becomes a mask; the
// two branches become a select.
// CHECK-LABEL: func.func @condition
// CHECK: arith.cmpi sgt, %{{.*}}, %{{.*}} : vector<16xi32>
// CHECK: arith.select %{{.*}} : vector<16xi1>, vector<16xf32>
func.func @condition(%n: index, %g: index) {
  tile.launch blocks(%b) in (%g) {
    %S = tile.alloc_fragment : memref<4x32xf32, #tile.fragment>
    tile.parallel (%i, %j) in (4, 32) {
      %c = arith.cmpi slt, %j, %n : index
      %w = scf.if %c -> f32 {
        %one = arith.constant 1.0 : f32
        scf.yield %one : f32
      } else {
        %v = memref.load %S[%i, %j] : memref<4x32xf32, #tile.fragment>
        scf.yield %v : f32
      }
      memref.store %w, %S[%i, %j] : memref<4x32xf32, #tile.fragment>
    }
  }
  return
}

// -----

// Where a condition on the lane's index holds in the first lane and the last, and
// so in all of them, stores have no masks.
// CHECK-LABEL: func.func @condition_of_all
// CHECK: %[[LAST:.*]] = arith.addi %[[FIRST:.*]], %c15
// CHECK-DAG: arith.cmpi sle, %[[FIRST]], %[[LAST]]
// CHECK-DAG: arith.cmpi slt, %[[FIRST]], %[[N:.*]] : index
// CHECK-DAG: arith.cmpi slt, %[[LAST]], %[[N]] : index
// CHECK: scf.if
// CHECK-NOT: arith.select
// CHECK: vector.store
// CHECK: else
// CHECK: arith.select {{.*}} : vector<16xi1>
// CHECK: vector.store
func.func @condition_of_all(%n: index, %g: index) {
  tile.launch blocks(%b) in (%g) {
    %one = arith.constant 1.0 : f32
    %S = tile.alloc_fragment : memref<4x32xf32, #tile.fragment>
    tile.parallel (%i, %j) in (4, 32) {
      %at = arith.addi %b, %j : index
      %c = arith.cmpi slt, %at, %n : index
      scf.if %c {
        memref.store %one, %S[%i, %j] : memref<4x32xf32, #tile.fragment>
      }
    }
  }
  return
}

// -----

// The next tile is asked for while one is read: along the dimension in which the
// loop moves on, or the blocks where there is no loop.
// CHECK-LABEL: func.func @ahead
// CHECK: scf.for %[[K:.*]] = %c0
// CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c64 : index
// CHECK: memref.prefetch %arg0[%{{.*}}, %[[NEXT]]], read, locality<3>, data
// CHECK: %[[BELOW:.*]] = arith.addi %{{.*}}, %c8 : index
// CHECK-COUNT-2: memref.prefetch %arg1[%[[BELOW]], %{{.*}}], read
// CHECK-NOT: memref.prefetch
// CHECK: memref.load %arg3
// CHECK: %[[RIGHT:.*]] = arith.addi %{{.*}}, %c128
// CHECK: memref.prefetch %arg2[%[[RIGHT]]], read
func.func @ahead(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %z: memref<?xf32>, %w: memref<1xf32>, %n: index, %g: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.launch blocks(%b) in (%g) bounds(assume) {
    %S = tile.alloc_shared : memref<8x64xf32, #tile.shared>
    scf.for %k = %c0 to %n step %c64 {
      tile.copy %x[%b, %k] to %S : memref<?x?xf32> to memref<8x64xf32, #tile.shared>
      tile.copy %y[%k, %b] to %S : memref<?x?xf32> to memref<8x64xf32, #tile.shared>
      tile.copy %y[%b, %b] to %S : memref<?x?xf32> to memref<8x64xf32, #tile.shared>
    }
    %f = memref.load %w[%c0] : memref<1xf32>
    %F = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    tile.parallel (%i) in (128) {
      %at = arith.addi %b, %i : index
      %v = memref.load %z[%at] : memref<?xf32>
      %s = arith.mulf %v, %f : f32
      memref.store %s, %F[%i] : memref<128xf32, #tile.fragment>
    }
  }
  return
}

// -----

// A lane's own buffer gets one element a lane, and a serial loop stays a loop.
// CHECK-LABEL: func.func @local
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<2x16xf32>
// CHECK: scf.for
// CHECK: vector.store %{{.*}} : memref<2x16xf32>, vector<16xf32>
func.func @local(%x: memref<16xf32>, %g: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tile.launch blocks(%b) in (%g) {
    tile.parallel (%i) in (16) {
      %L = tile.alloc_local : memref<2xf32, #tile.local>
      %v = memref.load %x[%i] : memref<16xf32>
      scf.for %k = %c0 to %c2 step %c1 {
        memref.store %v, %L[%k] : memref<2xf32, #tile.local>
      }
      %w = memref.load %L[%c1] : memref<2xf32, #tile.local>
      memref.store %w, %x[%i] : memref<16xf32>
    }
  }
  return
}

// -----

// A reduction along the last dimension keeps four registers of partial results,
// and beside those of maxima whether two of them have met NaN, which the
// instruction loses.
// CHECK-LABEL: func.func @reduce
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xi32>, vector<8xi32>)
// CHECK-COUNT-4: vector.load
// CHECK: %[[LARGER:.*]] = arith.cmpf ogt, %[[NEW:.*]], %[[OLD:.*]] : vector<8xf32>
// CHECK: arith.select %[[LARGER]], %[[NEW]], %[[OLD]]
// CHECK-COUNT-2: arith.cmpf uno
// CHECK: scf.yield
// CHECK: arith.select {{.*}}, %{{nan.*|cst.*}}, %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK-COUNT-3: arith.maximumf
// CHECK: memref.store
// WIDE-LABEL: func.func @reduce
// WIDE: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xi1>, vector<16xi1>)
func.func @reduce(%x: memref<4x256xf32>, %y: memref<4xf32>, %g: index) {
  tile.launch blocks(%b) in (%g) {
    %S = tile.alloc_fragment : memref<4x256xf32, #tile.fragment>
    %m = tile.alloc_fragment : memref<4xf32, #tile.fragment>
    tile.copy %x to %S : memref<4x256xf32> to memref<4x256xf32, #tile.fragment>
    tile.reduce max %S along 1 into %m : memref<4x256xf32, #tile.fragment> into memref<4xf32, #tile.fragment>
    tile.copy %m to %y : memref<4xf32, #tile.fragment> to memref<4xf32>
  }
  return
}

// -----

// As many rows as a register has lanes are brought down to one together: seven
// additions for eight. Rows and elements left over are added by themselves.
// CHECK-LABEL: func.func @reduce_rows
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-4: arith.addf
// CHECK: vector.insert_strided_slice %{{.*}}, %{{.*}} : vector<6xf32> into vector<8xf32>
// CHECK: vector.store {{.*}} : memref<8x8xf32>, vector<8xf32>
// CHECK-COUNT-7: arith.addf {{.*}} : vector<8xf32>
// CHECK-NOT: arith.addf
// CHECK: vector.store {{.*}} : memref<18xf32>, vector<8xf32>
// CHECK: vector.extract
// CHECK: memref.store {{.*}} : memref<18xf32>
func.func @reduce_rows(%x: memref<18x70xf32>, %y: memref<18xf32>, %g: index) {
  tile.launch blocks(%b) in (%g) {
    %S = tile.alloc_fragment : memref<18x70xf32, #tile.fragment>
    %m = tile.alloc_fragment : memref<18xf32, #tile.fragment>
    tile.copy %x to %S : memref<18x70xf32> to memref<18x70xf32, #tile.fragment>
    tile.reduce sum %S along 1 into %m : memref<18x70xf32, #tile.fragment> into memref<18xf32, #tile.fragment>
    tile.copy %m to %y : memref<18xf32, #tile.fragment> to memref<18xf32>
  }
  return
}

// -----

// A trapping launch reports what a guarded one drops, with the place it is at.
// CHECK-DAG: func.func private @__tile_cpu_report(!llvm.ptr, !llvm.ptr)
// CHECK-DAG: func.func private @__tile_cpu_call() -> !llvm.ptr
// CHECK-DAG: llvm.mlir.global internal constant @__tile_message_0({{.*}}load outside the buffer
// CHECK-LABEL: func.func @trap
// CHECK: %[[CALL:.*]] = call @__tile_cpu_call
// CHECK: else
// CHECK: call @__tile_cpu_report(%[[CALL]],
func.func @trap(%x: memref<?xf32>, %y: memref<1xf32>, %g: index) {
  %c0 = arith.constant 0 : index
  tile.launch blocks(%b) in (%g) bounds(trap) {
    %v = memref.load %x[%b] : memref<?xf32>
    memref.store %v, %y[%c0] : memref<1xf32>
  }
  return
}

// -----

// The launch's flags reach conversions, which need not have any of their own.
// CHECK-LABEL: func.func @flags_of_conversions
// CHECK: arith.extf {{.*}} fastmath<contract> : vector<{{.*}}xf16>
// CHECK: arith.mulf {{.*}} fastmath<contract>
// CHECK: arith.truncf {{.*}} fastmath<contract>
func.func @flags_of_conversions(%x: memref<64xf16>, %y: memref<64xf16>, %g: index) {
  tile.launch blocks(%b) in (%g) fastmath<contract> {
    tile.parallel (%i) in (64) {
      %v = memref.load %x[%i] : memref<64xf16>
      %w = arith.extf %v : f16 to f32
      %s = arith.mulf %w, %w : f32
      %r = arith.truncf %s : f32 to f16
      memref.store %r, %y[%i] : memref<64xf16>
    }
  }
  return
}

// -----

// Large results whose rows begin cache lines go around the caches, and the
// block ends with a fence; small ones do not.
// CHECK-LABEL: func.func @stream
// CHECK: %[[BITS:.*]] = arith.ori
// CHECK: arith.andi %{{.*}}, %c63
// CHECK: arith.cmpi sge, %{{.*}}, %c16777216
// CHECK: scf.if
// CHECK: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true} : memref<?x?xf32>, vector<32xf32>
// CHECK: else
// CHECK-NOT: nontemporal
// CHECK: vector.store {{.*}} memref<4x64xf32>
// CHECK: llvm.fence seq_cst
func.func @stream(%x: memref<?x?xf32>, %z: memref<4x64xf32>, %g: index) {
  tile.launch blocks(%b) in (%g) bounds(assume) {
    %S = tile.alloc_fragment : memref<4x64xf32, #tile.fragment>
    tile.copy %S to %x[%b, 0] : memref<4x64xf32, #tile.fragment> to memref<?x?xf32>
    tile.copy %S to %z : memref<4x64xf32, #tile.fragment> to memref<4x64xf32>
  }
  return
}

// -----

// The same for an elementwise loop, whose vectors then fill lines.
// CHECK-LABEL: func.func @stream_lanes
// CHECK: nontemporal = true
// CHECK: else
// CHECK-NOT: nontemporal
// CHECK-LABEL: func.func @stream_narrow
// CHECK: vector.store {{.*}} nontemporal = true} : memref<?xf16>, vector<32xf16>
// CHECK: else
// CHECK: vector.store {{.*}} : memref<?xf16>, vector<16xf16>
func.func @stream_lanes(%x: memref<?xf32>, %g: index) {
  %one = arith.constant 1.0 : f32
  tile.launch blocks(%b) in (%g) bounds(assume) {
    tile.parallel (%i) in (256) {
      %at = arith.addi %b, %i : index
      memref.store %one, %x[%at] : memref<?xf32>
    }
  }
  return
}
func.func @stream_narrow(%x: memref<?xf16>, %g: index) {
  %one = arith.constant 1.0 : f16
  tile.launch blocks(%b) in (%g) bounds(assume) {
    tile.parallel (%i) in (256) {
      %at = arith.addi %b, %i : index
      memref.store %one, %x[%at] : memref<?xf16>
    }
  }
  return
}

// -----

// Operands that copies fill are kept in f32. B is read by an elementwise loop,
// too, and stays.
// CHECK-LABEL: func.func @widen
// CHECK-DAG: memref.alloc{{.*}} : memref<64x32xf32>
// CHECK-DAG: memref.alloc{{.*}} : memref<32x64xf16>
func.func @widen(%x: memref<64x32xf16>, %y: memref<32x64xf16>, %z: memref<64x64xf32>, %g: index) {
  tile.launch blocks(%b) in (%g) bounds(assume) {
    %A = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %B = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.copy %x to %A : memref<64x32xf16> to memref<64x32xf16, #tile.shared>
    tile.copy %y to %B : memref<32x64xf16> to memref<32x64xf16, #tile.shared>
    tile.parallel (%i, %j) in (32, 64) {
      %v = memref.load %B[%i, %j] : memref<32x64xf16, #tile.shared>
      %w = arith.negf %v : f16
      memref.store %w, %B[%i, %j] : memref<32x64xf16, #tile.shared>
    }
    tile.gemm %A, %B, %C clear : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>, memref<64x64xf32, #tile.fragment>
    tile.copy %C to %z : memref<64x64xf32, #tile.fragment> to memref<64x64xf32>
  }
  return
}

// -----

// A workspace that is not to be had ends the function with a report.
// CHECK-LABEL: func.func @workspace
// CHECK: arith.cmpi sgt, %{{.*}}, %c549755813888
// CHECK: cf.cond_br %{{.*}}, ^[[LEAVE:bb[0-9]+]](%[[TOO_LARGE:.*]] : !llvm.ptr), ^[[SMALL:bb[0-9]+]]
// CHECK: ^[[LEAVE]](%[[WHY:.*]]: !llvm.ptr):
// CHECK-NEXT: call @__tile_cpu_report(%{{.*}}, %[[WHY]])
// CHECK-NEXT: return
// CHECK: ^[[SMALL]]:
// CHECK: %[[BUFFER:.*]] = memref.alloc(
// CHECK: cf.cond_br %{{.*}}, ^[[LEAVE]](%[[NONE:.*]] : !llvm.ptr), ^[[REST:bb[0-9]+]]
// CHECK: ^[[REST]]:
// CHECK: memref.dealloc %[[BUFFER]]
// CHECK-NEXT: return
func.func @workspace(%n: index) {
  %w = tile.alloc_global(%n) : memref<?x64xf32>
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    tile.copy %s to %w[%b, 0] : memref<64xf32, #tile.fragment> to memref<?x64xf32>
  }
  return
}

// -----

// Lanes that share a quotient, whatever the divisor, read neighbours; only where
// a vector lies across a multiple of it they gather. In front of the loop the
// divisor is found positive and the number not negative, so that both indices are
// inside.
// CHECK-LABEL: func.func @quotient
// CHECK: arith.cmpi sgt, %{{.*}}, %c0
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = arith.remui
// CHECK: %[[LAST:.*]] = arith.addi %[[FIRST]], %c15
// CHECK: %[[SAME:.*]] = arith.cmpi ult, %[[LAST]]
// CHECK: scf.if %[[SAME]] {
// CHECK-NOT: vector.gather
// CHECK: vector.load %{{.*}} : memref<?x?xf32>, vector<16xf32>
// CHECK: } else {
// CHECK: vector.gather
func.func @quotient(%x: memref<?x?xf32>, %y: memref<?xf32>, %g: index) {
  %c1 = arith.constant 1 : index
  %d = memref.dim %x, %c1 : memref<?x?xf32>
  tile.launch blocks(%b) in (%g) {
    %c64 = arith.constant 64 : index
    %from = arith.muli %b, %c64 : index
    tile.parallel (%i) in (64) {
      %n = arith.addi %from, %i : index
      %q = arith.divui %n, %d : index
      %r = arith.remui %n, %d : index
      %v = memref.load %x[%q, %r] : memref<?x?xf32>
      memref.store %v, %y[%n] : memref<?xf32>
    }
  }
  return
}

// -----

// Lanes that a condition turns off have elements on the chip: they are read and
// written back as they were, without masks.
// CHECK-LABEL: func.func @blend
// CHECK: %[[OLD:.*]] = vector.load
// CHECK: %[[MASK:.*]] = arith.cmpf
// CHECK: %[[NEW:.*]] = arith.select %[[MASK]], %{{.*}}, %[[OLD]]
// CHECK: vector.store %[[NEW]]
// CHECK-NOT: maskedstore
func.func @blend(%g: index) {
  tile.launch blocks(%b) in (%g) {
    %zero = arith.constant 0.0 : f32
    %t = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    tile.fill %t, %zero : memref<64xf32, #tile.fragment>
    tile.parallel (%i) in (64) {
      %v = memref.load %t[%i] : memref<64xf32, #tile.fragment>
      %c = arith.cmpf ogt, %v, %zero : f32
      scf.if %c {
        memref.store %zero, %t[%i] : memref<64xf32, #tile.fragment>
      }
    }
  }
  return
}

// -----

// Masks of 16-bit elements are taken apart where registers are narrow, so whole
// vectors go without one.
// CHECK-LABEL: func.func @narrow_mask
// CHECK: else
// CHECK: %[[ALL:.*]] = vector.reduction <and>
// CHECK: scf.if %[[ALL]]
// CHECK: vector.load
// CHECK: else
// CHECK: vector.maskedload
// WIDE-LABEL: func.func @narrow_mask
// WIDE-NOT: vector.reduction
// WIDE: vector.maskedload
func.func @narrow_mask(%x: memref<?xbf16>, %y: memref<?xbf16>, %g: index) {
  tile.launch blocks(%b) in (%g) {
    tile.parallel (%i) in (64) {
      %n = arith.addi %b, %i : index
      %v = memref.load %x[%n] : memref<?xbf16>
      memref.store %v, %y[%n] : memref<?xbf16>
    }
  }
  return
}

// -----

// Registers of 64 bytes have an instruction that multiplies by a power of two,
// of whatever size: arguments are only clamped from below.
// WIDE-LABEL: func.func @exp
// WIDE: arith.cmpf olt
// WIDE-NOT: arith.cmpf
// WIDE-COUNT-9: math.fma
// WIDE-NOT: math.fma
// WIDE-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// CHECK-LABEL: func.func @exp
// CHECK: vector.reduction <and>
// CHECK: scf.if
// CHECK-COUNT-9: math.fma
// CHECK: else
// CHECK: arith.cmpf olt
// CHECK: arith.cmpf ogt
func.func @exp(%x: memref<32xf32>, %g: index) {
  tile.launch blocks(%b) in (%g) {
    tile.parallel (%i) in (32) {
      %v = memref.load %x[%i] : memref<32xf32>
      %e = math.exp %v : f32
      memref.store %e, %x[%i] : memref<32xf32>
    }
  }
  return
}
