//===- Steps.h - Schedules written by hand -----------------------*- C++
//-*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_STEPS_H
#define TILE_IR_STEPS_H

#include "Tile/IR/TileDialect.h"

namespace tile {

/// Whether the steps of `loop`, if it has any, keep its meaning.
mlir::LogicalResult verifySteps(PipelinedOp loop);

} // namespace tile

#endif // TILE_IR_STEPS_H
