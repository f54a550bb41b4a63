// Buffers that no block can hold are refused before layouts are looked for.
// RUN: tile-opt %s --tile-infer-layouts --split-input-file --verify-diagnostics

func.func @fragment(%n: index, %z: f32) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{is a buffer of more than 262144 bytes, which a block has neither registers nor shared memory for}}
    %s = tile.alloc_fragment : memref<3000x3000xf32, #tile.fragment>
    tile.fill %s, %z : memref<3000x3000xf32, #tile.fragment>
  }
  return
}

// -----

// More elements than can be counted.
func.func @endless(%n: index, %z: f32) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{is a buffer of more than 262144 bytes}}
    %s = tile.alloc_fragment : memref<4294967296x4294967296xf32, #tile.fragment>
    tile.fill %s, %z : memref<4294967296x4294967296xf32, #tile.fragment>
  }
  return
}

// -----

func.func @shared(%n: index, %z: f32) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{is a buffer of more than 262144 bytes}}
    %s = tile.alloc_shared : memref<100000x100000xf32, #tile.shared>
    tile.fill %s, %z : memref<100000x100000xf32, #tile.shared>
  }
  return
}

// -----

func.func @box(%n: index, %z: f32, %x: memref<?xf32>) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{has a box of more than 16777216 points, the limit of a block on a GPU}}
    tile.parallel (%i, %j, %k) in (100000, 100000, 100000) {
      memref.store %z, %x[%i] : memref<?xf32>
    }
  }
  return
}

// -----

// A layout is of the buffer's shape.
func.func @pinned_shape(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    // expected-error @below {{'tile.alloc_fragment' op expects a layout of its own shape, got one of [32] for [64]}}
    %f = tile.alloc_fragment : memref<64xf32, #tile.fragment<"32 threads 32 (32):(1@0) registers ():()">>
  }
  return
}

// -----

// It is for the threads of the launch.
func.func @pinned_threads(%n: index) {
  tile.launch blocks(%b) in (%n) threads(64) {
    // expected-error @below {{'tile.alloc_fragment' op expects a layout for the 64 threads that work on it, got one for 32}}
    %f = tile.alloc_fragment : memref<32xf32, #tile.fragment<"32 threads 32 (32):(1@0) registers ():()">>
  }
  return
}

// -----

// Every element is in a register: here only the even ones are.
func.func @pinned_hole(%n: index, %z: f32) {
  tile.launch blocks(%b) in (%n) threads(32) {
    // expected-error @below {{this buffer's layout leaves its element [0, 1] without a register: "2x32 threads 32}}
    %f = tile.alloc_fragment : memref<2x32xf32, #tile.fragment<"2x32 threads 32 (16,2):(2@1,1@0) registers ():()">>
    tile.fill %f, %z : memref<2x32xf32, #tile.fragment<"2x32 threads 32 (16,2):(2@1,1@0) registers ():()">>
  }
  return
}

// -----

// A loop has one layout: two pinned buffers cannot both have theirs.
func.func @pinned_loop(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    // expected-note @below {{pinned to "64 threads 32 (32):(2@0) registers (2):(1@0)"}}
    %x = tile.alloc_fragment : memref<64xf32, #tile.fragment<"64 threads 32 (32):(2@0) registers (2):(1@0)">>
    // expected-note @below {{pinned to "64 threads 32 (32):(1@0) registers (2):(32@0)"}}
    %y = tile.alloc_fragment : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">>
    // expected-error @below {{'tile.parallel' op cannot have both buffers in the layouts that they are pinned to; leave one of them to the compiler, or copy it to a buffer of another layout}}
    tile.parallel (%i) in (64) {
      %v = memref.load %x[%i] : memref<64xf32, #tile.fragment<"64 threads 32 (32):(2@0) registers (2):(1@0)">>
      memref.store %v, %y[%i] : memref<64xf32, #tile.fragment<"64 threads 32 (32):(1@0) registers (2):(32@0)">>
    }
  }
  return
}

// -----

// A reduction leaves the slice of its source and nothing else.
func.func @pinned_reduce(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    // expected-note @below {{pinned to "4x32}}
    %x = tile.alloc_fragment : memref<4x32xf32, #tile.fragment<"4x32 threads 32 (32):(1@1) registers (4):(1@0)">>
    // expected-note @below {{pinned to "4 threads}}
    %y = tile.alloc_fragment : memref<4xf32, #tile.fragment<"4 threads 32 (4,8):(1@0,0) registers ():()">>
    // expected-error @below {{'tile.reduce' op cannot have both buffers in the layouts that they are pinned to}}
    tile.reduce sum %x along 1 into %y : memref<4x32xf32, #tile.fragment<"4x32 threads 32 (32):(1@1) registers (4):(1@0)">> into memref<4xf32, #tile.fragment<"4 threads 32 (4,8):(1@0,0) registers ():()">>
  }
  return
}
