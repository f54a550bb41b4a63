// Every op in every form of its assembly: what is printed is parsed again, in
// the custom and in the generic form.
// RUN: tile-opt %s | tile-opt | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s

// Block coordinates take the names bx, by, bz; the grid has 1 to 3 dimensions.
// CHECK-LABEL: func.func @launch
// CHECK-SAME: (%[[GX:.*]]: index, %[[GY:.*]]: index, %[[GZ:.*]]: index)
func.func @launch(%gx: index, %gy: index, %gz: index) {
  // CHECK: tile.launch blocks(%bx) in (%[[GX]]) {
  // CHECK-NOT: yield
  tile.launch blocks(%a) in (%gx) {
  }
  // CHECK: tile.launch blocks(%bx, %by) in (%[[GX]], %[[GY]]) threads(128) {
  tile.launch blocks(%a, %b) in (%gx, %gy) threads(128) {
  }
  // CHECK: tile.launch blocks(%bx, %by, %bz) in (%[[GX]], %[[GY]], %[[GZ]]) threads(%[[GX]]) {
  tile.launch blocks(%a, %b, %c) in (%gx, %gy, %gz) threads(%gx) {
  }
  // The default bounds are not printed.
  // CHECK: tile.launch blocks(%bx) in (%[[GX]]) {
  tile.launch blocks(%a) in (%gx) bounds(guard) {
  }
  // CHECK: tile.launch blocks(%bx) in (%[[GX]]) bounds(trap) fastmath<fast> {
  tile.launch blocks(%a) in (%gx) bounds(trap) fastmath<fast> {
  }
  // CHECK: tile.launch blocks(%bx) in (%[[GX]]) threads(256) bounds(assume) fastmath<nnan,contract> attributes {test.note = 1 : i64} {
  tile.launch blocks(%a) in (%gx) threads(256) bounds(assume) fastmath<nnan,contract> attributes {test.note = 1 : i64} {
  }
  return
}

// A tunable's value takes its name; four or more evenly spaced choices print as
// a range.
// CHECK-LABEL: func.func @parameters
func.func @parameters() {
  // CHECK: %block_m = tile.tunable "block_m" in [64, 128, 256] default(128)
  %bm = tile.tunable "block_m" in [64, 128, 256] default(128)
  // CHECK: %stages = tile.tunable "stages" in range(1, 5, 1) default(3)
  %st = tile.tunable "stages" in range(1, 5, 1) default(3)
  // CHECK: %even = tile.tunable "even" in range(16, 64, 16) default(64) {test.note}
  %ev = tile.tunable "even" in [16, 32, 48, 64] default(64) {test.note}
  // CHECK: %ok = tile.tunable "ok" in [1] default(1)
  %one = tile.tunable "ok" in range(1, 1, 7) default(1)
  // CHECK: %[[OK:.*]] = arith.cmpi sge, %block_m, %even
  %ok = arith.cmpi sge, %bm, %ev : index
  // CHECK: tile.require %[[OK]], "block_m is at least even"
  tile.require %ok, "block_m is at least even"
  return
}

// CHECK-LABEL: func.func @allocations
// CHECK-SAME: (%[[N:.*]]: index)
func.func @allocations(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: tile.alloc_shared : memref<128x64xf16, #tile.shared>
    %0 = tile.alloc_shared : memref<128x64xf16, #tile.shared>
    // CHECK: tile.alloc_shared(%[[N]], %[[N]]) : memref<?x64x?xf8E4M3FN, #tile.shared>
    %1 = tile.alloc_shared(%n, %n) : memref<?x64x?xf8E4M3FN, #tile.shared>
    // CHECK: tile.alloc_fragment {test.note} : memref<bf16, #tile.fragment>
    %2 = tile.alloc_fragment {test.note} : memref<bf16, #tile.fragment>
    // CHECK: tile.alloc_fragment(%[[N]]) : memref<?xi1, #tile.fragment>
    %3 = tile.alloc_fragment(%n) : memref<?xi1, #tile.fragment>
    // CHECK: tile.alloc_local : memref<4xindex, #tile.local>
    %4 = tile.alloc_local : memref<4xindex, #tile.local>
    // CHECK: tile.parallel
    tile.parallel (%i) in (32) {
      // CHECK: tile.alloc_local(%[[N]]) : memref<?xf64, #tile.local>
      %5 = tile.alloc_local(%n) : memref<?xf64, #tile.local>
    }
  }
  return
}

// Helpers may allocate on-chip buffers and take them as arguments.
// CHECK-LABEL: func.func @helper
func.func @helper(%acc: memref<8x8xf32, #tile.fragment>) {
  // CHECK: tile.alloc_shared
  %t = tile.alloc_shared : memref<8x8xf32, #tile.shared>
  tile.copy %acc to %t : memref<8x8xf32, #tile.fragment> to memref<8x8xf32, #tile.shared>
  return
}

// CHECK-LABEL: func.func @copy
// CHECK-SAME: (%[[Q:.*]]: memref<?x?x?x?xf32>, %[[A:.*]]: memref<?x?xf16>, %[[I:.*]]: memref<8xi8>, %[[N:.*]]: index, %[[PAD:.*]]: f32)
func.func @copy(%q: memref<?x?x?x?xf32>, %a: memref<?x?xf16>, %i: memref<8xi8>, %n: index, %pad: f32) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: %[[T:.*]] = tile.alloc_shared : memref<64x128xf32
    %t = tile.alloc_shared : memref<64x128xf32, #tile.shared>
    // CHECK: %[[F:.*]] = tile.alloc_fragment : memref<64x128xf32
    %f = tile.alloc_fragment : memref<64x128xf32, #tile.fragment>
    // CHECK: %[[E:.*]] = tile.alloc_shared : memref<8xf8E5M2
    %e = tile.alloc_shared : memref<8xf8E5M2, #tile.shared>
    // CHECK: tile.copy %[[T]] to %[[F]] : memref<64x128xf32, #tile.shared> to memref<64x128xf32, #tile.fragment>
    tile.copy %t to %f : memref<64x128xf32, #tile.shared> to memref<64x128xf32, #tile.fragment>
    // CHECK: tile.copy %[[A]][%bx, 0] to %[[T]] : memref<?x?xf16>
    tile.copy %a[%b, 0] to %t : memref<?x?xf16> to memref<64x128xf32, #tile.shared>
    // CHECK: tile.copy %[[T]] to %[[A]][-8, %[[N]]] : memref
    tile.copy %t to %a[-8, %n] : memref<64x128xf32, #tile.shared> to memref<?x?xf16>
    // CHECK: tile.copy %[[Q]][%bx, 5, %[[N]], 0] sizes [1, 64, 1, 128] to %[[T]] pad(%[[PAD]] : f32) : memref
    tile.copy %q[%b, 5, %n, 0] sizes [1, 64, 1, 128] to %t pad(%pad : f32) : memref<?x?x?x?xf32> to memref<64x128xf32, #tile.shared>
    // CHECK: tile.copy %[[T]][32, 0] sizes [32, 128] to %[[Q]][%bx, 0, %[[N]], 0] sizes [1, 32, 1, 128] : memref
    tile.copy %t[32, 0] sizes [32, 128] to %q[%b, 0, %n, 0] sizes [1, 32, 1, 128] : memref<64x128xf32, #tile.shared> to memref<?x?x?x?xf32>
    // CHECK: tile.copy %[[I]] to %[[E]] saturate unsigned : memref<8xi8>
    tile.copy %i to %e saturate unsigned : memref<8xi8> to memref<8xf8E5M2, #tile.shared>
    // CHECK: tile.copy %[[A]][0, 0] to %[[F]] {test.note} : memref
    tile.copy %a[0, 0] to %f {test.note} : memref<?x?xf16> to memref<64x128xf32, #tile.fragment>
  }
  // A copy between global buffers needs no launch around it to be parsed.
  // CHECK: tile.copy %[[I]][0] sizes [4] to %[[I]][4] : memref<8xi8> to memref<8xi8>
  tile.copy %i[0] sizes [4] to %i[4] : memref<8xi8> to memref<8xi8>
  return
}

// CHECK-LABEL: func.func @fill
// CHECK-SAME: (%[[N:.*]]: index, %[[H:.*]]: f16)
func.func @fill(%n: index, %h: f16) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: %[[S:.*]] = tile.alloc_shared
    %s = tile.alloc_shared : memref<4x4xf16, #tile.shared>
    // CHECK: tile.fill %[[S]], %[[H]] : memref<4x4xf16, #tile.shared>
    tile.fill %s, %h : memref<4x4xf16, #tile.shared>
    // A view of a buffer can be filled too.
    // CHECK: %[[V:.*]] = memref.subview
    %v = memref.subview %s[2, 0] [2, 4] [1, 1] : memref<4x4xf16, #tile.shared> to memref<2x4xf16, strided<[4, 1], offset: 8>, #tile.shared>
    // CHECK: tile.fill %[[V]], %[[H]] {test.note} : memref<2x4xf16, strided<[4, 1], offset: 8>, #tile.shared>
    tile.fill %v, %h {test.note} : memref<2x4xf16, strided<[4, 1], offset: 8>, #tile.shared>
  }
  return
}

// CHECK-LABEL: func.func @gemm
func.func @gemm(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: %[[A:.*]] = tile.alloc_shared : memref<16x32xf32
    %A = tile.alloc_shared : memref<16x32xf32, #tile.shared>
    // CHECK: %[[AT:.*]] = tile.alloc_fragment : memref<32x16xf32
    %At = tile.alloc_fragment : memref<32x16xf32, #tile.fragment>
    // CHECK: %[[B:.*]] = tile.alloc_shared : memref<32x8xf32
    %B = tile.alloc_shared : memref<32x8xf32, #tile.shared>
    // CHECK: %[[BT:.*]] = tile.alloc_shared : memref<8x32xf32
    %Bt = tile.alloc_shared : memref<8x32xf32, #tile.shared>
    // CHECK: %[[C:.*]] = tile.alloc_fragment : memref<16x8xf32
    %C = tile.alloc_fragment : memref<16x8xf32, #tile.fragment>
    // CHECK: tile.gemm %[[A]], %[[B]], %[[C]] : memref<16x32xf32, #tile.shared>, memref<32x8xf32, #tile.shared>, memref<16x8xf32, #tile.fragment>
    tile.gemm %A, %B, %C : memref<16x32xf32, #tile.shared>, memref<32x8xf32, #tile.shared>, memref<16x8xf32, #tile.fragment>
    // CHECK: tile.gemm %[[AT]], %[[B]], %[[C]] transpose_a clear : memref
    tile.gemm %At, %B, %C transpose_a clear : memref<32x16xf32, #tile.fragment>, memref<32x8xf32, #tile.shared>, memref<16x8xf32, #tile.fragment>
    // CHECK: tile.gemm %[[A]], %[[BT]], %[[C]] transpose_b policy(full_row) precision(tf32) : memref
    tile.gemm %A, %Bt, %C transpose_b policy(full_row) precision(tf32) : memref<16x32xf32, #tile.shared>, memref<8x32xf32, #tile.shared>, memref<16x8xf32, #tile.fragment>
    // The default precision is not printed.
    // CHECK: tile.gemm %[[AT]], %[[BT]], %[[C]] transpose_a transpose_b policy(full_col) {test.note} : memref
    tile.gemm %At, %Bt, %C transpose_a transpose_b policy(full_col) precision(ieee) {test.note} : memref<32x16xf32, #tile.fragment>, memref<8x32xf32, #tile.shared>, memref<16x8xf32, #tile.fragment>
    // CHECK: %[[A8:.*]] = tile.alloc_shared : memref<16x32xi8
    %A8 = tile.alloc_shared : memref<16x32xi8, #tile.shared>
    // CHECK: %[[B8:.*]] = tile.alloc_shared : memref<32x8xi8
    %B8 = tile.alloc_shared : memref<32x8xi8, #tile.shared>
    // CHECK: %[[C32:.*]] = tile.alloc_fragment : memref<16x8xi32
    %C32 = tile.alloc_fragment : memref<16x8xi32, #tile.fragment>
    // CHECK: tile.gemm %[[A8]], %[[B8]], %[[C32]] unsigned_a unsigned_b policy(square) : memref
    tile.gemm %A8, %B8, %C32 unsigned_a unsigned_b policy(square) : memref<16x32xi8, #tile.shared>, memref<32x8xi8, #tile.shared>, memref<16x8xi32, #tile.fragment>
  }
  return
}

// The other rows of the table of element types.
// CHECK-LABEL: func.func @gemm_types
func.func @gemm_types(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %h = tile.alloc_shared : memref<4x4xf16, #tile.shared>
    %bf = tile.alloc_shared : memref<4x4xbf16, #tile.shared>
    %e4 = tile.alloc_shared : memref<4x4xf8E4M3FN, #tile.shared>
    %e5 = tile.alloc_shared : memref<4x4xf8E5M2, #tile.shared>
    %d = tile.alloc_shared : memref<4x4xf64, #tile.shared>
    %ch = tile.alloc_fragment : memref<4x4xf16, #tile.fragment>
    %cs = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    %cd = tile.alloc_fragment : memref<4x4xf64, #tile.fragment>
    // CHECK-COUNT-7: tile.gemm
    tile.gemm %h, %h, %cs : memref<4x4xf16, #tile.shared>, memref<4x4xf16, #tile.shared>, memref<4x4xf32, #tile.fragment>
    tile.gemm %h, %h, %ch : memref<4x4xf16, #tile.shared>, memref<4x4xf16, #tile.shared>, memref<4x4xf16, #tile.fragment>
    tile.gemm %bf, %bf, %cs : memref<4x4xbf16, #tile.shared>, memref<4x4xbf16, #tile.shared>, memref<4x4xf32, #tile.fragment>
    tile.gemm %e4, %e4, %cs : memref<4x4xf8E4M3FN, #tile.shared>, memref<4x4xf8E4M3FN, #tile.shared>, memref<4x4xf32, #tile.fragment>
    tile.gemm %e4, %e5, %ch : memref<4x4xf8E4M3FN, #tile.shared>, memref<4x4xf8E5M2, #tile.shared>, memref<4x4xf16, #tile.fragment>
    tile.gemm %e5, %e4, %cs : memref<4x4xf8E5M2, #tile.shared>, memref<4x4xf8E4M3FN, #tile.shared>, memref<4x4xf32, #tile.fragment>
    tile.gemm %d, %d, %cd : memref<4x4xf64, #tile.shared>, memref<4x4xf64, #tile.shared>, memref<4x4xf64, #tile.fragment>
  }
  return
}

// CHECK-LABEL: func.func @reduce
func.func @reduce(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: %[[S:.*]] = tile.alloc_fragment : memref<64x128xf32
    %s = tile.alloc_fragment : memref<64x128xf32, #tile.fragment>
    // CHECK: %[[R:.*]] = tile.alloc_fragment : memref<64xf32
    %r = tile.alloc_fragment : memref<64xf32, #tile.fragment>
    // CHECK: %[[K:.*]] = tile.alloc_shared : memref<1x128xf64
    %k = tile.alloc_shared : memref<1x128xf64, #tile.shared>
    // CHECK: %[[I:.*]] = tile.alloc_shared : memref<8x8xi8
    %i = tile.alloc_shared : memref<8x8xi8, #tile.shared>
    // CHECK: %[[J:.*]] = tile.alloc_shared : memref<8xi32
    %j = tile.alloc_shared : memref<8xi32, #tile.shared>
    // CHECK: tile.reduce sum %[[S]] along 1 into %[[R]] : memref<64x128xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
    tile.reduce sum %s along 1 into %r : memref<64x128xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
    // CHECK: tile.reduce product %[[S]] along 0 into %[[K]] : memref
    tile.reduce product %s along 0 into %k : memref<64x128xf32, #tile.fragment> into memref<1x128xf64, #tile.shared>
    // CHECK: tile.reduce max %[[S]] along 1 into %[[R]] accumulate fastmath<nnan> : memref
    tile.reduce max %s along 1 into %r accumulate fastmath<nnan> : memref<64x128xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
    // CHECK: tile.reduce min %[[I]] along 1 into %[[J]] unsigned : memref
    tile.reduce min %i along 1 into %j unsigned : memref<8x8xi8, #tile.shared> into memref<8xi32, #tile.shared>
    // CHECK: tile.reduce abs_sum %[[S]] along 1 into %[[R]] accumulate {test.note} : memref
    tile.reduce abs_sum %s along 1 into %r accumulate {test.note} : memref<64x128xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
    // CHECK: tile.reduce abs_max
    tile.reduce abs_max %s along 1 into %r : memref<64x128xf32, #tile.fragment> into memref<64xf32, #tile.fragment>
    // CHECK: tile.reduce and %
    tile.reduce and %i along 0 into %j : memref<8x8xi8, #tile.shared> into memref<8xi32, #tile.shared>
    // CHECK: tile.reduce or %
    tile.reduce or %i along 0 into %j accumulate unsigned : memref<8x8xi8, #tile.shared> into memref<8xi32, #tile.shared>
    // CHECK: tile.reduce xor %
    tile.reduce xor %i along 0 into %j : memref<8x8xi8, #tile.shared> into memref<8xi32, #tile.shared>
  }
  return
}

// Lanes take the names i, j, k, l.
// CHECK-LABEL: func.func @parallel
// CHECK-SAME: (%[[N:.*]]: index)
func.func @parallel(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: tile.parallel (%i) in (32) {
    tile.parallel (%x) in (32) {
    }
    // CHECK: tile.parallel (%i, %j, %k, %l, %[[M:.*]]) in (2, %[[N]], 4, %bx, 0) attributes {test.note} {
    tile.parallel (%x, %y, %z, %w, %v) in (2, %n, 4, %b, 0) attributes {test.note} {
      // CHECK: arith.addi %i, %[[M]]
      %s = arith.addi %x, %v : index
    }
  }
  return
}

// CHECK-LABEL: func.func @pipelined
// CHECK-SAME: (%[[N:.*]]: index, %[[M:.*]]: index)
func.func @pipelined(%n: index, %m: index) {
  tile.launch blocks(%b) in (%n) {
    // CHECK: tile.pipelined %k = %[[N]] to %[[M]] {
    tile.pipelined %i = %n to %m {
    }
    // CHECK: tile.pipelined %k = %[[N]] to %[[M]] step %bx stages(3) {
    tile.pipelined %i = %n to %m step %b stages(3) {
    }
    // CHECK: tile.pipelined %k = %[[N]] to %[[M]] stages(%[[N]]) attributes {test.note} {
    tile.pipelined %i = %n to %m stages(%n) attributes {test.note} {
      // CHECK: arith.addi %k, %k
      %s = arith.addi %i, %i : index
    }
  }
  return
}

// What a function says of its own check and cost.
// CHECK-LABEL: func.func @entry
// CHECK-SAME: memref<?xf32> {tile.default = "randn:8xf32", tile.name = "x"}
// CHECK-SAME: tile.bytes = "8 * x[0]", tile.flops = "x[0]", tile.reference = @entry_reference, tile.tolerance = #tile.tolerance<norm = 1.000000e-03, products = 2.000000e+00>
func.func @entry(%x: memref<?xf32> {tile.name = "x", tile.default = "randn:8xf32"}) attributes {
    tile.reference = @entry_reference, tile.flops = "x[0]", tile.bytes = "8 * x[0]",
    tile.tolerance = #tile.tolerance<norm = 1.0e-3, products = 2.0>} {
  return
}
func.func @entry_reference(%x: memref<?xf64>) {
  return
}

// CHECK: #tile.tolerance<>
// CHECK: #tile.tolerance<norm = 0.000000e+00, atol = 1.250000e-01, rtol = 5.000000e-01>
module attributes {test.none = #tile.tolerance<>, test.some = #tile.tolerance<rtol = 0.5, atol = 0.125, norm = 0.0>} {
}
