//===- Conversion.cpp - From one fragment layout to another ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses among the plans of each kind, and simulates them. Shuffles are
// planned in ShufflePlan.cpp.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/Conversion.h"

#include "Coordinates.h"
#include "ShufflePlan.h"

#include <algorithm>

using namespace tile::layout;

int64_t ConversionCost::cycles(int64_t warps) const {
  // A shuffle or a shared access answers after some 25 cycles, and a barrier
  // costs about as much again.
  constexpr int64_t latency = 25;
  const int64_t waits = (shuffles > 0) + 2 * (sharedBytes > 0) + barriers;
  return (warps * instructions + 3) / 4 + warps * shuffles + wavefronts +
         latency * waits;
}

/// Halves the pack until every aligned unit of `to` is a unit of `from`.
static int64_t largestPack(const FragmentLayout &from, const FragmentLayout &to,
                           int64_t elementBits) {
  int64_t pack = std::max<int64_t>(1, 32 / elementBits);
  while (pack > 1 &&
         (from.numRegisters() % pack != 0 || to.numRegisters() % pack != 0 ||
          !UnitTable(from, to, pack).isComplete()))
    pack /= 2;
  return pack;
}

static std::optional<Conversion> planRegisters(const FragmentLayout &from,
                                               const FragmentLayout &to,
                                               int64_t elementBits) {
  const std::optional<std::vector<int64_t>> order = to.registersFrom(from);
  if (!order)
    return std::nullopt;
  Conversion plan;
  plan.kind = ConversionKind::Registers;
  int64_t pack = std::max<int64_t>(1, 32 / elementBits);
  auto movesWhole = [&] {
    if (from.numRegisters() % pack != 0 || to.numRegisters() % pack != 0)
      return false;
    for (size_t reg = 0; reg < order->size(); ++reg)
      if ((*order)[reg] != (*order)[reg / pack * pack] + int64_t(reg) % pack ||
          (*order)[reg / pack * pack] % pack != 0)
        return false;
    return true;
  };
  while (!movesWhole())
    pack /= 2;
  plan.pack = pack;
  for (size_t reg = 0; reg < order->size(); reg += pack)
    plan.unitFrom.push_back((*order)[reg] / pack);
  // Whole hardware registers are merely renamed; parts of them are permuted,
  // one instruction for each register of the result.
  if (pack * elementBits < 32 && elementBits < 32)
    plan.cost.instructions = (to.numRegisters() * elementBits + 31) / 32;
  return plan;
}

static std::optional<Conversion> planShuffles(const FragmentLayout &from,
                                              const FragmentLayout &to,
                                              int64_t elementBits) {
  const int64_t pack = largestPack(from, to, elementBits);
  const UnitTable units(from, to, pack);
  Conversion plan;
  plan.kind = ConversionKind::Shuffles;
  plan.pack = pack;
  if (!scheduleShuffles(units, plan))
    return std::nullopt;
  // A unit of 64-bit elements takes two shuffles and two of everything else.
  const int64_t words = (pack * elementBits + 31) / 32;
  plan.cost.shuffles = int64_t(plan.rounds.size()) * words;
  plan.cost.instructions =
      plan.cost.shuffles + countSelects(units, plan) * words;
  return plan;
}

static std::optional<Conversion> planShared(const FragmentLayout &from,
                                            const FragmentLayout &to,
                                            int64_t elementBits) {
  const SharedAccess store = vectorAccess(from, elementBits),
                     load = vectorAccess(to, elementBits);
  Expected<SharedChoice> choice = searchSwizzle(
      from.tile(), elementBits, {store, load}, SharedEngine::Threads);
  if (!choice)
    return std::nullopt;
  Conversion plan;
  plan.kind = ConversionKind::Shared;
  plan.shared = choice->layout;
  plan.storeWidth = pieceWidth(choice->layout, elementBits, store);
  plan.loadWidth = pieceWidth(choice->layout, elementBits, load);
  plan.crossesWarps = !UnitTable(from, to, 1).staysInWarps();
  plan.cost.instructions = from.numRegisters() / plan.storeWidth +
                           to.numRegisters() / plan.loadWidth;
  plan.cost.sharedBytes =
      (from.numThreads() * (from.numRegisters() + to.numRegisters()) *
           elementBits +
       7) /
      8;
  plan.cost.wavefronts = choice->wavefronts.actual;
  plan.cost.barriers = plan.crossesWarps ? 1 : 0;
  return plan;
}

static std::optional<Failure> checkPair(const FragmentLayout &from,
                                        const FragmentLayout &to) {
  if (from.tile() != to.tile())
    return Failure{"layouts of different tiles, " + shapeText(from.tile()) +
                   " and " + shapeText(to.tile())};
  if (from.numThreads() != to.numThreads())
    return Failure{"layouts over different threads, " +
                   std::to_string(from.numThreads()) + " and " +
                   std::to_string(to.numThreads())};
  std::vector<bool> isHeld(from.numElements(), false);
  for (int64_t element : from.elements())
    if (element != FragmentLayout::idle)
      isHeld[element] = true;
  for (int64_t element : to.elements())
    if (element != FragmentLayout::idle && !isHeld[element])
      return Failure{"no thread holds element " +
                     coordinateText(delinearize(element, from.tile())) +
                     " in the layout converted from"};
  return std::nullopt;
}

std::optional<Conversion>
tile::layout::planConversion(const FragmentLayout &from,
                             const FragmentLayout &to, int64_t elementBits,
                             ConversionKind kind) {
  if (checkPair(from, to))
    return std::nullopt;
  switch (kind) {
  case ConversionKind::None:
    return from == to ? std::make_optional<Conversion>() : std::nullopt;
  case ConversionKind::Registers:
    return planRegisters(from, to, elementBits);
  case ConversionKind::Shuffles:
    return planShuffles(from, to, elementBits);
  case ConversionKind::Shared:
    break;
  }
  return planShared(from, to, elementBits);
}

Expected<Conversion> tile::layout::planConversion(const FragmentLayout &from,
                                                  const FragmentLayout &to,
                                                  int64_t elementBits) {
  if (std::optional<Failure> bad = checkPair(from, to))
    return *bad;
  if (from == to)
    return Conversion();
  if (std::optional<Conversion> plan = planRegisters(from, to, elementBits))
    return *plan;
  std::optional<Conversion> shuffles = planShuffles(from, to, elementBits),
                            shared = planShared(from, to, elementBits);
  if (!shuffles && !shared)
    return Failure{"elements of " + std::to_string(elementBits) +
                   " bits cannot be converted"};
  if (!shared || (shuffles && shuffles->cost.cycles(from.numWarps()) <=
                                  shared->cost.cycles(from.numWarps())))
    return *shuffles;
  return *shared;
}

//===----------------------------------------------------------------------===//
// Simulation
//===----------------------------------------------------------------------===//

static void simulateShuffles(const Conversion &plan, int64_t threads,
                             int64_t sourceRegisters, int64_t targetRegisters,
                             const std::vector<int64_t> &held,
                             std::vector<int64_t> &result) {
  const int64_t pack = plan.pack, targetUnits = targetRegisters / pack;
  auto move = [&](int64_t thread, int64_t unit, int64_t source, int64_t from) {
    for (int64_t i = 0; i < pack; ++i)
      result[thread * targetRegisters + unit * pack + i] =
          held[source * sourceRegisters + from * pack + i];
  };
  for (int64_t thread = 0; thread < threads; ++thread)
    for (int64_t unit = 0; unit < targetUnits; ++unit)
      if (int64_t from = plan.local[thread * targetUnits + unit]; from >= 0)
        move(thread, unit, thread, from);
  for (const ShuffleRound &round : plan.rounds)
    for (int64_t thread = 0; thread < threads; ++thread) {
      const int64_t source =
          thread / warpSize * warpSize + round.sourceLane[thread];
      if (round.taken[thread] >= 0)
        move(thread, round.taken[thread], source, round.offered[source]);
    }
}

std::vector<int64_t> tile::layout::simulate(const Conversion &plan,
                                            const FragmentLayout &from,
                                            const FragmentLayout &to,
                                            const std::vector<int64_t> &held) {
  const int64_t threads = to.numThreads(), sources = from.numRegisters(),
                targets = to.numRegisters();
  std::vector<int64_t> result(threads * targets, -1);
  switch (plan.kind) {
  case ConversionKind::None:
    result = held;
    break;
  case ConversionKind::Registers:
    for (int64_t thread = 0; thread < threads; ++thread)
      for (int64_t reg = 0; reg < targets; ++reg)
        result[thread * targets + reg] =
            held[thread * sources + plan.unitFrom[reg / plan.pack] * plan.pack +
                 reg % plan.pack];
    break;
  case ConversionKind::Shuffles:
    simulateShuffles(plan, threads, sources, targets, held, result);
    break;
  case ConversionKind::Shared: {
    const std::vector<int64_t> offsets = plan.shared->offsets();
    std::vector<int64_t> memory(plan.shared->allocation(), -1);
    const std::vector<int64_t> written = from.elements(), read = to.elements();
    for (size_t slot = 0; slot < written.size(); ++slot)
      if (written[slot] != FragmentLayout::idle)
        memory[offsets[written[slot]]] = held[slot];
    for (size_t slot = 0; slot < read.size(); ++slot)
      if (read[slot] != FragmentLayout::idle)
        result[slot] = memory[offsets[read[slot]]];
    break;
  }
  }
  const std::vector<int64_t> wanted = to.elements();
  for (size_t slot = 0; slot < wanted.size(); ++slot)
    if (wanted[slot] == FragmentLayout::idle)
      result[slot] = -1;
  return result;
}
