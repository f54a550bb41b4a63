//===- SplitLockstep.h - Make elementwise loops independent -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_SPLITLOCKSTEP_H
#define TILE_TRANSFORMS_SPLITLOCKSTEP_H

#include "Tile/IR/TileDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tile {

struct SplitCounts {
  unsigned loops = 0;
  unsigned groups = 0;
  unsigned temporaries = 0;
};

/// Replaces each elementwise loop of `function` whose lanes meet by loops that
/// are independent (see LaneAnalysis.h) and together mean the same.
mlir::FailureOr<SplitCounts> splitLockstep(mlir::FunctionOpInterface function);

} // namespace tile

#endif // TILE_TRANSFORMS_SPLITLOCKSTEP_H
