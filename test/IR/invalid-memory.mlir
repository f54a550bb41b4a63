// The rules of allocations, copies and fills, each broken once.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// alloc-c1
func.func @strided(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.alloc_shared' op expects a buffer without strides or offset (views come from memref.subview), got 'memref<4x4xf32, strided<[8, 1]>, #tile.shared>'}}
    %x = tile.alloc_shared : memref<4x4xf32, strided<[8, 1]>, #tile.shared>
  }
  return
}

// -----

// alloc-c2
func.func @sizes(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.alloc_fragment' op expects one size for each of the 2 dynamic extents, got 1}}
    %x = tile.alloc_fragment(%n) : memref<?x?xf32, #tile.fragment>
  }
  return
}

// -----

// alloc-c3
func.func @empty(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.alloc_local' op expects extents of one or more, got 'memref<4x0xf32, #tile.local>'}}
    %x = tile.alloc_local : memref<4x0xf32, #tile.local>
  }
  return
}

// -----

// alloc-c4
func.func @in_a_lane(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-note @below {{the loop is here}}
    tile.parallel (%i) in (4) {
      // expected-error @below {{'tile.alloc_shared' op must stand outside elementwise loops; inside one, alloc_local gives each lane a buffer of its own}}
      %x = tile.alloc_shared : memref<4xf32, #tile.shared>
    }
  }
  return
}

// -----

// alloc-c5
func.func @on_the_host(%n: index) {
  // expected-error @below {{'tile.alloc_shared' op must stand inside a tile.launch: on-chip buffers belong to a block}}
  %x = tile.alloc_shared : memref<4xf32, #tile.shared>
  tile.launch blocks(%b) in (%n) {
  }
  return
}

// -----

func.func @wrong_space(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{result #0 must be memref in shared memory, but got 'memref<4xf32, #tile.fragment>'}}
    %x = tile.alloc_shared : memref<4xf32, #tile.fragment>
  }
  return
}

// -----

func.func @element_type(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'memref<4xi7, #tile.shared>'}}
    %x = tile.alloc_shared : memref<4xi7, #tile.shared>
  }
  return
}

// -----

// copy-c1
func.func @offsets(%a: memref<?x?xf32>, %b: memref<4xf32>, %n: index) {
  // expected-error @below {{expects one offset for each of the 2 dimensions of 'source', got 1}}
  tile.copy %a[%n] to %b : memref<?x?xf32> to memref<4xf32>
  return
}

// -----

// copy-c1: the generic form can leave out values
func.func @offset_values(%a: memref<?x?xf32>, %b: memref<4xf32>, %n: index) {
  // expected-error @below {{expects one value for each of the 2 offsets of 'source' that are not constant, got 1}}
  "tile.copy"(%a, %n, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>,
    static_source_offsets = array<i64: -9223372036854775808, -9223372036854775808>, source_sizes = array<i64>,
    static_target_offsets = array<i64>, target_sizes = array<i64>}>
    : (memref<?x?xf32>, index, memref<4xf32>) -> ()
  return
}

// -----

// copy-c2
func.func @size_count(%a: memref<?x?xf32>, %b: memref<4xf32>) {
  // expected-error @below {{expects one size for each of the 2 dimensions of 'source', got 1}}
  tile.copy %a[0, 0] sizes [4] to %b : memref<?x?xf32> to memref<4xf32>
  return
}

// -----

// copy-c2
func.func @size_zero(%a: memref<?x?xf32>, %b: memref<4xf32>) {
  // expected-error @below {{expects sizes of one or more for 'target', got 0}}
  tile.copy %a[0, 0] to %b[0] sizes [0] : memref<?x?xf32> to memref<4xf32>
  return
}

// -----

// copy-c3
func.func @outside_a_tile(%a: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %x = tile.alloc_shared : memref<16xf32, #tile.shared>
    // expected-error @below {{expects the tile to lie inside the on-chip 'target', got 8 elements from 12 on, of 16 in dimension 0}}
    tile.copy %a[0] sizes [8] to %x[12] : memref<?xf32> to memref<16xf32, #tile.shared>
  }
  return
}

// -----

// copy-c3
func.func @before_a_tile(%a: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %x = tile.alloc_fragment : memref<4x16xf32, #tile.fragment>
    // expected-error @below {{expects the tile to lie inside the on-chip 'source', got 8 elements from -1 on, of 16 in dimension 1}}
    tile.copy %x[0, -1] sizes [1, 8] to %a[0] : memref<4x16xf32, #tile.fragment> to memref<?xf32>
  }
  return
}

// -----

// copy-c3: without overflow
func.func @far_outside_a_tile(%a: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %x = tile.alloc_shared : memref<16xf32, #tile.shared>
    // expected-error @below {{expects the tile to lie inside the on-chip 'target', got 8 elements from 9223372036854775807 on, of 16 in dimension 0}}
    tile.copy %a[0] sizes [8] to %x[9223372036854775807] : memref<?xf32> to memref<16xf32, #tile.shared>
  }
  return
}

// -----

// copy-c4
func.func @index_elements(%a: memref<4xindex>, %b: memref<4xi64>) {
  // expected-error @below {{expects index elements on both sides or on neither, got 'index' and 'i64'}}
  tile.copy %a to %b : memref<4xindex> to memref<4xi64>
  return
}

// -----

// copy-c5
func.func @pad_type(%a: memref<4xf16>, %b: memref<4xf32>, %pad: f32) {
  // expected-error @below {{expects 'pad' to have the element type of 'source', 'f16', got 'f32'}}
  tile.copy %a to %b pad(%pad : f32) : memref<4xf16> to memref<4xf32>
  return
}

// -----

// copy-c6
func.func @saturate(%a: memref<4xf16>, %b: memref<4xf16>) {
  // expected-error @below {{saturates only where it converts, but both sides have elements of type 'f16'}}
  tile.copy %a to %b saturate : memref<4xf16> to memref<4xf16>
  return
}

// -----

// copy-c7
func.func @unsigned(%a: memref<4xf16>, %b: memref<4xf32>) {
  // expected-error @below {{'unsigned' needs integers on one side, got 'f16' and 'f32'}}
  tile.copy %a to %b unsigned : memref<4xf16> to memref<4xf32>
  return
}

// -----

// copy-c8
func.func @no_extents(%a: memref<?xf32>, %b: memref<?xf32>) {
  // expected-error @below {{expects the extents of the tile from one side: give 'sizes', or take a whole buffer of static shape whose leading extents beyond the other side's rank are one}}
  tile.copy %a[0] to %b[4] : memref<?xf32> to memref<?xf32>
  return
}

// -----

// copy-c8
func.func @no_room(%a: memref<2x4xf32>, %b: memref<?xf32>) {
  // expected-error @below {{expects the extents of the tile from one side}}
  tile.copy %a to %b[0] : memref<2x4xf32> to memref<?xf32>
  return
}

// -----

// copy-c9
func.func @extents(%a: memref<4x8xf32>, %b: memref<8x1x4xf32>) {
  // expected-error @below {{expects tiles of equal extents, apart from ones, got [4, 8] and [8, 1, 4]}}
  tile.copy %a to %b : memref<4x8xf32> to memref<8x1x4xf32>
  return
}

// -----

func.func @twice(%a: memref<4xf16>, %b: memref<4xi8>) {
  // expected-error @below {{`saturate` clause can appear at most once in the expansion of the oilist directive}}
  tile.copy %a to %b saturate saturate : memref<4xf16> to memref<4xi8>
  return
}

// -----

func.func @fill_global(%a: memref<4xf32>, %v: f32) {
  // expected-error @below {{'tile.fill' 'buffer' must be memref in shared, fragment or local memory, but got 'memref<4xf32>'}}
  tile.fill %a, %v : memref<4xf32>
  return
}

// -----

// expected-note @below {{prior use here}}
func.func @fill_type(%n: index, %v: f16) {
  tile.launch blocks(%b) in (%n) {
    %x = tile.alloc_shared : memref<16xf32, #tile.shared>
    // expected-error @below {{use of value '%v' expects different type than prior uses: 'f32' vs 'f16'}}
    tile.fill %x, %v : memref<16xf32, #tile.shared>
  }
  return
}

// -----

// copy-c10
func.func @async_out(%a: memref<4xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<4xf32, #tile.shared>
    // expected-error @below {{is 'async' only from global to shared memory without a conversion}}
    tile.copy %S to %a async : memref<4xf32, #tile.shared> to memref<4xf32>
  }
  return
}

// -----

// fragment-c1
func.func @layout(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects the text of a fragment layout}}
    %F = tile.alloc_fragment : memref<4xf32, #tile.fragment<"four of them">>
  }
  return
}

// -----

// shared-c1
func.func @swizzle_of_two(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects a swizzle of three numbers, [bits, base, shift], got 2}}
    %S = tile.alloc_shared : memref<8x64xf16, #tile.shared<strides = [64, 1], swizzle = [3, 3]>>
  }
  return
}

// -----

// shared-c2
func.func @swizzle_that_overlaps(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects a swizzle that exists: a swizzle of 3 bits needs a shift of at least as many, got 2}}
    %S = tile.alloc_shared : memref<8x64xf16, #tile.shared<strides = [64, 1], swizzle = [3, 3, 2]>>
  }
  return
}

// -----

// alloc-c6
func.func @strides_of_one(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.alloc_shared' op expects a stride from 0 to 4294967296 for each of 2 dimensions, got [64]}}
    %S = tile.alloc_shared : memref<8x64xf16, #tile.shared<strides = [64]>>
  }
  return
}

// -----

// alloc-c7
func.func @strides_that_overlap(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.alloc_shared' op expects strides that give each element a place of its own, but [0, 32] and [1, 0] share one with [32, 1]}}
    %S = tile.alloc_shared : memref<8x64xf16, #tile.shared<strides = [32, 1]>>
  }
  return
}

// -----

// Strides may interleave.
func.func @strides_that_interleave(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<2x3xf16, #tile.shared<strides = [3, 2]>>
  }
  return
}
