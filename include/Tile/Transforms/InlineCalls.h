//===- InlineCalls.h - Inline helper functions ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_INLINECALLS_H
#define TILE_TRANSFORMS_INLINECALLS_H

#include "mlir/IR/BuiltinOps.h"

namespace tile {

struct InlineCounts {
  unsigned inlined = 0;
  unsigned removed = 0;
};

/// Inlines all calls of the functions of `module` that have launches, directly
/// or through calls, and removes the helpers that are then without use. What
/// cannot be inlined is reported at the call.
mlir::FailureOr<InlineCounts> inlineCalls(mlir::ModuleOp module);

} // namespace tile

#endif // TILE_TRANSFORMS_INLINECALLS_H
