//===- DeviceFP8.cpp - Conversions of 8-bit floats --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Works on every chip and rounds once, to nearest with ties to even. Values
// that are too large become infinity, or NaN in f8E4M3FN, which has no
// infinity.
//
//===----------------------------------------------------------------------===//

#include "DeviceFP8.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

static bool isFP8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

namespace {
/// Integer arithmetic of one width, short to write.
struct Bits {
  ImplicitLocOpBuilder &b;
  unsigned width;

  Type type() { return b.getIntegerType(width); }
  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type(), value));
  }
  Value andWith(Value x, int64_t mask) {
    return arith::AndIOp::create(b, x, constant(mask));
  }
  Value shiftLeft(Value x, int64_t by) {
    return arith::ShLIOp::create(b, x, constant(by));
  }
  Value shiftRight(Value x, int64_t by) {
    return arith::ShRUIOp::create(b, x, constant(by));
  }
  Value isGreater(Value x, int64_t y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, x, constant(y));
  }
};

/// Both types are the upper bits of an f16 but for the bias of f8E4M3FN.
struct ExtendFP8 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType();
    if (!isFP8(from))
      return rewriter.notifyMatchFailure(op, "no fp8");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Bits bits{b, 16};
    Value raw = arith::BitcastOp::create(b, b.getI8Type(), op.getIn());
    raw = arith::ExtUIOp::create(b, b.getI16Type(), raw);
    Value half;
    if (isa<Float8E5M2Type>(from)) {
      half =
          arith::BitcastOp::create(b, b.getF16Type(), bits.shiftLeft(raw, 8));
    } else {
      // Exponents are 8 apart; the product is exact for subnormals, too.
      Value magnitude = bits.andWith(raw, 0x7f);
      Value small = arith::BitcastOp::create(b, b.getF16Type(),
                                             bits.shiftLeft(magnitude, 7));
      Value scale = arith::ConstantOp::create(b, b.getF16FloatAttr(256.f));
      Value scaled = arith::MulFOp::create(b, small, scale);
      Value isNaN = bits.isGreater(magnitude, 0x7e);
      Value word = arith::BitcastOp::create(b, b.getI16Type(), scaled);
      word = arith::SelectOp::create(b, isNaN, bits.constant(0x7e00), word);
      Value sign = bits.shiftLeft(bits.andWith(raw, 0x80), 8);
      half = arith::BitcastOp::create(b, b.getF16Type(),
                                      arith::OrIOp::create(b, word, sign));
    }
    Type to = op.getType();
    if (to.isF16()) {
      rewriter.replaceOp(op, half);
      return success();
    }
    Value wide = arith::ExtFOp::create(b, b.getF32Type(), half);
    if (to.isF64())
      wide = arith::ExtFOp::create(b, to, wide);
    else if (!to.isF32())
      wide = arith::TruncFOp::create(b, to, wide);
    rewriter.replaceOp(op, wide);
    return success();
  }
};

struct TruncateFP8 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  /// An f32 that rounds to the same fp8 as `value`: rounded to odd, so that the
  /// last bit remembers what was cut off.
  static Value narrowToOdd(ImplicitLocOpBuilder &b, Value value) {
    Bits bits{b, 32};
    Value narrow = arith::TruncFOp::create(b, b.getF32Type(), value);
    Value back = arith::ExtFOp::create(b, b.getF64Type(), narrow);
    Value word = arith::BitcastOp::create(b, b.getI32Type(), narrow);
    Value isLarger = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                           math::AbsFOp::create(b, back),
                                           math::AbsFOp::create(b, value));
    Value below = arith::SubIOp::create(b, word, bits.constant(1));
    Value cut = arith::SelectOp::create(b, isLarger, below, word);
    Value sticky = arith::OrIOp::create(b, cut, bits.constant(1));
    Value isInexact =
        arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, value);
    return arith::BitcastOp::create(
        b, b.getF32Type(), arith::SelectOp::create(b, isInexact, sticky, word));
  }

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type to = op.getType();
    if (!isFP8(to))
      return rewriter.notifyMatchFailure(op, "no fp8");
    bool hasInfinity = isa<Float8E5M2Type>(to);
    int64_t mantissa = hasInfinity ? 2 : 3, bias = hasInfinity ? 15 : 7;
    int64_t largest = hasInfinity ? 0x7b : 0x7e,
            tooLarge = hasInfinity ? 0x7c : 0x7f;

    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Bits bits{b, 32};
    Value value = op.getIn();
    if (value.getType().isF64())
      value = narrowToOdd(b, value);
    else if (!value.getType().isF32())
      value = arith::ExtFOp::create(b, b.getF32Type(), value);
    Value word = arith::BitcastOp::create(b, b.getI32Type(), value);
    Value magnitude = bits.andWith(word, 0x7fffffff);

    // Normal results: add just below half of the last place kept, and one more
    // where that place is odd.
    int64_t shift = 23 - mantissa;
    Value odd = bits.andWith(bits.shiftRight(magnitude, shift), 1);
    Value rounded = arith::AddIOp::create(
        b, magnitude, bits.constant((int64_t(1) << (shift - 1)) - 1));
    rounded = arith::AddIOp::create(b, rounded, odd);
    Value normal =
        arith::SubIOp::create(b, bits.shiftRight(rounded, shift),
                              bits.constant((127 - bias) << mantissa));

    // Subnormal results: adding a number whose last place is theirs makes the
    // hardware round.
    int64_t anchor = (127 + 23 + 1 - bias - mantissa) << 23;
    Value base =
        arith::BitcastOp::create(b, b.getF32Type(), bits.constant(anchor));
    Value absolute = arith::BitcastOp::create(b, b.getF32Type(), magnitude);
    Value sum = arith::AddFOp::create(b, absolute, base);
    Value subnormal = arith::SubIOp::create(
        b, arith::BitcastOp::create(b, b.getI32Type(), sum),
        bits.constant(anchor));

    int64_t smallestNormal = (127 + 1 - bias) << 23;
    Value isNormal = bits.isGreater(magnitude, smallestNormal - 1);
    Value result = arith::SelectOp::create(b, isNormal, normal, subnormal);
    Value overflows = arith::AndIOp::create(
        b, isNormal,
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, normal,
                              bits.constant(largest)));
    result =
        arith::SelectOp::create(b, overflows, bits.constant(tooLarge), result);
    Value isNaN = bits.isGreater(magnitude, 0x7f800000);
    result = arith::SelectOp::create(b, isNaN, bits.constant(0x7f), result);
    Value sign = bits.andWith(bits.shiftRight(word, 24), 0x80);
    result = arith::OrIOp::create(b, result, sign);
    Value byte = arith::TruncIOp::create(b, b.getI8Type(), result);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, to, byte);
    return success();
  }
};

/// Arithmetic on fp8 is done in f32, which holds sums and products of two of
/// them exactly, and rounded once.
struct WidenFP8 : RewritePattern {
  explicit WidenFP8(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/6, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
            op->getDialect()) ||
        isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp, arith::ConstantOp,
            arith::SelectOp>(op) ||
        op->getNumResults() != 1)
      return failure();
    Type type = op->getResult(0).getType(), f32 = rewriter.getF32Type();
    if (!isFP8(type) && llvm::none_of(op->getOperandTypes(), isFP8))
      return failure();
    IRMapping map;
    for (Value operand : op->getOperands())
      if (isFP8(operand.getType()))
        map.map(operand,
                arith::ExtFOp::create(rewriter, op->getLoc(), f32, operand)
                    .getResult());
    Operation *wide = rewriter.clone(*op, map);
    if (!isFP8(type)) {
      rewriter.replaceOp(op, wide);
      return success();
    }
    wide->getResult(0).setType(f32);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, wide->getResult(0));
    return success();
  }
};
} // namespace

void tile::gpu_code::populateFP8Patterns(RewritePatternSet &patterns) {
  patterns.add<WidenFP8>(patterns.getContext());
  patterns.add<ExtendFP8, TruncateFP8>(patterns.getContext(), /*benefit=*/4);
}
