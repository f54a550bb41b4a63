// RUN: tile-opt %s -tile-stage-elementwise -split-input-file | FileCheck %s

// Loads become copies in front of the loop, the store one behind it; a load
// that does not depend on all lanes is as small as what it names.
// CHECK-LABEL: func.func @bias
// CHECK: tile.copy %{{.*}} sizes [32, 64] to
// CHECK: tile.copy %{{.*}} sizes [64] to
// CHECK: tile.parallel
// CHECK-NOT: memref<?x?xf32>
// CHECK: }
// CHECK: tile.copy %{{.*}} to %{{.*}} sizes [32, 64]
func.func @bias(%x: memref<?x?xf32>, %w: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    tile.parallel (%i, %j) in (32, 64) {
      %r = arith.addi %b, %i : index
      %v = memref.load %x[%r, %j] : memref<?x?xf32>
      %u = memref.load %w[%j] : memref<?xf32>
      %s = arith.addf %v, %u : f32
      memref.store %s, %x[%r, %j] : memref<?x?xf32>
    }
  }
  return
}

// -----

// A gather and a store under a condition stay.
// CHECK-LABEL: func.func @gather
// CHECK-NOT: tile.copy %{{.*}}memref<?xf32>
// CHECK: tile.parallel
// CHECK: memref.load {{.*}} : memref<?xf32>
// CHECK: scf.if
// CHECK: memref.store {{.*}} : memref<?xf32>
func.func @gather(%x: memref<?xf32>, %at: memref<?xindex>, %y: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    tile.parallel (%i) in (64) {
      %j = memref.load %at[%i] : memref<?xindex>
      %v = memref.load %x[%j] : memref<?xf32>
      %some = arith.cmpi slt, %j, %n : index
      scf.if %some {
        memref.store %v, %y[%i] : memref<?xf32>
      }
    }
  }
  return
}

// -----

// 1024 floats a thread would not stay in registers.
// CHECK-LABEL: func.func @large
// CHECK-NOT: tile.copy
func.func @large(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    tile.parallel (%i) in (32768) {
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
  }
  return
}
