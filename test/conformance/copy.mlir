// Copies between memories at offsets, with padding, of every rank.

// A tile that hangs over both ends of a vector: outside, it reads the pad.
func.func @padded_rank1(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:50xf32"},
    %at: index {tile.name = "at", tile.default = "-5"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:64xf32"})
    attributes {tile.reference = @padded_rank1_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %pad = arith.constant 7.5 : f32
    %s = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.copy %x[%at] to %s pad(%pad : f32) : memref<?xf32> to memref<64xf32, #tile.shared>
    tile.copy %s to %y[0] : memref<64xf32, #tile.shared> to memref<?xf32>
  }
  return
}
func.func @padded_rank1_reference(%x: memref<?xf64>, %at: index, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 7.5 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  affine.for %i = 0 to 64 {
    %j = arith.addi %i, %at : index
    %inside = arith.cmpi ult, %j, %n : index
    %v = scf.if %inside -> f64 {
      %w = memref.load %x[%j] : memref<?xf64>
      scf.yield %w : f64
    } else {
      scf.yield %pad : f64
    }
    affine.store %v, %y[%i] : memref<?xf64>
  }
  return
}

// A ragged matrix by way of shared memory and a fragment, tile by tile.
func.func @through_shared_and_fragment(
    %x: memref<?x?xf32> {tile.name = "x", tile.default = "randn:37x53xf32"},
    %y: memref<?x?xf32> {tile.name = "y", tile.default = "empty:x[0]xx[1]xf32"})
    attributes {tile.reference = @copy_rank2_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %gy = arith.ceildivsi %m, %c16 : index
  %gx = arith.ceildivsi %n, %c32 : index
  tile.launch blocks(%bx, %by) in (%gx, %gy) {
    %i = arith.muli %by, %c16 : index
    %j = arith.muli %bx, %c32 : index
    %s = tile.alloc_shared : memref<16x32xf32, #tile.shared>
    %f = tile.alloc_fragment : memref<16x32xf32, #tile.fragment>
    tile.copy %x[%i, %j] to %s : memref<?x?xf32> to memref<16x32xf32, #tile.shared>
    tile.copy %s to %f : memref<16x32xf32, #tile.shared> to memref<16x32xf32, #tile.fragment>
    tile.copy %f to %y[%i, %j] : memref<16x32xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}
func.func @copy_rank2_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  memref.copy %x, %y : memref<?x?xf64> to memref<?x?xf64>
  return
}

// From global to global memory without a stop.
func.func @global_to_global(
    %x: memref<?x?xf16> {tile.name = "x", tile.default = "randn:19x45xf16"},
    %y: memref<?x?xf16> {tile.name = "y", tile.default = "empty:x[0]xx[1]xf16"})
    attributes {tile.reference = @copy_rank2_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %m = memref.dim %x, %c0 : memref<?x?xf16>
  %g = arith.ceildivsi %m, %c8 : index
  tile.launch blocks(%b) in (%g) {
    %i = arith.muli %b, %c8 : index
    tile.copy %x[%i, 0] sizes [8, 48] to %y[%i, 0] : memref<?x?xf16> to memref<?x?xf16>
  }
  return
}

// Column-major to row-major: strides are the type's.
func.func @column_major(
    %x: memref<?x?xf32, strided<[1, ?]>> {tile.name = "x", tile.default = "randn:20x30xf32:strides=1,20"},
    %y: memref<?x?xf32> {tile.name = "y", tile.default = "empty:x[0]xx[1]xf32"})
    attributes {tile.reference = @copy_rank2_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<32x32xf32, #tile.shared>
    tile.copy %x[0, 0] to %s
      : memref<?x?xf32, strided<[1, ?]>> to memref<32x32xf32, #tile.shared>
    tile.copy %s to %y[0, 0] : memref<32x32xf32, #tile.shared> to memref<?x?xf32>
  }
  return
}

// A rank-2 tile of a rank-4 tensor: one batch and one head.
func.func @matrix_of_rank4(
    %x: memref<?x?x?x?xf32> {tile.name = "x", tile.default = "randn:2x21x3x16xf32"},
    %y: memref<?x?x?x?xf32> {tile.name = "y", tile.default = "empty:2x3x21x16xf32"})
    attributes {tile.reference = @matrix_of_rank4_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %batches = memref.dim %x, %c0 : memref<?x?x?x?xf32>
  %tokens = memref.dim %x, %c1 : memref<?x?x?x?xf32>
  %heads = memref.dim %x, %c2 : memref<?x?x?x?xf32>
  %g = arith.ceildivsi %tokens, %c8 : index
  tile.launch blocks(%bx, %h, %b) in (%g, %heads, %batches) {
    %t = arith.muli %bx, %c8 : index
    %s = tile.alloc_shared : memref<8x16xf32, #tile.shared>
    tile.copy %x[%b, %t, %h, 0] sizes [1, 8, 1, 16] to %s
      : memref<?x?x?x?xf32> to memref<8x16xf32, #tile.shared>
    tile.copy %s to %y[%b, %h, %t, 0] : memref<8x16xf32, #tile.shared> to memref<?x?x?x?xf32>
  }
  return
}
func.func @matrix_of_rank4_reference(%x: memref<?x?x?x?xf64>, %y: memref<?x?x?x?xf64>) {
  linalg.transpose ins(%x : memref<?x?x?x?xf64>) outs(%y : memref<?x?x?x?xf64>)
                   permutation = [0, 2, 1, 3]
  return
}

// A block of rank 3 that starts before the beginning in every dimension.
func.func @negative_offsets_rank3(
    %x: memref<?x?x?xf32> {tile.name = "x", tile.default = "randn:5x6x7xf32"},
    %y: memref<10x10x10xf32> {tile.name = "y", tile.default = "empty:10x10x10xf32"})
    attributes {tile.reference = @negative_offsets_rank3_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<10x10x10xf32, #tile.shared>
    tile.copy %x[-2, -1, -3] to %s : memref<?x?x?xf32> to memref<10x10x10xf32, #tile.shared>
    tile.copy %s to %y : memref<10x10x10xf32, #tile.shared> to memref<10x10x10xf32>
  }
  return
}
func.func @negative_offsets_rank3_reference(%x: memref<?x?x?xf64>, %y: memref<10x10x10xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %d0 = memref.dim %x, %c0 : memref<?x?x?xf64>
  %d1 = memref.dim %x, %c1 : memref<?x?x?xf64>
  %d2 = memref.dim %x, %c2 : memref<?x?x?xf64>
  linalg.fill ins(%zero : f64) outs(%y : memref<10x10x10xf64>)
  affine.for %i = 0 to %d0 {
    affine.for %j = 0 to %d1 {
      affine.for %k = 0 to %d2 {
        %v = affine.load %x[%i, %j, %k] : memref<?x?x?xf64>
        affine.store %v, %y[%i + 2, %j + 1, %k + 3] : memref<10x10x10xf64>
      }
    }
  }
  return
}

// A tile that lies outside altogether reads nothing but pad.
func.func @far_outside(
    %x: memref<?x?xf32> {tile.name = "x", tile.default = "randn:9x9xf32"},
    %far: index {tile.name = "far", tile.default = "1000000000000"},
    %y: memref<8x8xf32> {tile.name = "y", tile.default = "empty:8x8xf32"})
    attributes {tile.reference = @far_outside_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %pad = arith.constant -1.25 : f32
    %s = tile.alloc_shared : memref<8x8xf32, #tile.shared>
    tile.copy %x[0, %far] to %s pad(%pad : f32) : memref<?x?xf32> to memref<8x8xf32, #tile.shared>
    tile.copy %s to %y : memref<8x8xf32, #tile.shared> to memref<8x8xf32>
    // And what is written there is dropped.
    tile.copy %s to %x[%far, 0] : memref<8x8xf32, #tile.shared> to memref<?x?xf32>
  }
  return
}
func.func @far_outside_reference(%x: memref<?x?xf64>, %far: index, %y: memref<8x8xf64>) {
  %pad = arith.constant -1.25 : f64
  linalg.fill ins(%pad : f64) outs(%y : memref<8x8xf64>)
  // Written as the kernel writes it, to no effect.
  %v = affine.load %x[0, 0] : memref<?x?xf64>
  affine.store %v, %x[0, 0] : memref<?x?xf64>
  return
}

// Parts of on-chip buffers: the quarters of a tile change places.
func.func @quarters(
    %x: memref<32x32xf32> {tile.name = "x", tile.default = "randn:32x32xf32"},
    %y: memref<32x32xf32> {tile.name = "y", tile.default = "empty:32x32xf32"})
    attributes {tile.reference = @quarters_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<32x32xf32, #tile.shared>
    %t = tile.alloc_shared : memref<32x32xf32, #tile.shared>
    tile.copy %x to %s : memref<32x32xf32> to memref<32x32xf32, #tile.shared>
    scf.for %i = %c0 to %c32 step %c16 {
      %j = arith.subi %c16, %i : index
      tile.copy %s[%i, 0] sizes [16, 16] to %t[%j, 16]
        : memref<32x32xf32, #tile.shared> to memref<32x32xf32, #tile.shared>
      tile.copy %s[%i, 16] sizes [16, 16] to %t[%j, 0]
        : memref<32x32xf32, #tile.shared> to memref<32x32xf32, #tile.shared>
    }
    tile.copy %t to %y : memref<32x32xf32, #tile.shared> to memref<32x32xf32>
  }
  return
}
func.func @quarters_reference(%x: memref<32x32xf64>, %y: memref<32x32xf64>) {
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 32 {
      %v = affine.load %x[%i, %j] : memref<32x32xf64>
      affine.store %v, %y[(%i + 16) mod 32, (%j + 16) mod 32] : memref<32x32xf64>
    }
  }
  return
}

// A row of a matrix as a vector, and a vector as a column.
func.func @row_to_column(
    %x: memref<?x?xf32> {tile.name = "x", tile.default = "randn:6x40xf32"},
    %y: memref<?x?xf32> {tile.name = "y", tile.default = "empty:x[1]xx[0]xf32"})
    attributes {tile.reference = @row_to_column_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  tile.launch blocks(%b) in (%m) {
    %s = tile.alloc_shared : memref<64xf32, #tile.shared>
    tile.copy %x[%b, 0] to %s : memref<?x?xf32> to memref<64xf32, #tile.shared>
    tile.copy %s to %y[0, %b] sizes [64, 1] : memref<64xf32, #tile.shared> to memref<?x?xf32>
  }
  return
}
func.func @row_to_column_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  linalg.transpose ins(%x : memref<?x?xf64>) outs(%y : memref<?x?xf64>) permutation = [1, 0]
  return
}

// Every block fills the whole output, and then overwrites its own part through
// a subview: what hangs over the subview's end must not reach its neighbour.
func.func @writes_stay_in_the_subview(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:70xf32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @writes_stay_in_the_subview_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<128xf32, #tile.shared>
    %t = tile.alloc_shared : memref<128xf32, #tile.shared>
    %two = arith.constant 2.0 : f32
    tile.fill %t, %two : memref<128xf32, #tile.shared>
    tile.copy %x[0] to %s : memref<?xf32> to memref<128xf32, #tile.shared>
    tile.copy %s to %y[0] : memref<128xf32, #tile.shared> to memref<?xf32>
    %part = memref.subview %y[10] [20] [1] : memref<?xf32> to memref<20xf32, strided<[1], offset: 10>>
    tile.copy %t to %part[5] : memref<128xf32, #tile.shared> to memref<20xf32, strided<[1], offset: 10>>
  }
  return
}
func.func @writes_stay_in_the_subview_reference(%x: memref<?xf64>, %y: memref<?xf64>) {
  %two = arith.constant 2.0 : f64
  memref.copy %x, %y : memref<?xf64> to memref<?xf64>
  affine.for %i = 15 to 30 {
    affine.store %two, %y[%i] : memref<?xf64>
  }
  return
}

// More than a thread's code could hold: 7 x 10007 elements at once, with edges.
func.func @large(
    %x: memref<?x?xf16> {tile.name = "x", tile.default = "randn:9x10001xf16"},
    %y: memref<?x?xf16> {tile.name = "y", tile.default = "zeros:8x10005xf16"})
    attributes {tile.reference = @large_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) threads(256) {
    tile.copy %x[3, 1] sizes [7, 10007] to %y[2, -1] : memref<?x?xf16> to memref<?x?xf16>
  }
  return
}
func.func @large_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %rows = memref.dim %x, %c0 : memref<?x?xf64>
  %columns = memref.dim %x, %c1 : memref<?x?xf64>
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 10005 {
      %row = affine.apply affine_map<(i) -> (i + 3)>(%i)
      %column = affine.apply affine_map<(j) -> (j + 2)>(%j)
      %target = affine.apply affine_map<(i) -> (i + 2)>(%i)
      %hasRow = arith.cmpi slt, %row, %rows : index
      %hasColumn = arith.cmpi slt, %column, %columns : index
      %inside = arith.andi %hasRow, %hasColumn : i1
      %v = scf.if %inside -> f64 {
        %w = memref.load %x[%row, %column] : memref<?x?xf64>
        scf.yield %w : f64
      } else {
        scf.yield %zero : f64
      }
      memref.store %v, %y[%target, %j] : memref<?x?xf64>
    }
  }
  return
}
