// RUN: tile-opt %s -tile-infer-layouts -tile-plan-shared-memory -tile-insert-sync -convert-tile-to-gpu -split-input-file | FileCheck %s
// RUN: tile-opt %s -tile-infer-layouts=chip=sm_90 -tile-plan-shared-memory=chip=sm_90 -tile-insert-sync -convert-tile-to-gpu=chip=sm_90 -split-input-file | FileCheck %s --check-prefix=SM90

// Pointers come first, then dynamic extents and strides; without the promise of
// alignment elements go one by one, under a predicate.
// CHECK: gpu.module @guarded_kernels
// CHECK: gpu.func @guarded(%{{.*}}: !llvm.ptr<1> {llvm.noalias}, %{{.*}}: i64, %{{.*}}: !llvm.ptr<1> {llvm.noalias}, %{{.*}}: i64) kernel
// CHECK: ld.global.b32
// CHECK: st.global.b32
// CHECK-LABEL: func.func @guarded
// CHECK: gpu.launch_func @guarded_kernels::@guarded
func.func @guarded(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %F = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    tile.copy %x[0] to %F : memref<?xf32> to memref<128xf32, #tile.fragment>
    tile.copy %F to %y[0] : memref<128xf32, #tile.fragment> to memref<?xf32>
  }
  return
}

// -----

// With it, 16 bytes at a time.
// CHECK: gpu.module @aligned_kernels
// CHECK: ld.global.v4.b32
// CHECK: st.global.v4.b32
func.func @aligned(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) alignment(16) {
    %F = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    tile.copy %x[0] to %F : memref<?xf32> to memref<128xf32, #tile.fragment>
    tile.copy %F to %y[0] : memref<128xf32, #tile.fragment> to memref<?xf32>
  }
  return
}

// -----

// Matrix instructions, their operands by ldmatrix.
// CHECK: gpu.module @product_kernels
// CHECK: nvvm.ldmatrix {{.*}} num = 4
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @product(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %A = tile.alloc_shared : memref<16x16xf16, #tile.shared>
    %B = tile.alloc_shared : memref<16x16xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<16x16xf32, #tile.fragment>
    tile.gemm %A, %B, %C clear
      : memref<16x16xf16, #tile.shared>, memref<16x16xf16, #tile.shared>,
        memref<16x16xf32, #tile.fragment>
  }
  return
}

// -----

// Copies ahead of a loop are predicated; no branch parts what stands around them.
// A swizzle is an exclusive or of the thread's part of the address.
// CHECK: gpu.module @ahead_kernels
// CHECK: arith.xori
// CHECK-NOT: scf.if
// CHECK: @$2 cp.async.cg.shared.global.L2::128B [$0], [$1], 16, $3;
// CHECK: nvvm.cp.async.commit.group
func.func @ahead(%x: memref<?x64xf16>, %more: i1, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) alignment(16) {
    %S = tile.alloc_shared : memref<8x64xf16, #tile.shared<strides = [64, 1], swizzle = [3, 3, 3]>>
    scf.if %more {
      tile.copy %x[0, 0] to %S async : memref<?x64xf16> to memref<8x64xf16, #tile.shared<strides = [64, 1], swizzle = [3, 3, 3]>>
    }
    nvvm.cp.async.commit.group
  }
  return
}

// -----

// Where nothing says that rows are aligned the copy is of loads and stores, and
// there is no group to commit or to wait for.
// CHECK: gpu.module @unaligned_kernels
// CHECK-NOT: cp.async
// CHECK: gpu.return
func.func @unaligned(%x: memref<?x64xf16>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %S = tile.alloc_shared at 0 : memref<8x64xf16, #tile.shared>
    tile.copy %x[0, 0] to %S async : memref<?x64xf16> to memref<8x64xf16, #tile.shared>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
  }
  return
}

// -----

// Nor can it be told what is in a group where the program speaks to the threads
// itself.
// CHECK: gpu.module @unknown_kernels
// CHECK: llvm.inline_asm
// CHECK-NEXT: nvvm.cp.async.commit.group
// CHECK-NEXT: nvvm.cp.async.wait.group 0
func.func @unknown(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    llvm.inline_asm has_side_effects "cp.async.ca.shared.global [0], [0], 4;", "" : () -> ()
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
  }
  return
}

// -----

// A result goes to shared memory in pairs, or by stmatrix where there is one.
// Tests of many elements against one end are tests of 32 bits.
// CHECK: gpu.module @result_kernels
// CHECK-NOT: nvvm.stmatrix
// CHECK: arith.cmpi sgt, {{.*}} : i32
// CHECK: st.global.v4.b32
// SM90: gpu.module @result_kernels
// SM90-COUNT-4: nvvm.stmatrix {{.*}} : !llvm.ptr<3>, i32, i32, i32, i32
// SM90-NOT: nvvm.stmatrix
// SM90: gpu.module @sum_kernels
func.func @result(%c: memref<?x?xf16>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) alignment(16) {
    %A = tile.alloc_shared : memref<32x16xf16, #tile.shared>
    %B = tile.alloc_shared : memref<16x32xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<32x32xf32, #tile.fragment>
    tile.gemm %A, %B, %C clear
      : memref<32x16xf16, #tile.shared>, memref<16x32xf16, #tile.shared>,
        memref<32x32xf32, #tile.fragment>
    %c32 = arith.constant 32 : index
    %row = arith.muli %b, %c32 : index
    tile.copy %C to %c[%row, 0] : memref<32x32xf32, #tile.fragment> to memref<?x?xf16>
  }
  return
}

// -----

// A sum within a warp takes butterflies and no barrier.
// CHECK: gpu.module @sum_kernels
// CHECK-NOT: gpu.barrier
// CHECK-COUNT-5: gpu.shuffle xor
func.func @sum(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %S = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    %m = tile.alloc_fragment : memref<1xf32, #tile.fragment>
    tile.reduce sum %S along 0 into %m
      : memref<64xf32, #tile.fragment> into memref<1xf32, #tile.fragment>
  }
  return
}
