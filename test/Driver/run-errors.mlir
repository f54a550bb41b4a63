// Bad input ends with exit code 2 and a message that names the argument, the
// function or the line.
//
// RUN: not tile-run %s --arg Q=3 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: tile-run: error: there is no argument 'Q'; there are: x, n
// RUN: not tile-run %s --arg x 2>&1 | FileCheck %s --check-prefix=PAIR
// PAIR: tile-run: error: --arg: expected NAME=SPEC, got 'x'
// RUN: not tile-run %s --arg x=randm:4xf32 2>&1 | FileCheck %s --check-prefix=SPEC
// SPEC: tile-run: error: argument 'x': expected one of empty, zeros,
// SPEC-NEXT: randm:4xf32
// RUN: not tile-run %s --arg x=randn:4xf16 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: tile-run: error: argument 'x': the program takes ?xf32, this is 4xf16
// RUN: not tile-run %s --arg x=randn:4x4xf32 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: tile-run: error: argument 'x': the program takes ?xf32, this is 4x4xf32
// RUN: not tile-run %s --arg x=randn:99999999999xf32 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: tile-run: error: argument 'x': {{.*}} of memory
// RUN: not tile-run %s --arg x=no/such.npy 2>&1 | FileCheck %s --check-prefix=NPY
// NPY: tile-run: error: argument 'x': {{.*}}no/such.npy
// RUN: not tile-run %s --arg n=1000 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: tile-run: error: argument 'n': {{.*}}1000
// RUN: not tile-run %s --entry missing_value 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: tile-run: error: argument 'x' of 'missing_value' has no value; give it one, as in --arg x=empty:64x8xf16, or in its 'tile.default'
// RUN: not tile-run %s --entry fil 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: tile-run: error: there is no function 'fil'; did you mean 'fill'?
// RUN: not tile-run %s --reference fil 2>&1 | FileCheck %s --check-prefix=REFERENCE
// REFERENCE: tile-run: error: there is no function 'fil'; did you mean 'fill'?
// RUN: not tile-run %s --set m=3 2>&1 | FileCheck %s --check-prefix=TUNABLE
// TUNABLE: tile-run: error: there is no tunable 'm'; there are none
// RUN: not tile-run %s --set m=three 2>&1 | FileCheck %s --check-prefix=INTEGER
// INTEGER: tile-run: error: --set m: expected an integer, got 'three'
// RUN: not tile-run %s --target=tpu 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: tile-run: error: there is no target 'tpu'; there are cpu, cuda and emulator
// RUN: not tile-run %s --tolerance=nrom=1 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// TOLERANCE: tile-run: error: tolerance 'nrom=1': expected norm, atol, rtol or products, got 'nrom'
// RUN: not tile-run %s --expect n=x.npy 2>&1 | FileCheck %s --check-prefix=EXPECT
// EXPECT: tile-run: error: argument 'n' is not written by 'fill', so there is nothing to compare x.npy with
// RUN: not tile-run %s --target=cpu --emit=pass 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: tile-run: error: there is no stage 'pass' for the target cpu, which --target chooses; there are: source, {{.*}}, mlir, llvm, asm, obj
// RUN: not tile-run %s --save x=no/such/directory.npy 2>&1 | FileCheck %s --check-prefix=SAVE
// SAVE: tile-run: error: argument 'x': {{.*}}no/such/directory.npy
// RUN: not tile-run no/such.mlir 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: tile-run: error: cannot read 'no/such.mlir': No such file or directory
// RUN: not tile-run 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: Must specify at least 1 positional argument
// RUN: echo "func.func @f() { return }" > %t.mlir
// RUN: not tile-run %t.mlir 2>&1 | FileCheck %s --check-prefix=NOENTRY
// NOENTRY: tile-run: error: {{.*}} has no entry: no public function launches a tile kernel
// RUN: echo "func.func @f( {" > %t.mlir
// RUN: not tile-run %t.mlir 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: {{^/}}{{.*}}.mlir:1:14: error: expected non-function type
//
// The code is 2, not 1 as for a wrong result.
// RUN: %python -c "import subprocess, sys; sys.exit(subprocess.run(['tile-run', sys.argv[1], '--arg', 'Q=3'], stderr=subprocess.DEVNULL).returncode != 2)" %s
// RUN: %python -c "import subprocess, sys; sys.exit(subprocess.run(['tile-run', sys.argv[1], '--nosuch'], stderr=subprocess.DEVNULL).returncode != 2)" %s
// RUN: %python -c "import subprocess, sys; sys.exit(subprocess.run(['tile-run', sys.argv[1], '--entry', 'lazy', '--arg=x=empty:4xf32'], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode != 1)" %s

func.func @fill(%x: memref<?xf32> {tile.default = "empty:4xf32"},
                %n: i8 {tile.default = "3"}) {
  %f = arith.sitofp %n : i8 to f32
  linalg.fill ins(%f : f32) outs(%x : memref<?xf32>)
  return
}

func.func @missing_value(%x: memref<?x8xf16>) {
  %f = arith.constant 0.0 : f16
  linalg.fill ins(%f : f16) outs(%x : memref<?x8xf16>)
  return
}

func.func @lazy(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  memref.store %f, %x[%c0] : memref<?xf32>
  return
}
