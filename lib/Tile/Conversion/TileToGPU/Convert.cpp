//===- Convert.cpp - Element conversions of copies --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversions that `tile.copy` and the epilogues of gemm and reduce make,
// as the op's description states them.
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;

/// Clamps to the finite values of `to`; NaN stays NaN.
static Value clampToFinite(ImplicitLocOpBuilder &b, Value value, FloatType to) {
  auto from = cast<FloatType>(value.getType());
  llvm::APFloat largest = llvm::APFloat::getLargest(to.getFloatSemantics());
  bool isLossy;
  largest.convert(from.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &isLossy);
  Value high = arith::ConstantOp::create(b, b.getFloatAttr(from, largest));
  largest.changeSign();
  Value low = arith::ConstantOp::create(b, b.getFloatAttr(from, largest));
  return arith::MaximumFOp::create(b, arith::MinimumFOp::create(b, value, high),
                                   low);
}

static Value convertFloat(ImplicitLocOpBuilder &b, Value value, FloatType to,
                          bool saturate) {
  auto from = cast<FloatType>(value.getType());
  if (from == to)
    return value;
  saturate &= APFloat::getLargest(to.getFloatSemantics()).convertToDouble() <
              APFloat::getLargest(from.getFloatSemantics()).convertToDouble();
  // f16 and bf16, or the two fp8 types: through a type that holds both exactly,
  // also the largest number of either.
  if (from.getWidth() == to.getWidth()) {
    from = b.getF32Type();
    value = arith::ExtFOp::create(b, from, value);
  }
  if (saturate)
    value = clampToFinite(b, value, to);
  if (from.getWidth() < to.getWidth())
    return arith::ExtFOp::create(b, to, value);
  return arith::TruncFOp::create(b, to, value);
}

/// Floats to integers: towards zero, saturating, NaN to zero.
static Value convertToInteger(ImplicitLocOpBuilder &b, Value value,
                              IntegerType to, bool isUnsigned) {
  auto from = cast<FloatType>(value.getType());
  if (from.getWidth() < 32)
    value = arith::ExtFOp::create(b, b.getF32Type(), value);
  if (to.getWidth() == 1) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(value.getType()));
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, value, zero);
  }
  // The intrinsics saturate and give zero for NaN.
  StringRef name = isUnsigned ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
  return LLVM::CallIntrinsicOp::create(b, Type(to), b.getStringAttr(name),
                                       ValueRange(value))
      .getResult(0);
}

static Value convertOne(ImplicitLocOpBuilder &b, Value value, Type to,
                        bool saturate, bool isUnsigned) {
  Type from = value.getType();
  if (from == to)
    return value;
  auto toFloat = dyn_cast<FloatType>(to);
  if (isa<FloatType>(from)) {
    if (toFloat)
      return convertFloat(b, value, toFloat, saturate);
    return convertToInteger(b, value, cast<IntegerType>(to), isUnsigned);
  }
  bool zeroExtends = isUnsigned || from.isInteger(1);
  if (toFloat) {
    // Types below 32 bits round once from one that holds every source value.
    bool isExact = toFloat.getWidth() >= 32;
    Type wide = isExact ? to
                : cast<IntegerType>(from).getWidth() > 16
                    ? Type(b.getF64Type())
                    : Type(b.getF32Type());
    Value result = zeroExtends ? Value(arith::UIToFPOp::create(b, wide, value))
                               : Value(arith::SIToFPOp::create(b, wide, value));
    return convertFloat(b, result, toFloat, saturate);
  }
  auto fromInt = cast<IntegerType>(from), toInt = cast<IntegerType>(to);
  if (toInt.getWidth() == 1) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(from));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
  }
  if (fromInt.getWidth() < toInt.getWidth())
    return zeroExtends ? Value(arith::ExtUIOp::create(b, to, value))
                       : Value(arith::ExtSIOp::create(b, to, value));
  if (saturate) {
    unsigned from = fromInt.getWidth(), width = toInt.getWidth();
    auto bound = [&](const APInt &limit) -> Value {
      return arith::ConstantOp::create(b, b.getIntegerAttr(fromInt, limit));
    };
    if (isUnsigned) {
      value = arith::MinUIOp::create(
          b, value, bound(APInt::getMaxValue(width).zext(from)));
    } else {
      value = arith::MinSIOp::create(
          b, value, bound(APInt::getSignedMaxValue(width).sext(from)));
      value = arith::MaxSIOp::create(
          b, value, bound(APInt::getSignedMinValue(width).sext(from)));
    }
  }
  return arith::TruncIOp::create(b, to, value);
}

Values ThreadCode::convert(ValueRange values, Conversion conversion) {
  Type from = values.front().getType(), to = conversion.to;
  Values result;
  if (from == to) {
    llvm::append_range(result, values);
    return result;
  }
  bool inPairs = from.isF32() && (to.isF16() || to.isBF16()) &&
                 !conversion.saturate && values.size() % 2 == 0;
  if (!inPairs) {
    for (Value value : values)
      result.push_back(
          convertOne(b, value, to, conversion.saturate, conversion.isUnsigned));
    return result;
  }
  // One instruction converts two.
  for (size_t i = 0; i < values.size(); i += 2) {
    Value pair = LLVM::PoisonOp::create(b, VectorType::get({2}, from));
    for (size_t half : {0, 1})
      pair =
          LLVM::InsertElementOp::create(b, pair, values[i + half], i32(half));
    Value narrow = arith::TruncFOp::create(b, VectorType::get({2}, to), pair);
    for (size_t half : {0, 1})
      result.push_back(LLVM::ExtractElementOp::create(b, narrow, i32(half)));
  }
  return result;
}
