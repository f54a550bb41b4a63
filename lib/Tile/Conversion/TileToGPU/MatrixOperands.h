//===- MatrixOperands.h - Operands of matrix instructions -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_TILETOGPU_MATRIXOPERANDS_H
#define TILE_CONVERSION_TILETOGPU_MATRIXOPERANDS_H

#include "CopySide.h"
#include "Tile/Layout/MatrixTransfer.h"

namespace tile::gpu_code {

/// A or B of a gemm by matrix instructions. The *outer* dimension is M or N.
struct ThreadCode::Operand {
  const GemmPlan *plan;
  Value buffer;
  bool isA;
  /// K runs along the rows of the buffer in memory.
  bool isInnerContiguous;
  /// It comes from the registers of a fragment.
  bool isInRegisters;
  /// Elements of f32 that the instruction wants as tf32.
  bool roundsToTF32;
  /// Outer extent and K of one instruction.
  int64_t outerStep, innerStep;
  /// Outer coordinate at which the warp's part starts.
  Value warpStart;

  /// How ldmatrix brings it from shared memory; null where elements come one by
  /// one.
  std::unique_ptr<layout::MatrixTransfer> transfer;
  Side side;
  std::unique_ptr<Slots> slots;
  /// By the number of the instruction.
  llvm::DenseMap<int64_t, Values> loaded;
};

} // namespace tile::gpu_code

#endif // TILE_CONVERSION_TILETOGPU_MATRIXOPERANDS_H
