// The rules of roles, barriers and asynchronous ops, each broken once.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// barrier-c1
func.func @no_barriers(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects one barrier or more, got 0}}
    %full = tile.alloc_barrier arrivals(1) : !tile.barrier<0>
  }
  return
}

// -----

// barrier-c2
func.func @barrier_on_the_host() {
  // expected-error @below {{'tile.alloc_barrier' op must stand inside a tile.launch}}
  %full = tile.alloc_barrier arrivals(1) : !tile.barrier
  return
}

// -----

// barrier-c3
func.func @beyond_the_ring(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %full = tile.alloc_barrier arrivals(1) : !tile.barrier<3>
    %c3 = arith.constant 3 : index
    // expected-error @below {{'tile.barrier_arrive' op expects the index of a barrier from 0 to 2, got 3}}
    tile.barrier_arrive %full[%c3] : !tile.barrier<3>
  }
  return
}

// -----

// async-c1
func.func @converting(%a: memref<?xf16>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %full = tile.alloc_barrier arrivals(1) : !tile.barrier
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    %c0 = arith.constant 0 : index
    // expected-error @below {{'tile.copy_async' op moves elements as they are, but source and target have elements of 'f16' and 'f32'; use tile.copy, which converts, or two copies}}
    tile.copy_async %a[0] to %s signal %full[%c0] : memref<?xf16> to memref<8xf32, #tile.shared>, !tile.barrier
  }
  return
}

// -----

// gemm-c3, which the asynchronous product keeps, too.
func.func @products(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<8x16xf16, #tile.shared>
    %B = tile.alloc_shared : memref<15x4xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<8x4xf32, #tile.fragment>
    // expected-error @below {{'tile.gemm_async' op expects equal extents K, got 16 in 'a' and 15 in 'b'}}
    tile.gemm_async %A, %B, %C : memref<8x16xf16, #tile.shared>, memref<15x4xf16, #tile.shared>, memref<8x4xf32, #tile.fragment>
  }
  return
}

// -----

// roles-c1
func.func @nested_roles(%n: index) {
  tile.launch blocks(%b) in (%n) {
    scf.for %k = %b to %n step %n {
      // expected-error @below {{'tile.roles' op must stand directly in a tile.launch, whose warps it divides}}
      tile.roles {
        tile.role producer warps(1) {
        }
      }
    }
  }
  return
}

// -----

// roles-c2
func.func @beside_roles(%n: index) {
  tile.launch blocks(%b) in (%n) {
    tile.roles {
      tile.role producer warps(1) {
      }
      // expected-error @below {{'arith.constant' op must stand in a tile.role: beside roles there is nobody to run it}}
      %c0 = arith.constant 0 : index
    }
  }
  return
}

// -----

// roles-c3
func.func @too_many_warps(%n: index) {
  tile.launch blocks(%b) in (%n) {
    tile.roles {
      tile.role producer warps(1) {
      }
      // expected-error @below {{'tile.role' op brings the warps of the block to more than 32}}
      tile.role consumer warps(32) {
      }
    }
  }
  return
}

// -----

// roles-c4
func.func @role_alone(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.role' op must stand directly in a tile.roles}}
    tile.role producer warps(1) {
    }
  }
  return
}
