//===- TiledFragments.cpp - Fragments of whole tiles ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise layouts, and atoms repeated over warps and registers.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "Tile/Layout/Fragments.h"

#include <algorithm>

using namespace tile::layout;

static int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

Expected<FragmentLayout> tile::layout::blockedFragment(const Coordinate &tile,
                                                       int64_t threads,
                                                       int64_t vector) {
  if (std::optional<Failure> bad = checkSizes(tile, threads))
    return *bad;
  if (vector < 1)
    return Failure{"a vector has at least 1 element, got " +
                   std::to_string(vector)};
  const int64_t width = std::gcd(vector, tile.back());
  const int64_t elements = productOf(tile), chunks = elements / width;

  // In the sequence of elements all is simple; `reshape` then finds the steps
  // through the tile where there are any.
  FragmentModes modes;
  if (chunks < threads && threads % chunks == 0)
    modes.threads = {{chunks, {width}}, {threads / chunks, {0}}};
  else
    modes.threads = {{threads, {width}}};
  modes.registers = {{width, {1}},
                     {ceilDiv(chunks, threads), {width * threads}}};
  Expected<FragmentLayout> sequence =
      FragmentLayout::strided({elements}, threads, std::move(modes));
  if (!sequence)
    return sequence;
  return sequence->reshape(tile);
}

namespace {
/// The digits that repeatFragment puts on top of an atom.
struct RepeatModes {
  std::vector<Mode> groups, repeats;
};
} // namespace

static Mode stepAlong(int64_t extent, int64_t dim, int64_t step, size_t rank) {
  Mode mode{extent, Coordinate(rank, 0)};
  mode.strides[dim] = step;
  return mode;
}

static Expected<RepeatModes> repeatModes(const Coordinate &atom,
                                         const Coordinate &tile,
                                         const Tiling &tiling) {
  const size_t rank = tile.size();
  Coordinate groupsAlong(rank, 1);
  for (const Tiling::Group &group : tiling.groups) {
    if (group.dim && (*group.dim < 0 || *group.dim >= int64_t(rank)))
      return Failure{"groups along dimension " + std::to_string(*group.dim) +
                     " of a tile of rank " + std::to_string(rank)};
    if (group.dim)
      groupsAlong[*group.dim] *= group.count;
  }
  std::vector<int64_t> order = tiling.repeatOrder;
  for (int64_t dim = int64_t(rank) - 1; dim >= 0; --dim)
    if (std::find(order.begin(), order.end(), dim) == order.end())
      order.push_back(dim);
  if (order.size() != rank)
    return Failure{"the order of repeats names a dimension twice or one that "
                   "the tile has not"};

  RepeatModes result;
  const bool isBlocked = tiling.placement == Tiling::Placement::Blocked;
  Coordinate repeats(rank), nextGroup(rank);
  for (size_t d = 0; d < rank; ++d) {
    repeats[d] = ceilDiv(tile[d], atom[d] * groupsAlong[d]);
    nextGroup[d] = isBlocked ? atom[d] * repeats[d] : atom[d];
  }
  for (const Tiling::Group &group : tiling.groups) {
    if (!group.dim) {
      result.groups.push_back({group.count, Coordinate(rank, 0)});
      continue;
    }
    result.groups.push_back(
        stepAlong(group.count, *group.dim, nextGroup[*group.dim], rank));
    nextGroup[*group.dim] *= group.count;
  }
  for (int64_t dim : order)
    result.repeats.push_back(
        stepAlong(repeats[dim], dim,
                  isBlocked ? atom[dim] : atom[dim] * groupsAlong[dim], rank));
  return result;
}

Expected<FragmentLayout>
tile::layout::repeatFragment(const FragmentLayout &atom, const Coordinate &tile,
                             const Tiling &tiling) {
  if (int64_t(tile.size()) != atom.rank())
    return Failure{"an atom of rank " + std::to_string(atom.rank()) +
                   " cannot tile " + shapeText(tile)};
  for (const Tiling::Group &group : tiling.groups)
    if (group.count < 1 || group.count > largestThreads)
      return Failure{"expected 1 to " + std::to_string(largestThreads) +
                     " groups, got " + std::to_string(group.count)};
  int64_t threads = atom.numThreads();
  for (const Tiling::Group &group : tiling.groups)
    threads = std::min(threads * group.count, 2 * largestThreads);
  if (std::optional<Failure> bad = checkSizes(tile, threads))
    return *bad;
  Expected<RepeatModes> added = repeatModes(atom.tile(), tile, tiling);
  if (!added)
    return added.failure();

  const FragmentModes *form = atom.modes();
  const bool isFull = form && sizeOf(form->threads) == atom.numThreads();
  // An idle slot of the atom would land in the next copy, where it is not idle.
  if (isFull && atom.isBoxTile() && atom.coverage().idleSlots == 0) {
    FragmentModes modes = *form;
    modes.box = tile;
    modes.threads.insert(modes.threads.end(), added->groups.begin(),
                         added->groups.end());
    modes.registers.insert(modes.registers.end(), added->repeats.begin(),
                           added->repeats.end());
    return FragmentLayout::strided(tile, threads, std::move(modes));
  }

  std::vector<int64_t> elements;
  const std::vector<int64_t> held = atom.elements();
  for (int64_t thread = 0; thread < threads; ++thread) {
    const Coordinate group =
        evaluate(added->groups, thread / atom.numThreads(), tile.size());
    for (int64_t repeat = 0; repeat < sizeOf(added->repeats); ++repeat) {
      const Coordinate offset = evaluate(added->repeats, repeat, tile.size());
      for (int64_t reg = 0; reg < atom.numRegisters(); ++reg) {
        const int64_t element =
            held[thread % atom.numThreads() * atom.numRegisters() + reg];
        elements.push_back(FragmentLayout::idle);
        if (element == FragmentLayout::idle)
          continue;
        Coordinate at = delinearize(element, atom.tile());
        for (size_t d = 0; d < at.size(); ++d)
          at[d] += group[d] + offset[d];
        elements.back() = linearize(at, tile);
      }
    }
  }
  return FragmentLayout::enumerated(tile, threads, std::move(elements));
}
