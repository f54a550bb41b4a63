//===- NarrowFloats.cpp - Conversions of 8- and 16-bit floats ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The LLVM dialect holds an 8-bit float as its bits and knows no conversion of
// it, and a conversion from f64 or a wide integer to a narrow float would go
// through f32 and be rounded twice. Here both become integer arithmetic on
// scalars or vectors: to the nearest, ties to even, rounded once. Everything
// else that is done to 8-bit floats is done in f32.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include <cmath>

using namespace mlir;
using namespace tile;

static bool isF8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(getElementTypeOrSelf(type));
}

namespace {
/// Builds values of one shape: scalars, or vectors of one length.
struct Shaped {
  ImplicitLocOpBuilder b;
  Type like;

  Shaped(PatternRewriter &rewriter, Operation *op)
      : b(op->getLoc(), rewriter), like(op->getResult(0).getType()) {}

  Type with(Type element) {
    if (auto vector = dyn_cast<VectorType>(like))
      return VectorType::get(vector.getShape(), element);
    return element;
  }
  Value constant(TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(with(value.getType())))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(b, value);
  }
  Value integer(unsigned width, uint64_t value) {
    return constant(b.getIntegerAttr(
        b.getIntegerType(width),
        APInt(width, value, /*isSigned=*/false, /*implicitTrunc=*/true)));
  }
  Value bits(Value value, unsigned width) {
    return arith::BitcastOp::create(b, with(b.getIntegerType(width)), value);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }

  /// f64 to f32 toward the neighbour whose last bit is odd, unless exact: what
  /// was cut off can still be told when the result is rounded to fewer bits.
  Value roundToOdd(Value wide);
  /// Any wider float to f32, such that rounding that is rounding once.
  Value toF32(Value value);
};
} // namespace

Value Shaped::roundToOdd(Value wide) {
  Type f32 = with(b.getF32Type()), f64 = with(b.getF64Type());
  Value nearest = arith::TruncFOp::create(b, f32, wide);
  Value back = arith::ExtFOp::create(b, f64, nearest);
  // Equal, or NaN.
  Value isExact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::UEQ, back, wide);
  // As integers without their sign, floats are ordered as their magnitudes.
  Value mask = integer(64, ~(uint64_t(1) << 63));
  Value isAbove = compare(arith::CmpIPredicate::ugt,
                          arith::AndIOp::create(b, bits(back, 64), mask),
                          arith::AndIOp::create(b, bits(wide, 64), mask));
  Value code = bits(nearest, 32);
  Value below = arith::SubIOp::create(b, code, integer(32, 1));
  Value odd =
      arith::OrIOp::create(b, select(isAbove, below, code), integer(32, 1));
  return arith::BitcastOp::create(b, f32, select(isExact, code, odd));
}

Value Shaped::toF32(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  if (type.isF32())
    return value;
  if (type.isF64())
    return roundToOdd(value);
  return arith::ExtFOp::create(b, with(b.getF32Type()), value);
}

namespace {
/// An 8-bit format: one sign bit, `mantissa` bits after the point.
struct Format {
  unsigned mantissa, bias;
  /// What lies beyond the largest finite number, and NaN.
  uint64_t overflow, nan;

  static Format get(Type type) {
    if (isa<Float8E4M3FNType>(type))
      return {3, 7, 0x7f, 0x7f};
    return {2, 15, 0x7c, 0x7e};
  }
};

struct EncodeF8 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isF8(op.getType()))
      return rewriter.notifyMatchFailure(op, "the result is no 8-bit float");
    Shaped s(rewriter, op);
    ImplicitLocOpBuilder &b = s.b;
    Format format = Format::get(getElementTypeOrSelf(op.getType()));
    unsigned drop = 23 - format.mantissa;

    Value all = s.bits(s.toF32(op.getIn()), 32);
    Value magnitude = arith::AndIOp::create(b, all, s.integer(32, 0x7fffffff));
    Value sign = arith::ShRUIOp::create(b, all, s.integer(32, 24));
    sign = arith::AndIOp::create(b, sign, s.integer(32, 0x80));

    // Adding just under half of the last kept bit, and its own value to break
    // ties, carries into it where the number is to be rounded up.
    Value odd = arith::ShRUIOp::create(b, magnitude, s.integer(32, drop));
    odd = arith::AndIOp::create(b, odd, s.integer(32, 1));
    Value sum = arith::AddIOp::create(
        b, magnitude, s.integer(32, (uint64_t(1) << (drop - 1)) - 1));
    sum = arith::AddIOp::create(b, sum, odd);
    Value code = arith::ShRUIOp::create(b, sum, s.integer(32, drop));
    code = arith::SubIOp::create(
        b, code, s.integer(32, (127 - format.bias) << format.mantissa));

    // Below the normal numbers: added to a number whose last bit is worth what
    // theirs is, the addition itself does the rounding.
    float unit = std::ldexp(1.f, 24 - int(format.bias) - int(format.mantissa));
    Value base = s.constant(b.getF32FloatAttr(unit));
    Value number =
        arith::BitcastOp::create(b, s.with(b.getF32Type()), magnitude);
    Value small = s.bits(arith::AddFOp::create(b, number, base), 32);
    small = arith::SubIOp::create(b, small, s.bits(base, 32));
    Value isSmall = s.compare(arith::CmpIPredicate::ult, magnitude,
                              s.integer(32, uint64_t(128 - format.bias) << 23));
    code = s.select(isSmall, small, code);

    code = arith::MinUIOp::create(b, code, s.integer(32, format.overflow));
    Value isNaN = s.compare(arith::CmpIPredicate::ugt, magnitude,
                            s.integer(32, 0x7f800000));
    code = s.select(isNaN, s.integer(32, format.nan), code);
    code = arith::OrIOp::create(b, code, sign);
    code = arith::TruncIOp::create(b, s.with(b.getI8Type()), code);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), code);
    return success();
  }
};

struct DecodeF8 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType());
    if (!isF8(from))
      return rewriter.notifyMatchFailure(op, "the operand is no 8-bit float");
    Shaped s(rewriter, op);
    Value code = s.bits(op.getIn(), 8);
    Value result =
        isa<Float8E5M2Type>(from) ? decodeE5M2(s, code) : decodeE4M3FN(s, code);
    Type to = getElementTypeOrSelf(op.getType());
    rewriter.replaceOp(op,
                       cpu::convertElement(rewriter, op.getLoc(), result, to));
    return success();
  }

private:
  /// The upper half of an f16.
  static Value decodeE5M2(Shaped &s, Value code) {
    ImplicitLocOpBuilder &b = s.b;
    Value half = arith::ExtUIOp::create(b, s.with(b.getIntegerType(16)), code);
    half = arith::ShLIOp::create(b, half, s.integer(16, 8));
    return arith::BitcastOp::create(b, s.with(b.getF16Type()), half);
  }

  static Value decodeE4M3FN(Shaped &s, Value code) {
    ImplicitLocOpBuilder &b = s.b;
    Type i32 = s.with(b.getI32Type()), f32 = s.with(b.getF32Type());
    Value wide = arith::ExtUIOp::create(b, i32, code);
    Value magnitude = arith::AndIOp::create(b, wide, s.integer(32, 0x7f));
    Value sign = arith::AndIOp::create(b, wide, s.integer(32, 0x80));
    sign = arith::ShLIOp::create(b, sign, s.integer(32, 24));
    Value normal = arith::ShLIOp::create(b, magnitude, s.integer(32, 20));
    normal = arith::AddIOp::create(b, normal,
                                   s.integer(32, uint64_t(127 - 7) << 23));
    // Subnormal numbers are multiples of 2^-9.
    Value small = arith::SIToFPOp::create(b, f32, magnitude);
    small = arith::MulFOp::create(
        b, small, s.constant(b.getF32FloatAttr(std::ldexp(1.f, -9))));
    Value isSmall =
        s.compare(arith::CmpIPredicate::ult, magnitude, s.integer(32, 8));
    Value all = s.select(isSmall, s.bits(small, 32), normal);
    Value isNaN =
        s.compare(arith::CmpIPredicate::eq, magnitude, s.integer(32, 0x7f));
    all = s.select(isNaN, s.integer(32, 0x7fc00000), all);
    return arith::BitcastOp::create(b, f32, arith::OrIOp::create(b, all, sign));
  }
};

/// f64 to f16 and bf16.
struct RoundF64Once : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType());
    Type to = getElementTypeOrSelf(op.getType());
    if (!from.isF64() || !(to.isF16() || to.isBF16()))
      return rewriter.notifyMatchFailure(op, "not from f64 to 16 bits");
    Shaped s(rewriter, op);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(),
                                                 s.roundToOdd(op.getIn()));
    return success();
  }
};

/// Integers with more bits than f32 has: by way of f64. Those with more bits
/// than f64 has are first cut to an odd number, as in roundToOdd.
template <typename OpTy> struct RoundIntegerOnce : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Type to = getElementTypeOrSelf(op.getType());
    Value in = op.getIn();
    unsigned width = getElementTypeOrSelf(in.getType()).getIntOrFloatBitWidth();
    if (to.getIntOrFloatBitWidth() >= 32 || width <= 24)
      return rewriter.notifyMatchFailure(op, "f32 holds every value");
    Shaped s(rewriter, op);
    ImplicitLocOpBuilder &b = s.b;
    if (width > 53) {
      Value low = arith::AndIOp::create(b, in, s.integer(width, 0xfff));
      Value isExact =
          s.compare(arith::CmpIPredicate::eq, low, s.integer(width, 0));
      Value cut = arith::SubIOp::create(b, in, low);
      Value odd = arith::OrIOp::create(b, cut, s.integer(width, 0x1000));
      // Small numbers fit as they are.
      constexpr bool isSigned = std::is_same_v<OpTy, arith::SIToFPOp>;
      Value shifted = arith::AddIOp::create(
          b, in, s.integer(width, isSigned ? uint64_t(1) << 52 : 0));
      Value isSmall = s.compare(arith::CmpIPredicate::ult, shifted,
                                s.integer(width, uint64_t(1) << 53));
      Value isKept = arith::OrIOp::create(b, isExact, isSmall);
      in = s.select(isKept, in, odd);
    }
    Value wide = OpTy::create(b, s.with(b.getF64Type()), in);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
    return success();
  }
};

/// Any other arithmetic on 8-bit floats.
struct ComputeF8InF32 : RewritePattern {
  explicit ComputeF8InF32(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
      return rewriter.notifyMatchFailure(op, "is no arithmetic");
    return cpu::computeInF32(rewriter, op, isF8);
  }
};
} // namespace

LogicalResult cpu::computeInF32(PatternRewriter &rewriter, Operation *op,
                                function_ref<bool(Type)> isNarrow) {
  if (!OpTrait::hasElementwiseMappableTraits(op) ||
      isa<arith::ConstantOp, arith::TruncFOp, arith::ExtFOp, arith::BitcastOp,
          arith::SelectOp>(op))
    return rewriter.notifyMatchFailure(op, "moves bits or converts by itself");
  if (!llvm::any_of(op->getOperandTypes(), isNarrow) &&
      !llvm::any_of(op->getResultTypes(), isNarrow))
    return rewriter.notifyMatchFailure(op, "has no narrow float");
  Location loc = op->getLoc();
  Type f32 = rewriter.getF32Type();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (isNarrow(operand.getType()))
      mapping.map(operand, convertElement(rewriter, loc, operand, f32));
  Operation *wide = rewriter.clone(*op, mapping);
  SmallVector<Value> results;
  for (OpResult result : wide->getResults()) {
    Type type = result.getType();
    if (!isNarrow(type)) {
      results.push_back(result);
      continue;
    }
    auto vector = dyn_cast<VectorType>(type);
    result.setType(vector ? vector.clone(f32) : f32);
    results.push_back(
        convertElement(rewriter, loc, result, getElementTypeOrSelf(type)));
  }
  rewriter.replaceOp(op, results);
  return success();
}

void cpu::populateNarrowFloatPatterns(RewritePatternSet &patterns) {
  patterns
      .add<EncodeF8, DecodeF8, RoundF64Once, RoundIntegerOnce<arith::SIToFPOp>,
           RoundIntegerOnce<arith::UIToFPOp>>(patterns.getContext(),
                                              /*benefit=*/2);
  patterns.add<ComputeF8InF32>(patterns.getContext());
}
