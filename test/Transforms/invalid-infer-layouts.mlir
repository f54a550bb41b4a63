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
