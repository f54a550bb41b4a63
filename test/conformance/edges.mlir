// Sizes at the edge: nothing, one, just below and just above a tile. The tests
// run `scale` at several shapes, empty ones included.

func.func @scale(
    %x: memref<?x?xf32> {tile.name = "x", tile.default = "randn:65x31xf32"},
    %factor: f32 {tile.name = "factor", tile.default = "-2.5"},
    %y: memref<?x?xf32> {tile.name = "y", tile.default = "empty:x[0]xx[1]xf32"})
    attributes {tile.reference = @scale_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-7, rtol = 6.0e-8>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %gy = arith.ceildivsi %m, %c32 : index
  %gx = arith.ceildivsi %n, %c32 : index
  tile.launch blocks(%bx, %by) in (%gx, %gy) {
    %i0 = arith.muli %by, %c32 : index
    %j0 = arith.muli %bx, %c32 : index
    tile.parallel (%i, %j) in (32, 32) {
      %r = arith.addi %i0, %i : index
      %c = arith.addi %j0, %j : index
      %v = memref.load %x[%r, %c] : memref<?x?xf32>
      %w = arith.mulf %v, %factor : f32
      memref.store %w, %y[%r, %c] : memref<?x?xf32>
    }
  }
  return
}
func.func @scale_reference(%x: memref<?x?xf64>, %factor: f32, %y: memref<?x?xf64>) {
  %f = arith.extf %factor : f32 to f64
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x?xf64>) outs(%y : memref<?x?xf64>) {
  ^bb0(%v: f64, %old: f64):
    %w = arith.mulf %v, %f : f64
    linalg.yield %w : f64
  }
  return
}

// The product of matrices without a common extent is zero, not what the buffer
// held before.
func.func @empty_product(
    %A: memref<?x?xf32> {tile.name = "A", tile.default = "zeros:20x0xf32"},
    %B: memref<?x?xf32> {tile.name = "B", tile.default = "zeros:0x30xf32"},
    %C: memref<?x?xf32> {tile.name = "C", tile.default = "empty:A[0]xB[1]xf32"})
    attributes {tile.reference = @empty_product_reference,
                tile.tolerance = #tile.tolerance<norm = 1.0e-6, products = 8.0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %K = memref.dim %A, %c1 : memref<?x?xf32>
  tile.launch blocks(%b) in (%c1) {
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc_shared : memref<32x32xf32, #tile.shared>
    %bb = tile.alloc_shared : memref<32x32xf32, #tile.shared>
    %c = tile.alloc_fragment : memref<32x32xf32, #tile.fragment>
    tile.fill %c, %zero : memref<32x32xf32, #tile.fragment>
    tile.pipelined %k = %c0 to %K step %c32 stages(2) {
      tile.copy %A[0, %k] to %a : memref<?x?xf32> to memref<32x32xf32, #tile.shared>
      tile.copy %B[%k, 0] to %bb : memref<?x?xf32> to memref<32x32xf32, #tile.shared>
      tile.gemm %a, %bb, %c
        : memref<32x32xf32, #tile.shared>, memref<32x32xf32, #tile.shared>, memref<32x32xf32, #tile.fragment>
    }
    tile.copy %c to %C[0, 0] : memref<32x32xf32, #tile.fragment> to memref<?x?xf32>
  }
  return
}
func.func @empty_product_reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>) outs(%C : memref<?x?xf64>)
  return
}

// With `assume` the program promises to stay inside, and here keeps it.
func.func @assume(
    %x: memref<64x64xf32> {tile.name = "x", tile.default = "randn:64x64xf32"},
    %y: memref<64x64xf32> {tile.name = "y", tile.default = "empty:64x64xf32"})
    attributes {tile.reference = @assume_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  tile.launch blocks(%bx, %by) in (%c2, %c2) bounds(assume) {
    %i = arith.muli %by, %c32 : index
    %j = arith.muli %bx, %c32 : index
    %s = tile.alloc_shared : memref<32x32xf32, #tile.shared>
    tile.copy %x[%i, %j] to %s : memref<64x64xf32> to memref<32x32xf32, #tile.shared>
    tile.copy %s to %y[%i, %j] : memref<32x32xf32, #tile.shared> to memref<64x64xf32>
  }
  return
}
func.func @assume_reference(%x: memref<64x64xf64>, %y: memref<64x64xf64>) {
  memref.copy %x, %y : memref<64x64xf64> to memref<64x64xf64>
  return
}

// With `trap` the run is right as long as all accesses are: the default shape
// divides evenly. The tests also run it at a shape that does not.
func.func @trap(
    %x: memref<?xf32> {tile.name = "x", tile.default = "randn:128xf32"},
    %y: memref<?xf32> {tile.name = "y", tile.default = "empty:x[0]xf32"})
    attributes {tile.reference = @trap_reference,
                tile.tolerance = #tile.tolerance<norm = 0.0>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivsi %n, %c32 : index
  tile.launch blocks(%b) in (%g) bounds(trap) {
    %i0 = arith.muli %b, %c32 : index
    tile.parallel (%i) in (32) {
      %at = arith.addi %i0, %i : index
      %v = memref.load %x[%at] : memref<?xf32>
      memref.store %v, %y[%at] : memref<?xf32>
    }
  }
  return
}
func.func @trap_reference(%x: memref<?xf64>, %y: memref<?xf64>) {
  memref.copy %x, %y : memref<?xf64> to memref<?xf64>
  return
}
