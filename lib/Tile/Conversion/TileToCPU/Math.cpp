//===- Math.cpp - Elementary functions on the CPU ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polynomials for the exponentials and logarithms of f32 scalars and vectors,
// upstream's for others, and the widening of f16 and bf16 to f32 in front of
// both. docs/CPU.md states the accuracies. What has no polynomial here, and all
// functions of f64, are left to the C library.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Math/IR/Math.h"
#include "Lowering.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tile;

namespace {
/// Arithmetic on f32 values of one shape.
struct F32Builder {
  ImplicitLocOpBuilder &b;
  Type type;
  int64_t vectorBytes;

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

  /// x to the nearest integer, as a float and as an integer, for |x| < 2^22.
  /// Adding 1.5 * 2^23 leaves the integer in the low bits of the sum: two steps
  /// where rounding and converting take three, and NaN, whose conversion would
  /// be undefined, passes.
  struct Rounded {
    Value number, integer;
  };
  Rounded roundSum(Value sum) {
    Value number = arith::SubFOp::create(b, sum, constant(kShift));
    Value bits = arith::BitcastOp::create(b, integerType(), sum);
    Value integer = arith::SubIOp::create(b, bits, constantInt(kShiftBits));
    return {number, integer};
  }
  static constexpr float kShift = 12582912.f;
  static constexpr int32_t kShiftBits = 0x4b400000;

  /// x * 2^n, rounded once, for n whose powers f32 can reach in two steps.
  Value scale(Value x, Value n) {
    Value half = arith::ShRSIOp::create(b, n, constantInt(1));
    Value other = arith::SubIOp::create(b, n, half);
    Value scaled = arith::MulFOp::create(b, x, powerOfTwo(half));
    return arith::MulFOp::create(b, scaled, powerOfTwo(other));
  }

  /// Whether registers of 64 bytes, which are x86's, are filled.
  bool isWide() const {
    auto vector = dyn_cast<VectorType>(type);
    return vector && vectorBytes >= 64 && vector.getNumElements() % 16 == 0;
  }

  /// x * 2^n, rounded once, for any whole n, in one instruction, whose special
  /// cases are those of exponentials: where n is infinite, x may be NaN.
  Value scaleWide(Value x, Value n) {
    auto part = VectorType::get({16}, b.getF32Type());
    Value all = arith::ConstantOp::create(b, b.getI16IntegerAttr(-1));
    Value nearest = arith::ConstantOp::create(b, b.getI32IntegerAttr(4));
    Value result = constant(0.f);
    int64_t count = cast<VectorType>(type).getNumElements();
    for (int64_t at = 0; at < count; at += 16) {
      auto take = [&](Value value) -> Value {
        return count == 16 ? value
                           : vector::ExtractStridedSliceOp::create(
                                 b, value, at, /*size=*/16, /*stride=*/1);
      };
      Value factor = take(x);
      Value scaled =
          LLVM::CallIntrinsicOp::create(
              b, part, b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
              ValueRange{factor, take(n), factor, all, nearest})
              .getResult(0);
      result = count == 16 ? scaled
                           : vector::InsertStridedSliceOp::create(
                                 b, scaled, result, at, /*stride=*/1);
    }
    return result;
  }

  /// e^t for |t| <= ln(2) / 2: 1 + t + t^2 q(t), where q is the best polynomial
  /// of degree 4 for the relative error of the whole (4e-9).
  Value expNearZero(Value t) {
    static constexpr float coefficients[] = {0x1.6a21acp-10f,
                                             0x1.123b6ap-7f,
                                             0x1.5558fap-5f,
                                             0x1.555490p-3f,
                                             0x1.fffffcp-2f,
                                             1.f,
                                             1.f};
    Value sum = constant(coefficients[0]);
    for (float coefficient : ArrayRef(coefficients).drop_front())
      sum = fma(sum, t, constant(coefficient));
    return sum;
  }

  /// `reduce` gives t and n, the latter as in `roundSum`, of an argument x
  /// whose result is e^t * 2^n. Results in the subnormal range are rounded once
  /// more. Where all lanes of a vector lie within `ordinary` of zero, results
  /// and powers are normal numbers, so that arguments need not be clamped, and
  /// a sum of exponents is the product.
  Value expTimesPower(Value x, float ordinary, float low, float high,
                      function_ref<std::pair<Value, Value>(Value x)> reduce) {
    if (isWide()) {
      // Far above, t may be anything, even NaN where x is infinite; but the
      // polynomial is positive everywhere and n large, so that the product is
      // infinite. Far below, that would do harm.
      auto [t, sum] = reduce(atLeast(x, low));
      return scaleWide(expNearZero(t), roundSum(sum).number);
    }
    auto anywhere = [&]() -> Value {
      auto [t, sum] = reduce(atMost(atLeast(x, low), high));
      return scale(expNearZero(t), roundSum(sum).integer);
    };
    if (!isa<VectorType>(type))
      return anywhere();
    Value near =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OLT,
                              math::AbsFOp::create(b, x), constant(ordinary));
    Value all =
        vector::ReductionOp::create(b, vector::CombiningKind::AND, near);
    auto test = scf::IfOp::create(b, type, all, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(test.thenBlock());
    auto [t, sum] = reduce(x);
    Value exponent = arith::ShLIOp::create(
        b, arith::BitcastOp::create(b, integerType(), sum), constantInt(23));
    Value bits = arith::BitcastOp::create(b, integerType(), expNearZero(t));
    bits = arith::AddIOp::create(b, bits, exponent);
    scf::YieldOp::create(b,
                         arith::BitcastOp::create(b, type, bits).getResult());
    b.setInsertionPointToStart(test.elseBlock());
    scf::YieldOp::create(b, anywhere());
    return test.getResult(0);
  }

  /// NaN stays NaN.
  Value keepNaN(Value x, Value result) {
    Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
    return arith::SelectOp::create(b, isNaN, x, result);
  }
  /// Keep NaN, too: each comparison with it is false. The form that x86 has an
  /// instruction for.
  Value atLeast(Value x, float bound) {
    return limit(x, arith::CmpFPredicate::OLT, bound);
  }
  Value atMost(Value x, float bound) {
    return limit(x, arith::CmpFPredicate::OGT, bound);
  }
  Value limit(Value x, arith::CmpFPredicate isBeyond, float bound) {
    return arith::SelectOp::create(
        b, arith::CmpFOp::create(b, isBeyond, x, constant(bound)),
        constant(bound), x);
  }
};

bool isF32(Value value) { return getElementTypeOrSelf(value).isF32(); }

/// A pattern that replaces functions of f32 by polynomials.
template <typename Op> struct Approximation : OpRewritePattern<Op> {
  Approximation(MLIRContext *context, int64_t vectorBytes)
      : OpRewritePattern<Op>(context), vectorBytes(vectorBytes) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getOperand()))
      return rewriter.notifyMatchFailure(op, "not f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    F32Builder f{b, op.getType(), vectorBytes};
    rewriter.replaceOp(op, this->approximate(f, op.getOperand()));
    return success();
  }
  virtual Value approximate(F32Builder &f, Value x) const = 0;

  int64_t vectorBytes;
};

/// exp(x) = e^t * 2^n with n = round(x / ln 2) and t = x - n ln 2, ln 2 in two
/// parts so that the product with n is exact in the first (Cody and Waite).
struct ApproximateExp : Approximation<math::ExpOp> {
  using Approximation::Approximation;
  Value approximate(F32Builder &f, Value x) const override {
    // Beyond -105 and 90 the result is 0 or infinity either way.
    return f.expTimesPower(x, 87.f, -105.f, 90.f, [&](Value x) {
      Value sum = f.fma(x, f.constant(1.44269504f), f.constant(f.kShift));
      Value n = f.roundSum(sum).number;
      Value t = f.fma(n, f.constant(-0.693359375f), x);
      return std::pair(f.fma(n, f.constant(2.12194440e-4f), t), sum);
    });
  }
};

struct ApproximateExp2 : Approximation<math::Exp2Op> {
  using Approximation::Approximation;
  Value approximate(F32Builder &f, Value x) const override {
    return f.expTimesPower(x, 125.f, -152.f, 130.f, [&](Value x) {
      Value sum = arith::AddFOp::create(f.b, x, f.constant(f.kShift));
      Value fraction = arith::SubFOp::create(f.b, x, f.roundSum(sum).number);
      Value t = arith::MulFOp::create(f.b, fraction, f.constant(0.693147181f));
      return std::pair(t, sum);
    });
  }
};

/// log(x) = n ln 2 + log(m) with m in [sqrt(1/2), sqrt(2)): the polynomial of
/// the Cephes library in f = m - 1. Both functions share everything but the
/// last step, in which log2 must not round n ln 2.
template <typename LogOp> struct ApproximateLog : Approximation<LogOp> {
  using Approximation<LogOp>::Approximation;
  Value approximate(F32Builder &f, Value x) const override {
    ImplicitLocOpBuilder &b = f.b;
    auto compare = [&](arith::CmpFPredicate predicate, float bound) -> Value {
      return arith::CmpFOp::create(b, predicate, x, f.constant(bound));
    };
    // Subnormals have no exponent of their own.
    Value isTiny = compare(arith::CmpFPredicate::OLT, 1.17549435e-38f);
    Value scaled = arith::MulFOp::create(b, x, f.constant(8388608.f));
    Value normal = arith::SelectOp::create(b, isTiny, scaled, x);
    Value shift =
        arith::SelectOp::create(b, isTiny, f.constant(-23.f), f.constant(0.f));

    Value bits = arith::BitcastOp::create(b, f.integerType(), normal);
    Value fromRoot = arith::SubIOp::create(b, bits, f.constantInt(0x3f3504f3));
    Value exponent = arith::ShRSIOp::create(b, fromRoot, f.constantInt(23));
    Value unscaled = arith::SubIOp::create(
        b, bits, arith::ShLIOp::create(b, exponent, f.constantInt(23)));
    Value m = arith::BitcastOp::create(b, f.type, unscaled);
    Value n = arith::SIToFPOp::create(b, f.type, exponent);
    n = arith::AddFOp::create(b, n, shift);

    Value r = arith::SubFOp::create(b, m, f.constant(1.f));
    Value square = arith::MulFOp::create(b, r, r);
    static constexpr float coefficients[] = {
        7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
        -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
        2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
    Value p = f.constant(coefficients[0]);
    for (float coefficient : ArrayRef(coefficients).drop_front())
      p = f.fma(p, r, f.constant(coefficient));
    Value cube = arith::MulFOp::create(b, square, r);
    Value rest = arith::MulFOp::create(b, p, cube);

    Value result;
    if (std::is_same_v<LogOp, math::Log2Op>) {
      rest = f.fma(square, f.constant(-0.5f), rest);
      // log2(e) = 1 + 0.4427, so that the larger part is exact.
      Value fraction = f.constant(0.44269504088896340735992f);
      result = arith::MulFOp::create(b, rest, fraction);
      result = f.fma(r, fraction, result);
      result = arith::AddFOp::create(b, result, rest);
      result = arith::AddFOp::create(b, result, r);
      result = arith::AddFOp::create(b, result, n);
    } else {
      rest = f.fma(n, f.constant(-2.12194440e-4f), rest);
      rest = f.fma(square, f.constant(-0.5f), rest);
      result = arith::AddFOp::create(b, r, rest);
      result = f.fma(n, f.constant(0.693359375f), result);
    }
    float infinity = std::numeric_limits<float>::infinity();
    Value isZero = compare(arith::CmpFPredicate::OEQ, 0.f);
    result = arith::SelectOp::create(b, isZero, f.constant(-infinity), result);
    Value isInfinite = compare(arith::CmpFPredicate::OEQ, infinity);
    result = arith::SelectOp::create(b, isInfinite, x, result);
    Value isNegative = compare(arith::CmpFPredicate::OLT, 0.f);
    result = arith::SelectOp::create(
        b, isNegative, f.constant(std::numeric_limits<float>::quiet_NaN()),
        result);
    return f.keepNaN(x, result);
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
/// Functions that only the C library has are called lane by lane.
struct UnrollLibraryFunctions : RewritePattern {
  explicit UnrollLibraryFunctions(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<math::SinOp, math::CosOp, math::TanOp, math::SinhOp, math::CoshOp,
             math::AsinhOp, math::AcoshOp, math::AtanhOp, math::AtanOp,
             math::Atan2Op, math::CbrtOp, math::TanhOp, math::ErfOp,
             math::ErfcOp, math::AsinOp, math::AcosOp>(op))
      return failure();
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!type)
      return failure();
    Location loc = op->getLoc();
    Value result = cpu::zeroOf(rewriter, loc, type);
    for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
      IRMapping mapping;
      for (Value operand : op->getOperands())
        mapping.map(operand,
                    vector::ExtractOp::create(rewriter, loc, operand, lane));
      Operation *scalar = rewriter.clone(*op, mapping);
      scalar->getResult(0).setType(type.getElementType());
      result = vector::InsertOp::create(rewriter, loc, scalar->getResult(0),
                                        result, lane);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

LogicalResult cpu::lowerMath(Operation *root, int64_t vectorBytes) {
  MLIRContext *context = root->getContext();
  RewritePatternSet patterns(context);
  patterns.add<ApproximateExp, ApproximateExp2, ApproximateLog<math::LogOp>,
               ApproximateLog<math::Log2Op>>(context, vectorBytes);
  patterns.add<WidenNarrowFunctions, UnrollLibraryFunctions>(context);
  populateNarrowFloatPatterns(patterns);
  // Upstream's for those that are right everywhere; its sine and cosine are not
  // for large arguments, nor its cube root and logarithms for subnormals.
  populateMathPolynomialApproximationPatterns(
      patterns,
      [](StringRef name) {
        static constexpr StringLiteral sound[] = {
            "math.tanh",  "math.erf",  "math.erfc", "math.log1p",
            "math.expm1", "math.asin", "math.acos"};
        return llvm::is_contained(sound, name);
      },
      /*benefit=*/2);
  arith::populateExpandBFloat16Patterns(patterns);
  return applyPatternsGreedily(root, std::move(patterns));
}
