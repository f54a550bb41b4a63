//===- FragmentQueries.cpp - Questions to a fragment layout ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Owners, coverage, vector width, equality up to register order, and the digits
// of lanes and warps. All but the last look at every slot: a tile has at most
// some ten thousand, and so strided forms and tables get the same answers.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"

#include <algorithm>
#include <map>

using namespace tile::layout;

std::vector<std::vector<Owner>> FragmentLayout::inverse() const {
  std::vector<std::vector<Owner>> owners(numElements());
  const std::vector<int64_t> held = elements();
  for (int64_t thread = 0; thread < threadCount; ++thread)
    for (int64_t reg = 0; reg < registerCount; ++reg)
      if (int64_t element = held[thread * registerCount + reg]; element != idle)
        owners[element].push_back({thread, reg});
  return owners;
}

std::vector<Owner> FragmentLayout::owners(const Coordinate &coordinate) const {
  const int64_t wanted = linearize(coordinate, tileShape);
  std::vector<Owner> result;
  if (wanted == idle)
    return result;
  const std::vector<int64_t> held = elements();
  for (size_t slot = 0; slot < held.size(); ++slot)
    if (held[slot] == wanted)
      result.push_back(
          {int64_t(slot) / registerCount, int64_t(slot) % registerCount});
  return result;
}

FragmentLayout::Coverage FragmentLayout::coverage() const {
  Coverage result;
  std::vector<int64_t> count(numElements(), 0);
  for (int64_t element : elements()) {
    if (element == idle)
      ++result.idleSlots;
    else
      ++count[element];
  }
  for (size_t element = 0; element < count.size(); ++element) {
    if (count[element] == 0) {
      if (++result.holes == 1)
        result.firstHole = delinearize(int64_t(element), tileShape);
      continue;
    }
    result.minOwners = result.minOwners == 0
                           ? count[element]
                           : std::min(result.minOwners, count[element]);
    result.maxOwners = std::max(result.maxOwners, count[element]);
  }
  return result;
}

int64_t FragmentLayout::vectorWidth(int64_t dim) const {
  assert(dim >= 0 && dim < rank() && "no such dimension");
  const std::vector<int64_t> held = elements();
  int64_t step = 1;
  for (int64_t d = rank() - 1; d > dim; --d)
    step *= tileShape[d];
  auto holds = [&](int64_t width) {
    for (size_t first = 0; first < held.size(); first += width) {
      const bool isIdle = held[first] == idle;
      if (!isIdle && held[first] / step % tileShape[dim] % width != 0)
        return false;
      for (int64_t i = 1; i < width; ++i)
        if (held[first + i] != (isIdle ? idle : held[first] + i * step))
          return false;
    }
    return true;
  };
  for (int64_t width = std::min(registerCount, tileShape[dim]); width > 1;
       --width)
    if (registerCount % width == 0 && tileShape[dim] % width == 0 &&
        holds(width))
      return width;
  return 1;
}

/// What register `reg` holds, thread by thread.
static std::vector<int64_t> column(const std::vector<int64_t> &elements,
                                   int64_t registers, int64_t reg) {
  std::vector<int64_t> result;
  for (size_t slot = reg; slot < elements.size(); slot += registers)
    result.push_back(elements[slot]);
  return result;
}

std::optional<std::vector<int64_t>>
FragmentLayout::registersFrom(const FragmentLayout &source) const {
  if (tileShape != source.tileShape || threadCount != source.threadCount)
    return std::nullopt;
  const std::vector<int64_t> wanted = elements(), held = source.elements();
  std::multimap<std::vector<int64_t>, int64_t> columns;
  for (int64_t reg = 0; reg < source.registerCount; ++reg)
    columns.emplace(column(held, source.registerCount, reg), reg);
  std::vector<int64_t> result;
  for (int64_t reg = 0; reg < registerCount; ++reg) {
    auto found = columns.find(column(wanted, registerCount, reg));
    if (found == columns.end())
      return std::nullopt;
    result.push_back(found->second);
    // Registers that hold the same are used up in turn, so that a mere
    // reordering comes out as a permutation.
    if (columns.count(found->first) > 1)
      columns.erase(found);
  }
  return result;
}

std::optional<FragmentLayout::LanesAndWarps>
FragmentLayout::lanesAndWarps() const {
  if (!form)
    return std::nullopt;
  LanesAndWarps result;
  int64_t prefix = 1;
  for (const Mode &mode : form->threads) {
    if (prefix >= warpSize) {
      result.warps.push_back(mode);
      prefix *= mode.extent;
      continue;
    }
    const int64_t room = warpSize / prefix;
    if (prefix * mode.extent <= warpSize || threadCount <= warpSize) {
      result.lanes.push_back(mode);
    } else {
      // The slowest digit may stop early, so its part may be cut short too.
      const bool isLast = &mode == &form->threads.back();
      if (warpSize % prefix != 0 || (mode.extent % room != 0 && !isLast))
        return std::nullopt;
      result.lanes.push_back({room, mode.strides});
      Coordinate strides = mode.strides;
      for (int64_t &stride : strides)
        stride *= room;
      result.warps.push_back(
          {(mode.extent + room - 1) / room, std::move(strides)});
    }
    prefix *= mode.extent;
  }
  // A lane digit that ends before the warp does would go on in the next warp.
  int64_t lanes = sizeOf(result.lanes);
  if (threadCount > warpSize && lanes != warpSize)
    return std::nullopt;
  return result;
}

std::optional<Layout> FragmentLayout::asLayout() const {
  if (!form || sizeOf(form->threads) != threadCount)
    return std::nullopt;
  auto flat = [&](const std::vector<Mode> &modes) {
    std::vector<IntTuple> shape, stride;
    for (const Mode &mode : modes) {
      int64_t number = 0;
      for (size_t d = 0; d < form->box.size(); ++d)
        number = number * form->box[d] + mode.strides[d];
      shape.push_back(mode.extent);
      stride.push_back(number);
    }
    return shape.empty() ? Layout() : Layout(shape, stride);
  };
  // Outside of the box the sum of strides is some other element's number.
  for (int64_t element : elements())
    if (element == idle)
      return std::nullopt;
  return concat({flat(form->threads), flat(form->registers)});
}
