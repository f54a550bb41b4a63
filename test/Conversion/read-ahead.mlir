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
