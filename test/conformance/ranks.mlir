// Copies of the ranks that copy.mlir leaves out, 0 and 5, and of index, i16 and
// i64 elements.

func.func @rank0(
    %x: memref<f32> {tile.name = "x", tile.default = "randn:f32"},
    %y: memref<f32> {tile.name = "y", tile.default = "empty:f32"},
    %z: memref<4xf64> {tile.name = "z", tile.default = "zeros:4xf64"})
    attributes {tile.reference = @rank0_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<f32, #tile.shared>
    %f = tile.alloc_fragment : memref<f32, #tile.fragment>
    tile.copy %x to %s : memref<f32> to memref<f32, #tile.shared>
    tile.copy %s to %f : memref<f32, #tile.shared> to memref<f32, #tile.fragment>
    tile.copy %f to %y : memref<f32, #tile.fragment> to memref<f32>
    // Into one element of a larger buffer, converted, and past its end.
    tile.copy %f to %z[2] : memref<f32, #tile.fragment> to memref<4xf64>
    tile.copy %f to %z[4] : memref<f32, #tile.fragment> to memref<4xf64>
  }
  return
}
func.func @rank0_reference(%x: memref<f64>, %y: memref<f64>, %z: memref<4xf64>) {
  %v = affine.load %x[] : memref<f64>
  affine.store %v, %y[] : memref<f64>
  affine.store %v, %z[2] : memref<4xf64>
  return
}

// A tile of five dimensions that sticks out in all of them, with a pad value.
func.func @rank5(
    %x: memref<?x?x?x?x?xi32> {tile.name = "x", tile.default = "iota:3x2x4x3x9xi32"},
    %y: memref<4x3x5x4x12xi64> {tile.name = "y", tile.default = "empty:4x3x5x4x12xi64"})
    attributes {tile.reference = @rank5_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  %pad = arith.constant -7 : i32
  tile.launch blocks(%b) in (%c1) {
    %s = tile.alloc_shared : memref<4x3x5x4x12xi32, #tile.shared>
    tile.copy %x[-1, 0, 1, -2, 3] to %s pad(%pad : i32) : memref<?x?x?x?x?xi32> to memref<4x3x5x4x12xi32, #tile.shared>
    tile.copy %s to %y : memref<4x3x5x4x12xi32, #tile.shared> to memref<4x3x5x4x12xi64>
  }
  return
}
func.func @rank5_reference(%x: memref<?x?x?x?x?xi32>, %y: memref<4x3x5x4x12xi64>) {
  %pad = arith.constant -7 : i64
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 3 {
      affine.for %k = 0 to 5 {
        affine.for %l = 0 to 4 {
          affine.for %m = 0 to 12 {
            affine.store %pad, %y[%i, %j, %k, %l, %m] : memref<4x3x5x4x12xi64>
          }
        }
      }
    }
  }
  affine.for %i = 1 to 4 {
    affine.for %j = 0 to 2 {
      affine.for %k = 0 to 3 {
        affine.for %l = 2 to 4 {
          affine.for %m = 0 to 6 {
            %v = affine.load %x[%i - 1, %j, %k + 1, %l - 2, %m + 3] : memref<?x?x?x?x?xi32>
            %w = arith.extsi %v : i32 to i64
            affine.store %w, %y[%i, %j, %k, %l, %m] : memref<4x3x5x4x12xi64>
          }
        }
      }
    }
  }
  return
}

// Indices on the chip, words and long words through it.
func.func @integers(
    %x: memref<?xi16> {tile.name = "x", tile.default = "randint(-30000,30000):75xi16"},
    %wide: memref<?xi64> {tile.name = "wide", tile.default = "empty:x[0]xi64"},
    %back: memref<?xi16> {tile.name = "back", tile.default = "empty:x[0]xi16"},
    %twice: memref<?xi64> {tile.name = "twice", tile.default = "empty:x[0]xi64"})
    attributes {tile.reference = @integers_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %x, %c0 : memref<?xi16>
  %g = arith.ceildivsi %n, %c16 : index
  tile.launch blocks(%b) in (%g) {
    %at = arith.muli %b, %c16 : index
    %s = tile.alloc_shared : memref<16xi64, #tile.shared>
    %i = tile.alloc_shared : memref<16xindex, #tile.shared>
    %j = tile.alloc_fragment : memref<16xindex, #tile.fragment>
    tile.copy %x[%at] to %s : memref<?xi16> to memref<16xi64, #tile.shared>
    tile.copy %s to %wide[%at] : memref<16xi64, #tile.shared> to memref<?xi64>
    tile.copy %s to %back[%at] : memref<16xi64, #tile.shared> to memref<?xi16>
    tile.parallel (%l) in (16) {
      %v = memref.load %s[%l] : memref<16xi64, #tile.shared>
      %k = arith.index_cast %v : i64 to index
      memref.store %k, %i[%l] : memref<16xindex, #tile.shared>
    }
    tile.copy %i to %j : memref<16xindex, #tile.shared> to memref<16xindex, #tile.fragment>
    tile.parallel (%l) in (16) {
      %v = memref.load %j[%l] : memref<16xindex, #tile.fragment>
      %w = arith.addi %v, %v : index
      %k = arith.index_cast %w : index to i64
      %to = arith.addi %at, %l : index
      memref.store %k, %twice[%to] : memref<?xi64>
    }
  }
  return
}
func.func @integers_reference(%x: memref<?xi16>, %wide: memref<?xi64>, %back: memref<?xi16>, %twice: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xi16>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xi16>
    affine.store %v, %back[%i] : memref<?xi16>
    %w = arith.extsi %v : i16 to i64
    affine.store %w, %wide[%i] : memref<?xi64>
    %t = arith.addi %w, %w : i64
    affine.store %t, %twice[%i] : memref<?xi64>
  }
  return
}
