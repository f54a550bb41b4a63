//===- MatrixTransfer.cpp - Fragments moved by ldmatrix ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares what every lane holds with what the instruction distributes, slot by
// slot, so strided forms and tables are treated alike.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/MatrixTransfer.h"

#include "Coordinates.h"

using namespace tile::layout;

static constexpr int64_t rowsOfMatrix = 8, lanesOfRow = 4;

SharedAccess MatrixTransfer::access() const {
  return {AccessKind::Matrix, addresses, rowElements, rowsOfMatrix * matrices};
}

namespace {
/// One way to read a fragment as matrices: rows along `rowDim`.
class Reading {
public:
  Reading(const FragmentLayout &fragment, int64_t contiguousDim, int64_t rowDim,
          int64_t elementBits, Transposed transposed)
      : fragment(fragment), contiguousDim(contiguousDim), rowDim(rowDim),
        pack(elementBits >= 32 ? 1 : 32 / elementBits),
        rowElements(128 / elementBits), transposed(transposed),
        held(fragment.elements()) {}

  /// The first register that is not part of a matrix, or none.
  std::optional<int64_t> firstMisfit() const {
    for (int64_t first = 0; first < fragment.numThreads(); first += warpSize)
      for (int64_t reg = 0; reg < fragment.numRegisters(); ++reg)
        for (int64_t lane = 0; lane < warpSize; ++lane)
          if (!fits(first, lane, reg))
            return reg;
    return std::nullopt;
  }

  /// The element numbers of the row that a lane addresses.
  void appendRow(int64_t firstThread, int64_t matrix, int64_t row,
                 std::vector<int64_t> &into) const {
    Coordinate at = origin(firstThread, matrix * pack);
    at[rowDim] += row;
    for (int64_t i = 0; i < rowElements; ++i, ++at[contiguousDim])
      into.push_back(linearize(at, fragment.tile()));
  }

private:
  int64_t elementAt(int64_t thread, int64_t reg) const {
    return held[thread * fragment.numRegisters() + reg];
  }
  Coordinate origin(int64_t firstThread, int64_t reg) const {
    return delinearize(elementAt(firstThread, reg), fragment.tile());
  }

  bool fits(int64_t firstThread, int64_t lane, int64_t reg) const {
    const int64_t unit = reg / pack * pack;
    // An idle slot would be a place that stmatrix writes all the same.
    if (elementAt(firstThread, unit) == FragmentLayout::idle ||
        elementAt(firstThread + lane, reg) == FragmentLayout::idle)
      return false;
    Coordinate at = origin(firstThread, unit);
    if (at[contiguousDim] % rowElements != 0)
      return false;
    const int64_t along = lane % lanesOfRow * pack + reg % pack,
                  across = lane / lanesOfRow;
    at[contiguousDim] += transposed == Transposed::Yes ? across : along;
    at[rowDim] += transposed == Transposed::Yes ? along : across;
    return linearize(at, fragment.tile()) == elementAt(firstThread + lane, reg);
  }

  const FragmentLayout &fragment;
  int64_t contiguousDim, rowDim, pack, rowElements;
  Transposed transposed;
  std::vector<int64_t> held;
};
} // namespace

static Expected<MatrixTransfer> transferOf(const FragmentLayout &fragment,
                                           const Reading &reading, int64_t pack,
                                           int64_t rowElements,
                                           Transposed transposed) {
  const int64_t units = fragment.numRegisters() / pack;
  const int64_t matrices = units % 4 == 0 ? 4 : units % 2 == 0 ? 2 : 1;
  std::vector<int64_t> elements;
  for (int64_t thread = 0; thread < fragment.numThreads(); ++thread) {
    const int64_t lane = thread % warpSize;
    for (int64_t q = 0; q < units / matrices; ++q)
      reading.appendRow(thread - lane,
                        q * matrices + lane / rowsOfMatrix % matrices,
                        lane % rowsOfMatrix, elements);
  }
  Expected<FragmentLayout> addresses = FragmentLayout::enumerated(
      fragment.tile(), fragment.numThreads(), std::move(elements));
  if (!addresses)
    return addresses.failure();
  return MatrixTransfer{matrices, transposed, *addresses, rowElements};
}

Expected<MatrixTransfer>
tile::layout::matrixTransfer(const FragmentLayout &fragment,
                             int64_t contiguousDim, int64_t elementBits) {
  if (elementBits != 4 && elementBits != 8 && elementBits != 16 &&
      elementBits != 32)
    return Failure{"ldmatrix moves elements of 4, 8, 16 or 32 bits, got " +
                   std::to_string(elementBits)};
  if (contiguousDim < 0 || contiguousDim >= fragment.rank())
    return Failure{"dimension " + std::to_string(contiguousDim) +
                   " of a tile of rank " + std::to_string(fragment.rank())};
  const int64_t pack = elementBits >= 32 ? 1 : 32 / elementBits;
  if (fragment.numThreads() % warpSize != 0)
    return Failure{"ldmatrix works for whole warps, got " +
                   std::to_string(fragment.numThreads()) + " threads"};
  if (fragment.numRegisters() % pack != 0)
    return Failure{"ldmatrix fills registers of " + std::to_string(pack) +
                   " elements, got " + std::to_string(fragment.numRegisters()) +
                   " elements a thread"};
  int64_t furthest = 0;
  for (int64_t rowDim = fragment.rank() - 1; rowDim >= 0; --rowDim)
    for (Transposed transposed : {Transposed::No, Transposed::Yes}) {
      if (rowDim == contiguousDim ||
          (transposed == Transposed::Yes && elementBits != 16))
        continue;
      const Reading reading(fragment, contiguousDim, rowDim, elementBits,
                            transposed);
      const std::optional<int64_t> misfit = reading.firstMisfit();
      if (!misfit)
        return transferOf(fragment, reading, pack, 128 / elementBits,
                          transposed);
      furthest = std::max(furthest, *misfit);
    }
  return Failure{"register " + std::to_string(furthest) +
                 " is not part of an 8x8 matrix with rows of 16 bytes along "
                 "dimension " +
                 std::to_string(contiguousDim)};
}
