//===- InlineCalls.h - Inline helper functions ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_INLINECALLS_H
#define TILE_TRANSFORMS_INLINECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

struct InlineCounts {
  unsigned inlined = 0;
  unsigned removed = 0;
};

/// The functions of `module` that have launches, directly or through calls.
llvm::SetVector<mlir::func::FuncOp> findTilePrograms(mlir::ModuleOp module);

/// Inlines all calls of these functions, and removes the helpers that are then
/// without use. What cannot be inlined is reported at the call.
mlir::FailureOr<InlineCounts> inlineCalls(mlir::ModuleOp module);

} // namespace tile

#endif // TILE_TRANSFORMS_INLINECALLS_H
