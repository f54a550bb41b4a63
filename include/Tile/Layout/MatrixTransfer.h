//===- MatrixTransfer.h - Fragments moved by ldmatrix ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ldmatrix moves 8x8 matrices, and nothing says that a fragment consists of
// them: the operands of mma.sync do, accumulators in 16 bits do, so do their
// repetitions over warps in any order. This finds out, and gives each lane the
// row whose address it passes.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_MATRIXTRANSFER_H
#define TILE_LAYOUT_MATRIXTRANSFER_H

#include "Tile/Layout/BankConflicts.h"
#include "Tile/Layout/Fragments.h"

namespace tile::layout {

/// Instruction q of a thread moves its matrices q * matrices ... ; matrix j is
/// registers j * pack ... j * pack + pack - 1, pack being 32 / element bits.
struct MatrixTransfer {
  int64_t matrices = 1;
  Transposed transposed = Transposed::No;
  /// Registers q * rowElements ... of a thread are the elements of the row
  /// whose address it passes to instruction q; lanes beyond 8 * matrices hold
  /// replicas.
  FragmentLayout addresses;
  int64_t rowElements = 8;

  int64_t instructions() const {
    return addresses.numRegisters() / rowElements;
  }
  /// For counting wavefronts and searching swizzles.
  SharedAccess access() const;
};

/// How `fragment` moves between registers and a buffer in which `contiguousDim`
/// is contiguous in rows of 16 bytes. The reason of a failure names the
/// register that does not fit.
Expected<MatrixTransfer> matrixTransfer(const FragmentLayout &fragment,
                                        int64_t contiguousDim,
                                        int64_t elementBits);

} // namespace tile::layout

#endif // TILE_LAYOUT_MATRIXTRANSFER_H
