// A pass that fails leaves a file with the program and the pipeline, from which
// the failure comes again.
// RUN: not tile-opt %s --mlir-pass-pipeline-crash-reproducer=%t.mlir --pass-pipeline='builtin.module(canonicalize,convert-tile-to-cpu{vector-bytes=16})' 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: FileCheck %s --check-prefix=FILE < %t.mlir
// RUN: not tile-opt --run-reproducer %t.mlir 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: error: 'gpu.thread_id' op has no meaning on the cpu target
// FILE: tile.launch
// FILE: mlir_reproducer
// FILE: pipeline: "builtin.module(canonicalize{{.*}}convert-tile-to-cpu{vector-bytes=16})"
func.func @f(%n: index, %y: memref<?xindex>) {
  tile.launch blocks(%b) in (%n) {
    %t = gpu.thread_id x
    memref.store %t, %y[%b] : memref<?xindex>
  }
  return
}
