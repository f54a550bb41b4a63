//===- SplitLockstep.cpp - Make elementwise loops independent ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops whose lanes never meet, which is the common case, are left alone; the
// others are planned and replaced.
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/SplitLockstep.h"
#include "LockstepPlan.h"
#include "Tile/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_SPLITLOCKSTEP
#include "Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace tile;

/// Lets loads and stores of a lane's buffers address them directly instead of
/// through views, since a buffer that is kept across groups changes its shape.
static void foldViewsOfLocals(ParallelOp loop) {
  SmallVector<Operation *> accesses;
  loop.walk([&](Operation *op) {
    Value memref;
    if (auto load = dyn_cast<memref::LoadOp>(op))
      memref = load.getMemRef();
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      memref = store.getMemRef();
    if (!memref || memref.getDefiningOp<AllocLocalOp>())
      return;
    auto local = getRootBuffer(memref).getDefiningOp<AllocLocalOp>();
    if (local && loop->isAncestor(local))
      accesses.push_back(op);
  });
  if (accesses.empty())
    return;
  RewritePatternSet patterns(loop.getContext());
  memref::populateFoldMemRefAliasOpPatterns(patterns);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
  // What does not fold is reported where it matters.
  (void)applyOpPatternsGreedily(accesses, std::move(patterns), config);
}

FailureOr<SplitCounts> tile::splitLockstep(FunctionOpInterface function) {
  SmallVector<ParallelOp> loops;
  function.walk([&](ParallelOp loop) { loops.push_back(loop); });
  bool valid = true;
  for (ParallelOp loop : loops)
    valid &= succeeded(checkLaneWrites(loop));
  if (!valid)
    return failure();

  SplitCounts counts;
  for (ParallelOp loop : loops) {
    if (isIndependent(loop))
      continue;
    foldViewsOfLocals(loop);
    FailureOr<LockstepPlan> plan = planLockstep(loop);
    if (failed(plan))
      return failure();
    ++counts.loops;
    emitLockstep(loop, *plan, counts);
  }
  return counts;
}

namespace {
struct SplitLockstepPass : tile::impl::SplitLockstepBase<SplitLockstepPass> {
  void runOnOperation() override {
    FailureOr<SplitCounts> counts = splitLockstep(getOperation());
    if (failed(counts))
      return signalPassFailure();
    numLoops += counts->loops;
    numGroups += counts->groups;
    numTemporaries += counts->temporaries;
  }
};
} // namespace
