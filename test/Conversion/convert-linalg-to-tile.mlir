// RUN: tile-opt -split-input-file --pass-pipeline='builtin.module(func.func(convert-linalg-to-tile))' %s | FileCheck %s

// A product: a tile of C a block, a walk along K, all extents dynamic. A fill
// is an elementwise loop.
// CHECK-LABEL: func.func @matmul
// CHECK-DAG: %[[M:.*]] = tile.tunable "matmul_m"
// CHECK-DAG: %[[N:.*]] = tile.tunable "matmul_n"
// CHECK-DAG: %[[K:.*]] = tile.tunable "matmul_k"
// CHECK: tile.launch
// CHECK: tile.parallel
// CHECK: memref.store %{{.*}}, %arg2
// CHECK: tile.launch
// CHECK: %[[ACC:.*]] = tile.alloc_fragment(%[[M]], %[[N]]) : memref<?x?xf32, #tile.fragment>
// CHECK: tile.copy %arg2[%{{.*}}, %{{.*}}] to %[[ACC]]
// CHECK: tile.pipelined %[[AT:.*]] = %{{.*}} to %{{.*}} step %[[K]] stages(2)
// CHECK-NEXT: tile.copy %arg0[%{{.*}}, %[[AT]]] to %[[A:.*]] :
// CHECK-NEXT: tile.copy %arg1[%[[AT]], %{{.*}}] to %[[B:.*]] :
// CHECK-NEXT: tile.gemm %[[A]], %[[B]], %[[ACC]] :
// CHECK: tile.copy %[[ACC]] to %arg2[
// CHECK-NOT: linalg
func.func @matmul(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x?xf32>)
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// -----

// Operands as they lie in memory, unsigned by the conversion in the body, and
// the transpose of a result that has N in front of M.
// CHECK-LABEL: func.func @transposed
// CHECK: tile.copy %arg0[
// CHECK: tile.copy %arg1[
// CHECK: tile.gemm %[[B:.*]], %[[A:.*]], %{{.*}} transpose_b unsigned_b :
func.func @transposed(%a: memref<64x32xi8>, %b: memref<16x32xi8>, %c: memref<16x64xi32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                       affine_map<(m, n, k) -> (n, m)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x32xi8>, memref<16x32xi8>) outs(%c : memref<16x64xi32>) {
    ^bb0(%x: i8, %y: i8, %sum: i32):
      %wide = arith.extui %x : i8 to i32
      %other = arith.extsi %y : i8 to i32
      %product = arith.muli %wide, %other : i32
      %next = arith.addi %sum, %product : i32
      linalg.yield %next : i32
  }
  return
}

// -----

// Batches are blocks; one that is not in front needs a view. f16 results are
// accumulated in f32.
// CHECK-LABEL: func.func @batches
// CHECK: tile.launch blocks(%{{.*}}, %{{.*}}, %[[BATCH:.*]]) in
// CHECK: tile.alloc_fragment({{.*}}) : memref<?x?xf32, #tile.fragment>
// CHECK: memref.subview %arg0[0, %[[BATCH]], 0] [{{.*}}] [1, 1, 1] : memref<?x?x?xf16> to memref<?x?xf16, strided<[?, 1], offset: ?>>
// CHECK: tile.copy %arg1[%[[BATCH]], %{{.*}}, %{{.*}}] to
func.func @batches(%a: memref<?x?x?xf16>, %b: memref<?x?x?xf16>, %c: memref<?x?x?xf16>) {
  linalg.generic {
      indexing_maps = [affine_map<(b, m, n, k) -> (m, b, k)>, affine_map<(b, m, n, k) -> (b, k, n)>,
                       affine_map<(b, m, n, k) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?x?xf16>, memref<?x?x?xf16>) outs(%c : memref<?x?x?xf16>) {
    ^bb0(%x: f16, %y: f16, %sum: f16):
      %product = arith.mulf %x, %y : f16
      %next = arith.addf %sum, %product : f16
      linalg.yield %next : f16
  }
  return
}

// -----

// Along memory the tile is rows; what lies beyond an end is neutral.
// CHECK-LABEL: func.func @sum_of_rows
// CHECK: %[[N:.*]] = memref.dim %arg0, %{{.*}}
// CHECK: tile.parallel (%[[I:.*]], %[[J:.*]]) in
// CHECK: %[[V:.*]] = memref.load %arg0
// CHECK: %[[IN:.*]] = arith.cmpi slt
// CHECK: %[[NEUTRAL:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: %[[S:.*]] = arith.select %[[IN]], %[[V]], %[[NEUTRAL]]
// CHECK: memref.store %[[S]], %[[TILE:.*]][%[[I]], %[[J]]]
// CHECK: tile.reduce product %[[TILE]] along 1 into %{{.*}} accumulate
func.func @sum_of_rows(%a: memref<?x?xf32>, %c: memref<?xf32>) {
  linalg.reduce { arith.mulf } ins(%a : memref<?x?xf32>) outs(%c : memref<?xf32>) dimensions = [1]
  return
}

// -----

// Across memory it is columns.
// CHECK-LABEL: func.func @least_of_columns
// CHECK: tile.reduce min %{{.*}} along 0 into %{{.*}} accumulate unsigned
func.func @least_of_columns(%a: memref<?x?xi32>, %c: memref<?xi32>) {
  linalg.reduce { arith.minui } ins(%a : memref<?x?xi32>) outs(%c : memref<?xi32>) dimensions = [0]
  return
}

// -----

// One launch, three walks.
// CHECK-LABEL: func.func @softmax
// CHECK-COUNT-1: tile.launch
// CHECK: tile.reduce max
// CHECK: math.exp
// CHECK: tile.reduce sum
// CHECK: arith.divf
// CHECK-NOT: tile.launch
func.func @softmax(%a: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.softmax dimension(1) ins(%a : memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// -----

// A division must not meet the zero that a lane beyond the end reads.
// CHECK-LABEL: func.func @division
// CHECK: tile.parallel
// CHECK: scf.if
// CHECK: arith.divsi
func.func @division(%a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>) {
  linalg.div ins(%a, %b : memref<?xi32>, memref<?xi32>) outs(%c : memref<?xi32>)
  return
}

// -----

// Extents of one need no tunable, small ones small tiles.
// CHECK-LABEL: func.func @small
// CHECK-NOT: tile.tunable "copy_rows"
// CHECK: tile.tunable "copy_columns" in {{.*}} default(8)
// CHECK: tile.parallel (%{{.*}}, %{{.*}}) in (1, %copy_columns)
func.func @small(%a: memref<1x7xf32>, %c: memref<1x7xf32>) {
  memref.copy %a, %c : memref<1x7xf32> to memref<1x7xf32>
  return
}

// -----

// An element of the output for several points, and elements that buffers of
// tiles cannot hold: both stay.
// CHECK-LABEL: func.func @stays
// CHECK: linalg.generic
// CHECK: linalg.fill
func.func @stays(%a: memref<?x?xf32>, %c: memref<?xf32>, %z: memref<4xcomplex<f32>>, %v: complex<f32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i + j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<?x?xf32>) outs(%c : memref<?xf32>) {
    ^bb0(%x: f32, %old: f32):
      linalg.yield %x : f32
  }
  linalg.fill ins(%v : complex<f32>) outs(%z : memref<4xcomplex<f32>>)
  return
}
