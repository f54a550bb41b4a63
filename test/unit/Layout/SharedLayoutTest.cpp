//===- SharedLayoutTest.cpp - Swizzles and bank conflicts ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Swizzles permute, the named ones as TMA does; wavefronts agree with known
// cases and with a direct count; the search finds what is known to be best.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "Tile/Layout/BankConflicts.h"
#include "Tile/Layout/Fragments.h"

#include "gtest/gtest.h"

#include <array>
#include <map>
#include <numeric>
#include <set>

using namespace tile::layout;
using namespace tile::layout::test;

TEST(Swizzle, IsAnInvolutionWithinItsPeriod) {
  for (int64_t bits = 0; bits <= 3; ++bits)
    for (int64_t base = 0; base <= 4; ++base)
      for (int64_t shift : {-4, -3, 3, 4}) {
        const Swizzle swizzle = *Swizzle::get(bits, base, shift);
        std::set<int64_t> seen;
        for (int64_t offset = 0; offset < swizzle.period(); ++offset) {
          EXPECT_EQ(swizzle(swizzle(offset)), offset);
          EXPECT_LT(swizzle(offset), swizzle.period());
          seen.insert(swizzle(offset));
          EXPECT_EQ(swizzle(offset + 5 * swizzle.period()),
                    swizzle(offset) + 5 * swizzle.period());
        }
        EXPECT_EQ(int64_t(seen.size()), swizzle.period());
      }
  EXPECT_EQ(Swizzle::get(3, 4, 2).reason(),
            "a swizzle of 3 bits needs a shift of at least as many, got 2");
}

/// As the tables of TMA show it: within rows of 128 bytes, the 16-byte chunk of
/// the 128-byte mode is exchanged by row % 8, of the 64-byte mode by row / 2 %
/// 4 counted in rows of 64, of the 32-byte mode by row / 4 % 2 in rows of 32.
TEST(Swizzle, NamedModesAreThoseOfTma) {
  for (int64_t bits : {8, 16, 32})
    for (SwizzleMode mode :
         {SwizzleMode::Bytes32, SwizzleMode::Bytes64, SwizzleMode::Bytes128}) {
      const Swizzle swizzle = Swizzle::forMode(mode, bits);
      const int64_t bytes = bits / 8, row = rowBytes(mode), chunks = row / 16;
      for (int64_t offset = 0; offset < 2048 / bytes; ++offset) {
        const int64_t address = offset * bytes;
        const int64_t line = address / row, chunk = address % row / 16;
        const int64_t by = line / (128 / row) % chunks;
        EXPECT_EQ(swizzle(offset) * bytes,
                  line * row + (chunk ^ by) * 16 + address % 16);
      }
      EXPECT_EQ(swizzle.period() * bytes, row * 8);
    }
}

TEST(SharedLayout, PanelsHoldTheTile) {
  const ComposedLayout panels =
      *swizzledPanels({64, 128}, SwizzleMode::Bytes128, 16);
  EXPECT_EQ(panels.str(), "Sw<3,3,3> o 0 o (64,(64,2)):(64,(1,4096))");
  EXPECT_EQ(panels.mode(16), SwizzleMode::Bytes128);
  EXPECT_EQ(panels.alignment(), 512); // 1024 bytes
  for (const Coordinate &tile :
       {Coordinate{8, 64}, Coordinate{24, 192}, Coordinate{3, 16, 128}})
    for (SwizzleMode mode : {SwizzleMode::None, SwizzleMode::Bytes32,
                             SwizzleMode::Bytes64, SwizzleMode::Bytes128}) {
      const ComposedLayout layout = *swizzledPanels(tile, mode, 16);
      EXPECT_EQ(layout.tile(), tile);
      const std::vector<int64_t> offsets = layout.offsets();
      const std::set<int64_t> distinct(offsets.begin(), offsets.end());
      EXPECT_EQ(distinct.size(), offsets.size());
      EXPECT_EQ(*distinct.rbegin() + 1, layout.allocation());
      EXPECT_EQ(layout.allocation(), int64_t(offsets.size()));
      EXPECT_EQ(offsets.back(),
                layout(Coordinate(
                    tile.size() == 2
                        ? Coordinate{tile[0] - 1, tile[1] - 1}
                        : Coordinate{tile[0] - 1, tile[1] - 1, tile[2] - 1})));
    }
  EXPECT_EQ(swizzledPanels({64, 176}, SwizzleMode::Bytes128, 16).reason(),
            "the 128-byte swizzle needs rows of a multiple of 64 elements, got "
            "64x176");
}

TEST(SharedLayout, TextRoundTrips) {
  for (const char *text :
       {"Sw<3,3,3> o 0 o (64,(64,2)):(64,(1,4096))",
        "Sw<2,0,-5> o 128 o (8,8):(8,1)", "Sw<0,0,0> o 0 o (8,8):(9,1)"})
    EXPECT_EQ(ComposedLayout::parse(text)->str(), text);
  EXPECT_EQ(ComposedLayout::parse("(8,8):(9,1)")->str(),
            "Sw<0,0,0> o 0 o (8,8):(9,1)");
  EXPECT_EQ(ComposedLayout::parse("Sw<3,3> o 0 o 8:1").reason(),
            "expected 'Sw<bits,base,shift>' at column 7, got '> o 0 o 8:1'");
  EXPECT_EQ(ComposedLayout::parse("Sw<3,3,1> o 0 o 8:1").reason(),
            "a swizzle of 3 bits needs a shift of at least as many, got 1");
}

//===----------------------------------------------------------------------===//
// Wavefronts
//===----------------------------------------------------------------------===//

static Wavefronts strided(int64_t stride, int64_t bytes) {
  std::vector<int64_t> addresses;
  for (int64_t lane = 0; lane < 32; ++lane)
    addresses.push_back(lane * stride);
  return countWavefronts(addresses, bytes);
}

TEST(Wavefronts, KnownCases) {
  EXPECT_EQ(strided(4, 4).actual, 1);
  EXPECT_EQ(strided(8, 4).actual, 2);
  EXPECT_EQ(strided(128, 4).actual, 32);
  EXPECT_EQ(strided(132, 4).actual, 1);
  EXPECT_EQ(strided(0, 4).actual, 1); // broadcast
  EXPECT_EQ(strided(2, 2).actual, 1); // two halves a word
  EXPECT_EQ(strided(1, 1).actual, 1);
  EXPECT_EQ(strided(8, 8).actual, 2);   // two half-warps
  EXPECT_EQ(strided(16, 16).actual, 4); // four quarter-warps
  EXPECT_EQ(strided(16, 8).actual, 4);  // every other pair of banks
  EXPECT_EQ(strided(128, 16).actual, 32);
  EXPECT_EQ(strided(144, 16).actual, 4);
  EXPECT_EQ(strided(128, 16).ideal, 4);
  // Lanes that are off cost nothing.
  std::vector<int64_t> one(32, -1);
  one[7] = 64;
  EXPECT_EQ(countWavefronts(one, 16).actual, 1);
  EXPECT_EQ(countWavefronts(std::vector<int64_t>(32, -1), 4).actual, 0);
}

TEST(Wavefronts, AgreeWithADirectCount) {
  std::mt19937_64 random = seededGenerator();
  for (int round = 0; round < 300; ++round) {
    const int64_t bytes = int64_t(1) << pick(random, 0, 4);
    std::vector<int64_t> addresses;
    for (int64_t lane = 0; lane < 32; ++lane)
      addresses.push_back(
          pick(random, 0, 9) == 0 ? -1 : pick(random, 0, 255) * bytes);
    const int64_t group = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
    int64_t expected = 0;
    for (int64_t first = 0; first < 32; first += group) {
      std::map<int64_t, std::set<int64_t>> wordsOfBank;
      size_t most = 0;
      for (int64_t lane = first; lane < first + group; ++lane)
        for (int64_t byte = 0; byte < bytes && addresses[lane] >= 0; ++byte) {
          const int64_t word = (addresses[lane] + byte) / 4;
          wordsOfBank[word % 32].insert(word);
          most = std::max(most, wordsOfBank[word % 32].size());
        }
      expected += int64_t(most);
    }
    EXPECT_EQ(countWavefronts(addresses, bytes).actual, expected);
  }
}

TEST(Wavefronts, LdmatrixOfRowsOf64Halves) {
  const SharedAccess x1 = *matrixAccess({64, 64}, 1, 1, 16),
                     x4 = *matrixAccess({64, 64}, 2, 2, 16);
  const ComposedLayout plain = rowMajorShared({64, 64}),
                       padded = rowMajorShared({64, 64}, 8),
                       swizzled =
                           *swizzledPanels({64, 64}, SwizzleMode::Bytes128, 16);
  // 64 matrices: 8 wavefronts each where rows start in one bank, else 1.
  for (const SharedAccess &access : {x1, x4}) {
    EXPECT_EQ(countWavefronts(plain, 16, access).actual, 64 * 8);
    EXPECT_EQ(countWavefronts(padded, 16, access).actual, 64);
    EXPECT_EQ(countWavefronts(swizzled, 16, access).actual, 64);
    EXPECT_TRUE(countWavefronts(swizzled, 16, access).isConflictFree());
  }
  EXPECT_EQ(countWavefronts(plain, 16, x1).instructions, 64);
  EXPECT_EQ(countWavefronts(plain, 16, x4).instructions, 16);
}

TEST(Wavefronts, AnAccessFallsApartWhereTheLayoutBreaksIt) {
  const FragmentLayout rows = *blockedFragment({32, 64}, 32, 8);
  const SharedAccess access = vectorAccess(rows, 16);
  EXPECT_EQ(access.vector, 8);
  EXPECT_EQ(pieceWidth(rowMajorShared({32, 64}), 16, access), 8);
  // 2 halves of padding leave rows aligned to 4 bytes.
  EXPECT_EQ(pieceWidth(rowMajorShared({32, 64}, 2), 16, access), 2);
  const ComposedLayout columns = *ComposedLayout::parse("(32,64):(1,32)");
  EXPECT_EQ(pieceWidth(columns, 16, access), 1);
  EXPECT_EQ(countWavefronts(columns, 16, access).instructions, 64);
}

TEST(Wavefronts, TheAccumulatorStoreOfAWarpgroup) {
  // Pairs of f32, 4 rows to a half-warp: rows of 256 bytes collide four ways.
  const SharedAccess store = vectorAccess(*wgmmaAccumulator(64), 32);
  const Wavefronts plain = countWavefronts(rowMajorShared({64, 64}), 32, store);
  EXPECT_EQ(plain.actual, 4 * plain.ideal);
  const Wavefronts panels = countWavefronts(
      *swizzledPanels({64, 64}, SwizzleMode::Bytes128, 32), 32, store);
  EXPECT_EQ(panels.actual, 2 * panels.ideal);
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

TEST(Swizzle, LeavesBitsApartThatItIsNotInvolvedWith) {
  // What a lowering relies on to keep constants out of the exclusive or.
  for (const auto &[bits, base, shift] :
       {std::array<int64_t, 3>{3, 3, 3}, {3, 3, 4}, {2, 1, -3}, {1, 0, 6}}) {
    const Swizzle swizzle = *Swizzle::get(bits, base, shift);
    for (int64_t offset = 0; offset < 2 * swizzle.period(); ++offset)
      for (int64_t apart = 1; apart < 4 * swizzle.period(); apart *= 2) {
        if ((apart & swizzle.involvedBits()) || (apart & offset))
          continue;
        EXPECT_EQ(swizzle(offset + apart), swizzle(offset) + apart)
            << offset << " and " << apart;
      }
  }
}

TEST(SearchSwizzle, FindsTheHardwareSwizzleForOperands) {
  for (int64_t columns : {16, 32, 64, 128, 176, 192}) {
    const Coordinate tile{128, columns};
    std::vector<SharedAccess> accesses{*matrixAccess(tile, 2, 2, 16)};
    // In 11 panels 32 bytes wide, threads that write along a row collide: such
    // a tile is for TMA to fill.
    if (columns != 176)
      accesses.push_back(vectorAccess(*blockedFragment(tile, 128, 8), 16));
    const Expected<SharedChoice> choice =
        searchSwizzle(tile, 16, accesses, SharedEngine::Wgmma);
    ASSERT_TRUE(choice) << choice.reason();
    EXPECT_TRUE(choice->wavefronts.isConflictFree()) << choice->layout.str();
    EXPECT_TRUE(choice->isTmaLegal && choice->isWgmmaLegal);
    const SwizzleMode widest = columns % 64 == 0   ? SwizzleMode::Bytes128
                               : columns % 32 == 0 ? SwizzleMode::Bytes64
                                                   : SwizzleMode::Bytes32;
    EXPECT_EQ(choice->layout.mode(16), widest) << columns;
    EXPECT_EQ(choice->allocatedBytes, 128 * columns * 2);
  }
}

TEST(SearchSwizzle, BeatsTheHardwareSwizzlesWhereThreadsAlone) {
  const Coordinate tile{64, 64};
  const std::vector<SharedAccess> accesses{
      vectorAccess(*wgmmaAccumulator(64), 32),
      vectorAccess(*blockedFragment(tile, 128, 4), 32)};
  const SharedChoice free =
      *searchSwizzle(tile, 32, accesses, SharedEngine::Threads);
  const SharedChoice tma =
      *searchSwizzle(tile, 32, accesses, SharedEngine::Tma);
  EXPECT_TRUE(free.wavefronts.isConflictFree()) << free.layout.str();
  EXPECT_LT(free.wavefronts.actual, tma.wavefronts.actual);
  EXPECT_TRUE(tma.isTmaLegal);
}

TEST(SearchSwizzle, TransposesOnTheWay) {
  // Written along rows and read along columns, one element at a time each.
  const Coordinate tile{32, 32};
  const FragmentLayout rows = *blockedFragment(tile, 32, 1);
  const SharedChoice choice =
      *searchSwizzle(tile, 32,
                     {{AccessKind::Vector, rows},
                      {AccessKind::Vector, rows.permuteDims({1, 0})}},
                     SharedEngine::Threads);
  EXPECT_TRUE(choice.wavefronts.isConflictFree()) << choice.layout.str();
}

TEST(SearchSwizzle, PadsWhereNothingElseFits) {
  // 48 rows of 40 f32: no power of two anywhere.
  const Coordinate tile{48, 40};
  const SharedChoice choice =
      *searchSwizzle(tile, 32,
                     {{AccessKind::Vector,
                       blockedFragment({40, 48}, 32, 1)->permuteDims({1, 0})},
                      {AccessKind::Vector, *blockedFragment(tile, 32, 1)}},
                     SharedEngine::Threads);
  const Wavefronts plain =
      countWavefronts(rowMajorShared(tile), 32,
                      {AccessKind::Vector, *blockedFragment(tile, 32, 1)});
  EXPECT_TRUE(plain.isConflictFree());
  EXPECT_LE(choice.wavefronts.actual, choice.wavefronts.ideal * 3 / 2)
      << choice.layout.str();
}

TEST(SearchSwizzle, EveryChoiceHoldsTheTile) {
  std::mt19937_64 random = seededGenerator();
  for (int round = 0; round < 20; ++round) {
    const Coordinate tile{pick(random, 1, 40), pick(random, 1, 40)};
    const int64_t bits = int64_t(8) << pick(random, 0, 2);
    const FragmentLayout rows = *blockedFragment(tile, 32, pick(random, 1, 4));
    const FragmentLayout columns =
        blockedFragment({tile[1], tile[0]}, 32, pick(random, 1, 4))
            ->permuteDims({1, 0});
    const Expected<SharedChoice> choice = searchSwizzle(
        tile, bits, {vectorAccess(rows, bits), vectorAccess(columns, bits)},
        SharedEngine::Threads);
    ASSERT_TRUE(choice) << choice.reason();
    const std::vector<int64_t> offsets = choice->layout.offsets();
    const std::set<int64_t> distinct(offsets.begin(), offsets.end());
    EXPECT_EQ(distinct.size(), offsets.size()) << choice->layout.str();
    EXPECT_LT(*distinct.rbegin() * bits / 8, choice->allocatedBytes);
    EXPECT_GE(choice->wavefronts.actual, choice->wavefronts.ideal);
  }
}

TEST(SearchSwizzle, KeepsRowsWithoutPaddingThem) {
  // Rows of any number of panels, read as matrices and written along rows.
  for (int64_t columns : {16, 32, 64, 128, 192, 256, 512}) {
    const Coordinate tile{32, columns};
    const SharedChoice choice =
        *searchSwizzle(tile, 16,
                       {*matrixAccess(tile, 1, 1, 16),
                        vectorAccess(*blockedFragment(tile, 32, 8), 16)},
                       SharedEngine::Rows);
    EXPECT_TRUE(choice.wavefronts.isConflictFree()) << choice.layout.str();
    EXPECT_EQ(choice.allocatedBytes, 32 * columns * 2) << choice.layout.str();
    EXPECT_EQ(choice.layout.layout.mode(0), Layout(32, columns));
    EXPECT_EQ(choice.layout.layout.mode(1), Layout(columns, 1));
  }
}

TEST(SearchSwizzle, SaysWhatIsWrong) {
  EXPECT_EQ(searchSwizzle({8, 12}, 16, {}, SharedEngine::Wgmma).reason(),
            "no layout of a tile 8x12 of 16-bit elements suits wgmma");
  EXPECT_EQ(searchSwizzle({8, 16}, 12, {}, SharedEngine::Threads).reason(),
            "elements have a power of two of 1 to 128 bits, got 12");
  EXPECT_EQ(searchSwizzle({8, 16}, 16,
                          {{AccessKind::Vector, *blockedFragment({8}, 32, 1)}},
                          SharedEngine::Threads)
                .reason(),
            "an access to a tile 8 of a buffer of shape 8x16");
}
