//===- StaticTypes.cpp - Carry constant extents into types ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules are the canonicalization patterns of the ops concerned, here and
// upstream; this file only chooses them. Regions are left as they are: merging
// blocks or dropping arguments is not what a change of types is about.
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/StaticTypes.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tile;

template <typename... Ops> static void addPatternsOf(RewritePatternSet &set) {
  (Ops::getCanonicalizationPatterns(set, set.getContext()), ...);
}

void tile::propagateStaticTypes(FunctionOpInterface function) {
  RewritePatternSet patterns(function.getContext());
  addPatternsOf<AllocSharedOp, AllocFragmentOp, AllocLocalOp, CopyOp,
                ParallelOp, PipelinedOp, LaunchOp>(patterns);
  addPatternsOf<memref::CastOp, memref::CollapseShapeOp, memref::DimOp,
                memref::ExpandShapeOp, memref::ReinterpretCastOp,
                memref::SubViewOp>(patterns);
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
      .setMaxIterations(GreedyRewriteConfig::kNoLimit);
  // Without a limit the driver only stops when nothing is left to do.
  (void)applyPatternsGreedily(function, std::move(patterns), config);
}
