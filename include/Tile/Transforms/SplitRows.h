//===- SplitRows.h - Run blocks a few rows at a time ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_SPLITROWS_H
#define TILE_TRANSFORMS_SPLITROWS_H

#include "Tile/IR/TileDialect.h"

namespace tile {

/// Runs the body of `launch` for `rows` rows of its tiles at a time, where no
/// row depends on another and there are more. Says whether it did.
bool splitRows(LaunchOp launch, int64_t rows);

} // namespace tile

#endif // TILE_TRANSFORMS_SPLITROWS_H
