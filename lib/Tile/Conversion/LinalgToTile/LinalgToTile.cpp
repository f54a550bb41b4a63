//===- LinalgToTile.cpp - The conversion pass -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nest.h"
#include "Tile/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {
#define GEN_PASS_DEF_CONVERTLINALGTOTILE
#include "Tile/Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// A launch sees global buffers and elements of the dialect's types.
static bool isConvertible(Operation *op) {
  if (op->getParentOfType<LaunchOp>())
    return false;
  return llvm::all_of(op->getOperands(), [](Value value) {
    Type element = getElementTypeOrSelf(value.getType());
    if (isa<TensorType>(value.getType()) || !linalg_to_tile::isElement(element))
      return false;
    return !isa<MemRefType>(value.getType()) || isGlobal(value.getType());
  });
}

static LogicalResult convert(RewriterBase &rewriter, Operation *op) {
  if (!isConvertible(op))
    return rewriter.notifyMatchFailure(op, "does not work on global buffers");
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return linalg_to_tile::lowerSoftmax(rewriter, softmax);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return failure();
  if (succeeded(linalg_to_tile::lowerContraction(rewriter, structured)) ||
      succeeded(linalg_to_tile::lowerReduction(rewriter, structured)))
    return success();
  return linalg_to_tile::lowerPointwise(rewriter, structured);
}

namespace {
struct ConvertLinalgToTile
    : tile::impl::ConvertLinalgToTileBase<ConvertLinalgToTile> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<linalg::LinalgOp, linalg::SoftmaxOp, memref::CopyOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto copy = dyn_cast<memref::CopyOp>(op)) {
        if (!isConvertible(op) || !isa<MemRefType>(copy.getSource().getType()))
          continue;
        rewriter.setInsertionPoint(copy);
        op = rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(),
                                                         copy.getTarget());
      }
      rewriter.setInsertionPoint(op);
      ++(succeeded(convert(rewriter, op)) ? numConverted : numLeft);
    }
  }
};
} // namespace
