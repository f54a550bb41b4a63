// One function for each form that convert-linalg-to-tile knows, on buffers.

func.func @batch_matmul(%a: memref<?x?x?xf16>, %b: memref<?x?x?xf16>, %c: memref<?x?x?xf32>) {
  linalg.batch_matmul ins(%a, %b : memref<?x?x?xf16>, memref<?x?x?xf16>)
                      outs(%c : memref<?x?x?xf32>)
  return
}

// Transposed operands, a transposed result and a batch in the middle.
func.func @contraction(%a: memref<?x?x?xf32>, %b: memref<?x?x?xf32>, %c: memref<?x?x?xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(b, m, n, k) -> (k, b, m)>,
                       affine_map<(b, m, n, k) -> (n, b, k)>,
                       affine_map<(b, m, n, k) -> (n, m, b)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x?x?xf32>, memref<?x?x?xf32>) outs(%c : memref<?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %product = arith.mulf %y, %x : f32
      %next = arith.addf %product, %sum : f32
      linalg.yield %next : f32
  }
  return
}

func.func @matmul_i8(%a: memref<?x?xi8>, %b: memref<?x?xi8>, %c: memref<?x?xi32>) {
  linalg.matmul ins(%a, %b : memref<?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?xi32>)
  return
}

// No gemm multiplies i32: each sum is taken in a lane.
func.func @matmul_i32(%a: memref<?x?xi32>, %b: memref<?x?xi32>, %c: memref<?x?xi32>) {
  linalg.matmul ins(%a, %b : memref<?x?xi32>, memref<?x?xi32>) outs(%c : memref<?x?xi32>)
  return
}

func.func @transpose(%a: memref<?x?x?xf32>, %c: memref<?x?x?xf32>) {
  linalg.transpose ins(%a : memref<?x?x?xf32>) outs(%c : memref<?x?x?xf32>) permutation = [2, 0, 1]
  return
}

// The remainder of what need not exist must not be asked of zero.
func.func @remainder(%a: memref<?x?xi32>, %b: memref<?xi32>, %c: memref<?x?xi32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<?x?xi32>, memref<?xi32>) outs(%c : memref<?x?xi32>) {
    ^bb0(%x: i32, %y: i32, %old: i32):
      %r = arith.remsi %x, %y : i32
      linalg.yield %r : i32
  }
  return
}

func.func @reduce_last(%a: memref<?x?xf32>, %c: memref<?xf32>) {
  linalg.reduce { arith.addf } ins(%a : memref<?x?xf32>) outs(%c : memref<?xf32>) dimensions = [1]
  return
}
func.func @reduce_first(%a: memref<?x?xf32>, %c: memref<?xf32>) {
  linalg.reduce { arith.maximumf } ins(%a : memref<?x?xf32>) outs(%c : memref<?xf32>) dimensions = [0]
  return
}

// All of it, of squares, down to one number.
func.func @sum_of_squares(%a: memref<?x?x?xf64>, %c: memref<f64>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> ()>],
      iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%a : memref<?x?x?xf64>) outs(%c : memref<f64>) {
    ^bb0(%x: f64, %sum: f64):
      %square = arith.mulf %x, %x : f64
      %next = arith.addf %sum, %square : f64
      linalg.yield %next : f64
  }
  return
}

// The place of the greatest element: two outputs, a combination of its own.
func.func @argmax(%a: memref<?x?xf32>, %most: memref<?xf32>, %at: memref<?xi32>) {
  linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<?x?xf32>) outs(%most, %at : memref<?xf32>, memref<?xi32>) {
    ^bb0(%x: f32, %best: f32, %where: i32):
      %j = linalg.index 1 : index
      %here = arith.index_cast %j : index to i32
      %greater = arith.cmpf ogt, %x, %best : f32
      %value = arith.select %greater, %x, %best : f32
      %place = arith.select %greater, %here, %where : i32
      linalg.yield %value, %place : f32, i32
  }
  return
}

func.func @softmax_first(%a: memref<?x?xf16>, %c: memref<?x?xf16>) {
  linalg.softmax dimension(0) ins(%a : memref<?x?xf16>) outs(%c : memref<?x?xf16>)
  return
}

func.func @convolution(%image: memref<?x?xf32>, %filter: memref<?x?xf32>, %out: memref<?x?xf32>) {
  linalg.conv_2d ins(%image, %filter : memref<?x?xf32>, memref<?x?xf32>) outs(%out : memref<?x?xf32>)
  return
}
