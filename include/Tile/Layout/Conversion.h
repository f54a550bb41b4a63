//===- Conversion.h - From one fragment layout to another ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two operations want one tile in different layouts on the same threads. The
// ways to get from one to the other, from the cheapest: nothing; a renaming of
// registers; shuffles, where every element stays in its warp; through shared
// memory. A plan is data: a lowering walks it to emit code, and `simulate`
// walks it on arrays, so that what is emitted is what was tested.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_CONVERSION_H
#define TILE_LAYOUT_CONVERSION_H

#include "Tile/Layout/BankConflicts.h"

namespace tile::layout {

enum class ConversionKind { None, Registers, Shuffles, Shared };

struct ConversionCost {
  /// Of each thread, shuffles and shared accesses included.
  int64_t instructions = 0;
  int64_t shuffles = 0;
  /// Of the whole tile, written plus read.
  int64_t sharedBytes = 0;
  int64_t wavefronts = 0;
  int64_t barriers = 0;

  /// An estimate of the cycles one SM spends: four instructions a cycle, one
  /// warp's shuffle or one wavefront a cycle, and the latency of a round trip.
  int64_t cycles(int64_t warps) const;
};

/// One shuffle of every warp. Each lane offers one unit and takes one.
struct ShuffleRound {
  /// By thread: the source unit offered, the lane read from, and the target
  /// unit the result belongs to, or -1 where the thread drops it.
  std::vector<int64_t> offered, sourceLane, taken;
};

struct Conversion {
  ConversionKind kind = ConversionKind::None;
  /// Neighbouring registers that move as one: elements narrower than 32 bits
  /// that stay side by side. A unit is `pack` registers, aligned.
  int64_t pack = 1;

  /// Registers: the source unit of each target unit, the same on all threads.
  std::vector<int64_t> unitFrom;

  /// Shuffles: moves within the thread, [thread * target units + unit] ->
  /// source unit or -1; then the rounds.
  std::vector<int64_t> local;
  std::vector<ShuffleRound> rounds;

  /// Shared: the buffer, and the registers one store and one load move.
  std::optional<ComposedLayout> shared;
  int64_t storeWidth = 1, loadWidth = 1;
  /// Without it a warp only reads what it wrote, and syncs with itself.
  bool crossesWarps = false;

  ConversionCost cost;
};

/// The cheapest plan. Fails only where the layouts are not of one tile on the
/// same threads, or `from` does not hold an element that `to` needs.
Expected<Conversion> planConversion(const FragmentLayout &from,
                                    const FragmentLayout &to,
                                    int64_t elementBits);

/// The cheapest plan of one kind, if there is one.
std::optional<Conversion> planConversion(const FragmentLayout &from,
                                         const FragmentLayout &to,
                                         int64_t elementBits,
                                         ConversionKind kind);

/// What every slot holds after the plan, given what it held before, both as
/// [thread * registers + register]; idle slots of `to` get -1.
std::vector<int64_t> simulate(const Conversion &plan,
                              const FragmentLayout &from,
                              const FragmentLayout &to,
                              const std::vector<int64_t> &held);

} // namespace tile::layout

#endif // TILE_LAYOUT_CONVERSION_H
