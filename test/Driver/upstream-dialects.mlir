// References may use what upstream offers on memrefs: each function computes the
// same as the one in plain loops that it names, in types of both widths.
// RUN: tile-run %s | FileCheck %s
// CHECK-NOT: WRONG
// CHECK: half_precision
// CHECK: brain_float
// CHECK: vectors
// CHECK: views_and_calls

// f16 and bf16 round after every operation.
func.func @half_precision(%x: memref<100xf16> {tile.default = "randn:100xf16"},
                          %y: memref<100xf16> {tile.default = "empty:100xf16"})
    attributes {tile.reference = @exp_plus_one} {
  %one = arith.constant 1.0 : f16
  affine.for %i = 0 to 100 {
    %v = affine.load %x[%i] : memref<100xf16>
    %e = math.exp %v : f16
    %s = arith.addf %e, %one : f16
    affine.store %s, %y[%i] : memref<100xf16>
  }
  return
}
func.func @brain_float(%x: memref<100xbf16> {tile.default = "randn:100xbf16"},
                       %y: memref<100xbf16> {tile.default = "empty:100xbf16"})
    attributes {tile.reference = @exp_plus_one} {
  %one = arith.constant 1.0 : bf16
  affine.parallel (%i) = (0) to (100) {
    %v = affine.load %x[%i] : memref<100xbf16>
    %e = math.exp %v : bf16
    %s = arith.addf %e, %one : bf16
    affine.store %s, %y[%i] : memref<100xbf16>
  }
  return
}
func.func @exp_plus_one(%x: memref<100xf64>, %y: memref<100xf64>) {
  %one = arith.constant 1.0 : f64
  linalg.map ins(%x : memref<100xf64>) outs(%y : memref<100xf64>)
    (%v: f64, %out: f64) {
      %e = math.exp %v : f64
      %s = arith.addf %e, %one : f64
      linalg.yield %s : f64
    }
  return
}

// Transfers beyond the end, math without an intrinsic, reductions, masks.
func.func @vectors(%x: memref<?xf32> {tile.default = "uniform(-1,1):37xf32"},
                   %y: memref<?xf32> {tile.default = "empty:37xf32"},
                   %sum: memref<f32> {tile.default = "empty:f32"})
    attributes {tile.reference = @scalars} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %total = scf.for %i = %c0 to %n step %c8 iter_args(%so_far = %zero) -> f32 {
    %v = vector.transfer_read %x[%i], %zero : memref<?xf32>, vector<8xf32>
    %e = math.erf %v : vector<8xf32>
    vector.transfer_write %e, %y[%i] : vector<8xf32>, memref<?xf32>
    %s = vector.reduction <add>, %e, %so_far : vector<8xf32> into f32
    scf.yield %s : f32
  }
  memref.store %total, %sum[] : memref<f32>
  return
}
func.func @scalars(%x: memref<?xf64>, %y: memref<?xf64>, %sum: memref<f64>) {
  %c0 = index.constant 0
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  memref.store %zero, %sum[] : memref<f64>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    %e = math.erf %v : f64
    affine.store %e, %y[%i] : memref<?xf64>
    %s = affine.load %sum[] : memref<f64>
    %t = arith.addf %s, %e : f64
    affine.store %t, %sum[] : memref<f64>
  }
  return
}

// Subviews, collapsed shapes, helpers and temporary buffers.
func.func @views_and_calls(%x: memref<4x6xf32> {tile.default = "iota:4x6xf32"},
                           %y: memref<2x3xf32> {tile.default = "empty:2x3xf32"})
    attributes {tile.reference = @picked} {
  %part = memref.subview %x[1, 0] [2, 3] [1, 2]
    : memref<4x6xf32> to memref<2x3xf32, strided<[6, 2], offset: 6>>
  %copy = memref.alloc() : memref<2x3xf32>
  memref.copy %part, %copy : memref<2x3xf32, strided<[6, 2], offset: 6>> to memref<2x3xf32>
  %flat = memref.collapse_shape %copy [[0, 1]] : memref<2x3xf32> into memref<6xf32>
  func.call @negate(%flat) : (memref<6xf32>) -> ()
  memref.copy %copy, %y : memref<2x3xf32> to memref<2x3xf32>
  memref.dealloc %copy : memref<2x3xf32>
  return
}
func.func private @negate(%x: memref<6xf32>) {
  linalg.negf ins(%x : memref<6xf32>) outs(%x : memref<6xf32>)
  return
}
func.func @picked(%x: memref<4x6xf64>, %y: memref<2x3xf64>) {
  affine.for %i = 0 to 2 {
    affine.for %j = 0 to 3 {
      %v = affine.load %x[%i + 1, %j * 2] : memref<4x6xf64>
      %n = arith.negf %v : f64
      affine.store %n, %y[%i, %j] : memref<2x3xf64>
    }
  }
  return
}
