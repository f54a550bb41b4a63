//===- MixedRadix.h - The strided form of a table ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the modes of a function f: [0, n) -> Z^rank with f(0) = 0 that is the
// sum of one stride a digit in some mixed radix. The radices are forced: the
// first can only be the longest prefix on which f is linear, since a digit that
// ended earlier would merge with the next one. So the search is exact and takes
// time proportional to n.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_LAYOUT_MIXEDRADIX_H
#define TILE_LIB_LAYOUT_MIXEDRADIX_H

#include <cstdint>
#include <optional>
#include <vector>

namespace tile::layout {

struct RadixMode {
  int64_t extent;
  std::vector<int64_t> strides;
};

/// Whether the radices must divide n, or the slowest digit may stop early (as
/// that of thread 31 does when 5 threads span a row).
enum class LastDigit { Full, MayStopEarly };

/// values[i * rank + d] is component d of f(i).
std::optional<std::vector<RadixMode>>
findModes(const std::vector<int64_t> &values, int64_t rank, LastDigit last);

} // namespace tile::layout

#endif // TILE_LIB_LAYOUT_MIXEDRADIX_H
