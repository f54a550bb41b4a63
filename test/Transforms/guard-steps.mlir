// RUN: tile-opt %s --tile-guard-steps --split-input-file | FileCheck %s

// A step that comes from outside may be anything: the loop is reported and does nothing where it would not end.
// CHECK-LABEL: func.func @unknown
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[STEP:[a-z0-9]+]]: index)
// CHECK: tile.launch
// CHECK: %[[FROM:.*]] = arith.constant 3 : index
// CHECK: %[[ADVANCES:.*]] = arith.cmpi sgt, %[[STEP]], %{{.*}} : index
// CHECK: %[[EMPTY:.*]] = arith.cmpi sge, %[[FROM]], %[[N]] : index
// CHECK: %[[ENDS:.*]] = arith.ori %[[ADVANCES]], %[[EMPTY]] : i1
// CHECK: tile.assert %[[ENDS]], "the step of a loop is not positive"
// CHECK: %[[TO:.*]] = arith.select %[[ADVANCES]], %[[N]], %[[FROM]] : index
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[BY:.*]] = arith.select %[[ADVANCES]], %[[STEP]], %[[ONE]] : index
// CHECK: tile.pipelined %{{.*}} = %[[FROM]] to %[[TO]] step %[[BY]] stages(2)
func.func @unknown(%x: memref<?xf32>, %n: index, %step: index) {
  tile.launch blocks(%b) in (%n) {
    %c3 = arith.constant 3 : index
    %s = tile.alloc_shared : memref<16xf32, #tile.shared>
    tile.pipelined %k = %c3 to %n step %step stages(2) {
      tile.copy %x[%k] to %s : memref<?xf32> to memref<16xf32, #tile.shared>
      tile.copy %s to %x[%k] : memref<16xf32, #tile.shared> to memref<?xf32>
    }
  }
  return
}

// -----

// An unsigned step is not positive where it is zero.
// CHECK-LABEL: func.func @unsigned
// CHECK: arith.cmpi ne, %{{.*}}, %{{.*}} : i32
// CHECK: arith.cmpi uge
// CHECK: tile.assert
// CHECK: scf.for unsigned
func.func @unsigned(%x: memref<?xi32>, %n: i32, %step: i32) {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %c0 = arith.constant 0 : i32
    scf.for unsigned %k = %c0 to %n step %step : i32 {
      tile.parallel (%i) in (8) {
        memref.store %k, %x[%i] : memref<?xi32>
      }
    }
  }
  return
}

// -----

// What is known to be positive needs no guard: constants, the number of blocks and its multiples, threads, a maximum.
// CHECK-LABEL: func.func @known
// CHECK-NOT: tile.assert
func.func @known(%x: memref<?xindex>, %n: index, %m: index) {
  tile.launch blocks(%b, %e) in (%n, %m) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    scf.for %k = %c0 to %n step %c2 {
      memref.store %k, %x[%k] : memref<?xindex>
    }
    scf.for %k = %b to %m step %n {
      memref.store %k, %x[%k] : memref<?xindex>
    }
    %blocks = arith.muli %n, %m : index
    scf.for %k = %b to %m step %blocks {
      memref.store %k, %x[%k] : memref<?xindex>
    }
    %elements = arith.muli %n, %c64 : index
    scf.for %k = %b to %m step %elements {
      memref.store %k, %x[%k] : memref<?xindex>
    }
    %id = gpu.thread_id x
    %threads = gpu.block_dim x
    scf.for %k = %id to %m step %threads {
      memref.store %k, %x[%k] : memref<?xindex>
    }
    %dim = memref.dim %x, %c0 : memref<?xindex>
    %some = arith.maxsi %dim, %c2 : index
    scf.for %k = %b to %m step %some {
      memref.store %k, %x[%k] : memref<?xindex>
    }
  }
  return
}

// -----

// A product that may wrap around may be anything.
// CHECK-LABEL: func.func @wraps
// CHECK: tile.assert
func.func @wraps(%x: memref<?xindex>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %c0 = arith.constant 0 : index
    %big = arith.constant 8589934592 : index
    %step = arith.muli %n, %big : index
    scf.for %k = %c0 to %n step %step {
      memref.store %k, %x[%k] : memref<?xindex>
    }
  }
  return
}

// -----

// So may one of narrower integers.
// CHECK-LABEL: func.func @wraps_narrow
// CHECK: tile.assert
func.func @wraps_narrow(%x: memref<?xi32>, %n: index, %v: i32) {
  tile.launch blocks(%b) in (%n) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c9 = arith.constant 9 : i32
    %some = arith.maxsi %v, %c1 : i32
    %step = arith.muli %some, %some : i32
    scf.for %k = %c0 to %c9 step %step : i32 {
      %i = arith.index_cast %k : i32 to index
      memref.store %k, %x[%i] : memref<?xi32>
    }
  }
  return
}
