//===- Poison.h - Finding what was not written ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is run twice, with its outputs full of one pattern and then of
// another. What still holds its run's pattern after both was not written; what
// differs otherwise depends on undefined contents or is not deterministic. A
// result that happens to equal a pattern in both runs is taken for neither.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_POISON_H
#define TILE_RUNTIME_POISON_H

#include "Tile/Runtime/Array.h"

namespace tile::runtime {

/// The byte that fills the buffer. No type reads the same value from both;
/// 0x7F gives NaN in f16, bf16, f8E4M3FN and f8E5M2 and the largest or nearly
/// largest value elsewhere, 0xC3 a negative number.
enum class Poison : uint8_t { First = 0x7F, Second = 0xC3 };

/// Fills all storage of the array, the gaps between its elements included.
void fillPoison(Array &array, Poison poison);

struct WriteReport {
  int64_t numUnwritten = 0;
  /// Written, or not wholly, and different in the two runs. NaNs are all alike.
  int64_t numUnstable = 0;
  /// The first coordinates of each in row-major order, at most `maxKept`.
  std::vector<Shape> firstUnwritten;
  std::vector<Shape> firstUnstable;

  static constexpr size_t maxKept = 8;
};

/// Compares the outputs of the run poisoned with `Poison::First` and of the one
/// with `Poison::Second`. Error when their shapes or types differ.
Result<WriteReport> findUnwritten(const Array &first, const Array &second);

/// The storage index of the first gap between the elements of an array that no
/// longer holds the poison all its storage was filled with: something wrote
/// where the array has no element.
std::optional<int64_t> findStrayWrite(const Array &array, Poison poison);

} // namespace tile::runtime

#endif // TILE_RUNTIME_POISON_H
