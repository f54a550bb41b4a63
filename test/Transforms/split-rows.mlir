// RUN: tile-opt %s -pass-pipeline="builtin.module(func.func(tile-split-rows{rows=8}))" -split-input-file | FileCheck %s
// RUN: tile-opt %s -pass-pipeline="builtin.module(func.func(tile-split-rows{rows=32}))" -split-input-file | FileCheck %s --check-prefix=WHOLE
// RUN: not tile-opt %s -pass-pipeline="builtin.module(func.func(tile-split-rows{rows=0}))" 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: expects rows to be positive, got 0

// Copies, reductions, fills and elementwise loops keep rows apart: all of them
// run for eight rows, the loop over columns inside, and lanes keep the number of
// their row wherever it is not that of an element on the chip. As many rows as
// there are stay together.
// CHECK-LABEL: func.func @rows
// CHECK: %[[T:.*]] = tile.alloc_fragment : memref<8x64xf32, #tile.fragment>
// CHECK: %[[S:.*]] = tile.alloc_fragment : memref<8xf32, #tile.fragment>
// CHECK: scf.for %[[FIRST:.*]] = %c0{{.*}} to %c32{{.*}} step %c8
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK: tile.fill %[[S]]
// CHECK: scf.for %[[K:.*]] =
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %[[FIRST]]
// CHECK: tile.copy %{{.*}}[%[[AT]], %[[K]]] to %[[T]]
// CHECK: tile.parallel (%[[I:.*]], %[[J:.*]]) in (8, 64)
// CHECK: %[[LANE:.*]] = arith.addi %[[FIRST]], %[[I]]
// CHECK: memref.load %[[T]][%[[I]], %[[J]]]
// CHECK: arith.index_cast %[[LANE]]
// CHECK: memref.store %{{.*}}, %[[T]][%[[I]], %[[J]]]
// CHECK: tile.reduce sum %[[T]] along 1 into %[[S]] accumulate
// CHECK: %[[TO:.*]] = arith.addi %[[ROW]], %[[FIRST]]
// CHECK: tile.copy %[[S]] to %{{.*}}[%[[TO]]]
// WHOLE-LABEL: func.func @rows
// WHOLE: tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
// WHOLE: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : memref<?x?xf32> to memref<32x64xf32
func.func @rows(%x: memref<?x?xf32>, %y: memref<?xf32>, %n: index, %m: index) {
  tile.launch blocks(%b) in (%n) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %row = arith.muli %b, %c32 : index
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    tile.fill %sum, %zero : memref<32xf32, #tile.fragment>
    scf.for %k = %c0 to %m step %c64 {
      tile.copy %x[%row, %k] to %tile : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
      tile.parallel (%i, %j) in (32, 64) {
        %v = memref.load %tile[%i, %j] : memref<32x64xf32, #tile.fragment>
        %number = arith.index_cast %i : index to i32
        %f = arith.sitofp %number : i32 to f32
        %w = arith.mulf %v, %f : f32
        memref.store %w, %tile[%i, %j] : memref<32x64xf32, #tile.fragment>
      }
      tile.reduce sum %tile along 1 into %sum accumulate
        : memref<32x64xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
    }
    tile.copy %sum to %y[%row] : memref<32xf32, #tile.fragment> to memref<?xf32>
  }
  return
}

// -----

// A row's number taken apart by division still tells rows apart.
// CHECK-LABEL: func.func @quotient
// CHECK: scf.for
// CHECK: tile.parallel {{.*}} in (8, 64)
func.func @quotient(%x: memref<?x?x?xf32>, %y: memref<?x?x?xf32>, %n: index, %t: index) {
  tile.launch blocks(%b) in (%n) {
    %c0 = arith.constant 0 : index
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[%b, 0, 0] sizes [1, 32, 64] to %tile : memref<?x?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (32, 64) {
      %r = arith.addi %b, %i : index
      %q = arith.divui %r, %t : index
      %p = arith.remui %r, %t : index
      %v = memref.load %tile[%i, %j] : memref<32x64xf32, #tile.fragment>
      memref.store %v, %y[%q, %p, %j] : memref<?x?x?xf32>
    }
  }
  return
}

// -----

// A reduction along the rows needs all of them.
// CHECK-LABEL: func.func @along_rows
// CHECK-NOT: scf.for
// CHECK: memref<32x64xf32
func.func @along_rows(%x: memref<?x?xf32>, %y: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %tile : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.reduce sum %tile along 0 into %sum
      : memref<32x64xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
    tile.copy %sum to %y[%b] : memref<64xf32, #tile.fragment> to memref<?xf32>
  }
  return
}

// -----

// So does a lane that reads its neighbour's row.
// CHECK-LABEL: func.func @neighbour
// CHECK-NOT: scf.for
// CHECK: memref<32x64xf32
func.func @neighbour(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %c31 = arith.constant 31 : index
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %tile : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (32, 64) {
      %o = arith.subi %c31, %i : index
      %v = memref.load %tile[%o, %j] : memref<32x64xf32, #tile.fragment>
      %r = arith.addi %b, %i : index
      memref.store %v, %y[%r, %j] : memref<?x?xf32>
    }
  }
  return
}

// -----

// What is written must not be read, not even by rows of the same number.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT: scf.for
// CHECK: memref<32x64xf32
func.func @in_place(%x: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %tile : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.copy %tile to %x[%b, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}

// -----

// In a loop that moves the tile down, rows of different numbers write the same
// element, and the last one to do so would be another.
// CHECK-LABEL: func.func @sliding
// CHECK: tile.alloc_fragment : memref<32x64xf32
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func @sliding(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    scf.for %k = %c0 to %n step %c1 {
      tile.copy %x[%k, %k] to %tile : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
      tile.copy %tile to %y[%k, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
    }
  }
  return
}

// -----

// Arguments that may overlap, atomic ops and reports at each access keep the
// order of the program.
// CHECK-LABEL: func.func @alias
// CHECK: memref<32x64xf32
func.func @alias(%x: memref<?x?xf32> {tile.name = "X"},
                 %y: memref<?x?xf32> {tile.name = "Y", tile.may_alias = ["X"]}, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %tile : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.copy %tile to %y[%b, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}

// CHECK-LABEL: func.func @atomic
// CHECK: memref<32x64xf32
func.func @atomic(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %tile : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.atomic_add %tile to %y[0, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}

// A view with one element under several indices: rows that write it meet.
// CHECK-LABEL: func.func @overlapping_view
// CHECK: memref<32x64xf32
func.func @overlapping_view(%x: memref<?x?xf32>, %y: memref<?xf32>, %n: index) {
  %v = memref.reinterpret_cast %y to offset: [0], sizes: [32, 64], strides: [0, 1]
    : memref<?xf32> to memref<32x64xf32, strided<[0, 1]>>
  tile.launch blocks(%b) in (%n) {
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %tile : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.copy %tile to %v : memref<32x64xf32, #tile.fragment> to memref<32x64xf32, strided<[0, 1]>>
  }
  return
}

// CHECK-LABEL: func.func @trap
// CHECK: memref<32x64xf32
func.func @trap(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) bounds(trap) {
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %tile : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.copy %tile to %y[%b, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}

// -----

// Work without rows, here a table that each group of rows would fill again, must
// be little beside the rest.
// CHECK-LABEL: func.func @repeated
// CHECK: memref<32x64xf32
func.func @repeated(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %table = tile.alloc_fragment : memref<4096xf32, #tile.fragment>
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[0, 0] sizes [1, 4096] to %table : memref<?x?xf32> to memref<4096xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %tile : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.copy %tile to %y[%b, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}
