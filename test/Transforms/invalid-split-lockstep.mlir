// RUN: tile-opt %s -pass-pipeline="builtin.module(func.func(tile-split-lockstep))" -split-input-file -verify-diagnostics

// Two lanes certainly write different values.
func.func @contradiction(%n: index) {
  %c0 = arith.constant 0 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<8xindex, #tile.shared>
    // expected-note @+1 {{the lanes are those of this loop}}
    tile.parallel (%i) in (64) {
      // expected-error @+1 {{writes different values of different lanes to one element; store under a condition that one lane meets, or index the element by the lane}}
      memref.store %i, %S[%c0] : memref<8xindex, #tile.shared>
    }
  }
  return
}

// -----

func.func @contradiction_along_one(%n: index) {
  %c2 = arith.constant 2 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<8xi32, #tile.shared>
    // expected-note @+1 {{the lanes are those of this loop}}
    tile.parallel (%i, %j) in (8, 8) {
      %k = arith.muli %j, %c2 : index
      %v = arith.index_cast %k : index to i32
      // expected-error @+1 {{writes different values}}
      memref.store %v, %S[%i] : memref<8xi32, #tile.shared>
    }
  }
  return
}

// -----

// One lane, equal values, or perhaps none at all: no error.
func.func @no_contradiction(%y: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<8xindex, #tile.shared>
    tile.parallel (%i, %j) in (8, 8) {
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        memref.store %i, %S[%c0] : memref<8xindex, #tile.shared>
      }
      %z = arith.divui %i, %c8 : index
      memref.store %z, %S[%c0] : memref<8xindex, #tile.shared>
      memref.store %i, %S[%i] : memref<8xindex, #tile.shared>
      memref.store %i, %y[%c8] : memref<?xindex>
    }
  }
  return
}

// -----

func.func @no_home(%y: memref<?xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<128xf32, #tile.shared>
    // expected-note @+1 {{lanes meet in this loop}}
    tile.parallel (%i) in (64) {
      %j = arith.addi %i, %c1 : index
      %v = memref.load %S[%j] : memref<128xf32, #tile.shared>
      // expected-error @+1 {{a value of type 'vector<4xf32>' is needed after other lanes have gone on, but no buffer can keep it; compute it anew after the access, or use scalars}}
      %w = vector.broadcast %v : f32 to vector<4xf32>
      memref.store %v, %S[%i] : memref<128xf32, #tile.shared>
      %s = vector.extract %w[0] : f32 from vector<4xf32>
      memref.store %s, %y[%i] : memref<?xf32>
    }
  }
  return
}

// -----

func.func @other_regions(%n: index, %case: index) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<128xf32, #tile.shared>
    tile.parallel (%i) in (64) {
      %j = arith.addi %i, %c1 : index
      // expected-error @+1 {{'scf.index_switch' op cannot be run in lockstep, and lanes meet inside it; write it with scf.for, scf.while and scf.if}}
      scf.index_switch %case
      case 1 {
        // expected-note @+1 {{an element that one lane accesses here}}
        %v = memref.load %S[%j] : memref<128xf32, #tile.shared>
        // expected-note @+1 {{may be one that another lane accesses here}}
        memref.store %v, %S[%i] : memref<128xf32, #tile.shared>
        scf.yield
      }
      default {
      }
    }
  }
  return
}

// -----

func.func @local_views(%y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<128xf32, #tile.shared>
    tile.parallel (%i) in (64) {
      // expected-note @+1 {{the buffer is here}}
      %L = tile.alloc_local : memref<2x4xf32, #tile.local>
      // expected-error @+1 {{uses a buffer of a lane that is kept while other lanes go on, which only loads and stores through subviews, casts and expanded or collapsed shapes can}}
      %flat = memref.reinterpret_cast %L to offset: [0], sizes: [8], strides: [1]
        : memref<2x4xf32, #tile.local> to memref<8xf32, strided<[1]>, #tile.local>
      %j = arith.addi %i, %c1 : index
      %v = memref.load %S[%j] : memref<128xf32, #tile.shared>
      memref.store %v, %flat[%c0] : memref<8xf32, strided<[1]>, #tile.local>
      memref.store %v, %S[%i] : memref<128xf32, #tile.shared>
      %u = memref.load %flat[%c0] : memref<8xf32, strided<[1]>, #tile.local>
      memref.store %u, %y[%i] : memref<?xf32>
    }
  }
  return
}
