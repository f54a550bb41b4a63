//===- MatrixTransferTest.cpp - Fragments moved by ldmatrix ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each transfer found is executed: rows are read at the addresses the lanes
// pass and dealt out as PTX says, and every register must hold its element.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/MatrixTransfer.h"

#include "gtest/gtest.h"

using namespace tile::layout;

/// ldmatrix: lane l gets elements pack*(l%4)... of row l/4 of matrix j, whose
/// row addresses lanes 8*j ... 8*j + 7 pass; with .trans of column l/4.
static std::vector<int64_t> execute(const MatrixTransfer &transfer,
                                    int64_t elementBits) {
  const FragmentLayout &rows = transfer.addresses;
  const int64_t pack = elementBits >= 32 ? 1 : 32 / elementBits;
  std::vector<int64_t> result;
  for (int64_t thread = 0; thread < rows.numThreads(); ++thread)
    for (int64_t q = 0; q < transfer.instructions(); ++q)
      for (int64_t j = 0; j < transfer.matrices; ++j)
        for (int64_t i = 0; i < pack; ++i) {
          const int64_t lane = thread % 32, first = thread - lane + 8 * j;
          const int64_t across = lane / 4, along = lane % 4 * pack + i;
          const bool isTransposed = transfer.transposed == Transposed::Yes;
          const int64_t row = isTransposed ? along : across,
                        column = isTransposed ? across : along;
          result.push_back(
              rows.element(first + row, q * transfer.rowElements + column));
        }
  return result;
}

static MatrixTransfer check(const FragmentLayout &fragment,
                            int64_t contiguousDim, int64_t bits,
                            Transposed transposed, int64_t matrices) {
  const Expected<MatrixTransfer> transfer =
      matrixTransfer(fragment, contiguousDim, bits);
  EXPECT_TRUE(transfer) << transfer.reason();
  EXPECT_EQ(execute(*transfer, bits), fragment.elements()) << fragment.str();
  EXPECT_EQ(transfer->transposed, transposed);
  EXPECT_EQ(transfer->matrices, matrices);
  EXPECT_TRUE(transfer->addresses.modes()) << transfer->addresses.str();
  return *transfer;
}

TEST(MatrixTransfer, OperandsOfMma) {
  const auto no = Transposed::No, yes = Transposed::Yes;
  check(*mmaFragment({16, 8, 16}, Operand::A, 16), 1, 16, no, 4);
  check(*mmaFragment({16, 8, 16}, Operand::A, 16), 0, 16, yes, 4);
  check(*mmaFragment({16, 8, 16}, Operand::B, 16), 1, 16, yes, 2);
  check(*mmaFragment({16, 8, 16}, Operand::B, 16), 0, 16, no, 2);
  check(*mmaFragment({16, 8, 8}, Operand::B, 16), 0, 16, no, 1);
  check(*mmaFragment({16, 8, 32}, Operand::A, 8), 1, 8, no, 4);
  check(*mmaFragment({16, 8, 8}, Operand::A, 32), 1, 32, no, 4);
  check(*mmaFragment({16, 8, 64}, Operand::A, 4), 1, 4, no, 4);
}

TEST(MatrixTransfer, TilesOverWarpsAndAccumulators) {
  const auto no = Transposed::No;
  Tiling tiling;
  tiling.groups = {{0, 2}, {std::nullopt, 2}};
  const FragmentLayout a = *repeatFragment(
      *mmaFragment({16, 8, 16}, Operand::A, 16), {64, 32}, tiling);
  const MatrixTransfer load = check(a, 1, 16, no, 4);
  EXPECT_EQ(load.instructions(), 4);
  EXPECT_EQ(load.addresses.str(),
            "64x32 threads 128 (16,2,2,2):(1@0,8@1,16@0,0) registers "
            "(8,2,2):(1@1,16@1,32@0)");
  for (int64_t n : {8, 64, 176, 256})
    check(*wgmmaAccumulator(n), 1, 16, no, n % 16 == 0 ? 4 : 2);
}

TEST(MatrixTransfer, ItsAccessFindsTheSwizzle) {
  const MatrixTransfer store = *matrixTransfer(*wgmmaAccumulator(128), 1, 16);
  const SharedChoice choice =
      *searchSwizzle({64, 128}, 16, {store.access()}, SharedEngine::Tma);
  EXPECT_TRUE(choice.wavefronts.isConflictFree());
  EXPECT_EQ(choice.layout.mode(16), SwizzleMode::Bytes128);
  EXPECT_EQ(choice.wavefronts.actual, 4 * 2 * 16); // warps, rows, columns of 8
}

TEST(MatrixTransfer, MoreDimensions) {
  const FragmentLayout stages = *FragmentLayout::parse(
      "2x16x16 threads 64 (4,8,2):(2@2,1@1,1@0) registers "
      "(2,2,2):(1@2,8@1,8@2)");
  check(stages, 2, 16, Transposed::No, 4);
}

TEST(MatrixTransfer, SaysWhatDoesNotFit) {
  EXPECT_EQ(
      matrixTransfer(*blockedFragment({64, 64}, 128, 8), 1, 16).reason(),
      "register 0 is not part of an 8x8 matrix with rows of 16 bytes along "
      "dimension 1");
  EXPECT_EQ(
      matrixTransfer(*wgmmaAccumulator(64), 0, 32).reason(),
      "register 0 is not part of an 8x8 matrix with rows of 16 bytes along "
      "dimension 0");
  EXPECT_EQ(matrixTransfer(*wgmmaAccumulator(64), 2, 16).reason(),
            "dimension 2 of a tile of rank 2");
  EXPECT_EQ(matrixTransfer(*wgmmaAccumulator(64), 1, 64).reason(),
            "ldmatrix moves elements of 4, 8, 16 or 32 bits, got 64");
  // Atoms that overhang the tile have idle slots.
  EXPECT_FALSE(matrixTransfer(
      *repeatFragment(*wgmmaAccumulator(16), {60, 16}, Tiling()), 1, 16));
  // Halves that straddle rows of 16 bytes.
  const FragmentLayout shifted = *FragmentLayout::parse(
      "8x12 threads 32 (4,8):(2@1,1@0) registers (2,2):(1@1,4@1)");
  EXPECT_EQ(
      matrixTransfer(shifted, 1, 16).reason(),
      "register 2 is not part of an 8x8 matrix with rows of 16 bytes along "
      "dimension 1");
}
