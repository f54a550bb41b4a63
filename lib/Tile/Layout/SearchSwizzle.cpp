//===- SearchSwizzle.cpp - The best shared layout for all users -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates in order of preference, so that the first of equals wins: the
// panels of the hardware's swizzles, plain row-major, other XOR swizzles of
// row-major, padded rows; then the same with the last two dimensions exchanged,
// for tiles whose users go down the columns.
//
//===----------------------------------------------------------------------===//

#include "AccessCount.h"
#include "Coordinates.h"

#include <tuple>

using namespace tile::layout;

namespace {
class Search {
public:
  Search(const Coordinate &tile, int64_t elementBits,
         const std::vector<SharedAccess> &accesses, SharedEngine engine)
      : tile(tile), elementBits(elementBits), engine(engine) {
    for (const SharedAccess &access : accesses)
      counts.emplace_back(access, elementBits);
  }

  std::optional<SharedChoice> run() {
    tryAll(/*exchanged=*/false);
    if (tile.size() >= 2 && engine != SharedEngine::Rows)
      tryAll(/*exchanged=*/true);
    return best;
  }

private:
  /// No layout needs fewer wavefronts or instructions; another can only win by
  /// what else can address it.
  bool isFree() const {
    return best && bestIsWhole && best->wavefronts.isConflictFree();
  }

  void tryAll(bool exchanged) {
    if (isFree() && best->isTmaLegal && best->isWgmmaLegal)
      return;
    Coordinate shape = tile;
    if (exchanged)
      std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    for (SwizzleMode mode :
         {SwizzleMode::Bytes128, SwizzleMode::Bytes64, SwizzleMode::Bytes32}) {
      const Expected<ComposedLayout> panels =
          swizzledPanels(shape, mode, elementBits);
      if (panels && (engine != SharedEngine::Rows || keepsRows(*panels)))
        consider(*panels, exchanged, /*isTma=*/true,
                 /*isWgmma=*/shape[shape.size() - 2] % 8 == 0);
    }
    // A TMA box holds at most 256 elements a side and rows of whole 16 bytes.
    const ComposedLayout plain = rowMajorShared(shape);
    const bool isBox =
        shape.back() * elementBits % 128 == 0 && shape.back() <= 256;
    consider(plain, exchanged, isBox, false);
    if (engine == SharedEngine::Threads || engine == SharedEngine::Rows) {
      trySwizzles(plain, exchanged);
      tryPaddings(shape, exchanged);
    }
  }

  /// One stride for each dimension.
  static bool keepsRows(const ComposedLayout &layout) {
    for (int64_t dim = 0; dim < layout.layout.rank(); ++dim)
      if (!layout.layout.mode(dim).shape().isLeaf())
        return false;
    return true;
  }

  void trySwizzles(const ComposedLayout &plain, bool exchanged) {
    const std::vector<int64_t> straight =
        (exchanged ? exchange(plain) : plain).offsets();
    // Chunks of 16 bytes suit most; wider ones suit fragments whose lanes fill
    // part of a row, narrower ones scalar columns. Enough bits to reach all
    // banks.
    for (int64_t chunkBits : {128, 256, 512, 64, 32}) {
      int64_t base = 0;
      while ((int64_t(1) << base) * elementBits < chunkBits)
        ++base;
      for (int64_t bits = 1; (chunkBits << bits) <= 32 * 32; ++bits)
        for (int64_t shift = bits;; ++shift) {
          ComposedLayout layout = plain;
          layout.swizzle = {bits, base, shift};
          // A block that the tile does not fill would waste what it saves.
          if (isFree() || plain.layout.size() % layout.swizzle.period() != 0)
            break;
          std::vector<int64_t> offsets = straight;
          for (int64_t &offset : offsets)
            offset = layout.swizzle(offset);
          consider(exchanged ? exchange(layout) : layout, offsets, false,
                   false);
        }
    }
  }

  void tryPaddings(const Coordinate &shape, bool exchanged) {
    for (int64_t padBits : {128, 256, 64, 32})
      if (!isFree() && padBits % elementBits == 0)
        consider(rowMajorShared(shape, padBits / elementBits), exchanged, false,
                 false);
  }

  /// The same with the last two dimensions in each other's place.
  ComposedLayout exchange(ComposedLayout layout) const {
    std::vector<int64_t> order(tile.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    layout.layout = permuteModes(layout.layout, order);
    return layout;
  }

  void consider(const ComposedLayout &layout, bool exchanged, bool isTma,
                bool isWgmma) {
    if ((engine == SharedEngine::Tma && !isTma) ||
        (engine == SharedEngine::Wgmma && !isWgmma))
      return;
    const ComposedLayout placed = exchanged ? exchange(layout) : layout;
    consider(placed, placed.offsets(), isTma, isWgmma);
  }

  void consider(ComposedLayout layout, const std::vector<int64_t> &offsets,
                bool isTma, bool isWgmma) {
    SharedChoice choice;
    bool isWhole = true;
    for (const AccessCount &count : counts) {
      const int64_t width = count.pieceWidth(offsets), times = count.times();
      if (!count.isPossible(width))
        return;
      isWhole &= count.isWhole(width);
      const int64_t left =
          best ? best->wavefronts.actual - choice.wavefronts.actual : INT64_MAX;
      const Wavefronts one = count.wavefronts(offsets, width, left / times);
      choice.wavefronts +=
          {one.actual * times, one.ideal * times, one.instructions * times};
      if (best && choice.wavefronts.actual > best->wavefronts.actual)
        return;
    }
    choice.allocatedBytes = (layout.allocation() * elementBits + 7) / 8;
    choice.layout = std::move(layout);
    choice.isTmaLegal = isTma;
    choice.isWgmmaLegal = isWgmma;
    auto rank = [](const SharedChoice &c) {
      return std::make_tuple(c.wavefronts.actual, c.wavefronts.instructions,
                             !c.isTmaLegal, !c.isWgmmaLegal, c.allocatedBytes);
    };
    if (!best || rank(choice) < rank(*best)) {
      best = std::move(choice);
      bestIsWhole = isWhole;
    }
  }

  Coordinate tile;
  int64_t elementBits;
  SharedEngine engine;
  std::vector<AccessCount> counts;
  std::optional<SharedChoice> best;
  /// No access of the best had to be broken up.
  bool bestIsWhole = false;
};
} // namespace

Expected<SharedChoice>
tile::layout::searchSwizzle(const Coordinate &tile, int64_t elementBits,
                            const std::vector<SharedAccess> &accesses,
                            SharedEngine engine) {
  if (std::optional<Failure> bad = checkSizes(tile, 1))
    return *bad;
  if (elementBits < 1 || elementBits > 128 ||
      (elementBits & (elementBits - 1)) != 0)
    return Failure{"elements have a power of two of 1 to 128 bits, got " +
                   std::to_string(elementBits)};
  for (const SharedAccess &access : accesses)
    if (access.times < 1 || access.vector < 1 || access.lanes < 1)
      return Failure{"an access happens at least once, with vectors and lanes "
                     "of at least 1"};
    else if (access.fragment.tile() != tile)
      return Failure{"an access to a tile " +
                     shapeText(access.fragment.tile()) +
                     " of a buffer of shape " + shapeText(tile)};
  if (std::optional<SharedChoice> best =
          Search(tile, elementBits, accesses, engine).run())
    return *best;
  const char *user = engine == SharedEngine::Tma     ? "TMA"
                     : engine == SharedEngine::Wgmma ? "wgmma"
                                                     : "ldmatrix";
  return Failure{"no layout of a tile " + shapeText(tile) + " of " +
                 std::to_string(elementBits) + "-bit elements suits " + user};
}
