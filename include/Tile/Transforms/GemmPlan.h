//===- GemmPlan.h - The matrix instruction of a gemm ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which mma.sync a gemm uses and how warps divide its result. Layout inference
// and the lowering ask the same function, so they cannot disagree.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_GEMMPLAN_H
#define TILE_TRANSFORMS_GEMMPLAN_H

#include "Tile/IR/Chips.h"
#include "Tile/IR/TileDialect.h"
#include "Tile/Layout/Fragments.h"

namespace tile {

struct GemmPlan {
  /// The instruction: its shape and the names PTX gives the types of its A, B
  /// and C.
  layout::MmaShape shape;
  int64_t elementBits;
  llvm::StringRef aType, bType, cType;

  int64_t m, n, k;
  /// Warps along M and N; `replicas` groups of warps compute the same.
  int64_t warpsM, warpsN, replicas;

  int64_t tilesM() const { return m / (shape.m * warpsM); }
  int64_t tilesN() const { return n / (shape.n * warpsN); }
  int64_t tilesK() const { return k / shape.k; }
  /// Rows and columns of C from one warp to the next.
  int64_t warpRows() const { return m / warpsM; }
  int64_t warpColumns() const { return n / warpsN; }

  /// Registers of C, of A (as M x K) and of B (as K x N): those of one
  /// instruction first, then its repetitions along the second dimension, then
  /// along the first.
  layout::FragmentLayout layoutC() const;
  layout::FragmentLayout layoutA() const;
  layout::FragmentLayout layoutB() const;
};

/// Writes into each gemm of a launch what policy its plan follows, so that the
/// plan stays when the launch's other gemms change.
void pinPolicies(LaunchOp launch);

/// The plan of a gemm with static extents; none where no instruction fits its
/// types or extents, and the gemm is computed with scalar products instead.
std::optional<GemmPlan> planGemm(GemmOp op, int64_t threads, const Chip &chip);

/// The layout of C where scalar products compute it: an outer product of a few
/// rows and columns in each thread.
layout::FragmentLayout getScalarGemmLayout(int64_t m, int64_t n,
                                           int64_t threads);

} // namespace tile

#endif // TILE_TRANSFORMS_GEMMPLAN_H
