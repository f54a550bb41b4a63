// What threads and warps do by themselves has no meaning where a block runs on
// one thread; the message says where it does.
// RUN: tile-opt %s --convert-tile-to-cpu --split-input-file --verify-diagnostics

func.func @thread(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'gpu.thread_id' op has no meaning on the cpu target, which runs a block on one thread; use --target=emulator or --target=cuda}}
    %t = gpu.thread_id x
  }
  return
}

// -----

func.func @shuffle(%n: index, %v: f32, %i: i32) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'gpu.shuffle' op has no meaning on the cpu target}}
    %s, %p = gpu.shuffle xor %v, %i, %i : f32
  }
  return
}

// -----

func.func @elect(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'nvvm.elect.sync' op has no meaning on the cpu target}}
    %e = nvvm.elect.sync -> i1
  }
  return
}

// -----

func.func @barrier(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.alloc_barrier' op has no meaning on the cpu target, which runs a block on one thread; use --target=emulator or --target=cuda}}
    %full = tile.alloc_barrier arrivals(1) : !tile.barrier
  }
  return
}

// -----

func.func @product(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.gemm_wait' op has no meaning on the cpu target}}
    tile.gemm_wait pending(0)
  }
  return
}

// -----

func.func @roles(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.roles' op has no meaning on the cpu target}}
    tile.roles {
      tile.role producer warps(1) {
        %c0 = arith.constant 0 : index
      }
    }
  }
  return
}
