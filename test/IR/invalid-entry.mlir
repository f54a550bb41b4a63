// The rules of what a function says of its own check and cost.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// entry-c1
// expected-error @below {{'tile.flops' belongs on a function}}
module attributes {tile.flops = "1"} {
}

// -----

// entry-c2
// expected-error @below {{'func.func' op expects 'tile.reference' to name a function, as in tile.reference = @reference}}
func.func @f() attributes {tile.reference = "g"} {
  return
}

// -----

// entry-c3
// expected-error @below {{'tile.reference' names no function: @g}}
func.func @f() attributes {tile.reference = @g} {
  return
}

// -----

// entry-c4
// expected-error @below {{expects 'tile.reference' to take the same 1 arguments, but @g takes 2}}
func.func @f(%x: memref<?xf32>) attributes {tile.reference = @g} {
  return
}
func.func private @g(memref<?xf32>, memref<?xf32>)

// -----

// entry-c5
// expected-error @below {{expects argument #0 of 'tile.reference' to be like its own, 'memref<?xf32>', got 'memref<?x?xf32>'}}
func.func @f(%x: memref<?xf32>) attributes {tile.reference = @g} {
  return
}
func.func private @g(memref<?x?xf32>)

// -----

// entry-c5
// expected-error @below {{expects argument #1 of 'tile.reference' to be like its own, 'f32', got 'f64'}}
func.func @f(%x: memref<?xf16>, %s: f32) attributes {tile.reference = @g} {
  return
}
func.func private @g(memref<?xf64>, f64)

// -----

// entry-c6
// expected-error @below {{expects 'tile.tolerance' to be a #tile.tolerance<...>}}
func.func @f() attributes {tile.tolerance = 1.0e-3 : f32} {
  return
}

// -----

// entry-c7
// expected-error @below {{expects 'tile.flops' to be an expression over the arguments, as in "2 * A[0] * A[1] * B[1]"}}
func.func @f() attributes {tile.flops = 12 : i64} {
  return
}

// -----

// entry-c7
// expected-error @below {{expects 'tile.bytes' to be an expression}}
func.func @f() attributes {tile.bytes = ""} {
  return
}

// -----

// entry-c8
// expected-error @below {{has an unknown attribute 'tile.flop'; a function may carry tile.reference, tile.tolerance, tile.flops and tile.bytes}}
func.func @f() attributes {tile.flop = "1"} {
  return
}

// -----

// entry-c9
// expected-error @below {{expects 'tile.name' of argument #0 to be a string of letters, digits and '_' that does not start with a digit}}
func.func @f(%x: memref<?xf32> {tile.name = "2x"}) {
  return
}

// -----

// entry-c9
// expected-error @below {{expects 'tile.name' of argument #0 to be a string of letters, digits and '_'}}
func.func @f(%x: memref<?xf32> {tile.name = 3 : i32}) {
  return
}

// -----

// entry-c10
// expected-error @below {{expects the names of arguments to differ, but #0 and #1 are both "x"}}
func.func @f(%x: memref<?xf32> {tile.name = "x"}, %y: memref<?xf32> {tile.name = "x"}) {
  return
}

// -----

// entry-c11
// expected-error @below {{expects 'tile.default' of argument #0 to be a specification, as in "randn:64x32xf16"}}
func.func @f(%x: memref<?xf32> {tile.default = 1.0 : f32}) {
  return
}

// -----

// entry-c11
// expected-error @below {{expects 'tile.default' of argument #0 to be a specification: }}
func.func @f(%x: memref<?xf32> {tile.default = ""}) {
  return
}

// -----

// entry-c12
// expected-error @below {{has an unknown attribute 'tile.value' on argument #0; an argument may carry tile.name, tile.default and tile.may_alias}}
func.func @f(%x: memref<?xf32> {tile.value = "ones"}) {
  return
}

// -----

// expected-error @below {{expected norm, atol, rtol or products, got 'ulp'}}
module attributes {test.t = #tile.tolerance<ulp = 2.0>} {
}

// -----

// expected-error @below {{expected a tolerance of zero or more}}
module attributes {test.t = #tile.tolerance<norm = -1.0>} {
}

// -----

// entry-c7: the place of the mistake is shown.
// expected-error @below {{expects 'tile.flops' to be an expression over the arguments: }}
func.func @f(%x: memref<?xf32> {tile.name = "x"}) attributes {tile.flops = "2 * * x[0]"} {
  return
}

// -----

// entry-c13
// expected-error @below {{expects 'tile.default' of argument #0 to be an array, as in "randn:64x32xf16", got "3"}}
func.func @f(%x: memref<?xf32> {tile.default = "3"}) {
  return
}

// -----

// entry-c13
// expected-error @below {{expects 'tile.default' of argument #0 to be a scalar, as in "3", got "randn:3xf32"}}
func.func @f(%x: f32 {tile.default = "randn:3xf32"}) {
  return
}

// -----

// entry-c13
// expected-error @below {{expects 'tile.default' of argument #0 to have elements of type f32, got f16}}
func.func @f(%x: memref<?xf32> {tile.default = "randn:3xf16"}) {
  return
}

// -----

// entry-c13
// expected-error @below {{expects 'tile.default' of argument #0 to have rank 1, got 2}}
func.func @f(%x: memref<?xf32> {tile.default = "randn:3x4xf32"}) {
  return
}

// -----

// entry-c13
// expected-error @below {{expects 'tile.default' of argument #0 to have extent 4 in dimension 1, got 5}}
func.func @f(%x: memref<?x4xf32> {tile.default = "randn:3x5xf32"}) {
  return
}

// -----

// entry-c14
// expected-error @below {{expects 'tile.default' of argument #1 to refer to arguments, which are x, y; got 'z'}}
func.func @f(%x: memref<?xf32> {tile.name = "x"},
             %y: memref<?xf32> {tile.name = "y", tile.default = "randn:z[0]xf32"}) {
  return
}

// -----

// entry-c14
// expected-error @below {{expects 'tile.bytes' to refer to arguments, which are x; got 'X'}}
func.func @f(%x: memref<?xf32> {tile.name = "x"}) attributes {tile.bytes = "4 * X[0]"} {
  return
}
