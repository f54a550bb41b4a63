// The rules of orders, hints, steps and workspaces, each broken once.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// launch-c8
func.func @registers(%n: index) {
  // expected-error @below {{'tile.launch' op expects 'registers' from 24 to 255, got 256}}
  tile.launch blocks(%b) in (%n) registers(256) {
  }
  return
}

// -----

// launch-c9
func.func @raster_of_a_line(%n: index) {
  // expected-error @below {{orders blocks of two or more dimensions by 'raster', got one dimension}}
  tile.launch blocks(%b) in (%n) raster(row) {
  }
  return
}

// -----

// launch-c10
func.func @complex(%n: index, %x: memref<?xcomplex<f32>>) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'memref.load' op touches a buffer of 'complex<f32>'; in a launch, the elements of buffers are f64, f32}}
    %v = memref.load %x[%b] : memref<?xcomplex<f32>>
  }
  return
}

// -----

// launch-c10
func.func @vectors(%n: index, %x: memref<?xvector<2xf32>>, %v: vector<2xf32>) {
  tile.launch blocks(%b) in (%n) {
    tile.parallel (%i) in (4) {
      // expected-error @below {{'memref.store' op touches a buffer of 'vector<2xf32>'}}
      memref.store %v, %x[%i] : memref<?xvector<2xf32>>
    }
  }
  return
}

// -----

// raster-c1
func.func @group(%n: index) {
  // expected-error @below {{expects a group of one or more, got 0}}
  tile.launch blocks(%b, %c) in (%n, %n) raster(row, 0) {
  }
  return
}

// -----

// copy-c11
func.func @cache_on_chip(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    %t = tile.alloc_shared : memref<8xf32, #tile.shared>
    // expected-error @below {{has a 'cache' policy, but neither side is in global memory}}
    tile.copy %s to %t cache(evict_last) : memref<8xf32, #tile.shared> to memref<8xf32, #tile.shared>
  }
  return
}

// -----

// copy-c12
func.func @engine_converts(%a: memref<?xf16>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    // expected-error @below {{cannot run on engine(cp_async), which moves elements as they are from global to shared memory; got 'memref<?xf16>' to 'memref<8xf32, #tile.shared>'}}
    tile.copy %a[0] to %s engine(cp_async) : memref<?xf16> to memref<8xf32, #tile.shared>
  }
  return
}

// -----

// copy-c12
func.func @engine_spaces(%a: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    // expected-error @below {{cannot run on engine(tma), which moves elements as they are from global to shared memory or back; got 'memref<?xf32>' to 'memref<8xf32, #tile.fragment>'}}
    tile.copy %a[0] to %s engine(tma) : memref<?xf32> to memref<8xf32, #tile.fragment>
  }
  return
}

// -----

// global-c1
func.func @strided_workspace() {
  // expected-error @below {{'tile.alloc_global' op expects a buffer without memory space, strides or offset, got 'memref<4x4xf32, strided<[8, 1]>>'}}
  %w = tile.alloc_global : memref<4x4xf32, strided<[8, 1]>>
  return
}

// -----

// global-c2
func.func @workspace_sizes(%n: index) {
  // expected-error @below {{expects one size for each of the 2 dynamic extents, got 1}}
  %w = tile.alloc_global(%n) : memref<?x?xf32>
  return
}

// -----

// global-c3
func.func @workspace_of_a_block(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{must stand directly in a function's body, outside loops, branches and launches}}
    %w = tile.alloc_global : memref<4xf32>
  }
  return
}

// -----

// global-c4
func.func @returned_workspace() -> memref<?xf32> {
  // expected-error @below {{names a workspace that ends with the function, but the function returns it}}
  %w = tile.alloc_global : memref<4xf32>
  %v = memref.cast %w : memref<4xf32> to memref<?xf32>
  return %v : memref<?xf32>
}

// -----

// persistent-c1
func.func @tiles(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.persistent' op expects tiles of 1 to 3 dimensions, got 4}}
    tile.persistent (%i, %j, %k, %l) in (%n, %n, %n, %n) {
    }
  }
  return
}

// -----

// persistent-c2
func.func @nested_persistent(%n: index) {
  tile.launch blocks(%b) in (%n) {
    scf.for %k = %b to %n step %n {
      // expected-error @below {{must stand directly in a tile.launch, whose blocks share the tiles}}
      tile.persistent (%i) in (%n) {
      }
    }
  }
  return
}

// -----

// persistent-c3
func.func @raster_of_one(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{orders tiles of two or more dimensions by 'raster', got one dimension}}
    tile.persistent (%i) in (%n) raster(row, 8) {
    }
  }
  return
}

// -----

// persistent-c4
func.func @tile_indices(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects one index block argument for each of the 2 dimensions}}
    tile.persistent (%i) in (%n, %n) {
    }
  }
  return
}

// -----

// step-c1
func.func @step_alone(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.step' op must stand directly in a tile.pipelined}}
    tile.step {
    }
  }
  return
}

// -----

// step-c2
func.func @some_orders(%n: index) {
  tile.launch blocks(%b) in (%n) {
    tile.pipelined %k = %b to %n {
      tile.step order(0) {
      }
      // expected-error @below {{expects all steps of a loop to give an 'order' or none}}
      tile.step {
      }
    }
  }
  return
}

// -----

// step-c2
func.func @same_order(%n: index) {
  tile.launch blocks(%b) in (%n) {
    tile.pipelined %k = %b to %n {
      // expected-note @below {{the other step is here}}
      tile.step order(1) {
      }
      // expected-error @below {{expects the orders of a loop's steps to differ, got 1 twice}}
      tile.step order(1) {
      }
    }
  }
  return
}

// -----

// step-c3
func.func @too_late(%n: index) {
  tile.launch blocks(%b) in (%n) {
    tile.pipelined %k = %b to %n stages(2) {
      // expected-error @below {{expects a stage below the loop's 2 stages, got 2}}
      tile.step stage(2) {
      }
    }
  }
  return
}

// -----

// step-c4: the product would run before the copy that feeds it.
func.func @before_its_input(%a: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-note @below {{the buffer is here}}
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    %t = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    tile.pipelined %k = %b to %n stages(3) {
      // expected-note @below {{the other step is here}}
      tile.step stage(1) {
        tile.copy %a[%k] to %s : memref<?xf32> to memref<8xf32, #tile.shared>
      }
      // expected-error @below {{of stage 0 and order 1 would run before the step of stage 1 and order 0 that is written first and uses the same buffer; give it a larger stage, or the same stage and a larger order}}
      tile.step stage(0) {
        tile.copy %s to %t : memref<8xf32, #tile.shared> to memref<8xf32, #tile.fragment>
      }
    }
  }
  return
}

// -----

// step-c5: the next iteration would read the sum before this one has added.
func.func @before_last_iteration(%y: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-note @below {{the buffer is here}}
    %sum = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    %t = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    tile.pipelined %k = %b to %n stages(3) {
      // expected-note @below {{the other step is here}}
      tile.step {
        tile.copy %sum to %t : memref<8xf32, #tile.fragment> to memref<8xf32, #tile.fragment>
      }
      // expected-error @below {{of stage 2 and order 1 would run after the next iteration's step of stage 0 and order 0, but the buffer they share keeps its contents from one iteration to the next}}
      tile.step stage(2) {
        tile.copy %t to %sum : memref<8xf32, #tile.fragment> to memref<8xf32, #tile.fragment>
      }
    }
  }
  return
}

// -----

// step-c6
func.func @beside_steps(%a: memref<?xf32>, %n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_shared : memref<8xf32, #tile.shared>
    tile.pipelined %k = %b to %n {
      // expected-note @below {{the first step is here}}
      tile.step {
      }
      // expected-error @below {{'tile.copy' op must stand in a step: a loop that has steps says of everything that touches memory when it runs}}
      tile.copy %a[%k] to %s : memref<?xf32> to memref<8xf32, #tile.shared>
    }
  }
  return
}

// -----

// entry-c15
// expected-error @below {{expects 'tile.may_alias' of argument #0 to be a list of arguments' names, as in ["A"]}}
func.func @alias_form(%x: memref<?xf32> {tile.may_alias = "y"}, %y: memref<?xf32>) {
  return
}

// -----

// entry-c16
// expected-error @below {{expects 'tile.may_alias' of argument #0 to name other buffers among the arguments of a buffer, got "0"}}
func.func @alias_itself(%x: memref<?xf32> {tile.may_alias = ["1", "0"]}, %y: memref<?xf32>) {
  return
}

// -----

// entry-c16
// expected-error @below {{expects 'tile.may_alias' of argument #0 to name other buffers among the arguments of a buffer, got "n"}}
func.func @alias_scalar(%x: memref<?xf32> {tile.may_alias = ["n"]}, %n: i32 {tile.name = "n"}) {
  return
}

// -----

// debug-c1
func.func @lines(%n: index, %ok: i1) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.assert' op expects a message of one line}}
    tile.assert %ok, "two\0Alines"
  }
  return
}

// -----

// debug-c2
func.func @print_in_a_lane(%n: index, %x: memref<4xf32>) {
  tile.launch blocks(%b) in (%n) {
    tile.parallel (%i) in (4) {
      // expected-error @below {{'tile.print' op prints scalars in an elementwise loop, got 'memref<4xf32>'; print the buffer outside the loop}}
      tile.print "x" %x : memref<4xf32>
    }
  }
  return
}
