//===- TiledFragmentTest.cpp - Fragments of whole tiles ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise layouts cover every shape; repeated atoms land where the tiling
// says, overhang included.
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "Tile/Layout/Fragments.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace tile::layout;
using namespace tile::layout::test;

TEST(Blocked, CoversEveryShapeInRowMajorOrder) {
  for (int64_t rows : {1, 3, 8, 10, 64})
    for (int64_t columns : {1, 5, 8, 24, 64})
      for (int64_t threads : {1, 32, 96, 128})
        for (int64_t vector : {1, 2, 8}) {
          const Expected<FragmentLayout> layout =
              blockedFragment({rows, columns}, threads, vector);
          ASSERT_TRUE(layout) << layout.reason();
          ASSERT_TRUE(layout->modes());
          const FragmentLayout::Coverage coverage = layout->coverage();
          EXPECT_TRUE(coverage.isComplete()) << layout->str();
          EXPECT_EQ(coverage.minOwners, coverage.maxOwners) << layout->str();
          // Chunk number = thread + threads * pass, so accesses coalesce.
          const int64_t width = std::gcd(vector, columns);
          for (int64_t thread = 0; thread < threads; ++thread)
            for (int64_t reg = 0; reg < layout->numRegisters(); ++reg) {
              int64_t number =
                  (thread + threads * (reg / width)) * width + reg % width;
              if (coverage.isReplicated())
                number %= rows * columns;
              if (number >= rows * columns)
                number = FragmentLayout::idle;
              EXPECT_EQ(layout->element(thread, reg), number);
            }
        }
}

TEST(Blocked, ReadsWell) {
  EXPECT_EQ(blockedFragment({128, 64}, 128, 8)->str(),
            "128x64 threads 128 (8,16):(8@1,1@0) registers (8,8):(1@1,16@0)");
  // Surplus threads are replicas where that comes out even, else idle.
  EXPECT_EQ(blockedFragment({4, 8}, 128, 2)->str(),
            "4x8 threads 128 (4,4,8):(2@1,1@0,0) registers (2):(1@1)");
  EXPECT_EQ(blockedFragment({3, 8}, 128, 2)->str(),
            "3x8 as 24 threads 128 (128):(2@0) registers (2):(1@0)");
  EXPECT_EQ(blockedFragment({0, 8}, 32, 1).reason(),
            "tile extents are at least 1, got 0x8");
  EXPECT_EQ(blockedFragment({8}, 32, 0).reason(),
            "a vector has at least 1 element, got 0");
}

TEST(Repeat, WarpsAndRegistersLandWhereTheTilingSays) {
  using Placement = Tiling::Placement;
  const FragmentLayout atom = *mmaFragment({16, 8, 16}, Operand::C, 16);
  for (Placement placement : {Placement::Interleaved, Placement::Blocked})
    for (bool columnsFirst : {true, false}) {
      Tiling tiling;
      tiling.groups = {{0, 2}, {1, 2}};
      tiling.repeatOrder = columnsFirst ? std::vector<int64_t>{1, 0}
                                        : std::vector<int64_t>{0, 1};
      tiling.placement = placement;
      const FragmentLayout layout = *repeatFragment(atom, {96, 80}, tiling);
      ASSERT_EQ(layout.numThreads(), 128);
      ASSERT_EQ(layout.numRegisters(), 60); // 3 x 5 atoms of 4 registers
      EXPECT_TRUE(layout.coverage().isExactlyOnce());
      for (int64_t thread = 0; thread < 128; ++thread)
        for (int64_t reg = 0; reg < 60; ++reg) {
          const int64_t warp = thread / 32, repeat = reg / 4;
          const int64_t down = columnsFirst ? repeat / 5 : repeat % 3;
          const int64_t across = columnsFirst ? repeat % 5 : repeat / 3;
          Coordinate expected = *atom.coordinate(thread % 32, reg % 4);
          if (placement == Placement::Interleaved) {
            expected[0] += 16 * (warp % 2 + 2 * down);
            expected[1] += 8 * (warp / 2 + 2 * across);
          } else {
            expected[0] += 16 * (3 * (warp % 2) + down);
            expected[1] += 8 * (5 * (warp / 2) + across);
          }
          EXPECT_EQ(layout.coordinate(thread, reg), expected);
        }
    }
}

TEST(Repeat, OperandsAreReplicatedOverTheWarpsThatShareThem) {
  // 2 x 2 warps: A is split over rows of warps and shared along columns.
  Tiling tiling;
  tiling.groups = {{0, 2}, {std::nullopt, 2}};
  const FragmentLayout a = *repeatFragment(
      *mmaFragment({16, 8, 16}, Operand::A, 16), {64, 32}, tiling);
  EXPECT_EQ(a.coverage().minOwners, 2);
  EXPECT_EQ(a.coverage().maxOwners, 2);
  for (int64_t reg = 0; reg < a.numRegisters(); ++reg)
    EXPECT_EQ(a.element(5, reg), a.element(64 + 5, reg));
}

TEST(Repeat, OverhangIsIdle) {
  Tiling tiling;
  tiling.groups = {{0, 4}};
  const FragmentLayout layout = *repeatFragment(
      *mmaFragment({16, 8, 16}, Operand::C, 16), {40, 20}, tiling);
  ASSERT_TRUE(layout.modes());
  EXPECT_TRUE(layout.coverage().isExactlyOnce());
  EXPECT_EQ(layout.coverage().idleSlots, 64 * 24 - 40 * 20);
}

TEST(Repeat, AnyAtomCanBeRepeated) {
  // Atoms with idle slots, with a box of their own, and tables.
  for (const char *text : {"3x5 threads 16 (5,4):(1@1,1@0) registers ():()",
                           "3x5 as 15 threads 8 (8):(1@0) registers (2):(8@0)",
                           "2x2 threads 2 table (0,3,1,2)"}) {
    const FragmentLayout atom = *FragmentLayout::parse(text);
    Tiling tiling;
    tiling.groups = {{1, 2}};
    const Coordinate tile{atom.tile()[0] * 2, atom.tile()[1] * 4};
    const Expected<FragmentLayout> layout = repeatFragment(atom, tile, tiling);
    ASSERT_TRUE(layout) << layout.reason();
    EXPECT_TRUE(layout->coverage().isExactlyOnce()) << layout->str();
  }
}

TEST(Repeat, SaysWhatIsWrong) {
  const FragmentLayout atom = *wgmmaOperandA(16);
  EXPECT_EQ(repeatFragment(atom, {64}, {}).reason(),
            "an atom of rank 2 cannot tile 64");
  Tiling tiling;
  tiling.groups = {{2, 4}};
  EXPECT_EQ(repeatFragment(atom, {64, 16}, tiling).reason(),
            "groups along dimension 2 of a tile of rank 2");
  tiling.groups = {{0, 0}};
  EXPECT_EQ(repeatFragment(atom, {64, 16}, tiling).reason(),
            "expected 1 to 65536 groups, got 0");
  tiling.groups = {};
  tiling.repeatOrder = {1, 1};
  EXPECT_EQ(repeatFragment(atom, {64, 16}, tiling).reason(),
            "the order of repeats names a dimension twice or one that the tile "
            "has not");
}
