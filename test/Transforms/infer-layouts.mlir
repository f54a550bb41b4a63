// RUN: tile-opt %s -tile-infer-layouts -split-input-file | FileCheck %s

// The result of a gemm has the layout of its matrix instruction, its shared
// operands have swizzles that spread matrix loads over the banks.
// CHECK-LABEL: func.func @gemm
// CHECK: tile.alloc_shared : memref<64x32xf16, #tile.shared<strides = [32, 1], swizzle = [2, 3, 3]>>
// CHECK: tile.alloc_shared : memref<32x64xf16, #tile.shared<strides = [64, 1], swizzle = [3, 3, 3]>>
// CHECK: tile.alloc_fragment : memref<64x64xf32, #tile.fragment<"64x64 threads 128 {{.*}}2@1{{.*}}">>
func.func @gemm(%n: index) {
  tile.launch blocks(%b) in (%n) threads(128) {
    %A = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %B = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.gemm %A, %B, %C clear
      : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
        memref<64x64xf32, #tile.fragment>
  }
  return
}

// -----

// That a ring's life ends changes nothing.
// CHECK-LABEL: func.func @ended
// CHECK: tile.alloc_shared : memref<2x64x32xf16, #tile.shared<strides = [2048, 32, 1], swizzle = [2, 3, 3]>>
func.func @ended(%n: index) {
  tile.launch blocks(%b) in (%n) threads(128) {
    %ring = tile.alloc_shared : memref<2x64x32xf16, #tile.shared>
    %A = memref.subview %ring[1, 0, 0] [1, 64, 32] [1, 1, 1] : memref<2x64x32xf16, #tile.shared>
      to memref<64x32xf16, strided<[32, 1], offset: 2048>, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.gemm %A, %A, %C transpose_b clear
      : memref<64x32xf16, strided<[32, 1], offset: 2048>, #tile.shared>,
        memref<64x32xf16, strided<[32, 1], offset: 2048>, #tile.shared>, memref<64x64xf32, #tile.fragment>
    memref.dealloc %ring : memref<2x64x32xf16, #tile.shared>
  }
  return
}

// -----

// Where two layouts meet through a loop, a converted fragment and a copy through
// shared memory stand between them.
// CHECK-LABEL: func.func @conflict
// CHECK: tile.alloc_shared : memref<64x64xf32
// CHECK: tile.copy
// CHECK: tile.copy
// CHECK: tile.parallel
func.func @conflict(%n: index) {
  tile.launch blocks(%b) in (%n) threads(128) {
    %A = tile.alloc_shared : memref<64x16xf16, #tile.shared>
    %D = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %E = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.gemm %A, %A, %C transpose_b clear policy(full_row)
      : memref<64x16xf16, #tile.shared>, memref<64x16xf16, #tile.shared>,
        memref<64x64xf32, #tile.fragment>
    tile.gemm %D, %D, %E transpose_a clear policy(full_col)
      : memref<32x64xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
        memref<64x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (64, 64) {
      %x = memref.load %C[%i, %j] : memref<64x64xf32, #tile.fragment>
      memref.store %x, %E[%i, %j] : memref<64x64xf32, #tile.fragment>
    }
  }
  return
}

// -----

// A loop that writes all of a fragment needs nothing of what was in it: one way through shared memory, behind the loop.
// CHECK-LABEL: func.func @overwritten
// CHECK-NOT: tile.copy
// CHECK: tile.parallel
// CHECK: memref.store
// CHECK: memref.store %{{.*}}, %[[INNER:.*]][%
// CHECK: tile.copy %[[INNER]] to %[[SHARED:.*]] :
// CHECK: tile.copy %[[SHARED]] to
// CHECK-NOT: tile.copy
func.func @overwritten(%n: index) {
  tile.launch blocks(%b) in (%n) threads(128) {
    %one = arith.constant 1.0 : f32
    %A = tile.alloc_shared : memref<64x16xf16, #tile.shared>
    %D = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %E = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (64, 64) {
      memref.store %one, %C[%i, %j] : memref<64x64xf32, #tile.fragment>
      memref.store %one, %E[%i, %j] : memref<64x64xf32, #tile.fragment>
    }
    tile.gemm %A, %A, %C transpose_b policy(full_row)
      : memref<64x16xf16, #tile.shared>, memref<64x16xf16, #tile.shared>,
        memref<64x64xf32, #tile.fragment>
    tile.gemm %D, %D, %E transpose_a policy(full_col)
      : memref<32x64xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
        memref<64x64xf32, #tile.fragment>
  }
  return
}

// -----

// One that writes a part needs the rest, which nobody may have written: it has contents from its allocation on.
// CHECK-LABEL: func.func @partly_overwritten
// CHECK: tile.fill %[[E:.*]], %
// CHECK: %[[INNER:.*]] = tile.alloc_fragment
// CHECK: tile.copy %[[E]] to %[[SHARED:.*]] :
// CHECK: tile.copy %[[SHARED]] to %[[INNER]]
// CHECK: tile.parallel
func.func @partly_overwritten(%n: index) {
  tile.launch blocks(%b) in (%n) threads(128) {
    %one = arith.constant 1.0 : f32
    %A = tile.alloc_shared : memref<64x16xf16, #tile.shared>
    %D = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %E = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (64, 64) {
      memref.store %one, %C[%i, %j] : memref<64x64xf32, #tile.fragment>
      %below = arith.cmpi slt, %i, %j : index
      scf.if %below {
        memref.store %one, %E[%i, %j] : memref<64x64xf32, #tile.fragment>
      }
    }
    tile.gemm %A, %A, %C transpose_b policy(full_row)
      : memref<64x16xf16, #tile.shared>, memref<64x16xf16, #tile.shared>,
        memref<64x64xf32, #tile.fragment>
    tile.gemm %D, %D, %E transpose_a policy(full_col)
      : memref<32x64xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
        memref<64x64xf32, #tile.fragment>
  }
  return
}

// -----

// An index that registers cannot express moves the buffer to shared memory.
// CHECK-LABEL: func.func @shifted
// CHECK-NOT: #tile.fragment
// CHECK: tile.alloc_shared : memref<64xf32, #tile.shared>
func.func @shifted(%y: memref<64xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %c1 = arith.constant 1 : index
    %F = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    tile.parallel (%i) in (63) {
      %j = arith.addi %i, %c1 : index
      %x = memref.load %F[%j] : memref<64xf32, #tile.fragment>
      memref.store %x, %y[%i] : memref<64xf32>
    }
  }
  return
}

// -----

// A reduction leaves the slice of its source.
// CHECK-LABEL: func.func @slice
// CHECK: memref<8x256xf32, #tile.fragment<"8x256 threads 128 {{.*}}">>
// CHECK: memref<8xf32, #tile.fragment<"8 threads 128 {{.*}}">>
func.func @slice(%n: index) {
  tile.launch blocks(%b) in (%n) threads(128) {
    %S = tile.alloc_fragment : memref<8x256xf32, #tile.fragment>
    %m = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    tile.reduce sum %S along 1 into %m
      : memref<8x256xf32, #tile.fragment> into memref<8xf32, #tile.fragment>
  }
  return
}

// -----

// Rows that no power of two divides are padded instead.
// CHECK-LABEL: func.func @padded
// CHECK: tile.alloc_shared : memref<48x40xf16, #tile.shared<strides = [40, 1]>>
func.func @padded(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %A = tile.alloc_shared : memref<48x40xf16, #tile.shared>
    %B = tile.alloc_shared : memref<48x48xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<40x48xf32, #tile.fragment>
    tile.gemm %A, %B, %C transpose_a clear
      : memref<48x40xf16, #tile.shared>, memref<48x48xf16, #tile.shared>,
        memref<40x48xf32, #tile.fragment>
  }
  return
}

// -----

// What a product leaves in pieces of 4 bytes goes to global memory through a
// shared buffer, which converts on the way in.
// CHECK-LABEL: func.func @staged
// CHECK: %[[S:.*]] = tile.alloc_shared : memref<64x64xf16, #tile.shared<strides = [64, 1], swizzle
// CHECK: tile.copy %{{.*}} to %[[S]] : memref<64x64xf32, {{.*}}> to memref<64x64xf16
// CHECK: tile.copy %[[S]] to %{{.*}}[0, 0] : memref<64x64xf16, {{.*}}> to memref<?x?xf16>
func.func @staged(%c: memref<?x?xf16>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(128) alignment(16) {
    %A = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %B = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.gemm %A, %B, %C clear
      : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
        memref<64x64xf32, #tile.fragment>
    tile.copy %C to %c[0, 0] : memref<64x64xf32, #tile.fragment> to memref<?x?xf16>
  }
  return
}

// -----

// Not where the offset may lie between two pieces of 16 bytes.
// CHECK-LABEL: func.func @not_staged
// CHECK: tile.copy %{{.*}} to %{{.*}}[0, %{{.*}}] : memref<64x64xf32, {{.*}}> to memref<?x?xf16>
func.func @not_staged(%c: memref<?x?xf16>, %at: index, %n: index) {
  tile.launch blocks(%b) in (%n) threads(128) alignment(16) {
    %A = tile.alloc_shared : memref<64x32xf16, #tile.shared>
    %B = tile.alloc_shared : memref<32x64xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.gemm %A, %B, %C clear
      : memref<64x32xf16, #tile.shared>, memref<32x64xf16, #tile.shared>,
        memref<64x64xf32, #tile.fragment>
    tile.copy %C to %c[0, %at] : memref<64x64xf32, #tile.fragment> to memref<?x?xf16>
  }
  return
}

// -----

// A pinned layout stays, spreads through loops, and says how many threads there
// are; a copy between two of them converts.
// CHECK-LABEL: func.func @pinned
// CHECK: threads(64)
// CHECK: %[[X:.*]] = tile.alloc_fragment : memref<128xf32, #tile.fragment<"128 threads 64 (64):(2@0) registers (2):(1@0)">>
// CHECK: %[[Y:.*]] = tile.alloc_fragment : memref<128xf32, #tile.fragment<"128 threads 64 (64):(2@0) registers (2):(1@0)">>
// CHECK: %[[Z:.*]] = tile.alloc_fragment : memref<128xf32, #tile.fragment<"128 threads 64 (64):(1@0) registers (2):(64@0)">>
// CHECK: %[[S:.*]] = tile.alloc_shared : memref<128xf32, #tile.shared>
// CHECK: tile.copy %[[Y]] to %[[S]]
// CHECK: tile.copy %[[S]] to %[[Z]]
func.func @pinned(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %x = tile.alloc_fragment : memref<128xf32, #tile.fragment<"128 threads 64 (64):(2@0) registers (2):(1@0)">>
    %y = tile.alloc_fragment : memref<128xf32, #tile.fragment>
    %z = tile.alloc_fragment : memref<128xf32, #tile.fragment<"128 threads 64 (64):(1@0) registers (2):(64@0)">>
    tile.parallel (%i) in (128) {
      %v = memref.load %x[%i] : memref<128xf32, #tile.fragment<"128 threads 64 (64):(2@0) registers (2):(1@0)">>
      memref.store %v, %y[%i] : memref<128xf32, #tile.fragment>
    }
    tile.copy %y to %z : memref<128xf32, #tile.fragment> to memref<128xf32, #tile.fragment<"128 threads 64 (64):(1@0) registers (2):(64@0)">>
  }
  return
}
