//===- DebugOps.cpp - Looking into a running program -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

/// Messages end up in one line of a report.
static LogicalResult verifyMessage(Operation *op, StringRef message) {
  // debug-c1
  if (message.find_first_of(StringRef("\n\r\0", 3)) != StringRef::npos)
    return op->emitOpError("expects a message of one line");
  return success();
}

LogicalResult AssertOp::verify() { return verifyMessage(*this, getMessage()); }

namespace {
struct EraseTrueAssert : OpRewritePattern<AssertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AssertOp op,
                                PatternRewriter &rewriter) const override {
    if (!matchPattern(op.getCondition(), m_One()))
      return rewriter.notifyMatchFailure(op, "the condition may be false");
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void AssertOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<EraseTrueAssert>(context);
}

LogicalResult PrintOp::verify() {
  if (failed(verifyMessage(*this, getMessage())))
    return failure();
  // debug-c2
  if (!(*this)->getParentOfType<ParallelOp>())
    return success();
  for (Value value : getValues())
    if (isa<MemRefType>(value.getType()))
      return emitOpError("prints scalars in an elementwise loop, got ")
             << value.getType() << "; print the buffer outside the loop";
  return success();
}
