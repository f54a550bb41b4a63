// The whole way of an example: arguments from the file's own specifications, a
// run on the CPU, the comparison with a reference in f64, one line of a table.
//
// RUN: tile-run %s | FileCheck %s --match-full-lines
// CHECK: function {{ *}}target {{ *}}shapes {{ *}}error {{ *}}time {{ *}}GFLOP/s {{ *}}GB/s
// CHECK-NEXT: matmul {{ *}}cpu {{ *}}A 127x64xf32, B 64x33xf32 -> C 127x33xf32 {{ *[1-9]\.[0-9]+e-0[78] .*s +[0-9.]+ +[0-9.]+}}
//
// Other shapes; an extent of zero is one of them.
// RUN: tile-run %s --arg A=randn:1x300xf32 --bench=3 | FileCheck %s --check-prefix=BENCH
// RUN: tile-run %s --arg A=randn:1x300xf32 --bench | FileCheck %s --check-prefix=BENCH
// BENCH: median {{ *}}min {{ *}}max
// BENCH-NEXT: A 1x300xf32, B 300x33xf32 -> C 1x33xf32
// RUN: tile-run %s --arg A=randn:0x300xf32 | FileCheck %s --check-prefix=EMPTY
// EMPTY: C 0x33xf32
//
// What is computed can be saved and expected the next time.
// RUN: tile-run %s --seed=7 --save C=%t.npy
// RUN: tile-run %s --seed=7 --no-reference --expect C=%t.npy --tolerance=0 | FileCheck %s --check-prefix=SAME
// SAME: {{ }}0{{ }}
// RUN: not tile-run %s --seed=8 --no-reference --expect C=%t.npy 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: 'matmul': output 'C': {{[0-9]+}} of 4191 elements differ from {{.*}}.npy (tolerance norm={{.*}},atol={{.*}},rtol={{.*}})
// OTHER-NEXT: [0, 0]: {{.*}}, expected {{.*}} (error {{.*}}, allowed {{.*}})
// RUN: not tile-run %s --tolerance=norm=1e-30,atol=9,rtol=9 2>&1 | FileCheck %s --check-prefix=NORM
// NORM: 'matmul': output 'C': the norm of the error is {{[1-9][.][0-9]+e-[0-9]+}} of that of {{.*}}, more than 1.00e-30

func.func @matmul(
    %A: memref<?x?xf32> {tile.default = "randn:127x64xf32"},
    %B: memref<?x?xf32> {tile.default = "randn:A[1]x33xf32"},
    %C: memref<?x?xf32> {tile.default = "empty:A[0]xB[1]xf32"})
    attributes {tile.reference = @reference,
                tile.flops = "2 * A[0] * A[1] * B[1]",
                tile.bytes = "4 * (A[0]*A[1] + B[0]*B[1] + C[0]*C[1])"} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}

func.func private @reference(%A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%C : memref<?x?xf64>)
  linalg.matmul ins(%A, %B : memref<?x?xf64>, memref<?x?xf64>) outs(%C : memref<?x?xf64>)
  return
}
