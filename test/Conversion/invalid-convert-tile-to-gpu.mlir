// RUN: tile-opt %s -tile-infer-layouts=chip=sm_80 -tile-plan-shared-memory=chip=sm_86 -convert-tile-to-gpu=chip=sm_86 -split-input-file -verify-diagnostics

func.func @too_much(%n: index) {
  // expected-error@+1 {{needs 131072 bytes of shared memory, but a block of sm_86 has 101376}}
  tile.launch blocks(%b) in (%n) threads(32) {
    // expected-note@+1 {{131072 bytes at 0}}
    %A = tile.alloc_shared : memref<32768xf32, #tile.shared>
  }
  return
}

// -----

func.func @made_here(%n: index) {
  // expected-note@+1 {{the buffer is made here}}
  %x = memref.alloc(%n) : memref<?xf32>
  // expected-error@+1 {{uses a buffer that is neither an argument of its function, a workspace nor a view of one}}
  tile.launch blocks(%b) in (%n) threads(32) {
    %S = tile.alloc_shared : memref<32xf32, #tile.shared>
    tile.copy %x[0] to %S : memref<?xf32> to memref<32xf32, #tile.shared>
  }
  return
}

// -----

func.func @no_engine(%x: memref<64xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %S = tile.alloc_shared : memref<64xf32, #tile.shared>
    // expected-error@+1 {{pins the engine tma, which sm_86 does not have}}
    tile.copy %x to %S engine(tma) : memref<64xf32> to memref<64xf32, #tile.shared>
  }
  return
}

// -----

func.func @halves(%x: memref<64xi4>, %n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    %one = arith.constant 1 : i4
    // expected-error@+1 {{updates an element of four bits, which the cuda target cannot; use i8}}
    %old = memref.atomic_rmw addi %one, %x[%b] : (i4, memref<64xi4>) -> i4
  }
  return
}

// -----

func.func @too_many_arrivals(%n: index) {
  tile.launch blocks(%b) in (%n) threads(32) {
    // expected-error@+1 {{counts at most 1048575 arrivals, got 1048576}}
    %full = tile.alloc_barrier arrivals(1048576) : !tile.barrier
  }
  return
}

// -----

func.func @foreign_loop(%y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.launch blocks(%b) in (%n) threads(32) {
    // expected-error@+1 {{has no lowering to the cuda target, which takes the ops of tile, arith and math, loads, stores, updates and views of memref, for, if and while of scf}}
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      memref.store %zero, %y[%i] : memref<?xf32>
    }
  }
  return
}
