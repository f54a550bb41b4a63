//===- AccessCount.h - Wavefronts of one access, many layouts ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search judges one access under many layouts; what depends on the access
// alone is worked out once here. Layouts come as the offset of each element.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_LAYOUT_ACCESSCOUNT_H
#define TILE_LIB_LAYOUT_ACCESSCOUNT_H

#include "Tile/Layout/BankConflicts.h"

namespace tile::layout {

class AccessCount {
public:
  AccessCount(const SharedAccess &access, int64_t elementBits);

  int64_t pieceWidth(const std::vector<int64_t> &offsets) const;
  /// In pieces of `width`. Stops where `limit` is passed, so that a search need
  /// not count what has lost already.
  Wavefronts wavefronts(const std::vector<int64_t> &offsets, int64_t width,
                        int64_t limit) const;

  /// Whether one instruction can do at all what the access asks for.
  bool isPossible(int64_t width) const {
    return access.kind == AccessKind::Vector || isWhole(width);
  }
  bool isWhole(int64_t width) const { return width == access.vector; }
  int64_t times() const { return access.times; }

private:
  bool isContiguous(const std::vector<int64_t> &offsets, int64_t width) const;

  SharedAccess access;
  std::vector<int64_t> elements;
  int64_t elementBits;
};

} // namespace tile::layout

#endif // TILE_LIB_LAYOUT_ACCESSCOUNT_H
