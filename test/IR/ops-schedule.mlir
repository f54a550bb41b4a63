// Orders, hints, steps and workspaces in every form of their assembly.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @launch_hints
// CHECK-SAME: (%[[N:.*]]: index)
func.func @launch_hints(%n: index) {
  // CHECK: tile.launch blocks(%bx, %by) in (%[[N]], %[[N]]) threads(128) raster(column, 4) registers(168) bounds(trap) {
  tile.launch blocks(%a, %b) in (%n, %n) threads(128) raster(column, 4) registers(168) bounds(trap) {
  }
  // CHECK: tile.launch blocks(%bx, %by) in (%[[N]], %[[N]]) raster(row) {
  tile.launch blocks(%a, %b) in (%n, %n) raster(row, 1) {
  }
  return
}

// CHECK-LABEL: func.func @copy_hints
func.func @copy_hints(%a: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_shared : memref<8x16xf32, #tile.shared>
    // CHECK: tile.copy {{.*}} to %{{.*}} cache(evict_first) engine(tma) : memref
    tile.copy %a[%b, 0] to %s engine(tma) cache(evict_first) : memref<?x?xf32> to memref<8x16xf32, #tile.shared>
    // CHECK: tile.copy {{.*}} to %{{.*}} engine(cp_async) : memref
    tile.copy %a[%b, 0] to %s engine(cp_async) : memref<?x?xf32> to memref<8x16xf32, #tile.shared>
    // CHECK: tile.copy {{.*}} cache(evict_last) engine(vector) : memref
    tile.copy %s to %a[%b, 0] cache(evict_last) engine(vector) : memref<8x16xf32, #tile.shared> to memref<?x?xf32>
    // The compiler's own choice is not printed.
    // CHECK: tile.copy {{.*}} cache(no_allocate) : memref
    tile.copy %s to %a[%b, 0] cache(no_allocate) engine(auto) : memref<8x16xf32, #tile.shared> to memref<?x?xf32>
  }
  return
}

// CHECK-LABEL: func.func @workspace
// CHECK-SAME: (%[[N:.*]]: index)
func.func @workspace(%n: index) {
  // CHECK: tile.alloc_global(%[[N]]) : memref<?x64xf32>
  %w = tile.alloc_global(%n) : memref<?x64xf32>
  // CHECK: tile.alloc_global : memref<i32>
  %c = tile.alloc_global : memref<i32>
  return
}

// CHECK-LABEL: func.func @persistent
// CHECK-SAME: (%[[N:.*]]: index)
func.func @persistent(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: tile.persistent (%ti) in (%[[N]]) {
    tile.persistent (%i) in (%n) {
    }
    // CHECK: tile.persistent (%ti, %tj, %tk) in (%[[N]], %[[N]], %bx) raster(row, 8) attributes {test.note} {
    tile.persistent (%i, %j, %k) in (%n, %n, %b) raster(row, 8) attributes {test.note} {
      // CHECK: arith.addi %ti, %tk
      %s = arith.addi %i, %k : index
    }
  }
  return
}

// CHECK-LABEL: func.func @steps
func.func @steps(%a: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    %t = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    // CHECK: tile.pipelined
    tile.pipelined %k = %b to %n stages(3) {
      // CHECK: tile.step order(1) role(producer) {
      // CHECK-NEXT: tile.copy
      // CHECK-NEXT: }
      tile.step stage(0) order(1) role(producer) {
        tile.copy %a[%k] to %s : memref<?xf32> to memref<8xf32, #tile.shared>
      }
      // CHECK: tile.step stage(2) order(0) role(consumer) attributes {test.note} {
      tile.step stage(2) order(0) role(consumer) attributes {test.note} {
        tile.copy %s to %t : memref<8xf32, #tile.shared> to memref<8xf32, #tile.fragment>
      }
    }
    // CHECK: tile.pipelined
    tile.pipelined %k = %b to %n {
      // CHECK: tile.step {
      tile.step {
        tile.copy %a[%k] to %s : memref<?xf32> to memref<8xf32, #tile.shared>
      }
    }
  }
  return
}

// Two arguments that may overlap in memory.
// CHECK-LABEL: func.func @alias
// CHECK-SAME: tile.may_alias = ["y", "2"]
func.func @alias(%x: memref<?xf32> {tile.name = "x", tile.may_alias = ["y", "2"]}, %y: memref<?xf32> {tile.name = "y"}, %z: memref<?xf32>) {
  return
}

// CHECK: #tile.raster<row, 8>
// CHECK: #tile.raster<column>
module attributes {test.a = #tile.raster<row, 8>, test.b = #tile.raster<column, 1>} {
}
