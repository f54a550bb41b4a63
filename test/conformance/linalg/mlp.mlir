// A perceptron of two layers on tensors: y = relu(x * w1 + b1) * w2 + b2. The
// result becomes a buffer to write to, behind the arguments.

func.func @mlp(%x: tensor<?x?xf32>, %w1: tensor<?x?xf32>, %b1: tensor<?xf32>,
               %w2: tensor<?x?xf32>, %b2: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %hidden = tensor.dim %w1, %c1 : tensor<?x?xf32>
  %columns = tensor.dim %w2, %c1 : tensor<?x?xf32>

  %empty1 = tensor.empty(%rows, %hidden) : tensor<?x?xf32>
  %zeros1 = linalg.fill ins(%zero : f32) outs(%empty1 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product1 = linalg.matmul ins(%x, %w1 : tensor<?x?xf32>, tensor<?x?xf32>)
                            outs(%zeros1 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %h = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%b1 : tensor<?xf32>) outs(%product1 : tensor<?x?xf32>) {
    ^bb0(%bias: f32, %p: f32):
      %sum = arith.addf %p, %bias : f32
      %relu = arith.maximumf %sum, %zero : f32
      linalg.yield %relu : f32
  } -> tensor<?x?xf32>

  %empty2 = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %start = linalg.broadcast ins(%b2 : tensor<?xf32>) outs(%empty2 : tensor<?x?xf32>)
                            dimensions = [0]
  %y = linalg.matmul ins(%h, %w2 : tensor<?x?xf32>, tensor<?x?xf32>)
                     outs(%start : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
