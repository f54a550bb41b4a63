// Elementwise activations: one lane an element, arithmetic in f32.
//
// A tile program need not mention memory on chip at all. Lanes load, compute
// and store; how many elements a thread takes and how wide its accesses are
// follows from the types.

// GELU by its tanh approximation.
func.func @gelu(
    %x: memref<?x?xf32> {tile.name = "X", tile.default = "randn(0,2):700x900xf32"},
    %y: memref<?x?xf32> {tile.name = "Y", tile.default = "empty:X[0]xX[1]xf32"})
    attributes {tile.reference = @gelu_reference,
                tile.tolerance = #tile.tolerance<norm = 2.0e-7, atol = 1.0e-6, rtol = 1.0e-6>,
                tile.flops = "8 * X[0] * X[1]",
                tile.bytes = "8 * X[0] * X[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cubic = arith.constant 0.044715 : f32
  %scale = arith.constant 0.797884561 : f32 // sqrt(2 / pi)
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %gy = arith.ceildivsi %rows, %c16 : index
  %gx = arith.ceildivsi %columns, %c256 : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c16 : index
    %column = arith.muli %bx, %c256 : index
    tile.parallel (%i, %j) in (16, 256) {
      %r = arith.addi %row, %i : index
      %c = arith.addi %column, %j : index
      %v = memref.load %x[%r, %c] : memref<?x?xf32>
      %square = arith.mulf %v, %v : f32
      %term = arith.mulf %square, %cubic : f32
      %factor = arith.addf %term, %one : f32
      %inner = arith.mulf %v, %factor : f32
      %scaled = arith.mulf %inner, %scale : f32
      %tanh = math.tanh %scaled : f32
      %gate = arith.addf %tanh, %one : f32
      %halved = arith.mulf %v, %half : f32
      %result = arith.mulf %halved, %gate : f32
      memref.store %result, %y[%r, %c] : memref<?x?xf32>
    }
  }
  return
}

func.func @gelu_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  %half = arith.constant 0.5 : f64
  %one = arith.constant 1.0 : f64
  %cubic = arith.constant 0.044715 : f64
  %scale = arith.constant 0.7978845608028654 : f64
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                   affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x?xf64>) outs(%y : memref<?x?xf64>) {
  ^bb0(%v: f64, %old: f64):
    %square = arith.mulf %v, %v : f64
    %term = arith.mulf %square, %cubic : f64
    %factor = arith.addf %term, %one : f64
    %inner = arith.mulf %v, %factor : f64
    %scaled = arith.mulf %inner, %scale : f64
    %tanh = math.tanh %scaled : f64
    %gate = arith.addf %tanh, %one : f64
    %halved = arith.mulf %v, %half : f64
    %result = arith.mulf %halved, %gate : f64
    linalg.yield %result : f64
  }
  return
}

// The gate of a SwiGLU layer: silu(x) * y, in bf16. It is computed in f32 and
// rounded once.
func.func @silu_mul(
    %x: memref<?x?xbf16> {tile.name = "X", tile.default = "randn(0,3):500x777xbf16"},
    %y: memref<?x?xbf16> {tile.name = "Y", tile.default = "randn:X[0]xX[1]xbf16"},
    %z: memref<?x?xbf16> {tile.name = "Z", tile.default = "empty:X[0]xX[1]xbf16"})
    attributes {tile.reference = @silu_mul_reference,
                tile.tolerance = #tile.tolerance<norm = 4.0e-3, atol = 1.0e-30, rtol = 4.0e-3>,
                tile.flops = "5 * X[0] * X[1]",
                tile.bytes = "6 * X[0] * X[1]"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %one = arith.constant 1.0 : f32
  %rows = memref.dim %x, %c0 : memref<?x?xbf16>
  %columns = memref.dim %x, %c1 : memref<?x?xbf16>
  %gy = arith.ceildivsi %rows, %c16 : index
  %gx = arith.ceildivsi %columns, %c256 : index

  tile.launch blocks(%bx, %by) in (%gx, %gy) threads(128) {
    %row = arith.muli %by, %c16 : index
    %column = arith.muli %bx, %c256 : index
    tile.parallel (%i, %j) in (16, 256) {
      %r = arith.addi %row, %i : index
      %c = arith.addi %column, %j : index
      %a = memref.load %x[%r, %c] : memref<?x?xbf16>
      %b = memref.load %y[%r, %c] : memref<?x?xbf16>
      %af = arith.extf %a : bf16 to f32
      %bf = arith.extf %b : bf16 to f32
      %minus = arith.negf %af : f32
      %e = math.exp %minus : f32
      %divisor = arith.addf %e, %one : f32
      %silu = arith.divf %af, %divisor : f32
      %product = arith.mulf %silu, %bf : f32
      %result = arith.truncf %product : f32 to bf16
      memref.store %result, %z[%r, %c] : memref<?x?xbf16>
    }
  }
  return
}

func.func @silu_mul_reference(%x: memref<?x?xf64>, %y: memref<?x?xf64>,
                              %z: memref<?x?xf64>) {
  %one = arith.constant 1.0 : f64
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
                                   affine_map<(i, j) -> (i, j)>,
                                   affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<?x?xf64>, memref<?x?xf64>)
      outs(%z : memref<?x?xf64>) {
  ^bb0(%a: f64, %b: f64, %old: f64):
    %minus = arith.negf %a : f64
    %e = math.exp %minus : f64
    %divisor = arith.addf %e, %one : f64
    %silu = arith.divf %a, %divisor : f64
    %product = arith.mulf %silu, %b : f64
    linalg.yield %product : f64
  }
  return
}
