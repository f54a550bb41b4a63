// RUN: not tile-run %s --target=cpu 2>&1 | FileCheck %s
// RUN: not tile-run %s --target=cpu --entry=load 2>&1 | FileCheck %s --check-prefix=LOAD

// A reference whose operands do not agree is reported at its op, and touches
// nothing outside.
// CHECK: reference 'copy_reference': {{.*}}run-reference-shapes.mlir:[[@LINE+14]]:3: 'linalg.copy' does not run: dimension #0 of input/output operand #1 is incompatible
func.func @copy(%x: memref<?xf32> {tile.default = "iota:1000000xf32"},
                %o: memref<?xf32> {tile.default = "empty:10xf32"})
    attributes {tile.reference = @copy_reference} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (10) {
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %o[%i] : memref<?xf32>
    }
  }
  return
}
func.func @copy_reference(%x: memref<?xf64>, %o: memref<?xf64>) {
  linalg.copy ins(%x : memref<?xf64>) outs(%o : memref<?xf64>)
  return
}

// LOAD: reference 'load_reference': {{.*}}:[[@LINE+17]]:10: 'memref.load' does not run
func.func @load(%x: memref<?xf32> {tile.default = "iota:10xf32"},
                %o: memref<?xf32> {tile.default = "empty:20xf32"})
    attributes {tile.reference = @load_reference} {
  %c1 = arith.constant 1 : index
  tile.launch blocks(%b) in (%c1) {
    tile.parallel (%i) in (20) {
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %o[%i] : memref<?xf32>
    }
  }
  return
}
func.func @load_reference(%x: memref<?xf64>, %o: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %o, %c0 : memref<?xf64>
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    affine.store %v, %o[%i] : memref<?xf64>
  }
  return
}
