// Elements of four bits, two in a byte.

// Out of and into packed buffers, odd extents, odd offsets, so that tiles begin
// and end in the middle of a byte.
func.func @move(
    %x: memref<?x?xi4> {tile.name = "x", tile.default = "randint(-8,8):13x37xi4"},
    %y: memref<?x?xi4> {tile.name = "y", tile.default = "empty:x[0]xx[1]xi4"},
    %wide: memref<?x?xi32> {tile.name = "wide", tile.default = "empty:x[0]xx[1]xi32"},
    %unsigned: memref<?x?xf32> {tile.name = "unsigned", tile.default = "empty:x[0]xx[1]xf32"})
    attributes {tile.reference = @move_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %rows = memref.dim %x, %c0 : memref<?x?xi4>
  %columns = memref.dim %x, %c1 : memref<?x?xi4>
  %gy = arith.ceildivsi %rows, %c4 : index
  %gx = arith.ceildivsi %columns, %c7 : index
  tile.launch blocks(%bx, %by) in (%gx, %gy) {
    %i = arith.muli %by, %c4 : index
    %j = arith.muli %bx, %c7 : index
    %s = tile.alloc_shared : memref<4x7xi4, #tile.shared>
    %f = tile.alloc_fragment : memref<4x7xi4, #tile.fragment>
    tile.copy %x[%i, %j] to %s : memref<?x?xi4> to memref<4x7xi4, #tile.shared>
    tile.copy %s to %f : memref<4x7xi4, #tile.shared> to memref<4x7xi4, #tile.fragment>
    tile.copy %f to %y[%i, %j] : memref<4x7xi4, #tile.fragment> to memref<?x?xi4>
    tile.copy %f to %wide[%i, %j] : memref<4x7xi4, #tile.fragment> to memref<?x?xi32>
    tile.copy %x[%i, %j] sizes [4, 7] to %unsigned[%i, %j] unsigned : memref<?x?xi4> to memref<?x?xf32>
  }
  return
}
func.func @move_reference(%x: memref<?x?xi8>, %y: memref<?x?xi8>, %wide: memref<?x?xi32>, %unsigned: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : i32
  %rows = memref.dim %x, %c0 : memref<?x?xi8>
  %columns = memref.dim %x, %c1 : memref<?x?xi8>
  affine.for %i = 0 to %rows {
    affine.for %j = 0 to %columns {
      %v = affine.load %x[%i, %j] : memref<?x?xi8>
      affine.store %v, %y[%i, %j] : memref<?x?xi8>
      %w = arith.extsi %v : i8 to i32
      affine.store %w, %wide[%i, %j] : memref<?x?xi32>
      %low = arith.andi %w, %c15 : i32
      %u = arith.sitofp %low : i32 to f64
      affine.store %u, %unsigned[%i, %j] : memref<?x?xf64>
    }
  }
  return
}

// Lanes that store the two halves of a byte, through loads and stores of an
// elementwise loop; arithmetic in four bits wraps around.
func.func @lanes(
    %x: memref<?xi4> {tile.name = "x", tile.default = "randint(-8,8):101xi4"},
    %y: memref<?xi4> {tile.name = "y", tile.default = "empty:x[0]xi4"})
    attributes {tile.reference = @lanes_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c31 = arith.constant 31 : index
  %three = arith.constant 3 : i4
  %n = memref.dim %x, %c0 : memref<?xi4>
  %g = arith.ceildivsi %n, %c31 : index
  tile.launch blocks(%b) in (%g) {
    %base = arith.muli %b, %c31 : index
    tile.parallel (%i) in (31) {
      %at = arith.addi %base, %i : index
      %v = memref.load %x[%at] : memref<?xi4>
      %w = arith.addi %v, %three : i4
      memref.store %w, %y[%at] : memref<?xi4>
    }
  }
  return
}
func.func @lanes_reference(%x: memref<?xi8>, %y: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %three = arith.constant 3 : i8
  %four = arith.constant 4 : i8
  %n = memref.dim %x, %c0 : memref<?xi8>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xi8>
    %sum = arith.addi %v, %three : i8
    %high = arith.shli %sum, %four : i8
    %wrapped = arith.shrsi %high, %four : i8
    affine.store %wrapped, %y[%i] : memref<?xi8>
  }
  return
}

// A view that begins in the middle of a byte and skips every other row; from f32
// with saturation.
func.func @views(
    %x: memref<5x9xf32> {tile.name = "x", tile.default = "uniform(-12,12):5x9xf32"},
    %y: memref<11x13xi4> {tile.name = "y", tile.default = "zeros:11x13xi4"})
    attributes {tile.reference = @views_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c1 = arith.constant 1 : index
  %view = memref.subview %y[1, 3] [5, 9] [2, 1] : memref<11x13xi4> to memref<5x9xi4, strided<[26, 1], offset: 16>>
  tile.launch blocks(%b) in (%c1) {
    %t = tile.alloc_fragment : memref<5x9xi4, #tile.fragment>
    tile.copy %x to %t : memref<5x9xf32> to memref<5x9xi4, #tile.fragment>
    tile.copy %t to %view : memref<5x9xi4, #tile.fragment> to memref<5x9xi4, strided<[26, 1], offset: 16>>
  }
  return
}
func.func @views_reference(%x: memref<5x9xf64>, %y: memref<11x13xi8>) {
  %least = arith.constant -8.0 : f64
  %most = arith.constant 7.0 : f64
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to 9 {
      %v = affine.load %x[%i, %j] : memref<5x9xf64>
      %a = arith.maximumf %v, %least : f64
      %b = arith.minimumf %a, %most : f64
      %n = arith.fptosi %b : f64 to i8
      affine.store %n, %y[2 * %i + 1, %j + 3] : memref<11x13xi8>
    }
  }
  return
}
