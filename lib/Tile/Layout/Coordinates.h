//===- Coordinates.h - Row-major numbering of tiles ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between coordinates and element numbers, and sums of digits times strides.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_LAYOUT_COORDINATES_H
#define TILE_LIB_LAYOUT_COORDINATES_H

#include "Tile/Layout/FragmentLayout.h"

#include <functional>
#include <numeric>

namespace tile::layout {

inline int64_t productOf(const Coordinate &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

/// The row-major number, or FragmentLayout::idle outside of the shape.
inline int64_t linearize(const Coordinate &coordinate,
                         const Coordinate &shape) {
  int64_t number = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (coordinate[d] < 0 || coordinate[d] >= shape[d])
      return FragmentLayout::idle;
    number = number * shape[d] + coordinate[d];
  }
  return number;
}

inline Coordinate delinearize(int64_t number, const Coordinate &shape) {
  Coordinate coordinate(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    coordinate[d] = number % shape[d];
    number /= shape[d];
  }
  return coordinate;
}

/// The sum of digit times strides, over a box of `rank` dimensions.
inline Coordinate evaluate(const std::vector<Mode> &modes, int64_t number,
                           size_t rank) {
  Coordinate sum(rank, 0);
  for (const Mode &mode : modes) {
    const int64_t digit = number % mode.extent;
    number /= mode.extent;
    for (size_t d = 0; d < rank; ++d)
      sum[d] += digit * mode.strides[d];
  }
  return sum;
}

inline int64_t sizeOf(const std::vector<Mode> &modes) {
  int64_t size = 1;
  for (const Mode &mode : modes)
    size *= mode.extent;
  return size;
}

/// `16x16`.
inline std::string shapeText(const Coordinate &shape) {
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

/// `(3,5)`.
inline std::string coordinateText(const Coordinate &coordinate) {
  std::string text;
  for (int64_t index : coordinate)
    text += (text.empty() ? "(" : ",") + std::to_string(index);
  return text + ")";
}

/// No kernel has so many threads or so large an on-chip tile; beyond it an
/// extent is a mistake, and products could overflow.
constexpr int64_t largestThreads = 1 << 16, largestTile = 1 << 22;

/// Whether the product is above the limit; it stops there, so cannot overflow.
inline bool exceeds(const std::vector<int64_t> &extents, int64_t limit) {
  int64_t product = 1;
  for (int64_t extent : extents)
    if (extent > limit || (product *= extent) > limit)
      return true;
  return false;
}

/// What is wrong with a tile or a number of threads that came from outside.
inline std::optional<Failure> checkSizes(const Coordinate &tile,
                                         int64_t threads) {
  if (tile.empty())
    return Failure{"a tile has at least one dimension"};
  for (int64_t extent : tile)
    if (extent < 1)
      return Failure{"tile extents are at least 1, got " + shapeText(tile)};
  if (exceeds(tile, largestTile))
    return Failure{"tile " + shapeText(tile) + " has more than " +
                   std::to_string(largestTile) + " elements"};
  if (threads < 1 || threads > largestThreads)
    return Failure{"expected 1 to " + std::to_string(largestThreads) +
                   " threads, got " + std::to_string(threads)};
  return std::nullopt;
}

} // namespace tile::layout

#endif // TILE_LIB_LAYOUT_COORDINATES_H
