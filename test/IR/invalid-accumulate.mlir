// The rules of scans and atomics, each broken once.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// scan-c1
func.func @kind(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    // expected-error @below {{'tile.scan' op expects sum, product, max or min, got abs_sum}}
    tile.scan abs_sum %s along 0 into %s : memref<8xf32, #tile.fragment> into memref<8xf32, #tile.fragment>
  }
  return
}

// -----

// scan-c2
func.func @dimension(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    // expected-error @below {{expects 'along' to be a dimension of 'source', below 1, got 1}}
    tile.scan sum %s along 1 into %s : memref<8xf32, #tile.fragment> into memref<8xf32, #tile.fragment>
  }
  return
}

// -----

// scan-c3
func.func @shape(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8x4xf32, #tile.fragment>
    %t = tile.alloc_fragment : memref<8x5xf32, #tile.fragment>
    // expected-error @below {{expects 'target' to have the shape of 'source', got 'memref<8x5xf32, #tile.fragment>' from 'memref<8x4xf32, #tile.fragment>'}}
    tile.scan sum %s along 1 into %t : memref<8x4xf32, #tile.fragment> into memref<8x5xf32, #tile.fragment>
  }
  return
}

// -----

// scan-c4
func.func @narrower(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    %t = tile.alloc_fragment : memref<8xf16, #tile.fragment>
    // expected-error @below {{expects the elements of 'target' to be of the kind of 'source', at least as wide, got 'f16' from 'f32'}}
    tile.scan sum %s along 0 into %t : memref<8xf32, #tile.fragment> into memref<8xf16, #tile.fragment>
  }
  return
}

// -----

// scan-c5
func.func @signs(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    // expected-error @below {{'unsigned' needs integers, got 'f32'}}
    tile.scan max %s along 0 into %s unsigned : memref<8xf32, #tile.fragment> into memref<8xf32, #tile.fragment>
  }
  return
}

// -----

// scan-c6
func.func @views(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_shared : memref<16xf32, #tile.shared>
    %v = memref.subview %s[0] [8] [1] : memref<16xf32, #tile.shared> to memref<8xf32, strided<[1]>, #tile.shared>
    %w = memref.subview %s[4] [8] [1] : memref<16xf32, #tile.shared> to memref<8xf32, strided<[1], offset: 4>, #tile.shared>
    // expected-error @below {{expects 'target' to be 'source' itself or a view of another buffer}}
    tile.scan sum %v along 0 into %w : memref<8xf32, strided<[1]>, #tile.shared> into memref<8xf32, strided<[1], offset: 4>, #tile.shared>
  }
  return
}

// -----

// parallel-c4
func.func @scan_in_a_lane(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    // expected-note @below {{the loop is here}}
    tile.parallel (%i) in (4) {
      // expected-error @below {{'tile.scan' op works on a whole tile and must stand outside elementwise loops}}
      tile.scan sum %s along 0 into %s : memref<8xf32, #tile.fragment> into memref<8xf32, #tile.fragment>
    }
  }
  return
}

// -----

// atomic-c1
func.func @atomic_elements(%c: memref<?xi8>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xi8, #tile.fragment>
    // expected-error @below {{'tile.atomic_add' op combines elements of f64, f32, f16, bf16, i64 or i32 in global memory, got 'i8'}}
    tile.atomic_add %s to %c[0] : memref<8xi8, #tile.fragment> to memref<?xi8>
  }
  return
}

// -----

// atomic-c2
func.func @atomic_kinds(%c: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xi32, #tile.fragment>
    // expected-error @below {{'tile.atomic_max' op expects floats on both sides or integers on both, got 'i32' and 'f32'}}
    tile.atomic_max %s to %c[0] : memref<8xi32, #tile.fragment> to memref<?xf32>
  }
  return
}

// -----

// atomic-c3
func.func @atomic_signs(%c: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    // expected-error @below {{'unsigned' needs integers, got 'f32'}}
    tile.atomic_min %s to %c[0] unsigned : memref<8xf32, #tile.fragment> to memref<?xf32>
  }
  return
}

// -----

// copy-c9, which atomics keep, too.
func.func @atomic_tiles(%c: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    // expected-error @below {{expects tiles of equal extents, apart from ones, got [8] and [4]}}
    tile.atomic_add %s to %c[0] sizes [4] : memref<8xf32, #tile.fragment> to memref<?xf32>
  }
  return
}

// -----

func.func @atomic_on_chip(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    %t = tile.alloc_shared : memref<8xf32, #tile.shared>
    // expected-error @below {{operand #1 must be memref in global memory, but got 'memref<8xf32, #tile.shared>'}}
    tile.atomic_add %s to %t : memref<8xf32, #tile.fragment> to memref<8xf32, #tile.shared>
  }
  return
}
