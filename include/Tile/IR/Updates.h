//===- Updates.h - Indivisible updates of single elements -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_UPDATES_H
#define TILE_IR_UPDATES_H

#include "mlir/IR/Operation.h"

namespace tile {

/// The buffer of which `op` updates one element indivisibly, and gives the old
/// one; null for other ops.
mlir::Value getUpdatedBuffer(mlir::Operation *op);

} // namespace tile

#endif // TILE_IR_UPDATES_H
