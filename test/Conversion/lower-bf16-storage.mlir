// RUN: tile-opt %s --tile-lower-bf16-storage --split-input-file | FileCheck %s

// Moves keep the bits in i16, constants and vectors included: 1.0 is 0x3F80.
// CHECK-LABEL: llvm.func @moves(
// CHECK-SAME: i16
// CHECK-NOT: bf16
// CHECK: llvm.mlir.constant(16256 : i16) : i16
// CHECK: llvm.mlir.constant(dense<16256> : vector<4xi16>) : vector<4xi16>
// CHECK: llvm.intr.masked.load {{.*}} vector<4xi16>
// CHECK: llvm.getelementptr %{{.*}} -> !llvm.ptr, i16
// CHECK: llvm.store %{{.*}} : i16, !llvm.ptr
llvm.func @moves(%x: bf16, %p: !llvm.ptr, %mask: vector<4xi1>, %which: i1) {
  %one = llvm.mlir.constant(1.0 : bf16) : bf16
  %ones = llvm.mlir.constant(dense<1.0> : vector<4xbf16>) : vector<4xbf16>
  %v = llvm.intr.masked.load %p, %mask, %ones {alignment = 2 : i32}
    : (!llvm.ptr, vector<4xi1>, vector<4xbf16>) -> vector<4xbf16>
  llvm.store %v, %p : vector<4xbf16>, !llvm.ptr
  %s = llvm.select %which, %x, %one : i1, bf16
  %bits = llvm.bitcast %s : bf16 to i16
  %back = llvm.bitcast %bits : i16 to bf16
  %q = llvm.getelementptr %p[3] : (!llvm.ptr) -> !llvm.ptr, bf16
  llvm.store %back, %q : bf16, !llvm.ptr
  llvm.return
}

// -----

// Where something computes, nothing changes.
// CHECK-LABEL: llvm.func @computes
// CHECK: llvm.fadd %arg0, %arg0 : bf16
llvm.func @computes(%x: bf16) -> bf16 {
  %y = llvm.fadd %x, %x : bf16
  llvm.return %y : bf16
}
