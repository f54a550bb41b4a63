// The rules of pipelined loops, each broken once.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// pipelined-c1
func.func @stages_twice(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.pipelined' op expects 'stages' as a constant or as a value, got both}}
    "tile.pipelined"(%b, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>, static_stages = 2 : i64}> ({
    ^bb0(%k: index):
      "tile.yield"() : () -> ()
    }) : (index, index, index) -> ()
  }
  return
}

// -----

func.func @no_stages(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects 'stages' to be 1 or more, got 0}}
    tile.pipelined %k = %b to %n stages(0) {
    }
  }
  return
}

// -----

// pipelined-c2
func.func @step(%n: index) {
  %step = arith.constant -1 : index
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects a positive step, got -1}}
    tile.pipelined %k = %b to %n step %step {
    }
  }
  return
}

// -----

// pipelined-c3
func.func @index_argument(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects one index block argument, the loop's index}}
    "tile.pipelined"(%b, %n) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
    ^bb0(%k: i32):
      "tile.yield"() : () -> ()
    }) : (index, index) -> ()
  }
  return
}

// -----

// pipelined-c3
func.func @no_argument(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects one index block argument, the loop's index}}
    "tile.pipelined"(%b, %n) <{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
      "tile.yield"() : () -> ()
    }) : (index, index) -> ()
  }
  return
}
