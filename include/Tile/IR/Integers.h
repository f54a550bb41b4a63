//===- Integers.h - What integers stand for ---------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_INTEGERS_H
#define TILE_IR_INTEGERS_H

#include "mlir/IR/Types.h"

namespace tile {

/// Whether reductions take integers of the type as unsigned: where the op says
/// so, and truth values always, which count as 0 and 1.
inline bool isTakenUnsigned(mlir::Type type, bool isUnsigned) {
  return isUnsigned || type.isInteger(1);
}

} // namespace tile

#endif // TILE_IR_INTEGERS_H
