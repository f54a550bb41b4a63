//===- DeviceFP8.h - Conversions of 8-bit floats ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_TILETOGPU_DEVICEFP8_H
#define TILE_CONVERSION_TILETOGPU_DEVICEFP8_H

#include "mlir/IR/PatternMatch.h"

namespace tile::gpu_code {

/// Rewrites extensions from and truncations to f8E4M3FN and f8E5M2, for which
/// LLVM has no lowering, as integer arithmetic.
void populateFP8Patterns(mlir::RewritePatternSet &patterns);

} // namespace tile::gpu_code

#endif // TILE_CONVERSION_TILETOGPU_DEVICEFP8_H
