//===- Prefetch.h - Reading ahead of the loops ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_TILETOCPU_PREFETCH_H
#define TILE_CONVERSION_TILETOCPU_PREFETCH_H

#include "Lowering.h"

namespace tile::cpu {

/// The dimension of a global buffer along which the tile follows that `op`, at
/// `indices`, reads in the next step of the loop around it or in the next
/// block.
std::optional<unsigned> findNextTile(LaunchOp launch, mlir::Operation *op,
                                     mlir::ValueRange indices);

/// The same for the source of a copy, if it is to ask for the next tile itself.
std::optional<unsigned> findNextTile(LaunchOp launch, CopyOp copy);

/// Hands the reading ahead of copies over to elementwise loops.
void spreadPrefetches(LaunchContext &context);

/// Asks for the vector that lies `distance` elements along `dim` from the one
/// at `indices`. It need not exist.
void buildPrefetch(mlir::OpBuilder &b, mlir::Location loc,
                   mlir::VectorType piece, mlir::Value buffer,
                   mlir::ValueRange indices, unsigned dim, int64_t distance,
                   unsigned localityHint = 3);

/// As far along `dim` lie the rows that come after all passes over these.
struct NextRows {
  unsigned dim;
  int64_t distance;
};

/// Where `load` of `loop` is in the second pass over its rows, which are in a
/// cache then, and there are rows that come next.
std::optional<NextRows> findNextRows(LaunchOp launch, ParallelOp loop,
                                     mlir::memref::LoadOp load);

} // namespace tile::cpu

#endif // TILE_CONVERSION_TILETOCPU_PREFETCH_H
