//===- ConversionTest.cpp - Conversion plans, simulated ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every plan of every kind is walked on arrays in which each slot holds the
// number of its element, and must leave each slot of the target with its own.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/Conversion.h"
#include "Support.h"
#include "Tile/Layout/Fragments.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace tile::layout;
using namespace tile::layout::test;

/// Returns the kind chosen, after all kinds that apply have been simulated.
static ConversionKind checkAll(const FragmentLayout &from,
                               const FragmentLayout &to, int64_t bits) {
  const std::vector<int64_t> held = from.elements();
  for (ConversionKind kind : {ConversionKind::None, ConversionKind::Registers,
                              ConversionKind::Shuffles, ConversionKind::Shared})
    if (const std::optional<Conversion> plan =
            planConversion(from, to, bits, kind)) {
      EXPECT_EQ(plan->kind, kind);
      EXPECT_EQ(simulate(*plan, from, to, held), to.elements())
          << "kind " << int(kind) << ", " << from.str() << " -> " << to.str();
    }
  const Expected<Conversion> best = planConversion(from, to, bits);
  EXPECT_TRUE(best) << best.reason();
  EXPECT_EQ(simulate(*best, from, to, held), to.elements());
  return best->kind;
}

static FragmentLayout parsed(const char *text) {
  return *FragmentLayout::parse(text);
}

TEST(Conversion, NothingToDo) {
  const FragmentLayout c = *wgmmaAccumulator(64);
  Tiling alongK;
  const FragmentLayout a =
      *repeatFragment(*wgmmaOperandA(16), {64, 64}, alongK);
  EXPECT_EQ(checkAll(c, a, 16), ConversionKind::None);
  EXPECT_EQ(planConversion(c, a, 16)->cost.instructions, 0);
}

TEST(Conversion, RegistersOnly) {
  const FragmentLayout rows =
      parsed("4x8 threads 4 (4):(2@1) registers (2,4):(1@1,1@0)");
  const FragmentLayout other =
      parsed("4x8 threads 4 (4):(2@1) registers (2,2,2):(1@1,2@0,1@0)");
  const FragmentLayout columns =
      parsed("4x8 threads 4 (4):(2@1) registers (4,2):(1@0,1@1)");
  EXPECT_EQ(checkAll(rows, other, 16), ConversionKind::Registers);
  // Pairs of halves stay together, so registers are renamed for nothing.
  EXPECT_EQ(planConversion(rows, other, 16)->pack, 2);
  EXPECT_EQ(planConversion(rows, other, 16)->unitFrom,
            (std::vector<int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(planConversion(rows, other, 16)->cost.instructions, 0);
  // Halves that change their partner cost a permutation for each register.
  EXPECT_EQ(checkAll(rows, columns, 16), ConversionKind::Registers);
  EXPECT_EQ(planConversion(rows, columns, 16)->cost.instructions, 4);
  EXPECT_EQ(planConversion(rows, columns, 32)->cost.instructions, 0);
}

TEST(Conversion, ShufflesTransposeInAWarp) {
  // 4 elements to a thread along the row -> 4 along the column.
  const FragmentLayout rows =
      parsed("16x8 threads 32 (2,16):(4@1,1@0) registers (4):(1@1)");
  const FragmentLayout columns =
      parsed("16x8 threads 32 (8,4):(1@1,4@0) registers (4):(1@0)");
  EXPECT_EQ(checkAll(rows, columns, 32), ConversionKind::Shuffles);
  const Conversion plan =
      *planConversion(rows, columns, 32, ConversionKind::Shuffles);
  EXPECT_LE(plan.rounds.size(), 4u);
  EXPECT_EQ(plan.pack, 1);
}

TEST(Conversion, NarrowElementsTravelTogether) {
  // C of the first product to A in 8 bits: 2 neighbours to 4.
  Tiling alongK;
  const FragmentLayout c = *repeatFragment(
      *mmaFragment({16, 8, 32}, Operand::C, 8), {16, 32}, alongK);
  const FragmentLayout a = *mmaFragment({16, 8, 32}, Operand::A, 8);
  const Conversion plan = *planConversion(c, a, 8, ConversionKind::Shuffles);
  EXPECT_EQ(plan.pack, 2);
  checkAll(c, a, 8);
}

TEST(Conversion, AcrossWarpsThroughSharedMemory) {
  const FragmentLayout c = *wgmmaAccumulator(64);
  const FragmentLayout rows = *blockedFragment({64, 64}, 128, 8);
  EXPECT_EQ(checkAll(c, rows, 16), ConversionKind::Shared);
  const Conversion plan = *planConversion(c, rows, 16);
  EXPECT_EQ(plan.loadWidth, 8);
  EXPECT_EQ(plan.storeWidth, 2);
  EXPECT_TRUE(plan.crossesWarps);
  EXPECT_EQ(plan.cost.barriers, 1);
  EXPECT_EQ(plan.cost.sharedBytes, 2 * 64 * 64 * 2);
  EXPECT_FALSE(planConversion(c, rows, 16, ConversionKind::Shuffles));
}

TEST(Conversion, ReplicasAreUsedAndMade) {
  // A row statistic, replicated on 4 lanes, to one that is on every thread
  // once.
  const FragmentLayout rows = wgmmaAccumulator(64)->slice(1).layout;
  const FragmentLayout onceEach = *blockedFragment({64}, 128, 1);
  checkAll(rows, onceEach, 32);
  checkAll(onceEach, rows, 32);
  // Broadcast of one element to a warp.
  checkAll(parsed("32 threads 32 (32):(1@0) registers ():()"),
           parsed("32 threads 32 (32):(0) registers (32):(1@0)"), 32);
}

/// A table in which every element has an owner; other slots hold replicas or
/// nothing.
static FragmentLayout randomCover(std::mt19937_64 &random, int64_t elements,
                                  int64_t threads, int64_t registers) {
  std::vector<int64_t> slots(threads * registers, FragmentLayout::idle);
  std::iota(slots.begin(), slots.begin() + elements, 0);
  for (size_t slot = elements; slot < slots.size(); ++slot)
    if (pick(random, 0, 1))
      slots[slot] = pick(random, 0, elements - 1);
  std::shuffle(slots.begin(), slots.end(), random);
  return *FragmentLayout::enumerated({elements}, threads, std::move(slots));
}

TEST(Conversion, RandomTables) {
  std::mt19937_64 random = seededGenerator();
  for (int round = 0; round < 40; ++round) {
    const int64_t threads = pick(random, 0, 1) ? 32 : pick(random, 1, 80);
    const int64_t elements = pick(random, 1, threads * 4);
    auto cover = [&] {
      const int64_t least = (elements + threads - 1) / threads;
      return randomCover(random, elements, threads,
                         pick(random, least, least + 3));
    };
    const FragmentLayout from = cover(), to = cover();
    checkAll(from, to, int64_t(8) << pick(random, 0, 3));
  }
}

/// Where every element moves once, a schedule needs as many rounds as the most
/// burdened lane has elements to send or to receive.
TEST(Conversion, PermutationsMeetTheLowerBound) {
  std::mt19937_64 random = seededGenerator();
  for (int round = 0; round < 40; ++round) {
    const int64_t registers = pick(random, 1, 8), elements = 32 * registers;
    auto permuted = [&] {
      std::vector<int64_t> slots(elements);
      std::iota(slots.begin(), slots.end(), 0);
      std::shuffle(slots.begin(), slots.end(), random);
      return *FragmentLayout::enumerated({elements}, 32, std::move(slots));
    };
    const FragmentLayout from = permuted(), to = permuted();
    const std::vector<std::vector<Owner>> source = from.inverse();
    std::vector<int64_t> sends(32, 0), receives(32, 0);
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t reg = 0; reg < registers; ++reg)
        if (const Owner owner = source[to.element(lane, reg)][0];
            owner.thread != lane) {
          ++sends[owner.thread];
          ++receives[lane];
        }
    const int64_t bound =
        std::max(*std::max_element(sends.begin(), sends.end()),
                 *std::max_element(receives.begin(), receives.end()));
    const Conversion plan =
        *planConversion(from, to, 32, ConversionKind::Shuffles);
    EXPECT_EQ(int64_t(plan.rounds.size()), bound);
    EXPECT_EQ(simulate(plan, from, to, from.elements()), to.elements());
  }
}

TEST(Conversion, SaysWhatIsWrong) {
  const FragmentLayout small = *blockedFragment({8}, 32, 1),
                       large = *blockedFragment({64}, 32, 1),
                       wide = *blockedFragment({64}, 64, 1),
                       holed = *FragmentLayout::enumerated({2, 2}, 2, {0, 1}),
                       whole =
                           *FragmentLayout::enumerated({2, 2}, 2, {0, 1, 2, 3});
  EXPECT_EQ(planConversion(small, large, 32).reason(),
            "layouts of different tiles, 8 and 64");
  EXPECT_EQ(planConversion(large, wide, 32).reason(),
            "layouts over different threads, 32 and 64");
  EXPECT_EQ(planConversion(holed, whole, 32).reason(),
            "no thread holds element (1,0) in the layout converted from");
}
