//===- DeviceF64.cpp - Functions of f64 on the device -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hardware has sums, products, quotients and roots of f64, all rounded
// correctly. Functions are reduced to a small interval by exact steps and
// summed there by their series, cut where what is left is below a fraction of
// the last place. Arguments that are NaN stay NaN, and infinities and zeros
// have the values that C gives them.
//
//===----------------------------------------------------------------------===//

#include "DeviceF64.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <cmath>
#include <limits>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {

/// A value and what was lost when it was rounded.
struct Pair {
  Value high, low;
};

/// Arithmetic of f64, and the functions made of it.
class F64 {
public:
  F64(OpBuilder &builder, Location loc) : b(loc, builder) {}

  //===--- Arithmetic ---------------------------------------===//

  Value c(double value) {
    return arith::ConstantOp::create(b, b.getF64FloatAttr(value));
  }
  Value i(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value neg(Value x) { return arith::NegFOp::create(b, x); }
  Value abs(Value x) { return math::AbsFOp::create(b, x); }
  Value sqrt(Value x) { return math::SqrtOp::create(b, x); }
  Value withSign(Value x, Value sign) {
    return math::CopySignOp::create(b, x, sign);
  }
  Value is(CmpFPredicate how, Value x, Value y) {
    return arith::CmpFOp::create(b, how, x, y);
  }
  Value pick(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value bits(Value x) { return arith::BitcastOp::create(b, b.getI64Type(), x); }
  Value fromBits(Value x) {
    return arith::BitcastOp::create(b, b.getF64Type(), x);
  }
  /// Of a whole number. NaN gives zero.
  Value toInteger(Value x) {
    return LLVM::CallIntrinsicOp::create(b, b.getI64Type(),
                                         b.getStringAttr("llvm.fptosi.sat"),
                                         ValueRange(x))
        .getResult(0);
  }
  Value toFloat(Value x) {
    return arith::SIToFPOp::create(b, b.getF64Type(), x);
  }
  Value clamp(Value x, double low, double high) {
    x = arith::MinimumFOp::create(b, x, c(high));
    return arith::MaximumFOp::create(b, x, c(low));
  }
  /// The sum of coefficient(k) x^k for k below `terms`.
  Value series(Value x, int terms, function_ref<double(int)> coefficient) {
    Value sum = c(coefficient(terms - 1));
    for (int k = terms - 2; k >= 0; --k)
      sum = fma(sum, x, c(coefficient(k)));
    return sum;
  }

  //===--- Exponentials ---------------------------------------===//

  /// x 2^n for n beyond the exponents of one factor.
  Value scale(Value x, Value n) {
    auto power = [&](Value exponent) {
      Value biased = arith::AddIOp::create(b, exponent, i(1023));
      return fromBits(arith::ShLIOp::create(b, biased, i(52)));
    };
    Value half = arith::ShRSIOp::create(b, n, i(1));
    Value rest = arith::SubIOp::create(b, n, half);
    return mul(mul(x, power(half)), power(rest));
  }

  /// (e^r - 1 - r) / r^2 where |r| is up to ln 2 / 2.
  Value expTail(Value r) {
    return series(r, 13, [](int k) { return 1 / std::tgamma(k + 3.0); });
  }
  Value expOfSmall(Value r) { return add(c(1), fma(mul(r, r), expTail(r), r)); }

  Value exp(Value x) {
    Value bounded = clamp(x, -750, 710);
    Value n = math::RoundEvenOp::create(b, mul(bounded, c(1.4426950408889634)));
    Value r = fma(n, c(-6.93147180369123816490e-01), bounded);
    r = fma(n, c(-1.90821492927058770002e-10), r);
    return scale(expOfSmall(r), toInteger(n));
  }

  Value exp2(Value x) {
    Value bounded = clamp(x, -1080, 1025);
    Value n = math::RoundEvenOp::create(b, bounded);
    Value r = mul(sub(bounded, n), c(0.69314718055994531));
    return scale(expOfSmall(r), toInteger(n));
  }

  Value expm1(Value x) {
    Value near = fma(mul(x, x), expTail(x), x);
    Value isSmall = is(CmpFPredicate::OLE, abs(x), c(0.3465));
    Value result = pick(isSmall, near, sub(exp(x), c(1)));
    // Keeps the sign of zero.
    return pick(is(CmpFPredicate::OEQ, x, c(0)), x, result);
  }

  //===--- Logarithms ---------------------------------------===//

  struct Split {
    Value exponent, mantissa;
  };
  /// x as 2^exponent times a mantissa from sqrt(1/2) to sqrt(2), for positive
  /// finite x.
  Split split(Value x) {
    Value isTiny = is(CmpFPredicate::OLT, x, c(0x1p-1022));
    Value word = bits(pick(isTiny, mul(x, c(0x1p54)), x));
    // Moves the boundary between exponents to sqrt(1/2).
    constexpr int64_t root = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000;
    Value moved = arith::AddIOp::create(b, word, i(one - root));
    Value exponent = arith::ShRSIOp::create(b, moved, i(52));
    Value low = arith::AndIOp::create(b, moved, i(0x000fffffffffffff));
    Value mantissa = fromBits(arith::AddIOp::create(b, low, i(root)));
    Value bias = arith::SelectOp::create(b, isTiny, i(1023 + 54), i(1023));
    return {toFloat(arith::SubIOp::create(b, exponent, bias)), mantissa};
  }

  /// Of a mantissa: f + low, with f = m - 1 exact.
  Pair logOfMantissa(Value m) {
    Value f = sub(m, c(1));
    Value s = div(f, add(c(2), f));
    Value z = mul(s, s);
    // 2 atanh(s) = 2s + s (2/3 z + 2/5 z^2 + ...), and 2s = f - s f.
    Value rest = mul(z, series(z, 11, [](int k) { return 2.0 / (2 * k + 3); }));
    Value half = mul(c(0.5), mul(f, f));
    // s (half + rest) - half, as f - (half - s (half + rest)).
    return {f, neg(sub(half, mul(s, add(half, rest))))};
  }

  /// The values at zero, below it, at infinity and of NaN.
  Value logEdges(Value x, Value result) {
    result = pick(is(CmpFPredicate::OEQ, x, c(infinity)), x, result);
    result = pick(is(CmpFPredicate::OEQ, x, c(0)), c(-infinity), result);
    return pick(is(CmpFPredicate::UGE, x, c(0)),
                pick(is(CmpFPredicate::UNO, x, x), x, result),
                c(std::numeric_limits<double>::quiet_NaN()));
  }

  Value log(Value x) {
    Split parts = split(x);
    Pair m = logOfMantissa(parts.mantissa);
    Value low = fma(parts.exponent, c(1.90821492927058770002e-10), m.low);
    Value result =
        fma(parts.exponent, c(6.93147180369123816490e-01), add(m.high, low));
    return logEdges(x, result);
  }

  /// The logarithm to another base: `high` is that of 2 with few digits, so
  /// that its product with an exponent is exact.
  Value logToBase(Value x, double ofE, double high, double low) {
    Split parts = split(x);
    Pair m = logOfMantissa(parts.mantissa);
    Value sum = add(m.high, m.low);
    Value result = fma(parts.exponent, c(low), mul(sum, c(ofE)));
    return logEdges(x, fma(parts.exponent, c(high), result));
  }
  Value log2(Value x) { return logToBase(x, 1.4426950408889634, 1, 0); }
  Value log10(Value x) {
    return logToBase(x, 0.43429448190325182765, 3.01029995663611771306e-01,
                     3.69423907715893078616e-13);
  }

  Value log1p(Value x) {
    Value u = add(c(1), x);
    // What 1 + x lost, and how much of the logarithm that is.
    Value lost = div(sub(x, sub(u, c(1))), u);
    Value isPlain =
        arith::AndIOp::create(b, is(CmpFPredicate::OGT, u, c(0)),
                              is(CmpFPredicate::OLT, u, c(infinity)));
    Value result = add(log(u), pick(isPlain, lost, c(0)));
    return pick(is(CmpFPredicate::OEQ, u, c(1)), x, result);
  }

  Pair twoSum(Value x, Value y) {
    Value sum = add(x, y);
    Value part = sub(sum, x);
    return {sum, add(sub(x, sub(sum, part)), sub(y, part))};
  }

  /// Twice as many digits, for powers: for positive finite x.
  Pair logPair(Value x) {
    Split parts = split(x);
    Value f = sub(parts.mantissa, c(1));
    Value divisor = add(c(2), f);
    Value divisorLow = sub(f, sub(divisor, c(2)));
    Value s = div(f, divisor);
    Value left = fma(neg(s), divisor, f);
    Value sLow = div(fma(neg(s), divisorLow, left), divisor);
    // z in two parts as well: its first term counts most.
    Value z = mul(s, s);
    Value zLow = fma(s, s, neg(z));
    zLow = fma(mul(c(2), s), sLow, zLow);
    Value tail =
        mul(mul(z, z), series(z, 11, [](int k) { return 2.0 / (2 * k + 5); }));
    // 2/3 z, exactly enough.
    double third = 2.0 / 3;
    Value first = mul(z, c(third));
    Value firstLow = fma(z, c(third), neg(first));
    firstLow = fma(z, c(3.70074341541719e-17), firstLow);
    firstLow = fma(zLow, c(third), firstLow);
    Pair poly = twoSum(first, tail);
    Value polyLow = add(poly.low, firstLow);
    Value cubic = mul(s, poly.high);
    Value cubicLow = fma(s, poly.high, neg(cubic));
    cubicLow = fma(s, polyLow, cubicLow);
    cubicLow = fma(sLow, poly.high, cubicLow);
    Pair sum = twoSum(mul(c(2), s), cubic);
    Value low = add(add(sum.low, mul(c(2), sLow)), cubicLow);
    // The exponent's part is exact, since its constant ends in zeros.
    Value scaled = mul(parts.exponent, c(6.93147180369123816490e-01));
    Pair all = twoSum(scaled, sum.high);
    low = add(low, all.low);
    low = fma(parts.exponent, c(1.90821492927058770002e-10), low);
    Pair result = twoSum(all.high, low);
    return result;
  }

  Value pow(Value x, Value y) {
    Value magnitude = abs(x);
    Pair l = logPair(magnitude);
    Value product = mul(y, l.high);
    Value low = fma(y, l.high, neg(product));
    low = fma(y, l.low, low);
    Value isUsual =
        arith::AndIOp::create(b, is(CmpFPredicate::OLT, abs(product), c(800)),
                              is(CmpFPredicate::OLT, abs(low), c(1)));
    Value power = exp(product);
    Value result = fma(power, pick(isUsual, low, c(0)), power);
    // Where power is infinite the correction is not.
    result =
        pick(is(CmpFPredicate::OEQ, abs(power), c(infinity)), power, result);
    // At zero and infinity the logarithm is infinite.
    Value grows = is(CmpFPredicate::OGT, y, c(0));
    Value ofZero = pick(grows, c(0), c(infinity));
    Value ofInfinity = pick(grows, c(infinity), c(0));
    result = pick(is(CmpFPredicate::OEQ, magnitude, c(0)), ofZero, result);
    result = pick(is(CmpFPredicate::OEQ, magnitude, c(infinity)), ofInfinity,
                  result);
    Value isLarger = is(CmpFPredicate::OGT, magnitude, c(1));
    Value ofEndless =
        pick(is(CmpFPredicate::OEQ, magnitude, c(1)), c(1),
             pick(arith::CmpIOp::create(b, CmpIPredicate::eq, isLarger, grows),
                  c(infinity), c(0)));
    result =
        pick(is(CmpFPredicate::OEQ, abs(y), c(infinity)), ofEndless, result);
    // Negative numbers have powers with whole exponents.
    Value half = mul(y, c(0.5));
    Value isWhole =
        is(CmpFPredicate::OEQ, y, math::FloorOp::create(b, y).getResult());
    Value isEven = is(CmpFPredicate::OEQ, half,
                      math::FloorOp::create(b, half).getResult());
    Value isNegative =
        arith::CmpIOp::create(b, CmpIPredicate::slt, bits(x), i(0));
    Value isOdd = arith::AndIOp::create(
        b, isWhole,
        arith::XOrIOp::create(
            b, isEven, arith::ConstantIntOp::create(b, b.getI1Type(), 1)));
    Value signedResult = pick(isOdd, neg(result), result);
    Value isUndefined = arith::AndIOp::create(
        b, is(CmpFPredicate::OLT, x, c(0)),
        arith::AndIOp::create(
            b,
            is(CmpFPredicate::ONE, y, math::FloorOp::create(b, y).getResult()),
            is(CmpFPredicate::OGT, x, c(-infinity))));
    result = pick(isNegative, signedResult, result);
    result =
        pick(isUndefined, c(std::numeric_limits<double>::quiet_NaN()), result);
    Value isNaN = is(CmpFPredicate::UNO, x, y);
    result = pick(isNaN, add(x, y), result);
    Value isOne = arith::OrIOp::create(b, is(CmpFPredicate::OEQ, x, c(1)),
                                       is(CmpFPredicate::OEQ, y, c(0)));
    return pick(isOne, c(1), result);
  }

  //===--- Angles ---------------------------------------===//

  /// The sine of x + quarter right angles. Exact multiples of pi/2 in four
  /// parts reach to |x| = 2^50; beyond, f64 tells no angles of use.
  Value sine(Value x, int64_t quarter) {
    Value n = math::RoundEvenOp::create(b, mul(x, c(0.63661977236758134)));
    Value r = fma(n, c(-1.5707963267948966), x);
    Value s = fma(n, c(-6.123233995736766e-17), r);
    // What the second step lost, and the next part of pi/2.
    Value lost = fma(n, c(-6.123233995736766e-17), sub(r, s));
    lost = fma(n, c(1.4973849048591833e-33), lost);
    Value index = arith::AddIOp::create(b, toInteger(n), i(quarter));
    Value z = mul(s, s);
    Value sinus = mul(mul(s, z), series(z, 9, [](int k) {
                        return (k % 2 ? 1 : -1) / std::tgamma(2 * k + 4.0);
                      }));
    // sin(s + lost) = sin s + lost cos s.
    Value cosTail = series(z, 9, [](int k) {
      return (k % 2 ? -1 : 1) / std::tgamma(2 * k + 5.0);
    });
    Value halfZ = mul(c(0.5), z);
    Value cosinus = fma(mul(z, z), cosTail, sub(c(1), halfZ));
    // What 1 - z/2 lost.
    Value one = sub(c(1), halfZ);
    Value rest = sub(sub(c(1), one), halfZ);
    cosinus = add(one, fma(mul(z, z), cosTail, sub(rest, mul(s, lost))));
    sinus = add(s, fma(lost, sub(c(1), halfZ), sinus));
    Value isOdd = arith::CmpIOp::create(
        b, CmpIPredicate::ne, arith::AndIOp::create(b, index, i(1)), i(0));
    Value isLower = arith::CmpIOp::create(
        b, CmpIPredicate::ne, arith::AndIOp::create(b, index, i(2)), i(0));
    Value result = pick(isOdd, cosinus, sinus);
    result = pick(isLower, neg(result), result);
    // Infinity has no angle.
    return pick(is(CmpFPredicate::OEQ, abs(x), c(infinity)), sub(x, x), result);
  }
  Value sin(Value x) {
    return pick(is(CmpFPredicate::OEQ, x, c(0)), x, sine(x, 0));
  }
  Value cos(Value x) { return sine(x, 1); }

  /// Of a number from 0 to infinity.
  Value atanOfPositive(Value x) {
    Value isLarge = is(CmpFPredicate::OGT, x, c(1));
    Value t = pick(isLarge, div(c(1), x), x);
    Value isUpper = is(CmpFPredicate::OGT, t, c(0.41421356237309503));
    Value u = pick(isUpper, div(sub(t, c(1)), add(t, c(1))), t);
    Value z = mul(u, u);
    Value tail = mul(mul(u, z), series(z, 21, [](int k) {
                       return (k % 2 ? 1.0 : -1.0) / (2 * k + 3);
                     }));
    Value low = pick(isUpper, add(tail, c(3.061616997868383e-17)), tail);
    Value inner =
        pick(isUpper, add(c(0.78539816339744828), add(u, low)), add(u, low));
    Value outer =
        sub(c(1.5707963267948966), sub(inner, c(6.123233995736766e-17)));
    return pick(isLarge, outer, inner);
  }
  Value atan(Value x) { return withSign(atanOfPositive(abs(x)), x); }

  Value atan2(Value y, Value x) {
    Value ax = abs(x), ay = abs(y);
    Value bothEndless =
        arith::AndIOp::create(b, is(CmpFPredicate::OEQ, ax, c(infinity)),
                              is(CmpFPredicate::OEQ, ay, c(infinity)));
    Value bothZero = arith::AndIOp::create(b, is(CmpFPredicate::OEQ, ax, c(0)),
                                           is(CmpFPredicate::OEQ, ay, c(0)));
    Value ratio = div(ay, ax);
    ratio = pick(bothEndless, c(1), ratio);
    ratio = pick(bothZero, c(0), ratio);
    Value angle = atanOfPositive(ratio);
    Value isLeft = arith::CmpIOp::create(b, CmpIPredicate::slt, bits(x), i(0));
    Value left =
        sub(c(3.1415926535897931), sub(angle, c(1.2246467991473532e-16)));
    Value result = withSign(pick(isLeft, left, angle), y);
    return pick(is(CmpFPredicate::UNO, x, y), add(x, y), result);
  }
  Value asin(Value x) {
    Value a = abs(x);
    Value leg = sqrt(mul(sub(c(1), a), add(c(1), a)));
    Value result = withSign(atanOfPositive(div(a, leg)), x);
    return pick(is(CmpFPredicate::UNO, leg, leg), leg, result);
  }
  Value acos(Value x) {
    Value ratio = sqrt(div(sub(c(1), x), add(c(1), x)));
    Value result = mul(c(2), atanOfPositive(ratio));
    return pick(is(CmpFPredicate::UNO, ratio, ratio), ratio, result);
  }

  //===--- Hyperbolic functions, roots ------------------------------===//

  Value tanh(Value x) {
    Value t = expm1(mul(c(-2), abs(x)));
    return withSign(neg(div(t, add(c(2), t))), x);
  }
  Value sinh(Value x) {
    Value a = abs(x);
    // e^a by halves, since it may be beyond the range where its half is not.
    Value isLarge = is(CmpFPredicate::OGT, a, c(40));
    Value root = exp(mul(c(0.5), a));
    Value large = mul(mul(c(0.5), root), root);
    Value t = expm1(a);
    Value small = mul(c(0.5), add(t, div(t, add(t, c(1)))));
    return withSign(pick(isLarge, large, small), x);
  }
  Value cosh(Value x) {
    Value root = exp(mul(c(0.5), abs(x)));
    Value large = mul(mul(c(0.5), root), root);
    return add(large, div(c(0.25), large));
  }
  Value asinh(Value x) {
    Value a = abs(x);
    Value square = mul(a, a);
    Value t = add(a, div(square, add(c(1), sqrt(add(c(1), square)))));
    Value large = add(log(a), c(0.69314718055994531));
    return withSign(pick(is(CmpFPredicate::OGT, a, c(1e150)), large, log1p(t)),
                    x);
  }
  Value acosh(Value x) {
    Value t = sub(x, c(1));
    Value near = log1p(add(t, sqrt(mul(t, add(t, c(2))))));
    Value large = add(log(x), c(0.69314718055994531));
    return pick(is(CmpFPredicate::OGT, x, c(1e150)), large, near);
  }
  Value atanh(Value x) {
    Value a = abs(x);
    Value ratio = div(mul(c(2), a), sub(c(1), a));
    return withSign(mul(c(0.5), log1p(ratio)), x);
  }
  Value cbrt(Value x) {
    // Cubes of roots of the smallest numbers are no normal numbers.
    Value isTiny = is(CmpFPredicate::OLT, abs(x), c(0x1p-900));
    Value a = pick(isTiny, mul(abs(x), c(0x1p300)), abs(x));
    Value t = exp(mul(log(a), c(1.0 / 3)));
    // One step of Newton's, with what t^3 lost.
    Value square = mul(t, t);
    Value squareLow = fma(t, t, neg(square));
    Value left = fma(neg(t), square, a);
    left = fma(neg(t), squareLow, left);
    Value better = add(t, div(left, mul(c(3), square)));
    Value isEdge = arith::OrIOp::create(b, is(CmpFPredicate::OEQ, a, c(0)),
                                        is(CmpFPredicate::UGE, a, c(infinity)));
    better = mul(better, pick(isTiny, c(0x1p-100), c(1)));
    return pick(isEdge, x, withSign(better, x));
  }

  //===--- The error function ---------------------------------------===//

  /// e^(-x^2), with what x^2 lost.
  Value bell(Value x) {
    Value square = mul(x, x);
    Value low = fma(x, x, neg(square));
    Value result = exp(neg(square));
    // Beyond 27 there is nothing to correct.
    Value bounded = clamp(low, -1, 1);
    return fma(result, neg(bounded), result);
  }

  /// A loop of `steps` rounds over one value; `step` gets the round's number.
  Value iterate(int64_t steps, SmallVector<Value> start,
                function_ref<SmallVector<Value>(Value, ValueRange)> step) {
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, value);
    };
    auto loop =
        scf::ForOp::create(b, constant(0), constant(steps), constant(1), start);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value number =
        arith::IndexCastOp::create(b, b.getI64Type(), loop.getInductionVar());
    scf::YieldOp::create(b, step(toFloat(number), loop.getRegionIterArgs()));
    return loop.getResult(0);
  }

  /// 2/sqrt(pi) e^(-x^2) times the sum of 2^n x^(2n+1) / (1 3 5 ... 2n+1), all
  /// of whose terms are positive.
  Value erfOfPositive(Value x) {
    Value bounded = clamp(x, 0, 6);
    Value square = mul(c(2), mul(bounded, bounded));
    constexpr int64_t terms = 140;
    Value sum =
        iterate(terms, {bounded, bounded}, [&](Value n, ValueRange state) {
          Value factor = div(square, fma(c(2), n, c(3)));
          Value term = mul(state[1], factor);
          return SmallVector<Value>{add(state[0], term), term};
        });
    return mul(mul(c(1.1283791670955126), bell(bounded)), sum);
  }
  Value erf(Value x) {
    Value a = abs(x);
    Value result = arith::MinimumFOp::create(b, erfOfPositive(a), c(1));
    return withSign(result, x);
  }
  Value erfc(Value x) {
    Value isLarge = is(CmpFPredicate::OGT, x, c(1));
    // A continued fraction from its far end; for the others any number from
    // its domain.
    Value t = pick(isLarge, x, c(2));
    constexpr int64_t depth = 200;
    Value fraction = iterate(depth, {t}, [&](Value n, ValueRange state) {
      Value k = mul(c(0.5), sub(c(double(depth)), n));
      return SmallVector<Value>{add(t, div(k, state[0]))};
    });
    Value large = div(mul(c(0.56418958354775628), bell(t)), fraction);
    large = pick(is(CmpFPredicate::OGT, t, c(27.5)), c(0), large);
    return pick(isLarge, large, sub(c(1), erf(x)));
  }

private:
  ImplicitLocOpBuilder b;
};

template <typename Op, Value (F64::*function)(Value)>
struct LowerUnary : OpRewritePattern<Op> {
  explicit LowerUnary(MLIRContext *context)
      : OpRewritePattern<Op>(context, /*benefit=*/8) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF64())
      return rewriter.notifyMatchFailure(op, "not f64");
    F64 f64(rewriter, op.getLoc());
    rewriter.replaceOp(op, (f64.*function)(op.getOperand()));
    return success();
  }
};

template <typename Op, Value (F64::*function)(Value, Value)>
struct LowerBinary : OpRewritePattern<Op> {
  explicit LowerBinary(MLIRContext *context)
      : OpRewritePattern<Op>(context, /*benefit=*/8) {}
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF64())
      return rewriter.notifyMatchFailure(op, "not f64");
    F64 f64(rewriter, op.getLoc());
    rewriter.replaceOp(op, (f64.*function)(op.getLhs(), op.getRhs()));
    return success();
  }
};

} // namespace

void tile::gpu_code::populateF64Patterns(RewritePatternSet &patterns) {
  patterns.add<
      LowerUnary<math::ExpOp, &F64::exp>, LowerUnary<math::Exp2Op, &F64::exp2>,
      LowerUnary<math::ExpM1Op, &F64::expm1>,
      LowerUnary<math::LogOp, &F64::log>, LowerUnary<math::Log2Op, &F64::log2>,
      LowerUnary<math::Log10Op, &F64::log10>,
      LowerUnary<math::Log1pOp, &F64::log1p>,
      LowerUnary<math::SinOp, &F64::sin>, LowerUnary<math::CosOp, &F64::cos>,
      LowerUnary<math::AtanOp, &F64::atan>,
      LowerUnary<math::AsinOp, &F64::asin>,
      LowerUnary<math::AcosOp, &F64::acos>,
      LowerUnary<math::TanhOp, &F64::tanh>,
      LowerUnary<math::SinhOp, &F64::sinh>,
      LowerUnary<math::CoshOp, &F64::cosh>,
      LowerUnary<math::AsinhOp, &F64::asinh>,
      LowerUnary<math::AcoshOp, &F64::acosh>,
      LowerUnary<math::AtanhOp, &F64::atanh>,
      LowerUnary<math::CbrtOp, &F64::cbrt>, LowerUnary<math::ErfOp, &F64::erf>,
      LowerUnary<math::ErfcOp, &F64::erfc>,
      LowerBinary<math::PowFOp, &F64::pow>,
      LowerBinary<math::Atan2Op, &F64::atan2>>(patterns.getContext());
}
