// RUN: tile-opt %s -tile-materialize-pipeline -tile-infer-layouts -tile-plan-shared-memory -tile-insert-sync -convert-tile-to-gpu=chip=sm_90 -split-input-file | FileCheck %s

// CHECK: gpu.func @policies({{.*}}nvvm.maxnreg = 64
// CHECK: ld.global.L1::evict_first.v4.b32
// CHECK: st.global.L1::no_allocate.v4.b32
func.func @policies(%x: memref<512xf32>, %y: memref<512xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(128) registers(64) alignment(16) {
    %f = tile.alloc_fragment : memref<512xf32, #tile.fragment>
    tile.copy %x to %f cache(evict_first) : memref<512xf32> to memref<512xf32, #tile.fragment>
    tile.copy %f to %y cache(no_allocate) : memref<512xf32, #tile.fragment> to memref<512xf32>
  }
  return
}

// -----

// cp.async where it is asked for, and waited for at once outside of pipelines.
// CHECK: gpu.module @engine_kernels
// CHECK: cp.async
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 0
func.func @engine(%x: memref<512xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(128) alignment(16) {
    %s = tile.alloc_shared : memref<512xf32, #tile.shared>
    tile.copy %x to %s engine(cp_async) : memref<512xf32> to memref<512xf32, #tile.shared>
  }
  return
}

// -----

// Blocks in bands of eight rows: the first dimension of the grid counts columns.
// CHECK: gpu.module @raster_kernels
// CHECK: %[[BX:.*]] = gpu.block_id x
// CHECK: %[[GX:.*]] = gpu.grid_dim x
// CHECK: arith.divui
// CHECK: arith.minsi
func.func @raster(%x: memref<?x?xf32>, %v: f32, %m: index, %n: index) {
  tile.launch blocks(%i, %j) in (%m, %n) threads(32) raster(row, 8) {
    memref.store %v, %x[%j, %i] : memref<?x?xf32>
  }
  return
}
