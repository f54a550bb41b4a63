//===- MatrixFragments.cpp - Fragments of matrix instructions ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All matrix fragments of PTX follow one pattern. Four lanes share a row (a
// column of B) and eight such groups make 8 rows; a lane holds `pack`
// neighbours, as many as fill 32 bits; further registers add 8 rows, then
// further k. That one rule, with pack = 32 / width, gives every dtype's table
// in the PTX manual; the tests spell the tables out.
//
//===----------------------------------------------------------------------===//

#include "Coordinates.h"
#include "Tile/Layout/Fragments.h"

using namespace tile::layout;

static constexpr int64_t lanesOfRow = 4, rowsOfMatrix = 8;

std::vector<MmaShape> tile::layout::mmaShapes(int64_t elementBits) {
  switch (elementBits) {
  case 1:
    return {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}};
  case 4:
    return {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}};
  case 8:
    return {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}};
  case 16:
    return {{16, 8, 8}, {16, 8, 16}};
  case 32:
    return {{16, 8, 4}, {16, 8, 8}};
  case 64:
    return {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}};
  default:
    return {};
  }
}

/// Neighbours in one 32-bit register; a 64-bit element takes two registers.
static int64_t packOf(int64_t elementBits) {
  return elementBits >= 32 ? 1 : 32 / elementBits;
}

static std::string shapeName(MmaShape shape) {
  return "m" + std::to_string(shape.m) + "n" + std::to_string(shape.n) + "k" +
         std::to_string(shape.k);
}

/// A (m x k) by the pattern; B is its transpose with n in place of m.
static FragmentModes operandModes(int64_t rows, int64_t k, int64_t pack) {
  FragmentModes modes;
  modes.threads = {{lanesOfRow, {0, pack}}, {rowsOfMatrix, {1, 0}}};
  modes.registers = {{pack, {0, 1}},
                     {rows / rowsOfMatrix, {rowsOfMatrix, 0}},
                     {k / (lanesOfRow * pack), {0, lanesOfRow * pack}}};
  return modes;
}

/// C (m x n): pairs along n, then 8 rows, then 8 columns.
static FragmentModes accumulatorModes(int64_t rows, int64_t n) {
  FragmentModes modes;
  modes.threads = {{lanesOfRow, {0, 2}}, {rowsOfMatrix, {1, 0}}};
  modes.registers = {{2, {0, 1}},
                     {rows / rowsOfMatrix, {rowsOfMatrix, 0}},
                     {n / rowsOfMatrix, {0, rowsOfMatrix}}};
  return modes;
}

Expected<FragmentLayout> tile::layout::mmaFragment(MmaShape shape,
                                                   Operand operand,
                                                   int64_t elementBits) {
  std::string known;
  bool isKnown = false;
  for (MmaShape candidate : mmaShapes(elementBits)) {
    known += (known.empty() ? "" : ", ") + shapeName(candidate);
    isKnown |= candidate.m == shape.m && candidate.n == shape.n &&
               candidate.k == shape.k;
  }
  if (!isKnown)
    return Failure{"mma.sync has no " + shapeName(shape) + " for " +
                   std::to_string(elementBits) + "-bit elements" +
                   (known.empty() ? "" : ", it has " + known)};
  const int64_t pack = packOf(elementBits);
  switch (operand) {
  case Operand::A:
    return FragmentLayout::strided({shape.m, shape.k}, warpSize,
                                   operandModes(shape.m, shape.k, pack));
  case Operand::B:
    return FragmentLayout::strided({shape.n, shape.k}, warpSize,
                                   operandModes(shape.n, shape.k, pack))
        ->permuteDims({1, 0});
  case Operand::C:
    break;
  }
  return FragmentLayout::strided({shape.m, shape.n}, warpSize,
                                 accumulatorModes(shape.m, shape.n));
}

/// The four warps of a warpgroup hold 16 rows each.
static FragmentModes overWarpgroup(FragmentModes modes) {
  modes.threads.push_back({4, {16, 0}});
  return modes;
}

Expected<FragmentLayout> tile::layout::wgmmaAccumulator(int64_t n) {
  if (n < 8 || n > 256 || n % 8 != 0)
    return Failure{"wgmma takes n from 8 to 256 in steps of 8, got " +
                   std::to_string(n)};
  return FragmentLayout::strided({64, n}, 4 * warpSize,
                                 overWarpgroup(accumulatorModes(16, n)));
}

Expected<FragmentLayout> tile::layout::wgmmaOperandA(int64_t elementBits) {
  if (elementBits != 8 && elementBits != 16 && elementBits != 32)
    return Failure{
        "wgmma multiplies elements of 8, 16 or 32 (tf32) bits, got " +
        std::to_string(elementBits)};
  const int64_t k = 256 / elementBits;
  return FragmentLayout::strided(
      {64, k}, 4 * warpSize,
      overWarpgroup(operandModes(16, k, packOf(elementBits))));
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

static std::optional<Failure> checkGrid(MatrixGrid grid, int64_t elementBits) {
  const int64_t count = grid.rows * grid.columns;
  if (grid.rows < 1 || grid.columns < 1 ||
      (count != 1 && count != 2 && count != 4))
    return Failure{"ldmatrix moves 1, 2 or 4 matrices, got " +
                   std::to_string(grid.rows) + " by " +
                   std::to_string(grid.columns)};
  if (elementBits != 4 && elementBits != 8 && elementBits != 16 &&
      elementBits != 32)
    return Failure{"ldmatrix moves elements of 4, 8, 16 or 32 bits, got " +
                   std::to_string(elementBits)};
  return std::nullopt;
}

/// The digits of the number of a matrix in the grid.
static std::vector<Mode> matrixModes(MatrixGrid grid, int64_t rowElements) {
  const Mode down{grid.rows, {rowsOfMatrix, 0}},
      across{grid.columns, {0, rowElements}};
  if (grid.order == MatrixGrid::Order::Down)
    return {down, across};
  return {across, down};
}

Expected<FragmentLayout> tile::layout::ldmatrixFragment(MatrixGrid grid,
                                                        int64_t elementBits,
                                                        Transposed transposed) {
  if (std::optional<Failure> bad = checkGrid(grid, elementBits))
    return *bad;
  if (transposed == Transposed::Yes && elementBits != 16)
    return Failure{"ldmatrix transposes 16-bit elements only, got " +
                   std::to_string(elementBits) + " bits"};
  const int64_t rowElements = 128 / elementBits, pack = packOf(elementBits);
  FragmentModes modes;
  if (transposed == Transposed::Yes) {
    modes.threads = {{lanesOfRow, {pack, 0}}, {rowsOfMatrix, {0, 1}}};
    modes.registers = {{pack, {1, 0}}};
  } else {
    modes.threads = {{lanesOfRow, {0, pack}}, {rowsOfMatrix, {1, 0}}};
    modes.registers = {{pack, {0, 1}}};
  }
  for (Mode &mode : matrixModes(grid, rowElements))
    modes.registers.push_back(std::move(mode));
  return FragmentLayout::strided(
      {grid.rows * rowsOfMatrix, grid.columns * rowElements}, warpSize,
      std::move(modes));
}

Expected<FragmentLayout> tile::layout::ldmatrixAddresses(MatrixGrid grid,
                                                         int64_t elementBits) {
  if (std::optional<Failure> bad = checkGrid(grid, elementBits))
    return *bad;
  const int64_t rowElements = 128 / elementBits;
  FragmentModes modes;
  modes.threads = {{rowsOfMatrix, {1, 0}}};
  for (Mode &mode : matrixModes(grid, rowElements))
    modes.threads.push_back(std::move(mode));
  // The hardware reads the addresses of the first lanes only; the others may
  // hand in what they like, and replicas of those are always valid.
  modes.threads.push_back({4 / (grid.rows * grid.columns), {0, 0}});
  modes.registers = {{rowElements, {0, 1}}};
  return FragmentLayout::strided(
      {grid.rows * rowsOfMatrix, grid.columns * rowElements}, warpSize,
      std::move(modes));
}
