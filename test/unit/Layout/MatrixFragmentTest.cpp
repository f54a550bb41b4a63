//===- MatrixFragmentTest.cpp - Matrix fragments against PTX ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas for row and column of each fragment are written here as the PTX
// ISA gives them, one instruction at a time, and not by the pattern that the
// library builds them from.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/Fragments.h"

#include "gtest/gtest.h"

#include <functional>

using namespace tile::layout;

namespace {
/// groupID, threadID_in_group and the index of the register, as PTX has them.
using Formula = std::function<Coordinate(int64_t g, int64_t c, int64_t i)>;

struct Fragment {
  const char *name;
  MmaShape shape;
  Operand operand;
  int64_t bits, registers;
  Formula formula;
};
} // namespace

static void expectFormula(const FragmentLayout &layout, int64_t registers,
                          const Formula &formula, const std::string &name) {
  ASSERT_EQ(layout.numRegisters(), registers) << name;
  ASSERT_TRUE(layout.modes()) << name;
  for (int64_t thread = 0; thread < layout.numThreads(); ++thread)
    for (int64_t i = 0; i < registers; ++i) {
      Coordinate expected = formula(thread % 32 / 4, thread % 4, i);
      expected[0] += thread / 32 * 16;
      ASSERT_EQ(layout.coordinate(thread, i), expected)
          << name << " thread " << thread << " register " << i;
    }
  EXPECT_TRUE(layout.coverage().isExactlyOnce()) << name;
}

static const Fragment fragments[] = {
    {"m16n8k8 f16 A",
     {16, 8, 8},
     Operand::A,
     16,
     4,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i < 2 ? g : g + 8, c * 2 + (i & 1)};
     }},
    {"m16n8k8 f16 B",
     {16, 8, 8},
     Operand::B,
     16,
     2,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{c * 2 + (i & 1), g};
     }},
    {"m16n8k16 f16 A",
     {16, 8, 16},
     Operand::A,
     16,
     8,
     [](int64_t g, int64_t c, int64_t i) {
       const bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
       return Coordinate{upper ? g : g + 8,
                         i < 4 ? c * 2 + (i & 1) : c * 2 + (i & 1) + 8};
     }},
    {"m16n8k16 f16 B",
     {16, 8, 16},
     Operand::B,
     16,
     4,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i < 2 ? c * 2 + (i & 1) : c * 2 + (i & 1) + 8, g};
     }},
    {"m16n8k16 f16 C",
     {16, 8, 16},
     Operand::C,
     16,
     4,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i < 2 ? g : g + 8, c * 2 + (i & 1)};
     }},
    {"m16n8k4 tf32 A",
     {16, 8, 4},
     Operand::A,
     32,
     2,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i == 0 ? g : g + 8, c};
     }},
    {"m16n8k4 tf32 B",
     {16, 8, 4},
     Operand::B,
     32,
     1,
     [](int64_t g, int64_t c, int64_t) { return Coordinate{c, g}; }},
    {"m16n8k8 tf32 A",
     {16, 8, 8},
     Operand::A,
     32,
     4,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i == 0 || i == 2 ? g : g + 8, i < 2 ? c : c + 4};
     }},
    {"m16n8k8 tf32 B",
     {16, 8, 8},
     Operand::B,
     32,
     2,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i == 0 ? c : c + 4, g};
     }},
    {"m16n8k8 tf32 C",
     {16, 8, 8},
     Operand::C,
     32,
     4,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i < 2 ? g : g + 8, c * 2 + (i & 1)};
     }},
    {"m8n8k4 f64 A",
     {8, 8, 4},
     Operand::A,
     64,
     1,
     [](int64_t g, int64_t c, int64_t) { return Coordinate{g, c}; }},
    {"m8n8k4 f64 B",
     {8, 8, 4},
     Operand::B,
     64,
     1,
     [](int64_t g, int64_t c, int64_t) { return Coordinate{c, g}; }},
    {"m8n8k4 f64 C",
     {8, 8, 4},
     Operand::C,
     64,
     2,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{g, c * 2 + (i & 1)};
     }},
    {"m16n8k4 f64 A",
     {16, 8, 4},
     Operand::A,
     64,
     2,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i == 0 ? g : g + 8, c};
     }},
    {"m16n8k8 f64 A",
     {16, 8, 8},
     Operand::A,
     64,
     4,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i == 0 || i == 2 ? g : g + 8, i < 2 ? c : c + 4};
     }},
    {"m16n8k8 f64 B",
     {16, 8, 8},
     Operand::B,
     64,
     2,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i == 0 ? c : c + 4, g};
     }},
    {"m16n8k16 f64 A",
     {16, 8, 16},
     Operand::A,
     64,
     8,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i % 2 == 0 ? g : g + 8,
                         i % 2 == 0 ? i * 2 + c : i * 2 - 2 + c};
     }},
    {"m16n8k16 f64 B",
     {16, 8, 16},
     Operand::B,
     64,
     4,
     [](int64_t g, int64_t c, int64_t i) { return Coordinate{c + i * 4, g}; }},
    {"m16n8k16 f64 C",
     {16, 8, 16},
     Operand::C,
     64,
     4,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i < 2 ? g : g + 8, c * 2 + (i & 1)};
     }},
    {"m8n8k16 s8 A",
     {8, 8, 16},
     Operand::A,
     8,
     4,
     [](int64_t g, int64_t c, int64_t i) { return Coordinate{g, c * 4 + i}; }},
    {"m8n8k16 s8 B",
     {8, 8, 16},
     Operand::B,
     8,
     4,
     [](int64_t g, int64_t c, int64_t i) { return Coordinate{c * 4 + i, g}; }},
    {"m16n8k16 s8 A",
     {16, 8, 16},
     Operand::A,
     8,
     8,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i < 4 ? g : g + 8, c * 4 + (i & 3)};
     }},
    {"m16n8k16 s8 B",
     {16, 8, 16},
     Operand::B,
     8,
     4,
     [](int64_t g, int64_t c, int64_t i) { return Coordinate{c * 4 + i, g}; }},
    {"m16n8k32 e4m3 A",
     {16, 8, 32},
     Operand::A,
     8,
     16,
     [](int64_t g, int64_t c, int64_t i) {
       const bool upper = (0 <= i && i < 4) || (8 <= i && i < 12);
       return Coordinate{upper ? g : g + 8,
                         i < 8 ? c * 4 + (i & 3) : c * 4 + (i & 3) + 16};
     }},
    {"m16n8k32 e4m3 B",
     {16, 8, 32},
     Operand::B,
     8,
     8,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i < 4 ? c * 4 + (i & 3) : c * 4 + (i & 3) + 16, g};
     }},
    {"m16n8k32 s8 C",
     {16, 8, 32},
     Operand::C,
     8,
     4,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i < 2 ? g : g + 8, c * 2 + (i & 1)};
     }},
    {"m8n8k32 s4 A",
     {8, 8, 32},
     Operand::A,
     4,
     8,
     [](int64_t g, int64_t c, int64_t i) { return Coordinate{g, c * 8 + i}; }},
    {"m16n8k32 s4 A",
     {16, 8, 32},
     Operand::A,
     4,
     16,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i < 8 ? g : g + 8, c * 8 + (i & 7)};
     }},
    {"m16n8k32 s4 B",
     {16, 8, 32},
     Operand::B,
     4,
     8,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{c * 8 + (i & 7), g};
     }},
    {"m16n8k64 s4 A",
     {16, 8, 64},
     Operand::A,
     4,
     32,
     [](int64_t g, int64_t c, int64_t i) {
       const bool upper = (0 <= i && i < 8) || (16 <= i && i < 24);
       return Coordinate{upper ? g : g + 8,
                         i < 16 ? c * 8 + (i & 7) : c * 8 + (i & 7) + 32};
     }},
    {"m16n8k64 s4 B",
     {16, 8, 64},
     Operand::B,
     4,
     16,
     [](int64_t g, int64_t c, int64_t i) {
       return Coordinate{i < 8 ? c * 8 + (i & 7) : c * 8 + (i & 7) + 32, g};
     }},
    {"m16n8k256 b1 A",
     {16, 8, 256},
     Operand::A,
     1,
     128,
     [](int64_t g, int64_t c, int64_t i) {
       const bool upper = (0 <= i && i < 32) || (64 <= i && i < 96);
       return Coordinate{upper ? g : g + 8,
                         i < 64 ? c * 32 + (i & 31) : c * 32 + (i & 31) + 128};
     }},
};

TEST(MatrixFragments, MmaFragmentsAreThoseOfPtx) {
  for (const Fragment &fragment : fragments) {
    const Expected<FragmentLayout> layout =
        mmaFragment(fragment.shape, fragment.operand, fragment.bits);
    ASSERT_TRUE(layout) << fragment.name << ": " << layout.reason();
    expectFormula(*layout, fragment.registers, fragment.formula, fragment.name);
  }
}

TEST(MatrixFragments, EveryShapeCoversItsTileOnce) {
  for (int64_t bits : {1, 4, 8, 16, 32, 64})
    for (MmaShape shape : mmaShapes(bits))
      for (Operand operand : {Operand::A, Operand::B, Operand::C}) {
        const Expected<FragmentLayout> layout =
            mmaFragment(shape, operand, bits);
        ASSERT_TRUE(layout) << layout.reason();
        EXPECT_TRUE(layout->coverage().isExactlyOnce()) << layout->str();
      }
}

TEST(MatrixFragments, AnUnknownShapeNamesTheKnownOnes) {
  EXPECT_EQ(mmaFragment({16, 8, 32}, Operand::A, 16).reason(),
            "mma.sync has no m16n8k32 for 16-bit elements, it has m16n8k8, "
            "m16n8k16");
  EXPECT_EQ(mmaFragment({16, 8, 8}, Operand::A, 6).reason(),
            "mma.sync has no m16n8k8 for 6-bit elements");
  EXPECT_EQ(wgmmaAccumulator(12).reason(),
            "wgmma takes n from 8 to 256 in steps of 8, got 12");
  EXPECT_FALSE(wgmmaAccumulator(264));
  EXPECT_FALSE(wgmmaOperandA(64));
}

TEST(MatrixFragments, WgmmaAccumulatorForEveryN) {
  for (int64_t n = 8; n <= 256; n += 8)
    expectFormula(
        *wgmmaAccumulator(n), n / 2,
        [](int64_t g, int64_t c, int64_t i) {
          return Coordinate{g + 8 * (i / 2 % 2), 8 * (i / 4) + c * 2 + i % 2};
        },
        "wgmma n" + std::to_string(n));
}

TEST(MatrixFragments, WgmmaRegisterOperands) {
  expectFormula(
      *wgmmaOperandA(16), 8,
      [](int64_t g, int64_t c, int64_t i) {
        return Coordinate{g + 8 * (i / 2 % 2), c * 2 + i % 2 + 8 * (i / 4)};
      },
      "f16");
  expectFormula(
      *wgmmaOperandA(32), 4,
      [](int64_t g, int64_t c, int64_t i) {
        return Coordinate{g + 8 * (i % 2), c + 4 * (i / 2)};
      },
      "tf32");
  expectFormula(
      *wgmmaOperandA(8), 16,
      [](int64_t g, int64_t c, int64_t i) {
        return Coordinate{g + 8 * (i / 4 % 2), c * 4 + i % 4 + 16 * (i / 8)};
      },
      "e4m3");
}

/// The second product of attention takes the first one's result from registers.
TEST(MatrixFragments, A16BitAccumulatorIsTheNextOperandAsItStands) {
  for (int64_t n = 16; n <= 256; n += 16) {
    Tiling alongK;
    alongK.repeatOrder = {1, 0};
    const Expected<FragmentLayout> operand =
        repeatFragment(*wgmmaOperandA(16), {64, n}, alongK);
    ASSERT_TRUE(operand) << operand.reason();
    EXPECT_EQ(*operand, *wgmmaAccumulator(n));
    EXPECT_EQ(operand->str(), wgmmaAccumulator(n)->str());
  }
  const FragmentLayout c = *mmaFragment({16, 8, 16}, Operand::C, 16);
  EXPECT_EQ(*repeatFragment(c, {16, 16}, Tiling()),
            *mmaFragment({16, 8, 16}, Operand::A, 16));
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// ldmatrix as PTX states it: lane l gets elements 2*(l%4), 2*(l%4)+1 of row
/// l/4 of matrix j in register j; with .trans rows and columns change places.
static Coordinate loaded(int64_t lane, int64_t reg, int64_t matrixRow,
                         int64_t matrixColumn, bool transposed) {
  const int64_t row = lane / 4, column = lane % 4 * 2 + reg % 2;
  return {matrixRow * 8 + (transposed ? column : row),
          matrixColumn * 8 + (transposed ? row : column)};
}

TEST(Ldmatrix, DistributesAsPtxSays) {
  using Order = MatrixGrid::Order;
  for (MatrixGrid grid :
       {MatrixGrid{1, 1, Order::Down}, MatrixGrid{2, 1, Order::Down},
        MatrixGrid{1, 2, Order::Down}, MatrixGrid{2, 2, Order::Down},
        MatrixGrid{2, 2, Order::Across}, MatrixGrid{4, 1, Order::Down},
        MatrixGrid{1, 4, Order::Across}})
    for (Transposed transposed : {Transposed::No, Transposed::Yes}) {
      const FragmentLayout layout = *ldmatrixFragment(grid, 16, transposed);
      const FragmentLayout addresses = *ldmatrixAddresses(grid, 16);
      EXPECT_TRUE(layout.coverage().isExactlyOnce());
      for (int64_t matrix = 0; matrix < grid.rows * grid.columns; ++matrix) {
        const bool down = grid.order == Order::Down;
        const int64_t row = down ? matrix % grid.rows : matrix / grid.columns;
        const int64_t column =
            down ? matrix / grid.rows : matrix % grid.columns;
        for (int64_t lane = 0; lane < 32; ++lane)
          for (int64_t half = 0; half < 2; ++half)
            EXPECT_EQ(
                layout.coordinate(lane, matrix * 2 + half),
                loaded(lane, half, row, column, transposed == Transposed::Yes));
        for (int64_t lane = 0; lane < 8; ++lane)
          for (int64_t i = 0; i < 8; ++i)
            EXPECT_EQ(addresses.coordinate(matrix * 8 + lane, i),
                      (Coordinate{row * 8 + lane, column * 8 + i}));
      }
    }
}

TEST(Ldmatrix, LoadsTheOperandsOfMma) {
  const auto down = MatrixGrid::Order::Down;
  // A row-major m x k tile gives A.
  EXPECT_EQ(*ldmatrixFragment({2, 2, down}, 16, Transposed::No),
            *mmaFragment({16, 8, 16}, Operand::A, 16));
  EXPECT_EQ(*ldmatrixFragment({2, 1, down}, 16, Transposed::No),
            *mmaFragment({16, 8, 8}, Operand::A, 16));
  // A row-major k x n tile gives B with .trans.
  EXPECT_EQ(*ldmatrixFragment({2, 1, down}, 16, Transposed::Yes),
            *mmaFragment({16, 8, 16}, Operand::B, 16));
  // B stored n x k needs no .trans: its transpose is B.
  EXPECT_EQ(
      ldmatrixFragment({1, 2, down}, 16, Transposed::No)->permuteDims({1, 0}),
      *mmaFragment({16, 8, 16}, Operand::B, 16));
  // A stored k x m: .trans, matrices across first.
  EXPECT_EQ(
      ldmatrixFragment({2, 2, MatrixGrid::Order::Across}, 16, Transposed::Yes)
          ->permuteDims({1, 0}),
      *mmaFragment({16, 8, 16}, Operand::A, 16));
  // The other widths, whose rows of 16 bytes hold more or fewer elements.
  EXPECT_EQ(*ldmatrixFragment({2, 2, down}, 8, Transposed::No),
            *mmaFragment({16, 8, 32}, Operand::A, 8));
  EXPECT_EQ(*ldmatrixFragment({2, 2, down}, 32, Transposed::No),
            *mmaFragment({16, 8, 8}, Operand::A, 32));
  EXPECT_EQ(*ldmatrixFragment({2, 2, down}, 4, Transposed::No),
            *mmaFragment({16, 8, 64}, Operand::A, 4));
  EXPECT_EQ(ldmatrixFragment({2, 2, down}, 8, Transposed::Yes).reason(),
            "ldmatrix transposes 16-bit elements only, got 8 bits");
  EXPECT_EQ(ldmatrixFragment({3, 1, down}, 16, Transposed::No).reason(),
            "ldmatrix moves 1, 2 or 4 matrices, got 3 by 1");
}
