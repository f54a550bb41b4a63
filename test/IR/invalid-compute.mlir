// The rules of gemm, reduce and parallel, each broken once.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// gemm-c1
func.func @rank(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4x4xf32, #tile.shared>
    %B = tile.alloc_shared : memref<1x4x4xf32, #tile.shared>
    %C = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    // expected-error @below {{'tile.gemm' op expects 'b' to have two dimensions, got 'memref<1x4x4xf32, #tile.shared>'}}
    tile.gemm %A, %B, %C : memref<4x4xf32, #tile.shared>, memref<1x4x4xf32, #tile.shared>, memref<4x4xf32, #tile.fragment>
  }
  return
}

// -----

// gemm-c2
func.func @types(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4x4xf16, #tile.shared>
    %B = tile.alloc_shared : memref<4x4xbf16, #tile.shared>
    %C = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    // expected-error @below {{has no product of 'f16' and 'bf16' accumulated in 'f32'; see the table in the op's description}}
    tile.gemm %A, %B, %C : memref<4x4xf16, #tile.shared>, memref<4x4xbf16, #tile.shared>, memref<4x4xf32, #tile.fragment>
  }
  return
}

// -----

// gemm-c2
func.func @accumulator(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4x4xbf16, #tile.shared>
    %B = tile.alloc_shared : memref<4x4xbf16, #tile.shared>
    %C = tile.alloc_fragment : memref<4x4xbf16, #tile.fragment>
    // expected-error @below {{has no product of 'bf16' and 'bf16' accumulated in 'bf16'}}
    tile.gemm %A, %B, %C : memref<4x4xbf16, #tile.shared>, memref<4x4xbf16, #tile.shared>, memref<4x4xbf16, #tile.fragment>
  }
  return
}

// -----

// gemm-c3
func.func @m(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<8x16xf32, #tile.shared>
    %B = tile.alloc_shared : memref<8x4xf32, #tile.shared>
    %C = tile.alloc_fragment : memref<8x4xf32, #tile.fragment>
    // expected-error @below {{expects equal extents M, got 16 in 'a' and 8 in 'c'}}
    tile.gemm %A, %B, %C transpose_a : memref<8x16xf32, #tile.shared>, memref<8x4xf32, #tile.shared>, memref<8x4xf32, #tile.fragment>
  }
  return
}

// -----

// gemm-c3
func.func @n(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<8x16xf32, #tile.shared>
    %B = tile.alloc_shared : memref<4x16xf32, #tile.shared>
    %C = tile.alloc_fragment : memref<8x8xf32, #tile.fragment>
    // expected-error @below {{expects equal extents N, got 4 in 'b' and 8 in 'c'}}
    tile.gemm %A, %B, %C transpose_b : memref<8x16xf32, #tile.shared>, memref<4x16xf32, #tile.shared>, memref<8x8xf32, #tile.fragment>
  }
  return
}

// -----

// gemm-c3: an extent that is not known yet agrees with any
func.func @k(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared(%n) : memref<?x16xf32, #tile.shared>
    %B = tile.alloc_shared(%n) : memref<8x?xf32, #tile.shared>
    %C = tile.alloc_fragment : memref<8x4xf32, #tile.fragment>
    // expected-error @below {{expects equal extents K, got 16 in 'a' and 8 in 'b'}}
    tile.gemm %A, %B, %C : memref<?x16xf32, #tile.shared>, memref<8x?xf32, #tile.shared>, memref<8x4xf32, #tile.fragment>
  }
  return
}

// -----

// gemm-c4
func.func @tf32(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4x4xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    // expected-error @below {{precision(tf32) needs f32 operands, got 'f16'}}
    tile.gemm %A, %A, %C precision(tf32) : memref<4x4xf16, #tile.shared>, memref<4x4xf16, #tile.shared>, memref<4x4xf32, #tile.fragment>
  }
  return
}

// -----

// gemm-c5
func.func @unsigned(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4x4xf16, #tile.shared>
    %C = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    // expected-error @below {{unsigned_a and unsigned_b need i8 operands, got 'f16'}}
    tile.gemm %A, %A, %C unsigned_b : memref<4x4xf16, #tile.shared>, memref<4x4xf16, #tile.shared>, memref<4x4xf32, #tile.fragment>
  }
  return
}

// -----

// gemm-c6: also through a view
func.func @aliased(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4x4xf32, #tile.shared>
    %C = tile.alloc_fragment : memref<8x4xf32, #tile.fragment>
    %top = memref.subview %C[0, 0] [4, 4] [1, 1] : memref<8x4xf32, #tile.fragment> to memref<4x4xf32, strided<[4, 1]>, #tile.fragment>
    %low = memref.subview %C[4, 0] [4, 4] [1, 1] : memref<8x4xf32, #tile.fragment> to memref<4x4xf32, strided<[4, 1], offset: 16>, #tile.fragment>
    // expected-error @below {{expects 'c' to be another buffer than 'a' and 'b'}}
    tile.gemm %low, %A, %top : memref<4x4xf32, strided<[4, 1], offset: 16>, #tile.fragment>, memref<4x4xf32, #tile.shared>, memref<4x4xf32, strided<[4, 1]>, #tile.fragment>
  }
  return
}

// -----

func.func @policy(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %A = tile.alloc_shared : memref<4x4xf32, #tile.shared>
    %C = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    // expected-error @below {{expected one of [square, full_row, full_col] for how warps divide the result of a gemm, got: diagonal}}
    tile.gemm %A, %A, %C policy(diagonal) : memref<4x4xf32, #tile.shared>, memref<4x4xf32, #tile.shared>, memref<4x4xf32, #tile.fragment>
  }
  return
}

// -----

// reduce-c1
func.func @dim(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    %t = tile.alloc_fragment : memref<4xf32, #tile.fragment>
    // expected-error @below {{'tile.reduce' op expects 'along' to be a dimension of 'source', below 2, got 2}}
    tile.reduce sum %s along 2 into %t : memref<4x4xf32, #tile.fragment> into memref<4xf32, #tile.fragment>
  }
  return
}

// -----

// reduce-c2
func.func @shape(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<4x8xf32, #tile.fragment>
    %t = tile.alloc_fragment : memref<8xf32, #tile.fragment>
    // expected-error @below {{expects the shape of 'target' to be that of 'source' without dimension 1 or with an extent of one there, got 'memref<8xf32, #tile.fragment>' from 'memref<4x8xf32, #tile.fragment>'}}
    tile.reduce sum %s along 1 into %t : memref<4x8xf32, #tile.fragment> into memref<8xf32, #tile.fragment>
  }
  return
}

// -----

// reduce-c3
func.func @kind_of_elements(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    %t = tile.alloc_fragment : memref<4xi32, #tile.fragment>
    // expected-error @below {{expects the elements of 'target' to be of the kind of 'source', at least as wide, got 'i32' from 'f32'}}
    tile.reduce sum %s along 0 into %t : memref<4x4xf32, #tile.fragment> into memref<4xi32, #tile.fragment>
  }
  return
}

// -----

// reduce-c3
func.func @narrower(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    %t = tile.alloc_fragment : memref<4xf16, #tile.fragment>
    // expected-error @below {{at least as wide, got 'f16' from 'f32'}}
    tile.reduce sum %s along 0 into %t : memref<4x4xf32, #tile.fragment> into memref<4xf16, #tile.fragment>
  }
  return
}

// -----

// reduce-c3
func.func @index_elements(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<4x4xindex, #tile.fragment>
    %t = tile.alloc_fragment : memref<4xindex, #tile.fragment>
    // expected-error @below {{at least as wide, got 'index' from 'index'}}
    tile.reduce sum %s along 0 into %t : memref<4x4xindex, #tile.fragment> into memref<4xindex, #tile.fragment>
  }
  return
}

// -----

// reduce-c4
func.func @bits_of_floats(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    %t = tile.alloc_fragment : memref<4xf32, #tile.fragment>
    // expected-error @below {{'tile.reduce' op xor needs integers, got 'f32'}}
    tile.reduce xor %s along 0 into %t : memref<4x4xf32, #tile.fragment> into memref<4xf32, #tile.fragment>
  }
  return
}

// -----

// reduce-c5
func.func @unsigned_floats(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<4x4xf32, #tile.fragment>
    %t = tile.alloc_fragment : memref<4xf32, #tile.fragment>
    // expected-error @below {{'unsigned' needs integers, got 'f32'}}
    tile.reduce max %s along 0 into %t unsigned : memref<4x4xf32, #tile.fragment> into memref<4xf32, #tile.fragment>
  }
  return
}

// -----

// reduce-c6
func.func @in_place(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<1x4xf32, #tile.fragment>
    // expected-error @below {{expects 'target' to be another buffer than 'source'}}
    tile.reduce max %s along 0 into %s : memref<1x4xf32, #tile.fragment> into memref<1x4xf32, #tile.fragment>
  }
  return
}

// -----

func.func @reduce_kind(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_fragment : memref<1x4xf32, #tile.fragment>
    // expected-error @below {{expected one of [sum, product, max, min, abs_sum, abs_max, and, or, xor] for how a reduction combines two elements, got: mean}}
    tile.reduce mean %s along 0 into %s : memref<1x4xf32, #tile.fragment> into memref<1x4xf32, #tile.fragment>
  }
  return
}

// -----

// parallel-c1
func.func @no_dimension(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{'tile.parallel' op expects at least one dimension}}
    tile.parallel () in () {
    }
  }
  return
}

// -----

// parallel-c1: the generic form can leave out values
func.func @extent_values(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects one operand for each of the 1 extents that are not constant, got 0}}
    "tile.parallel"() <{static_extents = array<i64: 4, -9223372036854775808>}> ({
    ^bb0(%i: index, %j: index):
      "tile.yield"() : () -> ()
    }) : () -> ()
  }
  return
}

// -----

// parallel-c2
func.func @negative_extent(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects extents of zero or more, got -4}}
    tile.parallel (%i) in (-4) {
    }
  }
  return
}

// -----

// parallel-c3
func.func @indices(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-error @below {{expects one index block argument for each of the 2 dimensions}}
    tile.parallel (%i) in (4, 4) {
    }
  }
  return
}

// -----

// parallel-c4
func.func @tile_op_in_a_lane(%n: index) {
  tile.launch blocks(%b) in (%n) {
    %s = tile.alloc_shared : memref<4xf32, #tile.shared>
    %v = arith.constant 0.0 : f32
    // expected-note @below {{the loop is here}}
    tile.parallel (%i) in (4) {
      // expected-error @below {{'tile.fill' op works on a whole tile and must stand outside elementwise loops}}
      tile.fill %s, %v : memref<4xf32, #tile.shared>
    }
  }
  return
}

// -----

// parallel-c4
func.func @nested(%n: index) {
  tile.launch blocks(%b) in (%n) {
    // expected-note @below {{the loop is here}}
    tile.parallel (%i) in (4) {
      scf.for %k = %b to %n step %n {
        // expected-error @below {{'tile.parallel' op works on a whole tile and must stand outside elementwise loops}}
        tile.parallel (%j) in (4) {
        }
      }
    }
  }
  return
}
