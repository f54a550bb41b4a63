//===- FragmentLayout.cpp - Which thread's register holds what --*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Construction, the strided normal form and evaluation. Queries and views have
// files of their own.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/FragmentLayout.h"

#include "Coordinates.h"
#include "MixedRadix.h"

using namespace tile::layout;

static std::optional<Failure> checkModes(const std::vector<Mode> &modes,
                                         size_t rank) {
  std::vector<int64_t> extents;
  for (const Mode &mode : modes) {
    if (mode.extent < 1)
      return Failure{"extents of modes are at least 1, got " +
                     std::to_string(mode.extent)};
    if (mode.strides.size() != rank)
      return Failure{"expected one stride for each of " + std::to_string(rank) +
                     " dimensions, got " + std::to_string(mode.strides.size())};
    for (int64_t stride : mode.strides)
      if (stride > largestTile || stride < -largestTile)
        return Failure{"stride " + std::to_string(stride) +
                       " is larger than any tile"};
    extents.push_back(mode.extent);
  }
  if (exceeds(extents, largestTile))
    return Failure{"the modes have more than " + std::to_string(largestTile) +
                   " positions"};
  return std::nullopt;
}

/// Drops modes of extent 1, merges each into the one before where its step
/// continues it, and cuts off the digits of numbers from `count` on.
static std::vector<Mode> normalize(const std::vector<Mode> &modes,
                                   int64_t count) {
  std::vector<Mode> result;
  int64_t prefix = 1;
  for (const Mode &mode : modes) {
    if (mode.extent == 1)
      continue;
    if (prefix >= count)
      break;
    prefix *= mode.extent;
    if (!result.empty()) {
      Coordinate next = result.back().strides;
      for (int64_t &stride : next)
        stride *= result.back().extent;
      if (next == mode.strides) {
        result.back().extent *= mode.extent;
        continue;
      }
    }
    result.push_back(mode);
  }
  if (!result.empty()) {
    const int64_t before = prefix / result.back().extent;
    result.back().extent = (count + before - 1) / before;
  }
  return result;
}

Expected<FragmentLayout>
FragmentLayout::strided(Coordinate tile, int64_t threads, FragmentModes modes) {
  if (std::optional<Failure> bad = checkSizes(tile, threads))
    return *bad;
  if (modes.box.empty())
    modes.box = tile;
  if (std::optional<Failure> bad = checkSizes(modes.box, threads))
    return *bad;
  if (productOf(modes.box) != productOf(tile))
    return Failure{"box " + shapeText(modes.box) + " and tile " +
                   shapeText(tile) + " differ in size"};
  for (const std::vector<Mode> *list : {&modes.threads, &modes.registers})
    if (std::optional<Failure> bad = checkModes(*list, modes.box.size()))
      return *bad;
  if (sizeOf(modes.threads) < threads)
    return Failure{"the thread modes tell " +
                   std::to_string(sizeOf(modes.threads)) + " of " +
                   std::to_string(threads) + " threads apart"};
  FragmentLayout result;
  result.tileShape = std::move(tile);
  result.threadCount = threads;
  result.registerCount = sizeOf(modes.registers);
  if (result.registerCount * threads > largestTile)
    return Failure{"the layout has more than " + std::to_string(largestTile) +
                   " slots"};
  modes.threads = normalize(modes.threads, threads);
  modes.registers = normalize(modes.registers, result.registerCount);
  result.form = std::move(modes);
  return result;
}

/// The modes of a table without idle slots, stepping through `box`.
static std::optional<FragmentModes>
findForm(const std::vector<int64_t> &elements, int64_t threads,
         int64_t registers, const Coordinate &box) {
  const size_t rank = box.size();
  std::vector<int64_t> bases, offsets;
  for (int64_t thread = 0; thread < threads; ++thread)
    for (int64_t component : delinearize(elements[thread * registers], box))
      bases.push_back(component);
  for (int64_t reg = 0; reg < registers; ++reg)
    for (int64_t component : delinearize(elements[reg], box))
      offsets.push_back(component);
  for (int64_t thread = 0; thread < threads; ++thread)
    for (int64_t reg = 0; reg < registers; ++reg) {
      int64_t number = 0;
      for (size_t d = 0; d < rank; ++d) {
        const int64_t sum = bases[thread * rank + d] + offsets[reg * rank + d];
        if (sum >= box[d])
          return std::nullopt;
        number = number * box[d] + sum;
      }
      if (number != elements[thread * registers + reg])
        return std::nullopt;
    }
  std::optional<std::vector<RadixMode>> threadModes =
      findModes(bases, int64_t(rank), LastDigit::MayStopEarly);
  std::optional<std::vector<RadixMode>> registerModes =
      findModes(offsets, int64_t(rank), LastDigit::Full);
  if (!threadModes || !registerModes)
    return std::nullopt;
  FragmentModes form;
  form.box = box;
  for (const RadixMode &mode : *threadModes)
    form.threads.push_back({mode.extent, mode.strides});
  for (const RadixMode &mode : *registerModes)
    form.registers.push_back({mode.extent, mode.strides});
  return form;
}

Expected<FragmentLayout>
FragmentLayout::enumerated(Coordinate tile, int64_t threads,
                           std::vector<int64_t> elements) {
  if (std::optional<Failure> bad = checkSizes(tile, threads))
    return *bad;
  if (elements.empty() || int64_t(elements.size()) % threads != 0)
    return Failure{"expected as many registers for each of " +
                   std::to_string(threads) + " threads, got " +
                   std::to_string(elements.size()) + " slots"};
  bool hasIdle = false;
  for (int64_t element : elements) {
    if (element < idle || element >= productOf(tile))
      return Failure{"element " + std::to_string(element) +
                     " is outside of tile " + shapeText(tile)};
    hasIdle |= element == idle;
  }
  FragmentLayout result;
  result.threadCount = threads;
  result.registerCount = int64_t(elements.size()) / threads;
  // Steps through the tile are what users want to see; steps through the plain
  // sequence of elements come next.
  if (!hasIdle)
    for (const Coordinate &box : {tile, Coordinate{productOf(tile)}})
      if (std::optional<FragmentModes> found =
              findForm(elements, threads, result.registerCount, box))
        return strided(std::move(tile), threads, std::move(*found));
  result.tileShape = std::move(tile);
  result.table = std::move(elements);
  return result;
}

Expected<FragmentLayout> FragmentLayout::fromLayout(Coordinate tile,
                                                    const Layout &layout) {
  if (layout.rank() != 2)
    return Failure{"expected the modes (threads, registers), got " +
                   layout.str()};
  const int64_t threads = layout.mode(0).size(),
                registers = layout.mode(1).size();
  if (threads > largestThreads || registers > largestTile / threads)
    return Failure{layout.str() + " has too many threads or registers"};
  std::vector<int64_t> elements;
  for (int64_t thread = 0; thread < threads; ++thread)
    for (int64_t reg = 0; reg < registers; ++reg)
      elements.push_back(layout(IntTuple{thread, reg}));
  return enumerated(std::move(tile), threads, std::move(elements));
}

int64_t FragmentLayout::numElements() const { return productOf(tileShape); }

const Coordinate &FragmentLayout::box() const {
  return form ? form->box : tileShape;
}

Coordinate FragmentLayout::threadBase(int64_t thread) const {
  assert(form && "a table has no base");
  return evaluate(form->threads, thread, form->box.size());
}

Coordinate FragmentLayout::registerOffset(int64_t reg) const {
  assert(form && "a table has no offsets");
  return evaluate(form->registers, reg, form->box.size());
}

int64_t FragmentLayout::element(int64_t thread, int64_t reg) const {
  assert(thread >= 0 && thread < threadCount && reg >= 0 &&
         reg < registerCount && "no such slot");
  if (!form)
    return table[thread * registerCount + reg];
  Coordinate sum = threadBase(thread);
  const Coordinate offset = registerOffset(reg);
  for (size_t d = 0; d < sum.size(); ++d)
    sum[d] += offset[d];
  return linearize(sum, form->box);
}

std::optional<Coordinate> FragmentLayout::coordinate(int64_t thread,
                                                     int64_t reg) const {
  const int64_t number = element(thread, reg);
  if (number == idle)
    return std::nullopt;
  return delinearize(number, tileShape);
}

std::vector<int64_t> FragmentLayout::elements() const {
  if (!form)
    return table;
  std::vector<Coordinate> offsets;
  for (int64_t reg = 0; reg < registerCount; ++reg)
    offsets.push_back(registerOffset(reg));
  std::vector<int64_t> result;
  result.reserve(threadCount * registerCount);
  Coordinate sum(form->box.size());
  for (int64_t thread = 0; thread < threadCount; ++thread) {
    const Coordinate base = threadBase(thread);
    for (const Coordinate &offset : offsets) {
      for (size_t d = 0; d < sum.size(); ++d)
        sum[d] = base[d] + offset[d];
      result.push_back(linearize(sum, form->box));
    }
  }
  return result;
}

namespace tile::layout {
bool operator==(const FragmentLayout &a, const FragmentLayout &b) {
  if (a.tileShape != b.tileShape || a.threadCount != b.threadCount ||
      a.registerCount != b.registerCount)
    return false;
  // Different modes can still agree: in another box, or where slots are idle.
  return (a.form && b.form && *a.form == *b.form) ||
         a.elements() == b.elements();
}
} // namespace tile::layout
