//===- KnownDivisor.h - What is known of an offset --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_KNOWNDIVISOR_H
#define TILE_TRANSFORMS_KNOWNDIVISOR_H

#include "mlir/IR/OpDefinition.h"

namespace tile {

/// The largest power of two that `value` is known to be a multiple of.
int64_t getKnownDivisor(mlir::OpFoldResult value);

/// Whether `value` is known not to be negative.
bool isKnownNonNegative(mlir::OpFoldResult value);

} // namespace tile

#endif // TILE_TRANSFORMS_KNOWNDIVISOR_H
