//===- FragmentTest.cpp - Fragment layouts as values ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms, queries, views and text of fragment layouts, on layouts small enough
// to check by hand and on random ones against the table of their elements.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "Tile/Layout/Fragments.h"

#include "gtest/gtest.h"

using namespace tile::layout;
using namespace tile::layout::test;

static FragmentLayout parsed(const char *text) {
  Expected<FragmentLayout> layout = FragmentLayout::parse(text);
  EXPECT_TRUE(layout) << text << ": " << layout.reason();
  return *layout;
}

/// A strided layout of arbitrary extents whose slots may be idle or replicated.
static FragmentLayout randomFragment(std::mt19937_64 &random) {
  const Coordinate tile{pick(random, 1, 12), pick(random, 1, 12)};
  auto modes = [&](int64_t count) {
    std::vector<Mode> list;
    for (int64_t i = 0; i < count; ++i)
      list.push_back({pick(random, 1, 4),
                      {pick(random, 0, 3) * pick(random, 0, 1),
                       pick(random, 0, 3) * pick(random, 0, 1)}});
    return list;
  };
  FragmentModes form{modes(3), modes(2), {}};
  int64_t threads = 1;
  for (const Mode &mode : form.threads)
    threads *= mode.extent;
  return *FragmentLayout::strided(
      tile, pick(random, (threads + 1) / 2, threads), form);
}

TEST(Fragment, ATableFindsItsStridedForm) {
  for (const char *text :
       {"16x16 threads 32 (4,8):(2@1,1@0) registers (2,2,2):(1@1,8@0,8@1)",
        "3x5 as 15 threads 3 (3):(1@0) registers (5):(3@0)",
        "6x10 threads 15 (5,3):(2@1,2@0) registers (2,2):(1@1,1@0)",
        "8x8 threads 32 (4,8):(0,1@0) registers (8):(1@1)",
        "4x4 threads 4 (4):(1@0+1@1) registers ():()"}) {
    const FragmentLayout layout = parsed(text);
    const FragmentLayout again = *FragmentLayout::enumerated(
        layout.tile(), layout.numThreads(), layout.elements());
    EXPECT_EQ(again.str(), text);
    EXPECT_EQ(again, layout);
  }
}

TEST(Fragment, WhatIsNotStridedIsATable) {
  const FragmentLayout layout =
      *FragmentLayout::enumerated({2, 2}, 2, {0, 3, 1, FragmentLayout::idle});
  EXPECT_FALSE(layout.modes());
  EXPECT_EQ(layout.element(0, 1), 3);
  EXPECT_FALSE(layout.coordinate(1, 1));
  EXPECT_EQ(layout.str(), "2x2 threads 2 table (0,3,1,_)");
  const FragmentLayout::Coverage coverage = layout.coverage();
  EXPECT_EQ(coverage.holes, 1);
  EXPECT_EQ(coverage.firstHole, (Coordinate{1, 0}));
  EXPECT_EQ(coverage.idleSlots, 1);
}

TEST(Fragment, TheLastThreadDigitMayStopEarly) {
  // 32 threads, 5 to a row of pairs: rows 0 to 6, of which the tile has 6.
  const FragmentLayout layout =
      parsed("6x10 threads 32 (5,7):(2@1,1@0) registers (2):(1@1)");
  EXPECT_EQ(layout.coordinate(29, 1), (Coordinate{5, 9}));
  EXPECT_EQ(layout.element(30, 0), FragmentLayout::idle);
  EXPECT_TRUE(layout.coverage().isExactlyOnce());
  EXPECT_EQ(layout.coverage().idleSlots, 4);
  EXPECT_FALSE(layout.asLayout());
}

TEST(Fragment, NormalFormsMergeDigits) {
  EXPECT_EQ(parsed("8x8 threads 32 (2,2,1,8):(2@1,4@1,7@0,1@0) registers "
                   "(2,1):(1@1,0)")
                .str(),
            "8x8 threads 32 (4,8):(2@1,1@0) registers (2):(1@1)");
}

TEST(Fragment, BasesAndOffsetsAddUp) {
  const FragmentLayout layout = *wgmmaAccumulator(176);
  for (int64_t thread : {0, 1, 31, 32, 77, 127})
    for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
      Coordinate sum = layout.threadBase(thread);
      const Coordinate offset = layout.registerOffset(reg);
      sum[0] += offset[0];
      sum[1] += offset[1];
      EXPECT_EQ(layout.coordinate(thread, reg), sum);
    }
}

TEST(Fragment, SplitsDigitsIntoLanesAndWarps) {
  const auto split = wgmmaAccumulator(32)->lanesAndWarps();
  ASSERT_TRUE(split);
  EXPECT_EQ(split->lanes, (std::vector<Mode>{{4, {0, 2}}, {8, {1, 0}}}));
  EXPECT_EQ(split->warps, (std::vector<Mode>{{4, {16, 0}}}));
  // One digit over all 128 threads is cut at the warp.
  const auto cut =
      parsed("128 threads 128 (128):(1@0) registers ():()").lanesAndWarps();
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->lanes, (std::vector<Mode>{{32, {1}}}));
  EXPECT_EQ(cut->warps, (std::vector<Mode>{{4, {32}}}));
  // 48 threads are a warp and a half.
  const auto half =
      parsed("48 threads 48 (48):(1@0) registers ():()").lanesAndWarps();
  ASSERT_TRUE(half);
  EXPECT_EQ(half->warps, (std::vector<Mode>{{2, {32}}}));
  EXPECT_FALSE(parsed("5x26 threads 128 (5,26):(1@0,1@1) registers ():()")
                   .lanesAndWarps());
}

TEST(Fragment, AsLayoutIsTheSameMap) {
  const FragmentLayout layout = *mmaFragment({16, 8, 16}, Operand::A, 16);
  const std::optional<Layout> plain = layout.asLayout();
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->str(), "((4,8),(2,2,2)):((2,16),(1,128,8))");
  EXPECT_EQ(*FragmentLayout::fromLayout({16, 16}, *plain), layout);
}

TEST(Fragment, OwnersInvertTheMap) {
  std::mt19937_64 random = seededGenerator();
  for (int round = 0; round < 50; ++round) {
    const FragmentLayout layout = randomFragment(random);
    const std::vector<std::vector<Owner>> inverse = layout.inverse();
    int64_t slots = 0, holes = 0, most = 0;
    for (int64_t row = 0; row < layout.tile()[0]; ++row)
      for (int64_t column = 0; column < layout.tile()[1]; ++column) {
        const std::vector<Owner> owners = layout.owners({row, column});
        EXPECT_EQ(owners, inverse[row * layout.tile()[1] + column]);
        for (Owner owner : owners)
          EXPECT_EQ(layout.coordinate(owner.thread, owner.reg),
                    (Coordinate{row, column}));
        slots += int64_t(owners.size());
        holes += owners.empty();
        most = std::max(most, int64_t(owners.size()));
      }
    const FragmentLayout::Coverage coverage = layout.coverage();
    EXPECT_EQ(coverage.holes, holes);
    EXPECT_EQ(coverage.maxOwners, most);
    EXPECT_EQ(coverage.idleSlots + slots,
              layout.numThreads() * layout.numRegisters());
  }
}

TEST(Fragment, VectorWidths) {
  const FragmentLayout a = *mmaFragment({16, 8, 16}, Operand::A, 16);
  EXPECT_EQ(a.vectorWidth(1), 2);
  EXPECT_EQ(a.vectorWidth(0), 1);
  EXPECT_EQ(a.permuteDims({1, 0}).vectorWidth(0), 2);
  EXPECT_EQ(blockedFragment({64, 128}, 128, 8)->vectorWidth(1), 8);
  EXPECT_EQ(blockedFragment({6, 18}, 32, 8)->vectorWidth(1), 2);
  EXPECT_EQ(parsed("12 threads 2 (2):(6@0) registers (6):(1@0)").vectorWidth(0),
            6);
  // Pairs that start at odd places are not aligned.
  EXPECT_EQ(FragmentLayout::enumerated({6}, 2, {1, 2, 3, 4})->vectorWidth(0),
            1);
}

TEST(Fragment, EqualityUpToRegisterOrder) {
  const FragmentLayout rows =
      parsed("4x8 threads 4 (4):(2@1) registers (2,4):(1@1,1@0)");
  const FragmentLayout columns =
      parsed("4x8 threads 4 (4):(2@1) registers (4,2):(1@0,1@1)");
  EXPECT_NE(rows, columns);
  const auto order = rows.registersFrom(columns);
  ASSERT_TRUE(order);
  EXPECT_EQ(*order, (std::vector<int64_t>{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_FALSE(rows.registersFrom(
      parsed("4x8 threads 4 (4):(1@0) registers (8):(1@1)")));
  // Registers that hold the same are told apart, so this is the identity.
  const FragmentLayout twice =
      parsed("4 threads 4 (4):(1@0) registers (2):(0)");
  EXPECT_EQ(twice.registersFrom(twice), (std::vector<int64_t>{0, 1}));
}

TEST(Fragment, EqualityIsThatOfTheMap) {
  // The box differs, the map does not.
  EXPECT_EQ(parsed("4x8 as 32 threads 32 (32):(1@0) registers ():()"),
            parsed("4x8 threads 32 (8,4):(1@1,1@0) registers ():()"));
  EXPECT_NE(parsed("4x8 threads 32 (4,8):(1@0,1@1) registers ():()"),
            parsed("4x8 threads 32 (8,4):(1@1,1@0) registers ():()"));
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

TEST(FragmentViews, AgreeWithTheTable) {
  std::mt19937_64 random = seededGenerator();
  for (int round = 0; round < 50; ++round) {
    const FragmentLayout layout = randomFragment(random);
    const Coordinate tile = layout.tile();
    const FragmentLayout transposed = layout.permuteDims({1, 0});
    const FragmentLayout flat = *layout.reshape({tile[0] * tile[1]});
    const FragmentLayout::Slice rows = layout.slice(1),
                                columns = layout.slice(0);
    EXPECT_EQ(transposed.permuteDims({1, 0}), layout);
    EXPECT_EQ(*flat.reshape(tile), layout);
    for (int64_t thread = 0; thread < layout.numThreads(); ++thread)
      for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
        EXPECT_EQ(flat.element(thread, reg), layout.element(thread, reg));
        const std::optional<Coordinate> at = layout.coordinate(thread, reg);
        if (!at) {
          EXPECT_FALSE(transposed.coordinate(thread, reg));
          continue;
        }
        EXPECT_EQ(transposed.coordinate(thread, reg),
                  (Coordinate{(*at)[1], (*at)[0]}));
        EXPECT_EQ(rows.layout.element(thread, rows.registerOf[reg]), (*at)[0]);
        EXPECT_EQ(columns.layout.element(thread, columns.registerOf[reg]),
                  (*at)[1]);
      }
  }
}

TEST(FragmentViews, ARowReductionLeavesReplicasOnTheLanesOfTheRow) {
  const FragmentLayout::Slice rows = wgmmaAccumulator(64)->slice(1);
  EXPECT_EQ(rows.layout.str(),
            "64 threads 128 (4,8,4):(0,1@0,16@0) registers (2):(8@0)");
  EXPECT_EQ(rows.layout.coverage().minOwners, 4);
  EXPECT_TRUE(rows.layout.coverage().isReplicated());
  // All 16 columns of a row that a thread has go to one register.
  for (int64_t reg = 0; reg < 32; ++reg)
    EXPECT_EQ(rows.registerOf[reg], reg / 2 % 2);
}

TEST(FragmentViews, SlicesOfTablesMergeEqualRegisters) {
  // A 4x3 tile dealt out by a table: row sums of registers 0 and 2 coincide.
  const FragmentLayout layout =
      *FragmentLayout::enumerated({4, 3}, 2, {0, 11, 1, 9, 3, 6, 5, 9});
  const FragmentLayout::Slice rows = layout.slice(1);
  EXPECT_EQ(rows.registerOf, (std::vector<int64_t>{0, 1, 0, 2}));
  EXPECT_EQ(rows.layout.elements(), (std::vector<int64_t>{0, 3, 3, 1, 2, 3}));
}

TEST(FragmentViews, ASliceOfAVectorIsOneElement) {
  const FragmentLayout::Slice one = blockedFragment({64}, 32, 1)->slice(0);
  EXPECT_EQ(one.layout.tile(), (Coordinate{1}));
  EXPECT_EQ(one.layout.numRegisters(), 1);
  EXPECT_EQ(one.layout.coverage().minOwners, 32);
}

TEST(FragmentViews, ReshapesKeepTheStridedForm) {
  const FragmentLayout odd = *blockedFragment({10, 10}, 32, 1);
  EXPECT_EQ(odd.str(),
            "10x10 as 100 threads 32 (32):(1@0) registers (4):(32@0)");
  const Expected<FragmentLayout> cube = odd.reshape({2, 5, 10});
  ASSERT_TRUE(cube);
  EXPECT_EQ(cube->str(),
            "2x5x10 as 100 threads 32 (32):(1@0) registers (4):(32@0)");
  EXPECT_EQ(odd.reshape({9, 11}).reason(),
            "tile 10x10 has 100 elements, 9x11 has 99");
}

TEST(FragmentViews, SubviewsKeepTheRegistersOfThePart) {
  const FragmentLayout whole = *wgmmaAccumulator(64);
  const auto right = whole.subview({0, 48}, {64, 16});
  ASSERT_TRUE(right) << right.reason();
  EXPECT_EQ(right->layout, *wgmmaAccumulator(16));
  EXPECT_EQ(right->registers,
            (std::vector<int64_t>{24, 25, 26, 27, 28, 29, 30, 31}));
  // A part that only some threads hold leaves the others idle.
  const auto rows = whole.subview({8, 0}, {8, 64});
  ASSERT_TRUE(rows) << rows.reason();
  EXPECT_EQ(rows->layout.numRegisters(), 16);
  EXPECT_TRUE(rows->layout.coverage().isExactlyOnce());
  EXPECT_EQ(rows->layout.element(32, 0), FragmentLayout::idle);
  EXPECT_EQ(whole.subview({0, 60}, {64, 8}).reason(),
            "a part 64x8 at (0,60) is not within a tile 64x64");
}

TEST(FragmentViews, RandomSubviewsAgreeWithTheWhole) {
  std::mt19937_64 random = seededGenerator();
  for (int round = 0; round < 50; ++round) {
    const FragmentLayout whole = randomFragment(random);
    Coordinate offset, shape;
    for (int64_t extent : whole.tile()) {
      shape.push_back(pick(random, 1, extent));
      offset.push_back(pick(random, 0, extent - shape.back()));
    }
    const auto part = whole.subview(offset, shape);
    if (!part)
      continue;
    for (int64_t thread = 0; thread < whole.numThreads(); ++thread)
      for (int64_t reg = 0; reg < part->layout.numRegisters(); ++reg) {
        std::optional<Coordinate> at =
            whole.coordinate(thread, part->registers[reg]);
        bool isInside = at.has_value();
        for (size_t d = 0; at && d < shape.size(); ++d) {
          (*at)[d] -= offset[d];
          isInside &= (*at)[d] >= 0 && (*at)[d] < shape[d];
        }
        EXPECT_EQ(part->layout.coordinate(thread, reg),
                  isInside ? at : std::nullopt);
      }
  }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

TEST(FragmentText, RoundTrips) {
  std::mt19937_64 random = seededGenerator();
  for (int round = 0; round < 50; ++round) {
    const FragmentLayout layout = randomFragment(random);
    const Expected<FragmentLayout> again = FragmentLayout::parse(layout.str());
    ASSERT_TRUE(again) << layout.str() << ": " << again.reason();
    EXPECT_EQ(*again, layout);
    EXPECT_EQ(again->str(), layout.str());
    const FragmentLayout table = *FragmentLayout::enumerated(
        layout.tile(), layout.numThreads(), layout.elements());
    EXPECT_EQ(*FragmentLayout::parse(table.str()), layout);
  }
}

TEST(FragmentText, SaysWhatIsWrong) {
  auto reason = [](const char *text) {
    return FragmentLayout::parse(text).reason();
  };
  EXPECT_EQ(reason("4x8 thread 4"),
            "expected 'threads' and their number at column 5, got 'thread 4'");
  EXPECT_EQ(reason("4x8 threads 4 (4):(1@2) registers ():()"),
            "dimension 2 of a stride, got 2 dimensions");
  EXPECT_EQ(reason("4x8 threads 8 (4):(1@0) registers (8):(1@1)"),
            "the thread modes tell 4 of 8 threads apart");
  EXPECT_EQ(reason("4x8 as 31 threads 4 (4):(1@0) registers ():()"),
            "box 31 and tile 4x8 differ in size");
  EXPECT_EQ(reason("0 threads 4 (4):(1@0) registers ():()"),
            "tile extents are at least 1, got 0");
  EXPECT_EQ(reason("2x2 threads 2 table (0,3,1,4)"),
            "element 4 is outside of tile 2x2");
  EXPECT_EQ(reason("2x2 threads 2 table (0,3,1)"),
            "expected as many registers for each of 2 threads, got 3 slots");
  EXPECT_EQ(reason("1000000x1000000 threads 2 (2):(0) registers ():()"),
            "tile 1000000x1000000 has more than 4194304 elements");
}
