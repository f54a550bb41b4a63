//===- CopySide.h - The memory side of a copy -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_TILETOGPU_COPYSIDE_H
#define TILE_CONVERSION_TILETOGPU_COPYSIDE_H

#include "ThreadCode.h"

namespace tile::gpu_code {

/// One side of a copy that lies in memory, against the tile without its extents
/// of one.
struct ThreadCode::Side {
  View view;
  llvm::SmallVector<OpFoldResult> offsets;
  /// For each dimension of the tile, that of the buffer.
  llvm::SmallVector<int64_t> dims;
  /// Elements of one access.
  int64_t chunk = 1;

  /// Offset of the thread's part of the tile, and its coordinate along each
  /// dimension of the buffer.
  Value common;
  Values commonIndices;
  /// Whether the dimensions of one index lie inside; may be null.
  Value commonPredicate;

  /// For each dimension of the tile of a guarded buffer, how many elements from
  /// the thread's part on lie inside, as an i32; null where that part may lie
  /// in front of the buffer.
  Values rest;

  /// In a swizzled buffer, constant offsets are left out of `common`.
  int64_t constantOffset = 0;
  /// The bits that `common` may have, and the place in bytes that its swizzle
  /// and the view's offset give.
  int64_t commonBits = 0;
  Value swizzledCommon;
};

/// The dimensions of a tile whose extent is not one.
inline llvm::SmallVector<int64_t> getLongDims(llvm::ArrayRef<int64_t> tile) {
  llvm::SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < int64_t(tile.size()); ++dim)
    if (tile[dim] != 1)
      dims.push_back(dim);
  return dims;
}

} // namespace tile::gpu_code

#endif // TILE_CONVERSION_TILETOGPU_COPYSIDE_H
