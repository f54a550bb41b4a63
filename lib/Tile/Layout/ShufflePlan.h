//===- ShufflePlan.h - Conversion by shuffles ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which unit can come from where, and in which round.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_LAYOUT_SHUFFLEPLAN_H
#define TILE_LIB_LAYOUT_SHUFFLEPLAN_H

#include "Tile/Layout/Conversion.h"

namespace tile::layout {

/// For each unit that a thread needs, the slots that hold the same elements.
class UnitTable {
public:
  UnitTable(const FragmentLayout &from, const FragmentLayout &to, int64_t pack);

  int64_t threads() const { return threadCount; }
  int64_t units() const { return targetUnits; }
  /// Empty for a unit that is idle or that nobody holds.
  const std::vector<Owner> &sources(int64_t thread, int64_t unit) const;
  bool isIdle(int64_t thread, int64_t unit) const {
    return sourceOf[thread * targetUnits + unit] == idleUnit;
  }

  /// Every unit that is not idle has a source.
  bool isComplete() const;
  /// And one in its own warp.
  bool staysInWarps() const;

private:
  static constexpr int64_t idleUnit = -1, missingUnit = -2;

  int64_t threadCount, targetUnits;
  /// By target unit: an index into `owners`, idleUnit or missingUnit.
  std::vector<int64_t> sourceOf;
  std::vector<std::vector<Owner>> owners;
};

/// Fills `local` and `rounds`; false where a unit is not within its warp.
bool scheduleShuffles(const UnitTable &units, Conversion &plan);

/// Instructions of each thread beside the shuffles themselves: choosing the
/// unit to offer, the lane to read from, and the register a result goes to.
int64_t countSelects(const UnitTable &units, const Conversion &plan);

} // namespace tile::layout

#endif // TILE_LIB_LAYOUT_SHUFFLEPLAN_H
