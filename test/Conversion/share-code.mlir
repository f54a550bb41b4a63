// RUN: tile-opt %s -convert-tile-to-cpu -canonicalize -cse -split-input-file | FileCheck %s

// Gemms and copies of a kind share a function, across launches too. Offsets and
// buffers are its arguments, as is the memory that it needs, which a launch has
// once; constants stand in it.
// CHECK-LABEL: func.func @again
// CHECK: omp.parallel
// CHECK: %[[PANELS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4x64x16xf32>
// CHECK-NOT: memref<4x64x16xf32>
// CHECK: omp.wsloop
// CHECK-NOT: vector.
// CHECK: call @[[COPY:.*]](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (memref<?x?xf32>, index, index, memref<64x64xf32>) -> ()
// CHECK-NOT: vector.
// CHECK: call @[[COPY]](
// CHECK: call @[[GEMM:.*]](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (memref<64x64xf32>, memref<64x64xf32>, memref<64x64xf32>, memref<4x64x16xf32>) -> ()
// CHECK: call @[[GEMM]](
// CHECK-NOT: vector.
// CHECK: omp.parallel
// CHECK-NOT: vector.
// CHECK: call @[[COPY]](
// CHECK-NOT: vector.
// CHECK: call @[[GEMM]](
// CHECK: return
// CHECK: func.func private @[[COPY]]({{.*}} attributes {passthrough = ["noinline"]}
// CHECK: arith.constant 5.000000e-01 : f32
// CHECK: vector.load
// CHECK: memref.prefetch
// CHECK: func.func private @[[GEMM]](
// CHECK: vector.fma
func.func @again(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %g: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %half = arith.constant 0.5 : f32
  %columns = memref.dim %a, %c0 : memref<?x?xf32>
  tile.launch blocks(%x) in (%g) {
    %A = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %B = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %columns step %c64 stages(2) {
      tile.copy %a[%x, %k] to %A pad(%half : f32)
        : memref<?x?xf32> to memref<64x64xf32, #tile.shared>
      tile.copy %b[%x, %k] to %B pad(%half : f32)
        : memref<?x?xf32> to memref<64x64xf32, #tile.shared>
      tile.gemm %A, %B, %C : memref<64x64xf32, #tile.shared>,
        memref<64x64xf32, #tile.shared>, memref<64x64xf32, #tile.fragment>
      tile.gemm %B, %A, %C : memref<64x64xf32, #tile.shared>,
        memref<64x64xf32, #tile.shared>, memref<64x64xf32, #tile.fragment>
    }
  }
  tile.launch blocks(%x) in (%g) {
    %A = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %columns step %c64 stages(2) {
      tile.copy %b[%x, %k] to %A pad(%half : f32)
        : memref<?x?xf32> to memref<64x64xf32, #tile.shared>
      tile.gemm %A, %A, %C : memref<64x64xf32, #tile.shared>,
        memref<64x64xf32, #tile.shared>, memref<64x64xf32, #tile.fragment>
    }
  }
  return
}

// -----

// Each of these stands alone: the pad values differ, the next tile lies along
// another dimension, one is a part of a view.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: call @tile_
func.func @alone(%a: memref<?x?xf32>, %n: index, %g: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %view = memref.subview %a[0, %n] [%n, %n] [1, 1]
    : memref<?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
  tile.launch blocks(%x) in (%g) {
    %A = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    tile.copy %view[%x, %n] to %A
      : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<64x64xf32, #tile.shared>
    tile.copy %view[%n, %x] to %A
      : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<64x64xf32, #tile.shared>
    tile.pipelined %k = %c0 to %n step %c64 stages(2) {
      tile.copy %a[%n, %k] to %A pad(%half : f32)
        : memref<?x?xf32> to memref<64x64xf32, #tile.shared>
      tile.copy %a[%n, %k] to %A pad(%one : f32)
        : memref<?x?xf32> to memref<64x64xf32, #tile.shared>
      tile.copy %a[%k, %n] to %A pad(%half : f32)
        : memref<?x?xf32> to memref<64x64xf32, #tile.shared>
    }
  }
  return
}

// -----

// A report names the place of its copy.
// CHECK-LABEL: func.func @reports
// CHECK-NOT: call @tile_
// CHECK: return
func.func @reports(%a: memref<?x?xf32>, %g: index) {
  tile.launch blocks(%x) in (%g) bounds(trap) {
    %A = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    tile.copy %a[%x, %x] to %A : memref<?x?xf32> to memref<64x64xf32, #tile.shared>
    tile.copy %a[%x, %x] to %A : memref<?x?xf32> to memref<64x64xf32, #tile.shared>
  }
  return
}
