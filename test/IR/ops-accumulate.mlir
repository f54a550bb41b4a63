// Scans and atomics in every form of their assembly: what is printed is parsed
// again, in the custom and in the generic form.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @scan
func.func @scan(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: %[[S:.*]] = tile.alloc_fragment : memref<8x16xf16
    %s = tile.alloc_fragment : memref<8x16xf16, #tile.fragment>
    // CHECK: %[[T:.*]] = tile.alloc_shared : memref<8x16xf32
    %t = tile.alloc_shared : memref<8x16xf32, #tile.shared>
    // CHECK: %[[I:.*]] = tile.alloc_fragment : memref<8xi8
    %i = tile.alloc_fragment : memref<8xi8, #tile.fragment>
    // CHECK: tile.scan sum %[[S]] along 1 into %[[T]] : memref<8x16xf16, #tile.fragment> into memref<8x16xf32, #tile.shared>
    tile.scan sum %s along 1 into %t : memref<8x16xf16, #tile.fragment> into memref<8x16xf32, #tile.shared>
    // CHECK: tile.scan product %[[T]] along 0 into %[[T]] reverse exclusive : memref
    tile.scan product %t along 0 into %t reverse exclusive : memref<8x16xf32, #tile.shared> into memref<8x16xf32, #tile.shared>
    // CHECK: tile.scan max %[[T]] along 1 into %[[T]] exclusive fastmath<nnan> {test.note} : memref
    tile.scan max %t along 1 into %t exclusive fastmath<nnan> {test.note} : memref<8x16xf32, #tile.shared> into memref<8x16xf32, #tile.shared>
    // CHECK: tile.scan min %[[I]] along 0 into %[[I]] reverse unsigned : memref
    tile.scan min %i along 0 into %i reverse unsigned : memref<8xi8, #tile.fragment> into memref<8xi8, #tile.fragment>
  }
  return
}

// CHECK-LABEL: func.func @atomics
// CHECK-SAME: (%[[C:.*]]: memref<?x?xf32>, %[[I:.*]]: memref<?xi64>, %[[N:.*]]: index)
func.func @atomics(%c: memref<?x?xf32>, %i: memref<?xi64>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: %[[S:.*]] = tile.alloc_fragment : memref<8x16xf16
    %s = tile.alloc_fragment : memref<8x16xf16, #tile.fragment>
    // CHECK: %[[T:.*]] = tile.alloc_shared : memref<16xi32
    %t = tile.alloc_shared : memref<16xi32, #tile.shared>
    // CHECK: tile.atomic_add %[[S]] to %[[C]][%bx, 0] : memref<8x16xf16, #tile.fragment> to memref<?x?xf32>
    tile.atomic_add %s to %c[%b, 0] : memref<8x16xf16, #tile.fragment> to memref<?x?xf32>
    // CHECK: tile.atomic_add %[[S]][0, %[[N]]] sizes [8, 4] to %[[C]][%bx, 0] {test.note} : memref
    tile.atomic_add %s[0, %n] sizes [8, 4] to %c[%b, 0] {test.note} : memref<8x16xf16, #tile.fragment> to memref<?x?xf32>
    // CHECK: tile.atomic_max %[[T]] to %[[I]][%bx] unsigned : memref<16xi32, #tile.shared> to memref<?xi64>
    tile.atomic_max %t to %i[%b] unsigned : memref<16xi32, #tile.shared> to memref<?xi64>
    // CHECK: tile.atomic_min %[[T]] to %[[I]][3] : memref
    tile.atomic_min %t to %i[3] : memref<16xi32, #tile.shared> to memref<?xi64>
  }
  return
}
