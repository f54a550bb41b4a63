//===- SharedLayout.h - Swizzled layouts of shared memory ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory is a sequence of elements. A tile gets there by a strided
// layout and, on top, an XOR swizzle of the element offset that spreads the
// elements of a column over the banks:
//
//   Sw<3,3,3> o 0 o (8,64):(64,1)     8 rows of 64 halves, the 128-byte swizzle
//
// The layout has one top-level mode for each dimension of the tile. Offsets
// count elements, so the hardware's byte swizzles look different for each
// width; they have names here.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_SHAREDLAYOUT_H
#define TILE_LAYOUT_SHAREDLAYOUT_H

#include "Tile/Layout/FragmentLayout.h"

namespace tile::layout {

/// The modes that TMA and wgmma descriptors name by the width of a row in
/// bytes. Each swaps 16-byte chunks within such rows.
enum class SwizzleMode { None, Bytes32, Bytes64, Bytes128 };

/// Width of a row in bytes, or 0 for None.
int64_t rowBytes(SwizzleMode mode);

/// offset -> offset ^ (bits [base + shift, base + shift + bits) moved down by
/// shift); with a negative shift the low bits are moved up instead. It is its
/// own inverse.
struct Swizzle {
  int64_t bits = 0, base = 0, shift = 0;

  /// Checks that source and target bits do not overlap.
  static Expected<Swizzle> get(int64_t bits, int64_t base, int64_t shift);
  static Swizzle forMode(SwizzleMode mode, int64_t elementBits);

  int64_t operator()(int64_t offset) const;
  /// Offsets repeat their pattern, and stay, within blocks of this many.
  int64_t period() const;
  /// The bits that may be flipped and those that decide it.
  int64_t involvedBits() const;

  friend bool operator==(const Swizzle &a, const Swizzle &b) {
    return a.bits == b.bits && a.base == b.base && a.shift == b.shift;
  }
};

struct ComposedLayout {
  Swizzle swizzle;
  int64_t offset = 0;
  Layout layout;

  /// The element offset of a coordinate of the tile.
  int64_t operator()(const Coordinate &coordinate) const;
  /// The same for all elements, by their row-major number.
  std::vector<int64_t> offsets() const;
  Coordinate tile() const;

  /// Elements to allocate, and the alignment the swizzle needs, in elements.
  int64_t allocation() const;
  int64_t alignment() const { return swizzle.period(); }
  /// The hardware's name for this swizzle, if it has one.
  std::optional<SwizzleMode> mode(int64_t elementBits) const;

  /// `Sw<3,3,3> o 0 o (8,64):(64,1)`; a plain layout parses too.
  std::string str() const;
  static Expected<ComposedLayout> parse(std::string_view text);

  friend bool operator==(const ComposedLayout &a, const ComposedLayout &b) {
    return a.swizzle == b.swizzle && a.offset == b.offset &&
           a.layout == b.layout;
  }
};

/// Row-major; each row is followed by `padding` unused elements.
ComposedLayout rowMajorShared(const Coordinate &tile, int64_t padding = 0);

/// The layout in which TMA writes and wgmma reads a tile whose rows are
/// contiguous in the tensor: panels as wide as the mode's row, one after the
/// other; within a panel the rows of the second but last dimension; the other
/// dimensions outside. Wider tiles take one TMA box a panel.
Expected<ComposedLayout> swizzledPanels(const Coordinate &tile,
                                        SwizzleMode mode, int64_t elementBits);

} // namespace tile::layout

#endif // TILE_LAYOUT_SHAREDLAYOUT_H
