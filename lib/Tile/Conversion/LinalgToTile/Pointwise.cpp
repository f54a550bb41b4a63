//===- Pointwise.cpp - Ops computed element by element ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block owns a tile of the last two parallel loops and computes each element
// of it in one lane of an elementwise loop, straight from global memory. Loops
// that reduce run inside the lane. That serves elementwise ops with any
// broadcasts and transposes, and is the fallback for reductions of any form and
// for convolutions.
//
//===----------------------------------------------------------------------===//

#include "Nest.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::linalg_to_tile;

/// Each point of the parallel loops has its own element of every output.
static bool ownsItsOutputs(linalg::LinalgOp op, ArrayRef<unsigned> parallel) {
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &output) {
    AffineMap map = op.getMatchingIndexingMap(&output);
    return map.isProjectedPermutation() &&
           map.getNumResults() == parallel.size() &&
           llvm::all_of(parallel, [&](unsigned loop) {
             return map.isFunctionOfDim(loop);
           });
  });
}

namespace {
class PointwiseLowering {
public:
  PointwiseLowering(linalg::LinalgOp op, ArrayRef<unsigned> reductions,
                    Nest &nest)
      : op(op), reductions(reductions), nest(nest) {}

  /// The values of the outputs at `point`.
  SmallVector<Value> compute(OpBuilder &b, ValueRange point) {
    SmallVector<Value> outputs;
    for (OpOperand &output : op.getDpsInitsMutable()) {
      bool isRead = !reductions.empty() ||
                    !op.getMatchingBlockArgument(&output).use_empty();
      outputs.push_back(isRead ? loadAt(b, op, output, point) : Value());
    }
    return accumulate(b, point, outputs, reductions);
  }

private:
  SmallVector<Value> accumulate(OpBuilder &b, ValueRange point,
                                ValueRange outputs, ArrayRef<unsigned> left) {
    Location loc = op.getLoc();
    if (left.empty()) {
      IRMapping mapping;
      for (auto [output, value] : llvm::zip(op.getDpsInitsMutable(), outputs))
        if (value)
          mapping.map(op.getMatchingBlockArgument(&output), value);
      return computeAt(b, op, point, mapping);
    }
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    auto loop = scf::ForOp::create(
        b, loc, zero, nest.loops()[left.front()].extent, one, outputs);
    OpBuilder::InsertionGuard guard(b);
    if (!loop.getBody()->empty())
      loop.getBody()->back().erase();
    b.setInsertionPointToEnd(loop.getBody());
    SmallVector<Value> inner(point);
    inner[left.front()] = loop.getInductionVar();
    scf::YieldOp::create(
        b, loc,
        accumulate(b, inner, loop.getRegionIterArgs(), left.drop_front()));
    return loop.getResults();
  }

  linalg::LinalgOp op;
  ArrayRef<unsigned> reductions;
  Nest &nest;
};
} // namespace

LogicalResult linalg_to_tile::lowerPointwise(RewriterBase &rewriter,
                                             linalg::LinalgOp op) {
  SmallVector<unsigned> parallel = loopsOf(op, utils::IteratorType::parallel);
  SmallVector<unsigned> reductions =
      loopsOf(op, utils::IteratorType::reduction);
  if (parallel.size() + reductions.size() != op.getNumLoops())
    return rewriter.notifyMatchFailure(op, "has loops of another kind");
  if (!ownsItsOutputs(op, parallel))
    return rewriter.notifyMatchFailure(
        op, "has an output without an element for each point");

  Nest nest(op);
  Tunables tunables(op);
  // Wide along the output's last dimension, where its elements are neighbours.
  AffineMap order = op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]);
  SmallVector<unsigned> tiled;
  for (unsigned i = 0, rank = order.getNumResults(); i < rank; ++i)
    tiled.push_back(order.getDimPosition(i));
  parallel = tiled;
  if (tiled.size() > 2)
    tiled.erase(tiled.begin(), tiled.end() - 2);
  if (!tiled.empty()) {
    Loop &columns = nest.loops()[tiled.back()];
    columns.tile = tunables.get("columns", columns.staticExtent,
                                tiled.size() == 1 ? 1024 : 256);
  }
  if (tiled.size() == 2) {
    Loop &rows = nest.loops()[tiled.front()];
    rows.tile = tunables.get("rows", rows.staticExtent, 16);
  }
  bool guard = !mayRunAnywhere(op);
  nest.launch(parallel);
  nest.forEach(tiled, [&](OpBuilder &b, ValueRange, ValueRange point) {
    Location loc = op.getLoc();
    OpBuilder::InsertionGuard insertion(b);
    Value inside = guard ? nest.isInside(b, tiled, point) : Value();
    if (inside) {
      auto test = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
      b.setInsertionPointToStart(test.thenBlock());
    }
    SmallVector<Value> results =
        PointwiseLowering(op, reductions, nest).compute(b, point);
    for (auto [output, value] : llvm::zip(op.getDpsInitsMutable(), results))
      storeAt(b, op, output, point, value);
  });
  rewriter.eraseOp(op);
  return success();
}
