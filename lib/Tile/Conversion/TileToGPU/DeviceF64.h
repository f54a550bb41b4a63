//===- DeviceF64.h - Functions of f64 on the device -------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_TILETOGPU_DEVICEF64_H
#define TILE_CONVERSION_TILETOGPU_DEVICEF64_H

#include "mlir/IR/PatternMatch.h"

namespace tile::gpu_code {

/// Rewrites functions of f64 to arithmetic, roots and roundings.
void populateF64Patterns(mlir::RewritePatternSet &patterns);

} // namespace tile::gpu_code

#endif // TILE_CONVERSION_TILETOGPU_DEVICEF64_H
