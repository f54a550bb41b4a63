// RUN: tile-opt %s -tile-split-copies | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[X:.*]]: memref<?x?xf32>, %[[Y:.*]]: memref<?xf16>
func.func @rows(%x: memref<?x?xf32>, %y: memref<?xf16>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %pad = arith.constant 1.0 : f32
    // What is left of 100000 elements is a copy of its own.
    // CHECK-DAG: %[[STEP:.*]] = arith.constant 32768 : index
    // CHECK-DAG: %[[END:.*]] = arith.constant 98304 : index
    // CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[END]] step %[[STEP]] {
    // CHECK: %[[J:.*]] = arith.addi %{{.*}}, %[[I]] : index
    // CHECK: tile.copy %[[X]][%{{.*}}, %[[I]]] sizes [1, 32768] to %[[Y]][%[[J]]] sizes [32768]
    // CHECK-SAME: pad(%{{.*}} : f32) saturate cache(evict_first)
    // CHECK: tile.copy %[[X]][%{{.*}}, %{{.*}}] sizes [1, 1696] to %[[Y]][%{{.*}}] sizes [1696]
    tile.copy %x[%b, 0] sizes [1, 100000] to %y[%b] pad(%pad : f32) saturate cache(evict_first)
      : memref<?x?xf32> to memref<?xf16>
  }
  return
}

// CHECK-LABEL: func.func @planes
func.func @planes(%x: memref<?x?x?xf32>, %y: memref<?x?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    // Three nested loops would be one too many: a row is small enough.
    // CHECK: scf.for
    // CHECK: scf.for
    // CHECK-NOT: scf.for
    // CHECK: sizes [1, 3, 10000]
    // CHECK: sizes [1, 1, 10000]
    tile.copy %x[%b, 0, 0] sizes [5, 7, 10000] to %y[%b, 0, 0] : memref<?x?x?xf32> to memref<?x?x?xf32>
    // More elements than an index counts.
    // CHECK: sizes [1, 1, 32768]
    tile.copy %x[%b, 0, 0] sizes [4294967296, 4294967296, 32768] to %y[%b, 0, 0]
      : memref<?x?x?xf32> to memref<?x?x?xf32>
    // CHECK: tile.copy %{{.*}} sizes [1, 32, 1024]
    tile.copy %x[%b, 0, 0] sizes [1, 32, 1024] to %y[%b, 0, 0] : memref<?x?x?xf32> to memref<?x?x?xf32>
  }
  return
}
