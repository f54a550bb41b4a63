// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse | FileCheck %s

// The loop behind a copy, which computes functions, reads ahead in its place, the
// tile after the next; not where elements are masked. A loop of another shape
// does not.
// CHECK-LABEL: func.func @read_ahead
// CHECK-DAG: %[[TWO:.*]] = arith.constant 128 : index
// CHECK: scf.for %[[K:.*]] = %c0
// CHECK: vector.load %arg0
// CHECK-NOT: memref.prefetch
// CHECK: scf.for %[[J:.*]] = %c0 to %c64 step %c16 {
// CHECK: %[[AT:.*]] = arith.addi %[[K]], %[[J]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %[[TWO]]
// CHECK: memref.prefetch %arg0[%{{.*}}, %[[NEXT]]]
// CHECK: math.fma
// CHECK-LABEL: func.func @read_ahead_elsewhere
// CHECK: vector.load
// CHECK: memref.prefetch
// CHECK: math.fma
// CHECK-NOT: memref.prefetch
func.func @read_ahead(%x: memref<?x?xf32>, %y: memref<8x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_fragment : memref<8x64xf32, #tile.fragment>
    scf.for %k = %c0 to %n step %c64 {
      tile.copy %x[%b, %k] to %S : memref<?x?xf32> to memref<8x64xf32, #tile.fragment>
      tile.parallel (%i, %j) in (8, 64) {
        %v = memref.load %S[%i, %j] : memref<8x64xf32, #tile.fragment>
        %e = math.exp %v : f32
        memref.store %e, %y[%i, %j] : memref<8x64xf32>
      }
    }
  }
  return
}
func.func @read_ahead_elsewhere(%x: memref<?x?xf32>, %y: memref<64x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_fragment : memref<8x64xf32, #tile.fragment>
    scf.for %k = %c0 to %n step %c64 {
      tile.copy %x[%b, %k] to %S : memref<?x?xf32> to memref<8x64xf32, #tile.fragment>
      tile.parallel (%i, %j) in (64, 8) {
        %v = memref.load %S[%j, %i] : memref<8x64xf32, #tile.fragment>
        %e = math.exp %v : f32
        memref.store %e, %y[%i, %j] : memref<64x8xf32>
      }
    }
  }
  return
}

// The second pass over rows, which are in a cache, asks for the rows that come
// next; the first for the next tile, as the third does.
// CHECK-LABEL: func.func @next_rows
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 8 : index
// CHECK: omp.loop_nest (%[[B:.*]]) : index
// CHECK: memref.prefetch {{.*}} locality<3>
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %[[ROWS]]
// CHECK: memref.prefetch %arg0[%[[NEXT]], %{{.*}}], read, locality<2>
// CHECK: memref.prefetch {{.*}} locality<3>
// CHECK-NOT: locality<2>
func.func @next_rows(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  tile.launch blocks(%b) in (%n) {
    %first = arith.muli %b, %c8 : index
    %S = tile.alloc_fragment : memref<8x64xf32, #tile.fragment>
    scf.for %k = %c0 to %n step %c64 {
      tile.parallel (%i, %j) in (8, 64) {
        %r = arith.addi %first, %i : index
        %c = arith.addi %k, %j : index
        %v = memref.load %x[%r, %c] : memref<?x?xf32>
        memref.store %v, %S[%i, %j] : memref<8x64xf32, #tile.fragment>
      }
    }
    scf.for %k = %c0 to %n step %c64 {
      tile.parallel (%i, %j) in (8, 64) {
        %r = arith.addi %first, %i : index
        %c = arith.addi %k, %j : index
        %v = memref.load %x[%r, %c] : memref<?x?xf32>
        memref.store %v, %S[%i, %j] : memref<8x64xf32, #tile.fragment>
      }
    }
    scf.for %k = %c0 to %n step %c64 {
      tile.parallel (%i, %j) in (8, 64) {
        %r = arith.addi %first, %i : index
        %c = arith.addi %k, %j : index
        %v = memref.load %x[%r, %c] : memref<?x?xf32>
        memref.store %v, %y[%r, %c] : memref<?x?xf32>
      }
    }
  }
  return
}
