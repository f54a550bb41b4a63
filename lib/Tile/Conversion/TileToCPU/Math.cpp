//===- Math.cpp - Elementary functions on the CPU ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polynomials for exp and exp2 of f32 scalars and vectors, upstream's for the
// other functions, and the widening of f16 and bf16 to f32 in front of both.
// docs/CPU.md states the accuracies, test/unit/Conversion measures them. f64
// functions are left to the C library.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Math/IR/Math.h"
#include "Lowering.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tile;

namespace {
/// Arithmetic on f32 values of one shape.
struct F32Builder {
  ImplicitLocOpBuilder &b;
  Type type;

  Value constant(float value) {
    TypedAttr attr = b.getF32FloatAttr(value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  }
  Type integerType() {
    if (auto vector = dyn_cast<VectorType>(type))
      return VectorType::get(vector.getShape(), b.getI32Type());
    return b.getI32Type();
  }
  Value constantInt(int32_t value) {
    TypedAttr attr = b.getI32IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(integerType()))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, attr);
  }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }

  /// 2^n for integers in [-126, 127], put together from its bits.
  Value powerOfTwo(Value n) {
    Value biased = arith::AddIOp::create(b, n, constantInt(127));
    Value bits = arith::ShLIOp::create(b, biased, constantInt(23));
    return arith::BitcastOp::create(b, type, bits);
  }

  /// e^t * 2^n for |t| <= ln(2) / 2 and integral n: the Taylor polynomial of
  /// degree 7 (remainder below 6e-9), scaled in two steps so that results in
  /// the subnormal range are rounded once.
  Value expTimesPower(Value t, Value n) {
    static constexpr float inverseFactorials[] = {
        1.f / 5040, 1.f / 720, 1.f / 120, 1.f / 24, 1.f / 6, 0.5f, 1.f, 1.f};
    Value sum = constant(inverseFactorials[0]);
    for (float coefficient : ArrayRef(inverseFactorials).drop_front())
      sum = fma(sum, t, constant(coefficient));
    Value whole = arith::FPToSIOp::create(b, integerType(), n);
    Value half = arith::ShRSIOp::create(b, whole, constantInt(1));
    Value other = arith::SubIOp::create(b, whole, half);
    Value scaled = arith::MulFOp::create(b, sum, powerOfTwo(half));
    return arith::MulFOp::create(b, scaled, powerOfTwo(other));
  }

  /// NaN stays NaN; the clamp keeps the scale inside what powerOfTwo takes.
  Value keepNaN(Value x, Value result) {
    Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
    return arith::SelectOp::create(b, isNaN, x, result);
  }
  Value clamp(Value x, float low, float high) {
    Value bounded = arith::MaxNumFOp::create(b, x, constant(low));
    return arith::MinNumFOp::create(b, bounded, constant(high));
  }
};

bool isF32(Value value) { return getElementTypeOrSelf(value).isF32(); }

/// exp(x) = e^t * 2^n with n = round(x / ln 2) and t = x - n ln 2, ln 2 in two
/// parts so that the product with n is exact in the first (Cody and Waite).
struct ApproximateExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getOperand()))
      return rewriter.notifyMatchFailure(op, "not f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    F32Builder f{b, op.getType()};
    // Beyond these the result is 0 or infinity either way.
    Value x = f.clamp(op.getOperand(), -105.f, 90.f);
    Value scaled = arith::MulFOp::create(b, x, f.constant(1.44269504f));
    Value n = math::RoundEvenOp::create(b, scaled);
    Value t = f.fma(n, f.constant(-0.693359375f), x);
    t = f.fma(n, f.constant(2.12194440e-4f), t);
    rewriter.replaceOp(op, f.keepNaN(op.getOperand(), f.expTimesPower(t, n)));
    return success();
  }
};

struct ApproximateExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getOperand()))
      return rewriter.notifyMatchFailure(op, "not f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    F32Builder f{b, op.getType()};
    Value x = f.clamp(op.getOperand(), -152.f, 130.f);
    Value n = math::RoundEvenOp::create(b, x);
    Value fraction = arith::SubFOp::create(b, x, n);
    Value t = arith::MulFOp::create(b, fraction, f.constant(0.693147181f));
    rewriter.replaceOp(op, f.keepNaN(op.getOperand(), f.expTimesPower(t, n)));
    return success();
  }
};

/// Functions of narrow floats are computed in f32 and rounded once.
struct WidenNarrowFunctions : RewritePattern {
  explicit WidenNarrowFunctions(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
        op->getNumResults() != 1)
      return failure();
    auto isNarrow = [](Type type) {
      auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
      return element && element.getWidth() < 32;
    };
    if (!isNarrow(op->getResult(0).getType()) ||
        !llvm::all_of(op->getOperandTypes(), isNarrow))
      return failure();
    Location loc = op->getLoc();
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, cpu::convertElement(rewriter, loc, operand,
                                               rewriter.getF32Type()));
    Operation *wide = rewriter.clone(*op, mapping);
    Type type = op->getResult(0).getType();
    wide->getResult(0).setType(mapping.lookup(op->getOperand(0)).getType());
    rewriter.replaceOp(op,
                       cpu::convertElement(rewriter, loc, wide->getResult(0),
                                           getElementTypeOrSelf(type)));
    return success();
  }
};
} // namespace

LogicalResult cpu::lowerMath(Operation *root) {
  MLIRContext *context = root->getContext();
  RewritePatternSet patterns(context);
  patterns.add<ApproximateExp, ApproximateExp2>(context, /*benefit=*/2);
  patterns.add<WidenNarrowFunctions>(context);
  populateMathPolynomialApproximationPatterns(patterns);
  arith::populateExpandBFloat16Patterns(patterns);
  return applyPatternsGreedily(root, std::move(patterns));
}
