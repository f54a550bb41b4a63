//===- BankConflicts.cpp - The cost of shared-memory accesses ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts wavefronts by the rule of phases, banks and words in BankConflicts.h.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/BankConflicts.h"

#include "AccessCount.h"
#include "Coordinates.h"
#include "Tile/Layout/Fragments.h"

#include <algorithm>
#include <array>

using namespace tile::layout;

static constexpr int64_t banks = 32, wordBits = 32;

/// Lanes served together: those whose data fill 128 bytes.
static int64_t lanesOfPhase(int64_t bitsOfLane) {
  return std::clamp(banks * wordBits / std::max(bitsOfLane, wordBits),
                    int64_t(1), warpSize);
}

namespace {
/// The words that the lanes of one phase want, by bank.
class Phase {
public:
  void want(int64_t word) {
    const int64_t bank = word % banks;
    for (int64_t i = 0; i < burden[bank]; ++i)
      if (words[bank][i] == word)
        return;
    words[bank][burden[bank]++] = word;
    ++distinct;
  }

  Wavefronts serve() {
    const Wavefronts result{*std::max_element(burden.begin(), burden.end()),
                            (distinct + banks - 1) / banks, 0};
    burden.fill(0);
    distinct = 0;
    return result;
  }

private:
  /// A phase moves 128 bytes and is at most 32 lanes; two words each where an
  /// address is not aligned.
  std::array<std::array<int64_t, 2 * banks>, banks> words;
  std::array<int64_t, banks> burden{};
  int64_t distinct = 0;
};
} // namespace

Wavefronts tile::layout::countWavefronts(const std::vector<int64_t> &addresses,
                                         int64_t bytes) {
  const int64_t lanes = lanesOfPhase(bytes * 8);
  Wavefronts total;
  total.instructions = 1;
  Phase phase;
  for (size_t first = 0; first < addresses.size(); first += lanes) {
    const size_t last = std::min(first + lanes, addresses.size());
    for (size_t lane = first; lane < last; ++lane)
      if (addresses[lane] >= 0)
        for (int64_t word = addresses[lane] / 4;
             word <= (addresses[lane] + bytes - 1) / 4; ++word)
          phase.want(word);
    total += phase.serve();
  }
  return total;
}

SharedAccess tile::layout::vectorAccess(const FragmentLayout &fragment,
                                        int64_t elementBits) {
  // No strided layout keeps more together than are neighbours in the tile.
  int64_t neighbours = 1;
  for (int64_t dim = 0; dim < fragment.rank(); ++dim)
    neighbours = std::max(neighbours, fragment.vectorWidth(dim));
  int64_t vector = std::max<int64_t>(1, 128 / elementBits);
  while (neighbours % vector != 0)
    vector /= 2;
  return {AccessKind::Vector, fragment, vector};
}

Expected<SharedAccess> tile::layout::matrixAccess(const Coordinate &tile,
                                                  int64_t gridRows,
                                                  int64_t gridColumns,
                                                  int64_t elementBits) {
  Expected<FragmentLayout> atom =
      ldmatrixAddresses({gridRows, gridColumns}, elementBits);
  if (!atom)
    return atom.failure();
  Expected<FragmentLayout> all = repeatFragment(*atom, tile, Tiling());
  if (!all)
    return all.failure();
  return SharedAccess{AccessKind::Matrix, *all, 128 / elementBits,
                      gridRows * gridColumns * 8};
}

//===----------------------------------------------------------------------===//
// Accesses of fragments
//===----------------------------------------------------------------------===//

AccessCount::AccessCount(const SharedAccess &access, int64_t elementBits)
    : access(access), elements(access.fragment.elements()),
      elementBits(elementBits) {}

bool AccessCount::isContiguous(const std::vector<int64_t> &offsets,
                               int64_t width) const {
  for (size_t first = 0; first < elements.size(); first += width) {
    // Where the piece would begin, by each of its elements that is not idle.
    std::optional<int64_t> start;
    for (int64_t i = 0; i < width; ++i) {
      if (elements[first + i] == FragmentLayout::idle)
        continue;
      const int64_t begin = offsets[elements[first + i]] - i;
      if (begin % width != 0 || (start && *start != begin))
        return false;
      start = begin;
    }
  }
  return true;
}

int64_t AccessCount::pieceWidth(const std::vector<int64_t> &offsets) const {
  int64_t width = access.vector;
  while (width > 1 && !(width * elementBits <= 128 &&
                        access.fragment.numRegisters() % width == 0 &&
                        isContiguous(offsets, width)))
    width /= 2;
  return width;
}

Wavefronts AccessCount::wavefronts(const std::vector<int64_t> &offsets,
                                   int64_t width, int64_t limit) const {
  const int64_t registers = access.fragment.numRegisters(),
                threads = access.fragment.numThreads();
  const int64_t lanes = lanesOfPhase(width * elementBits);
  Wavefronts total;
  Phase phase;
  for (int64_t warp = 0; warp < threads; warp += warpSize) {
    const int64_t lastLane = std::min(warp + access.lanes, threads);
    for (int64_t reg = 0; reg < registers; reg += width) {
      ++total.instructions;
      for (int64_t first = warp; first < lastLane; first += lanes) {
        const int64_t last = std::min(first + lanes, lastLane);
        for (int64_t thread = first; thread < last; ++thread)
          for (int64_t i = 0; i < width; ++i) {
            const int64_t element = elements[thread * registers + reg + i];
            if (element == FragmentLayout::idle)
              continue;
            const int64_t bit = offsets[element] * elementBits;
            for (int64_t word = bit / wordBits;
                 word <= (bit + elementBits - 1) / wordBits; ++word)
              phase.want(word);
          }
        total += phase.serve();
      }
      if (total.actual > limit)
        return total;
    }
  }
  return total;
}

int64_t tile::layout::pieceWidth(const ComposedLayout &shared,
                                 int64_t elementBits,
                                 const SharedAccess &access) {
  return AccessCount(access, elementBits).pieceWidth(shared.offsets());
}

Wavefronts tile::layout::countWavefronts(const ComposedLayout &shared,
                                         int64_t elementBits,
                                         const SharedAccess &access) {
  const AccessCount count(access, elementBits);
  const std::vector<int64_t> offsets = shared.offsets();
  return count.wavefronts(offsets, count.pieceWidth(offsets), INT64_MAX);
}
