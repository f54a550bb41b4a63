// RUN: tile-opt %s -pass-pipeline="builtin.module(func.func(tile-canonicalize-idioms))" -split-input-file | FileCheck %s

!A = memref<32x32xf16, #tile.shared>
!C = memref<32x32xf32, #tile.fragment>

// A fill with zero goes into the gemm that follows; what happens to other
// buffers in between does not matter.
// CHECK-LABEL: func.func @clear
// CHECK-NOT: tile.fill
// CHECK: tile.copy
// CHECK: tile.gemm {{.*}} clear
// CHECK: tile.gemm
// CHECK-NOT: clear
// CHECK: return
func.func @clear(%x: memref<?x?xf16>, %n: index) {
  %zero = arith.constant 0.0 : f32
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : !A
    %C = tile.alloc_fragment : !C
    tile.fill %C, %zero : !C
    tile.copy %x[%b, 0] to %A : memref<?x?xf16> to !A
    tile.gemm %A, %A, %C : !A, !A, !C
    tile.gemm %A, %A, %C : !A, !A, !C
  }
  return
}

// -----

!A = memref<32x32xf16, #tile.shared>
!C = memref<32x32xf32, #tile.fragment>

// Not where the value is another one (minus zero is), where something looks at
// the buffer in between, where the gemm takes another part of it, or where it
// stands in a loop, which may not run.
// CHECK-LABEL: func.func @keep
// CHECK-NOT: clear
// CHECK-COUNT-5: tile.fill
// CHECK-NOT: clear
// CHECK: return
func.func @keep(%y: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant -0.0 : f32
  %one = arith.constant 1.0 : f32
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : !A
    %C = tile.alloc_fragment : !C
    tile.fill %C, %minus : !C
    tile.gemm %A, %A, %C : !A, !A, !C
    tile.fill %C, %one : !C
    tile.gemm %A, %A, %C : !A, !A, !C
    tile.fill %C, %zero : !C
    tile.copy %C to %y[%b, 0] : !C to memref<?x?xf32>
    tile.gemm %A, %A, %C : !A, !A, !C
    tile.fill %C, %zero : !C
    tile.pipelined %k = %c0 to %n stages(2) {
      tile.gemm %A, %A, %C : !A, !A, !C
    }
    %D = tile.alloc_fragment : memref<64x32xf32, #tile.fragment>
    tile.fill %D, %zero : memref<64x32xf32, #tile.fragment>
    %V = memref.subview %D[0, 0] [32, 32] [1, 1]
      : memref<64x32xf32, #tile.fragment> to memref<32x32xf32, strided<[32, 1]>, #tile.fragment>
    tile.gemm %A, %A, %V : !A, !A, memref<32x32xf32, strided<[32, 1]>, #tile.fragment>
  }
  return
}

// -----

!C = memref<32x32xf32, #tile.fragment>

// A fill is dead if all of it is overwritten before anyone looks.
// CHECK-LABEL: func.func @dead
// CHECK: tile.copy
// CHECK: tile.fill %{{.*}}, %{{.*}} : memref<32x32xf32, #tile.fragment>
// CHECK: tile.reduce sum
// CHECK: tile.fill %{{.*}}, %{{.*}} : memref<32xf32, #tile.fragment>
// CHECK: tile.reduce sum {{.*}} accumulate
// CHECK-NOT: tile.fill
// CHECK: return
func.func @dead(%x: memref<?x?xf32>, %n: index) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  tile.launch blocks(%b) in (%n) {
    %C = tile.alloc_fragment : !C
    %r = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    tile.fill %C, %one : !C
    tile.copy %x[%b, 0] to %C : memref<?x?xf32> to !C
    tile.fill %C, %zero : !C
    tile.fill %C, %one : !C
    tile.fill %r, %one : memref<32xf32, #tile.fragment>
    tile.reduce sum %C along 1 into %r : !C into memref<32xf32, #tile.fragment>
    tile.fill %r, %zero : memref<32xf32, #tile.fragment>
    tile.reduce sum %C along 1 into %r accumulate : !C into memref<32xf32, #tile.fragment>
  }
  return
}
