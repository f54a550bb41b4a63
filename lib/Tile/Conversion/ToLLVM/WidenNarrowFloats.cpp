//===- WidenNarrowFloats.cpp - Compute 16-bit floats in f32 -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's passes for the same purpose allow the conversions they insert to
// be contracted, so that a chain of operations is rounded only at its end.
//
//===----------------------------------------------------------------------===//

#include "../TileToCPU/Lowering.h"
#include "Tile/Conversion/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace tile {
#define GEN_PASS_DEF_WIDENNARROWFLOATS
#include "Tile/Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

static bool isBF16(Type type) { return getElementTypeOrSelf(type).isBF16(); }
static bool isHalf(Type type) {
  return isBF16(type) || getElementTypeOrSelf(type).isF16();
}

namespace {
struct WidenArithmetic : RewritePattern {
  explicit WidenArithmetic(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (isa_and_nonnull<math::MathDialect>(op->getDialect()))
      return cpu::computeInF32(rewriter, op, isHalf);
    // Machines and LLVM compute in f16, or do as if they did.
    if (isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
      return cpu::computeInF32(rewriter, op, isBF16);
    return rewriter.notifyMatchFailure(op, "is no arithmetic");
  }
};

struct WidenNarrowFloats
    : tile::impl::WidenNarrowFloatsBase<WidenNarrowFloats> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<WidenArithmetic>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
