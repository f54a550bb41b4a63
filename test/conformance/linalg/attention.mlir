// Attention over batches and heads on tensors that stand for buffers: O =
// softmax(Q * K^T / sqrt(d)) * V.

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#scores = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#v = affine_map<(b, h, i, d, j) -> (b, h, j, d)>
#p = affine_map<(b, h, i, d, j) -> (b, h, i, j)>
#o = affine_map<(b, h, i, d, j) -> (b, h, i, d)>
#same = affine_map<(b, h, i, j) -> (b, h, i, j)>

func.func @attention(%Q: memref<?x?x?x?xf32>, %K: memref<?x?x?x?xf32>,
                     %V: memref<?x?x?x?xf32>, %scale: f32,
                     %O: memref<?x?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %q = bufferization.to_tensor %Q restrict : memref<?x?x?x?xf32> to tensor<?x?x?x?xf32>
  %k = bufferization.to_tensor %K restrict : memref<?x?x?x?xf32> to tensor<?x?x?x?xf32>
  %v = bufferization.to_tensor %V restrict : memref<?x?x?x?xf32> to tensor<?x?x?x?xf32>
  %b = tensor.dim %q, %c0 : tensor<?x?x?x?xf32>
  %h = tensor.dim %q, %c1 : tensor<?x?x?x?xf32>
  %m = tensor.dim %q, %c2 : tensor<?x?x?x?xf32>
  %n = tensor.dim %k, %c2 : tensor<?x?x?x?xf32>
  %d = tensor.dim %q, %c3 : tensor<?x?x?x?xf32>

  %e0 = tensor.empty(%b, %h, %m, %n) : tensor<?x?x?x?xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %s = linalg.generic {
      indexing_maps = [#q, #k, #scores],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>)
      outs(%z0 : tensor<?x?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %product = arith.mulf %x, %y : f32
      %next = arith.addf %sum, %product : f32
      linalg.yield %next : f32
  } -> tensor<?x?x?x?xf32>
  %e1 = tensor.empty(%b, %h, %m, %n) : tensor<?x?x?x?xf32>
  %scaled = linalg.generic {
      indexing_maps = [#same, #same],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : tensor<?x?x?x?xf32>) outs(%e1 : tensor<?x?x?x?xf32>) {
    ^bb0(%x: f32, %old: f32):
      %y = arith.mulf %x, %scale : f32
      linalg.yield %y : f32
  } -> tensor<?x?x?x?xf32>
  %e2 = tensor.empty(%b, %h, %m, %n) : tensor<?x?x?x?xf32>
  %probabilities = linalg.softmax dimension(3)
      ins(%scaled : tensor<?x?x?x?xf32>) outs(%e2 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %e3 = tensor.empty(%b, %h, %m, %d) : tensor<?x?x?x?xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %o = linalg.generic {
      indexing_maps = [#p, #v, #o],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%probabilities, %v : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>)
      outs(%z3 : tensor<?x?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %product = arith.mulf %x, %y : f32
      %next = arith.addf %sum, %product : f32
      linalg.yield %next : f32
  } -> tensor<?x?x?x?xf32>
  bufferization.materialize_in_destination %o in restrict writable %O
    : (tensor<?x?x?x?xf32>, memref<?x?x?x?xf32>) -> ()
  return
}
