// RUN: tile-opt %s -pass-pipeline="builtin.module(func.func(tile-split-lockstep))" -split-input-file | FileCheck %s
// Independent loops come out, so a second run changes nothing.
// RUN: tile-opt %s -pass-pipeline="builtin.module(func.func(tile-split-lockstep))" -split-input-file -o %t.once
// RUN: tile-opt %t.once -pass-pipeline="builtin.module(func.func(tile-split-lockstep))" -split-input-file -o %t.twice
// RUN: diff %t.once %t.twice

// Each lane touches its own elements only: nothing to do.
// CHECK-LABEL: func.func @independent
// CHECK: tile.parallel
// CHECK: memref.load
// CHECK: memref.store
// CHECK: memref.store
// CHECK-NOT: tile.parallel
func.func @independent(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index) {
  %c8 = arith.constant 8 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<8x8x4xf32, #tile.shared>
    %row = arith.muli %b, %c8 : index
    tile.parallel (%i, %j) in (64, 4) {
      %r = arith.addi %row, %i : index
      %v = memref.load %x[%r, %j] : memref<?x?xf32>
      %p = arith.divui %i, %c8 : index
      %q = arith.remui %i, %c8 : index
      memref.store %v, %S[%p, %q, %j] : memref<8x8x4xf32, #tile.shared>
      %w = memref.load %S[%p, %q, %j] : memref<8x8x4xf32, #tile.shared>
      memref.store %w, %y[%r, %j] : memref<?x?xf32>
    }
  }
  return
}

// -----

// One statement reads what others write: all lanes read first. The subscript is
// computed anew where it is cheap, the value is kept.
// CHECK-LABEL: func.func @rotate
// CHECK: %[[S:.*]] = tile.alloc_shared
// CHECK: %[[T:.*]] = tile.alloc_fragment : memref<64xf32, #tile.fragment>
// CHECK-NOT: tile.alloc_fragment
// CHECK: tile.parallel (%[[I:.*]]) in (64)
// CHECK: %[[V:.*]] = memref.load %[[S]]
// CHECK: memref.store %[[V]], %[[T]][%[[I]]]
// CHECK: tile.parallel (%[[I:.*]]) in (64)
// CHECK: %[[V:.*]] = memref.load %[[T]][%[[I]]]
// CHECK: %[[J:.*]] = arith.addi %[[I]]
// CHECK: memref.store %[[V]], %[[S]][%[[J]]]
func.func @rotate(%n: index) {
  %c3 = arith.constant 3 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<128xf32, #tile.shared>
    tile.parallel (%i) in (64) {
      %j = arith.addi %i, %c3 : index
      %v = memref.load %S[%i] : memref<128xf32, #tile.shared>
      memref.store %v, %S[%j] : memref<128xf32, #tile.shared>
    }
  }
  return
}

// -----

// A loop that all lanes count alike goes around the pieces; what it carries is
// kept, and an inner condition becomes a guard of each piece.
// CHECK-LABEL: func.func @tree
// CHECK: %[[ACC:.*]] = tile.alloc_fragment : memref<64xf32, #tile.fragment>
// CHECK: tile.parallel
// CHECK: memref.store %{{.*}}, %[[ACC]]
// CHECK: scf.for %[[K:.*]] =
// CHECK: tile.parallel
// CHECK: %[[D:.*]] = arith.shrui %{{.*}}, %[[K]]
// CHECK: scf.if
// CHECK: memref.load
// CHECK: tile.parallel
// CHECK: scf.if
// CHECK: memref.store
// CHECK: tile.parallel
// CHECK: memref.store %{{.*}}, %[[ACC]]
// CHECK: tile.parallel
// CHECK: memref.load %[[ACC]]
func.func @tree(%y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.parallel (%i) in (64) {
      %last = scf.for %k = %c0 to %c6 step %c1 iter_args(%acc = %zero) -> f32 {
        %d = arith.shrui %c32, %k : index
        %in = arith.cmpi ult, %i, %d : index
        scf.if %in {
          %j = arith.addi %i, %d : index
          %v = memref.load %S[%j] : memref<64xf32, #tile.shared>
          %w = memref.load %S[%i] : memref<64xf32, #tile.shared>
          %s = arith.addf %v, %w : f32
          memref.store %s, %S[%i] : memref<64xf32, #tile.shared>
        }
        %r = memref.load %S[%c0] : memref<64xf32, #tile.shared>
        %next = arith.addf %acc, %r : f32
        scf.yield %next : f32
      }
      memref.store %last, %y[%i] : memref<?xf32>
    }
  }
  return
}

// -----

// Lanes that count differently: a mask, and the loop runs until it is empty.
// CHECK-LABEL: func.func @triangle
// CHECK-DAG: %[[K:.*]] = tile.alloc_fragment : memref<64xindex, #tile.fragment>
// CHECK-DAG: %[[M:.*]] = tile.alloc_fragment : memref<64xi1, #tile.fragment>
// CHECK-DAG: %[[ANY:.*]] = tile.alloc_fragment : memref<1xi1, #tile.fragment>
// CHECK: tile.parallel (%[[I:.*]]) in (64)
// CHECK: arith.cmpi slt
// CHECK: scf.while
// CHECK: tile.reduce or %[[M]] along 0 into %[[ANY]]
// CHECK: %[[C:.*]] = memref.load %[[ANY]]
// CHECK: scf.condition(%[[C]])
// CHECK: tile.parallel (%[[I:.*]]) in (64)
// CHECK: %[[A:.*]] = memref.load %[[M]][%[[I]]]
// CHECK: scf.if %[[A]]
// CHECK: tile.parallel (%[[I:.*]]) in (64)
// CHECK: %[[A:.*]] = memref.load %[[M]][%[[I]]]
// CHECK: scf.if %[[A]]
// CHECK: memref.store %{{.*}}, %[[K]][%[[I]]]
// CHECK: memref.store %{{.*}}, %[[M]][%[[I]]]
func.func @triangle(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.parallel (%i) in (64) {
      scf.for %k = %c0 to %i step %c1 {
        %v = memref.load %S[%k] : memref<64xf32, #tile.shared>
        memref.store %v, %S[%i] : memref<64xf32, #tile.shared>
      }
    }
  }
  return
}

// -----

// A condition on the lane with a result and both branches: the first branch of
// all its lanes comes before the second.
// CHECK-LABEL: func.func @branches
// CHECK: %[[R:.*]] = tile.alloc_fragment : memref<64xf32, #tile.fragment>
// CHECK: tile.parallel
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[R]]
// CHECK: tile.parallel
// CHECK: arith.xori
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[R]]
// CHECK: tile.parallel
// CHECK: memref.load %[[R]]
func.func @branches(%y: memref<?xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<128xf32, #tile.shared>
    tile.parallel (%i) in (64) {
      %j = arith.addi %i, %c1 : index
      %low = arith.cmpi ult, %i, %c32 : index
      %r = scf.if %low -> f32 {
        memref.store %one, %S[%i] : memref<128xf32, #tile.shared>
        scf.yield %one : f32
      } else {
        %v = memref.load %S[%j] : memref<128xf32, #tile.shared>
        scf.yield %v : f32
      }
      memref.store %r, %y[%i] : memref<?xf32>
    }
  }
  return
}

// -----

// A condition that is the same for all lanes stands around the pieces.
// CHECK-LABEL: func.func @uniform_condition
// CHECK: scf.if %{{.*}} {
// CHECK: tile.parallel
// CHECK: tile.parallel
func.func @uniform_condition(%n: index) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<128xf32, #tile.shared>
    tile.parallel (%i) in (64) {
      %j = arith.addi %i, %c1 : index
      %first = arith.cmpi eq, %b, %c1 : index
      scf.if %first {
        %v = memref.load %S[%j] : memref<128xf32, #tile.shared>
        memref.store %v, %S[%i] : memref<128xf32, #tile.shared>
      }
    }
  }
  return
}

// -----

// A lane's buffer that lives across pieces becomes a part of one of all lanes,
// also where it is accessed through a view; one that does not stays.
// CHECK-LABEL: func.func @locals
// CHECK: %[[L:.*]] = tile.alloc_fragment : memref<64x2x4xf32, #tile.fragment>
// CHECK: tile.parallel (%[[I:.*]]) in (64)
// CHECK: tile.alloc_local : memref<1xf32, #tile.local>
// CHECK: memref.store %{{.*}}, %[[L]][%[[I]], %{{.*}}, %{{.*}}]
// CHECK: tile.parallel (%[[I:.*]]) in (64)
// CHECK: memref.load %[[L]][%[[I]], %{{.*}}, %{{.*}}]
// CHECK-NOT: memref.subview
func.func @locals(%y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<128xf32, #tile.shared>
    tile.parallel (%i) in (64) {
      %L = tile.alloc_local : memref<2x4xf32, #tile.local>
      %M = tile.alloc_local : memref<1xf32, #tile.local>
      %row = memref.subview %L[1, 0] [1, 4] [1, 1]
        : memref<2x4xf32, #tile.local> to memref<4xf32, strided<[1], offset: 4>, #tile.local>
      %j = arith.addi %i, %c1 : index
      %v = memref.load %S[%j] : memref<128xf32, #tile.shared>
      memref.store %v, %M[%c0] : memref<1xf32, #tile.local>
      %w = memref.load %M[%c0] : memref<1xf32, #tile.local>
      memref.store %w, %row[%c1] : memref<4xf32, strided<[1], offset: 4>, #tile.local>
      memref.store %w, %S[%i] : memref<128xf32, #tile.shared>
      %u = memref.load %row[%c1] : memref<4xf32, strided<[1], offset: 4>, #tile.local>
      memref.store %u, %y[%i] : memref<?xf32>
    }
  }
  return
}

// -----

// All lanes write the same to the same elements, iteration by iteration: one
// statement orders nothing. Reading them in a later statement does.
// CHECK-LABEL: func.func @broadcast
// CHECK: tile.parallel
// CHECK: scf.for
// CHECK: memref.store
// CHECK: tile.parallel
// CHECK: memref.load
// CHECK: memref.store
func.func @broadcast(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tile.launch blocks(%b) in (%n) {
    %S = tile.alloc_shared : memref<8xf32, #tile.shared>
    tile.parallel (%i) in (64) {
      scf.for %k = %c0 to %c8 step %c1 {
        %v = memref.load %x[%k] : memref<?xf32>
        memref.store %v, %S[%k] : memref<8xf32, #tile.shared>
      }
      %j = arith.remui %i, %c8 : index
      %w = memref.load %S[%j] : memref<8xf32, #tile.shared>
      memref.store %w, %y[%i] : memref<?xf32>
    }
  }
  return
}

// -----

// Deeply nested conditions become one mask, so that a group tests few of them
// however deep it stands.
// CHECK-LABEL: func.func @deep
// CHECK: tile.fill %[[MASK:.*]], %false : memref<64xi1, #tile.fragment>
// CHECK: memref.store %{{.*}}, %[[MASK]][%i]
// CHECK: tile.parallel
// CHECK-NEXT: %[[HOLDS:.*]] = memref.load %[[MASK]][%i]
// CHECK-NEXT: scf.if %[[HOLDS]] {
// CHECK-NOT: scf.if
// CHECK: memref.load %{{.*}} #tile.shared
func.func @deep(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_shared : memref<64xi32, #tile.shared>
    tile.parallel (%i) in (64) {
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %a = arith.addi %i, %c1 : index
      %r = arith.remui %a, %c64 : index
      %v = memref.load %s[%i] : memref<64xi32, #tile.shared>
      %k0 = arith.constant 0 : i32
      %k1 = arith.constant 1 : i32
      %k2 = arith.constant 2 : i32
      %q0 = arith.cmpi sgt, %v, %k0 : i32
      %q1 = arith.cmpi sgt, %v, %k1 : i32
      %q2 = arith.cmpi sgt, %v, %k2 : i32
      scf.if %q0 {
        scf.if %q1 {
          scf.if %q2 {
            %p = memref.load %s[%r] : memref<64xi32, #tile.shared>
            memref.store %p, %s[%i] : memref<64xi32, #tile.shared>
          }
        }
      }
    }
  }
  return
}
