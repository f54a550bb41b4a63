// Programs survive being written as bytecode, with every attribute and type.
// RUN: tile-opt %S/ops.mlir -o %t.1 && tile-opt %S/ops.mlir --emit-bytecode | tile-opt -o %t.2 && diff %t.1 %t.2
// RUN: tile-opt %S/ops-schedule.mlir -o %t.1 && tile-opt %S/ops-schedule.mlir --emit-bytecode | tile-opt -o %t.2 && diff %t.1 %t.2
// RUN: tile-opt %S/ops-async.mlir -o %t.1 && tile-opt %S/ops-async.mlir --emit-bytecode | tile-opt -o %t.2 && diff %t.1 %t.2
