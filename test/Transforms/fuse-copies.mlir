// RUN: tile-opt %s --pass-pipeline='builtin.module(func.func(tile-fuse-copies))' -split-input-file | FileCheck %s

// The tile of the loop goes away with its copies. An extent of one has no lane.
// CHECK-LABEL: func.func @both
// CHECK-SAME: %[[X:.*]]: memref<?x?x64xf32>, %[[Y:.*]]: memref<?x64xf32>
// CHECK: %[[ROW:.*]] = arith.muli
// CHECK-NOT: tile.alloc_fragment
// CHECK-NOT: tile.copy
// CHECK: tile.parallel (%[[I:.*]], %[[J:.*]]) in (32, 64)
// CHECK-DAG: %[[XI:.*]] = arith.addi %[[ROW]], %[[I]]
// CHECK-DAG: %[[V:.*]] = memref.load %[[X]][%{{.*}}, %[[XI]], %[[J]]]
// CHECK: %[[W:.*]] = arith.mulf %[[V]], %[[V]]
// CHECK: %[[Z:.*]] = arith.addf %[[W]], %[[V]]
// CHECK: %[[YI:.*]] = arith.addi %[[ROW]], %[[I]]
// CHECK: memref.store %[[Z]], %[[Y]][%[[YI]], %[[J]]]
func.func @both(%x: memref<?x?x64xf32>, %y: memref<?x64xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %c32 = arith.constant 32 : index
    %row = arith.muli %b, %c32 : index
    %tile = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[%b, %row, 0] to %tile
      : memref<?x?x64xf32> to memref<32x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (32, 64) {
      %v = memref.load %tile[%i, %j] : memref<32x64xf32, #tile.fragment>
      %w = arith.mulf %v, %v : f32
      memref.store %w, %tile[%i, %j] : memref<32x64xf32, #tile.fragment>
      %u = memref.load %tile[%i, %j] : memref<32x64xf32, #tile.fragment>
      %z = arith.addf %u, %v : f32
      memref.store %z, %tile[%i, %j] : memref<32x64xf32, #tile.fragment>
    }
    tile.copy %tile to %y[%row, 0]
      : memref<32x64xf32, #tile.fragment> to memref<?x64xf32>
  }
  return
}

// -----

// In a loop the copy of the next step overwrites the tile; one tile is read, the
// other written.
// CHECK-LABEL: func.func @loop
// CHECK: tile.pipelined
// CHECK-NOT: tile.copy
// CHECK: tile.parallel
// CHECK: memref.load %{{.*}} : memref<?x?xf32>
// CHECK: memref.store {{.*}} : memref<?x?xf32>
// CHECK-NOT: tile.copy
func.func @loop(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %in = tile.alloc_shared : memref<32x64xf32, #tile.shared>
    %out = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %n step %c64 stages(2) {
      tile.copy %x[%b, %k] to %in : memref<?x?xf32> to memref<32x64xf32, #tile.shared>
      tile.parallel (%i, %j) in (32, 64) {
        %v = memref.load %in[%i, %j] : memref<32x64xf32, #tile.shared>
        %w = arith.mulf %v, %v : f32
        memref.store %w, %out[%i, %j] : memref<32x64xf32, #tile.fragment>
      }
      tile.copy %out to %y[%b, %k] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
    }
  }
  return
}

// -----

// Narrow floats are converted in the loop.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: tile.copy
// CHECK: %[[V:.*]] = memref.load {{.*}} : memref<?x?xf16>
// CHECK: %[[W:.*]] = arith.extf %[[V]]
// CHECK: %[[S:.*]] = arith.mulf %[[W]], %[[W]]
// CHECK: %[[T:.*]] = arith.truncf %[[S]]
// CHECK: memref.store %[[T]], {{.*}} : memref<?x?xbf16>
// CHECK-NOT: tile.copy
func.func @narrow(%x: memref<?x?xf16>, %y: memref<?x?xbf16>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %a = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %a : memref<?x?xf16> to memref<32x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (32, 64) {
      %v = memref.load %a[%i, %j] : memref<32x64xf32, #tile.fragment>
      %w = arith.mulf %v, %v : f32
      memref.store %w, %a[%i, %j] : memref<32x64xf32, #tile.fragment>
    }
    tile.copy %a to %y[%b, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xbf16>
  }
  return
}

// -----

// What is read again, by another op, in the next step of a loop or after it,
// stays.
// CHECK-LABEL: func.func @alive
// CHECK-COUNT-5: tile.copy
func.func @alive(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %a = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    %c = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<32xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %a : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (32, 64) {
      %v = memref.load %a[%i, %j] : memref<32x64xf32, #tile.fragment>
      %w = arith.mulf %v, %v : f32
      memref.store %w, %a[%i, %j] : memref<32x64xf32, #tile.fragment>
    }
    tile.copy %a to %y[%b, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
    tile.reduce sum %a along 1 into %sum
      : memref<32x64xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %a : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %n step %c64 stages(2) {
      tile.parallel (%i, %j) in (32, 64) {
        %v = memref.load %a[%i, %j] : memref<32x64xf32, #tile.fragment>
        %w = arith.mulf %v, %v : f32
        memref.store %w, %a[%i, %j] : memref<32x64xf32, #tile.fragment>
      }
      tile.copy %a to %y[%b, %k] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
    }
    tile.parallel (%i, %j) in (32, 64) {
      %v = memref.load %a[%j, %i] : memref<32x64xf32, #tile.fragment>
      memref.store %v, %c[%i, %j] : memref<32x64xf32, #tile.fragment>
    }
    tile.copy %c to %y[%b, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
    tile.reduce sum %c along 1 into %sum
      : memref<32x64xf32, #tile.fragment> into memref<32xf32, #tile.fragment>
  }
  return
}

// -----

// Stores of the loop must not meet what is loaded: the arguments may be the same
// memory, or are.
// CHECK-LABEL: func.func @order
// CHECK-COUNT-4: tile.copy
func.func @order(%x: memref<?x?xf32> {tile.name = "x"},
                 %y: memref<?x?xf32> {tile.name = "y", tile.may_alias = ["x"]}, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %a = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %a : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (32, 64) {
      %v = memref.load %a[%i, %j] : memref<32x64xf32, #tile.fragment>
      %w = arith.mulf %v, %v : f32
      memref.store %w, %a[%i, %j] : memref<32x64xf32, #tile.fragment>
    }
    tile.copy %a to %y[%b, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
    tile.copy %x[%b, 0] to %a : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (32, 64) {
      %v = memref.load %a[%i, %j] : memref<32x64xf32, #tile.fragment>
      %u = memref.load %x[%j, %i] : memref<?x?xf32>
      %w = arith.mulf %v, %u : f32
      memref.store %w, %a[%i, %j] : memref<32x64xf32, #tile.fragment>
    }
    tile.copy %a to %x[%b, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}

// -----

// Nor may anything in between write: the second copy reads what the first one
// wrote.
// CHECK-LABEL: func.func @between
// CHECK: tile.copy %{{.*}} to %[[A:.*]] :
// CHECK: memref.store
// CHECK: tile.parallel
// CHECK: memref.load %[[A]]
func.func @between(%x: memref<?x?xf32>, %z: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    %c = tile.alloc_fragment : memref<32x64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %a : memref<?x?xf32> to memref<32x64xf32, #tile.fragment>
    memref.store %zero, %x[%b, %b] : memref<?x?xf32>
    tile.parallel (%i, %j) in (32, 64) {
      %v = memref.load %a[%i, %j] : memref<32x64xf32, #tile.fragment>
      memref.store %v, %c[%i, %j] : memref<32x64xf32, #tile.fragment>
    }
    tile.copy %c to %z[%b, 0] : memref<32x64xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}

// -----

// Other pad values than zero, other types, parts of tiles, tiles that lanes use
// elsewhere, and reports.
// CHECK-LABEL: func.func @other
// CHECK-COUNT-5: tile.copy
func.func @other(%x: memref<?x?xf32>, %h: memref<?x?xi16>, %y: memref<?x?xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  tile.launch blocks(%b) in (%n) {
    %a = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    %sum = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %a pad(%one : f32)
      : memref<?x?xf32> to memref<64x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (64, 64) {
      %v = memref.load %a[%i, %j] : memref<64x64xf32, #tile.fragment>
      memref.store %v, %sum[%i, %j] : memref<64x64xf32, #tile.fragment>
    }
    tile.copy %h[%b, 0] to %a : memref<?x?xi16> to memref<64x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (64, 64) {
      %v = memref.load %a[%i, %j] : memref<64x64xf32, #tile.fragment>
      memref.store %v, %sum[%i, %j] : memref<64x64xf32, #tile.fragment>
    }
    tile.copy %x[%b, 0] to %a : memref<?x?xf32> to memref<64x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (64, 64) {
      %v = memref.load %a[%j, %i] : memref<64x64xf32, #tile.fragment>
      memref.store %v, %sum[%i, %j] : memref<64x64xf32, #tile.fragment>
    }
  }
  tile.launch blocks(%b) in (%n) bounds(trap) {
    %a = tile.alloc_fragment : memref<64x64xf32, #tile.fragment>
    tile.copy %x[%b, 0] to %a : memref<?x?xf32> to memref<64x64xf32, #tile.fragment>
    tile.parallel (%i, %j) in (64, 64) {
      %v = memref.load %a[%i, %j] : memref<64x64xf32, #tile.fragment>
      memref.store %v, %a[%i, %j] : memref<64x64xf32, #tile.fragment>
    }
    tile.copy %a to %y[%b, 0] : memref<64x64xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}

// -----

// A view of the tile reads it where the tile itself is not named.
// CHECK-LABEL: func.func @viewed
// CHECK-COUNT-3: tile.copy
func.func @viewed(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %z: memref<?x?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %a = tile.alloc_shared : memref<64x64xf32, #tile.shared>
    %upper = memref.subview %a[0, 0] [32, 64] [1, 1]
      : memref<64x64xf32, #tile.shared> to memref<32x64xf32, strided<[64, 1]>, #tile.shared>
    tile.copy %x[%b, 0] to %a : memref<?x?xf32> to memref<64x64xf32, #tile.shared>
    tile.parallel (%i, %j) in (64, 64) {
      %v = memref.load %a[%i, %j] : memref<64x64xf32, #tile.shared>
      %w = arith.mulf %v, %v : f32
      memref.store %w, %a[%i, %j] : memref<64x64xf32, #tile.shared>
    }
    tile.copy %a to %y[%b, 0] : memref<64x64xf32, #tile.shared> to memref<?x?xf32>
    tile.copy %upper to %z[%b, 0]
      : memref<32x64xf32, strided<[64, 1]>, #tile.shared> to memref<?x?xf32>
  }
  return
}
