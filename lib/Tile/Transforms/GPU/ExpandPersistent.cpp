//===- ExpandPersistent.cpp - Tiles shared among blocks ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/GPUPasses.h"
#include "Tile/Transforms/TileOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDPERSISTENT
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

/// The number of the block that runs, and how many there are.
static std::pair<Value, Value> numberBlocks(ImplicitLocOpBuilder &b,
                                            LaunchOp launch) {
  Value number = arith::ConstantIndexOp::create(b, 0);
  Value count = arith::ConstantIndexOp::create(b, 1);
  for (auto [id, extent] : llvm::zip(launch.getBlockIds(), launch.getGrid())) {
    Value scaled = b.createOrFold<arith::MulIOp>(id, count);
    number = b.createOrFold<arith::AddIOp>(number, scaled);
    count = b.createOrFold<arith::MulIOp>(count, extent);
  }
  return {number, count};
}

static void expandPersistent(PersistentOp op) {
  IRRewriter rewriter(op.getContext());
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto [worker, workers] = numberBlocks(b, op->getParentOfType<LaunchOp>());
  SmallVector<Value> extents;
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value count = arith::ConstantIndexOp::create(b, 1);
  for (Value extent : op.getTiles()) {
    // An extent below zero means nothing to do.
    extents.push_back(b.createOrFold<arith::MaxSIOp>(extent, zero));
    count = b.createOrFold<arith::MulIOp>(count, extents.back());
  }
  auto loop = scf::ForOp::create(b, worker, count, workers);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> point =
      locateTile(b, loop.getInductionVar(), extents, op.getRasterAttr());
  Block &body = op.getBody().front();
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, loop.getBody()->getTerminator(), point);
  rewriter.eraseOp(op);
}

namespace {
struct ExpandPersistentPass
    : tile::impl::TileExpandPersistentBase<ExpandPersistentPass> {
  void runOnOperation() override {
    SmallVector<PersistentOp> loops;
    getOperation()->walk([&](PersistentOp loop) { loops.push_back(loop); });
    for (PersistentOp loop : loops)
      expandPersistent(loop);
    numLoops += loops.size();
  }
};
} // namespace
