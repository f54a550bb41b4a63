// The rules of launches, tunables and constraints, each broken once.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// launch-c1
func.func @no_grid() {
  // expected-error @below {{'tile.launch' op expects a grid of 1 to 3 dimensions, got 0}}
  tile.launch blocks() in () {
  }
  return
}

// -----

// launch-c1
func.func @grid_of_four(%n: index) {
  // expected-error @below {{expects a grid of 1 to 3 dimensions, got 4}}
  tile.launch blocks(%a, %b, %c, %d) in (%n, %n, %n, %n) {
  }
  return
}

// -----

// launch-c2
func.func @threads_twice(%n: index) {
  // expected-error @below {{expects 'threads' as a constant or as a value, got both}}
  "tile.launch"(%n, %n) <{operandSegmentSizes = array<i32: 1, 1>, static_threads = 32 : i64}> ({
  ^bb0(%b: index):
    "tile.yield"() : () -> ()
  }) : (index, index) -> ()
  return
}

// -----

// launch-c3
func.func @threads_between_warps(%n: index) {
  // expected-error @below {{expects 'threads' to be a multiple of 32 from 32 to 1024, got 48}}
  tile.launch blocks(%b) in (%n) threads(48) {
  }
  return
}

// -----

// launch-c3
func.func @too_many_threads(%n: index) {
  // expected-error @below {{expects 'threads' to be a multiple of 32 from 32 to 1024, got 1056}}
  tile.launch blocks(%b) in (%n) threads(1056) {
  }
  return
}

// -----

// launch-c3: a constant value is held to the same rule
func.func @constant_threads(%n: index) {
  %c48 = arith.constant 48 : index
  // expected-error @below {{expects 'threads' to be a multiple of 32 from 32 to 1024, got 48}}
  tile.launch blocks(%b) in (%n) threads(%c48) {
  }
  return
}

// -----

func.func @no_threads(%n: index) {
  // expected-error @below {{expects 'threads' to be a multiple of 32 from 32 to 1024, got 0}}
  tile.launch blocks(%b) in (%n) threads(0) {
  }
  return
}

// -----

// launch-c4
func.func @nested(%n: index) {
  // expected-note @below {{the outer launch is here}}
  tile.launch blocks(%b) in (%n) {
    scf.for %i = %b to %n step %n {
      // expected-error @below {{must not be nested in another launch; write two launches one after the other}}
      tile.launch blocks(%c) in (%n) {
      }
    }
  }
  return
}

// -----

// launch-c5
func.func @arguments(%n: index) {
  // expected-error @below {{expects one index block argument for each of the 2 grid dimensions}}
  tile.launch blocks(%b) in (%n, %n) {
  }
  return
}

// -----

// launch-c5
func.func @argument_types(%n: index) {
  // expected-error @below {{expects one index block argument for each of the 1 grid dimensions}}
  "tile.launch"(%n) <{operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%b: i64):
    "tile.yield"() : () -> ()
  }) : (index) -> ()
  return
}

// -----

// launch-c6
func.func @selected(%n: index, %c: i1) {
  tile.launch blocks(%b) in (%n) {
    %x = tile.alloc_shared : memref<4xf32, #tile.shared>
    %y = tile.alloc_shared : memref<4xf32, #tile.shared>
    // expected-error @below {{'arith.select' op result #0 is an on-chip buffer; on-chip buffers are named by their allocation or a view of it and not passed around, so use the buffer itself on each path}}
    %z = arith.select %c, %x, %y : memref<4xf32, #tile.shared>
  }
  return
}

// -----

// launch-c6
func.func @carried(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %x = tile.alloc_fragment : memref<4xf32, #tile.fragment>
    // expected-error @below {{'scf.for' op result #0 is an on-chip buffer}}
    %r = scf.for %i = %b to %n step %n iter_args(%y = %x) -> (memref<4xf32, #tile.fragment>) {
      scf.yield %y : memref<4xf32, #tile.fragment>
    }
  }
  return
}

// -----

// launch-c6
func.func @block_argument(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %x = tile.alloc_local : memref<4xf32, #tile.local>
    // expected-error @below {{'scf.execute_region' op carries an on-chip buffer as argument #0 of a block; on-chip buffers are named, so use the buffer itself inside the region}}
    scf.execute_region {
      cf.br ^next(%x : memref<4xf32, #tile.local>)
    ^next(%y: memref<4xf32, #tile.local>):
      scf.yield
    }
  }
  return
}

// -----

func.func @unknown_bounds(%n: index) {
  // expected-error @below {{expected guard, trap or assume, got 'clamp'}}
  tile.launch blocks(%b) in (%n) bounds(clamp) {
  }
  return
}

// -----

func.func @yield_elsewhere() {
  // expected-error @below {{'tile.yield' op expects parent op to be one of 'tile.launch, tile.parallel, tile.persistent, tile.pipelined, tile.role, tile.step'}}
  tile.yield
}

// -----

// tunable-c1
func.func @tunable_in_a_launch(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{must stand directly in a function's body, outside loops and launches}}
    %t = tile.tunable "t" in [1, 2] default(1)
  }
  return
}

// -----

// tunable-c2
func.func @tunable_name() {
  // expected-error @below {{expects a name of letters, digits and '_' that does not start with a digit, got "block-m"}}
  %t = tile.tunable "block-m" in [1, 2] default(1)
  return
}

// -----

// tunable-c2
func.func @tunable_digit() {
  // expected-error @below {{expects a name of letters, digits and '_' that does not start with a digit, got "2m"}}
  %t = tile.tunable "2m" in [1, 2] default(1)
  return
}

// -----

// tunable-c3
func.func @tunable_negative() {
  // expected-error @below {{expects choices of zero or more, got -2}}
  %t = tile.tunable "t" in [1, -2] default(1)
  return
}

// -----

// tunable-c3
func.func @tunable_twice() {
  // expected-error @below {{expects each choice once, got 8 twice}}
  %t = tile.tunable "t" in [8, 4, 8] default(4)
  return
}

// -----

// tunable-c4
func.func @tunable_default() {
  // expected-error @below {{expects the default to be one of the choices, got 5}}
  %t = tile.tunable "t" in range(0, 8, 2) default(5)
  return
}

// -----

// tunable-c4
func.func @tunable_without_choices() {
  // expected-error @below {{expects the default to be one of the choices, got 1}}
  %t = tile.tunable "t" in [] default(1)
  return
}

// -----

// tunable-c5
func.func @tunable_names() {
  // expected-note @below {{the first is here}}
  %a = tile.tunable "t" in [1, 2] default(1)
  // expected-error @below {{expects each name once in a function, got "t" twice}}
  %b = tile.tunable "t" in [3, 4] default(3)
  return
}

// -----

func.func @endless_range() {
  // expected-error @below {{expected range(first, last, step) with 0 <= first <= last, a positive step and at most 4096 values}}
  %t = tile.tunable "t" in range(0, 9223372036854775807, 1) default(1)
  return
}

// -----

func.func @range_backwards() {
  // expected-error @below {{expected range(first, last, step) with 0 <= first <= last}}
  %t = tile.tunable "t" in range(8, 4, -1) default(8)
  return
}

// -----

// launch-c7
func.func @no_alignment(%n: index) {
  // expected-error @below {{expects 'alignment' to be a power of two, got 0}}
  tile.launch blocks(%b) in (%n) alignment(0) {
  }
  return
}

// -----

func.func @odd_alignment(%n: index) {
  // expected-error @below {{expects 'alignment' to be a power of two, got 12}}
  tile.launch blocks(%b) in (%n) alignment(12) {
  }
  return
}
