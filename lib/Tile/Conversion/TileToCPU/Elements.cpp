//===- Elements.cpp - Small values and loops --------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

int64_t LaunchContext::lanes(Type type) const {
  return std::max<int64_t>(1, vectorBytes * 8 /
                                  std::max<int64_t>(getElementBits(type), 8));
}

Value cpu::constantIndex(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value cpu::addIndex(OpBuilder &b, Location loc, Value x, Value y) {
  llvm::APInt xConst, yConst;
  bool isXConst = matchPattern(x, m_ConstantInt(&xConst));
  bool isYConst = matchPattern(y, m_ConstantInt(&yConst));
  if (isXConst && isYConst)
    return constantIndex(b, loc, (xConst + yConst).getSExtValue());
  if (isXConst && xConst.isZero())
    return y;
  if (isYConst && yConst.isZero())
    return x;
  return arith::AddIOp::create(b, loc, x, y);
}

Value cpu::addIndex(OpBuilder &b, Location loc, Value x, int64_t y) {
  return addIndex(b, loc, x, constantIndex(b, loc, y));
}

std::pair<SmallVector<int64_t>, SmallVector<int64_t>>
cpu::getExchangeMasks(int64_t size, int64_t block) {
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < size; ++i) {
    bool fromSecond = i & block;
    low.push_back(fromSecond ? size + (i - block) : i);
    high.push_back(fromSecond ? size + i : i + block);
  }
  return {low, high};
}

Value cpu::zeroOf(OpBuilder &b, Location loc, Type type) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

/// `scalar` as an element type, or a vector of it where `like` is a vector.
static Type withShapeOf(Type like, Type scalar) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), scalar);
  return scalar;
}

static Value constantLike(OpBuilder &b, Location loc, Type type,
                          TypedAttr scalar) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(vector, scalar));
  return arith::ConstantOp::create(b, loc, scalar);
}

/// Clamps to what fits in `to` before the conversion, which is undefined
/// outside.
static Value floatToInt(OpBuilder &b, Location loc, Value value, IntegerType to,
                        bool isUnsigned) {
  Type type = value.getType();
  auto scalar = cast<FloatType>(getElementTypeOrSelf(type));
  unsigned width = to.getWidth();
  if (width == 1) {
    Value zero = zeroOf(b, loc, type);
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, value,
                                 zero);
  }
  // The largest value of the float type that does not exceed the integer's.
  const llvm::fltSemantics &semantics = scalar.getFloatSemantics();
  auto limit = [&](const APInt &integer) {
    APFloat result(semantics);
    result.convertFromAPInt(integer, !isUnsigned, APFloat::rmTowardZero);
    // Where the integer's range is the wider one there is nothing to clamp but
    // infinity.
    if (result.isInfinity())
      result = APFloat::getLargest(semantics, result.isNegative());
    return constantLike(b, loc, type, b.getFloatAttr(scalar, result));
  };
  APInt low =
      isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt high =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  Value number =
      arith::SelectOp::create(b, loc, isNaN, zeroOf(b, loc, type), value);
  Value lowLimit = limit(low), highLimit = limit(high);
  Value clamped = arith::MaxNumFOp::create(b, loc, number, lowLimit);
  clamped = arith::MinNumFOp::create(b, loc, clamped, highLimit);
  Type result = withShapeOf(type, to);
  Value integer =
      isUnsigned ? arith::FPToUIOp::create(b, loc, result, clamped).getResult()
                 : arith::FPToSIOp::create(b, loc, result, clamped).getResult();
  // The float limits may lie inside the integer's: values beyond them must
  // still give the integer's ends.
  auto endBeyond = [&](arith::CmpFPredicate beyond, Value limit,
                       const APInt &end, Value otherwise) -> Value {
    Value outside = arith::CmpFOp::create(b, loc, beyond, number, limit);
    Value value = constantLike(b, loc, result, b.getIntegerAttr(to, end));
    return arith::SelectOp::create(b, loc, outside, value, otherwise);
  };
  integer = endBeyond(arith::CmpFPredicate::OLT, lowLimit, low, integer);
  return endBeyond(arith::CmpFPredicate::OGT, highLimit, high, integer);
}

/// Clamps integers to what `to` holds without infinity.
static Value clampToFloat(OpBuilder &b, Location loc, Value value, FloatType to,
                          bool isUnsigned) {
  Type type = value.getType();
  auto from = cast<IntegerType>(getElementTypeOrSelf(type));
  // The largest values of the narrow formats are whole numbers.
  APSInt bound(from.getWidth(), isUnsigned);
  bool isExact;
  if (APFloat::getLargest(to.getFloatSemantics())
          .convertToInteger(bound, APFloat::rmTowardZero, &isExact) ==
      APFloat::opInvalidOp)
    return value; // every integer fits
  auto constant = [&](const APInt &number) {
    return constantLike(b, loc, type, b.getIntegerAttr(from, number));
  };
  if (isUnsigned)
    return arith::MinUIOp::create(b, loc, value, constant(bound));
  value = arith::MaxSIOp::create(b, loc, value, constant(-bound));
  return arith::MinSIOp::create(b, loc, value, constant(bound));
}

static Value intToInt(OpBuilder &b, Location loc, Value value, IntegerType to,
                      ElementConversion how) {
  Type type = value.getType();
  auto from = cast<IntegerType>(getElementTypeOrSelf(type));
  Type result = withShapeOf(type, to);
  if (to.getWidth() == 1)
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                 zeroOf(b, loc, type));
  if (to.getWidth() > from.getWidth()) {
    // A truth value is 0 or 1, never -1.
    if (how.isUnsigned || from.getWidth() == 1)
      return arith::ExtUIOp::create(b, loc, result, value);
    return arith::ExtSIOp::create(b, loc, result, value);
  }
  if (how.saturate) {
    unsigned width = to.getWidth(), wide = from.getWidth();
    if (how.isUnsigned) {
      APInt high = APInt::getMaxValue(width).zext(wide);
      value = arith::MinUIOp::create(
          b, loc, value,
          constantLike(b, loc, type, b.getIntegerAttr(from, high)));
    } else {
      APInt low = APInt::getSignedMinValue(width).sext(wide);
      APInt high = APInt::getSignedMaxValue(width).sext(wide);
      value = arith::MaxSIOp::create(
          b, loc, value,
          constantLike(b, loc, type, b.getIntegerAttr(from, low)));
      value = arith::MinSIOp::create(
          b, loc, value,
          constantLike(b, loc, type, b.getIntegerAttr(from, high)));
    }
  }
  return arith::TruncIOp::create(b, loc, result, value);
}

Value cpu::convertElement(OpBuilder &b, Location loc, Value value, Type to,
                          ElementConversion how) {
  Type type = value.getType();
  Type from = getElementTypeOrSelf(type);
  if (from == to)
    return value;
  Type result = withShapeOf(type, to);
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (fromFloat && toFloat) {
    if (fromFloat.getWidth() < toFloat.getWidth())
      return arith::ExtFOp::create(b, loc, result, value);
    if (fromFloat.getWidth() == toFloat.getWidth()) {
      // f16 to bf16 and back: each value of one is exact in f32, whose range
      // is not the one to compare with.
      auto largest = [](FloatType type) {
        return APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
      };
      how.saturate &= largest(toFloat) < largest(fromFloat);
      Value wide = convertElement(b, loc, value, b.getF32Type());
      return convertElement(b, loc, wide, to, how);
    }
    if (how.saturate) {
      APFloat largest = APFloat::getLargest(toFloat.getFloatSemantics());
      bool ignored;
      largest.convert(fromFloat.getFloatSemantics(),
                      APFloat::rmNearestTiesToEven, &ignored);
      Value high =
          constantLike(b, loc, type, b.getFloatAttr(fromFloat, largest));
      largest.changeSign();
      Value low =
          constantLike(b, loc, type, b.getFloatAttr(fromFloat, largest));
      // maximumf and minimumf keep NaN.
      value = arith::MaximumFOp::create(b, loc, value, low);
      value = arith::MinimumFOp::create(b, loc, value, high);
    }
    return arith::TruncFOp::create(b, loc, result, value);
  }
  // The 8-bit formats have no infinity to tell what is out of range.
  if (fromFloat && fromFloat.getWidth() == 8)
    return convertElement(b, loc, convertElement(b, loc, value, b.getF32Type()),
                          to, how);
  if (fromFloat)
    return floatToInt(b, loc, value, cast<IntegerType>(to), how.isUnsigned);
  if (toFloat) {
    // i1 counts as 0 or 1.
    bool isUnsigned = how.isUnsigned || from.isInteger(1);
    if (how.saturate)
      value = clampToFloat(b, loc, value, toFloat, isUnsigned);
    if (isUnsigned)
      return arith::UIToFPOp::create(b, loc, result, value);
    return arith::SIToFPOp::create(b, loc, result, value);
  }
  return intToInt(b, loc, value, cast<IntegerType>(to), how);
}

Value cpu::splat(OpBuilder &b, Location loc, Value value, int64_t lanes) {
  if (isa<VectorType>(value.getType()))
    return value;
  auto type = VectorType::get({lanes}, value.getType());
  return vector::BroadcastOp::create(b, loc, type, value);
}

void cpu::buildLoops(OpBuilder &b, Location loc, ValueRange extents,
                     function_ref<void(OpBuilder &, ValueRange)> body) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> ivs;
  Value zero = constantIndex(b, loc, 0), one = constantIndex(b, loc, 1);
  for (Value extent : extents) {
    auto loop = scf::ForOp::create(b, loc, zero, extent, one);
    ivs.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  body(b, ivs);
}

void cpu::buildLoops(OpBuilder &b, Location loc, ArrayRef<int64_t> extents,
                     function_ref<void(OpBuilder &, ValueRange)> body) {
  SmallVector<Value> values;
  for (int64_t extent : extents)
    values.push_back(constantIndex(b, loc, extent));
  buildLoops(b, loc, values, body);
}

void cpu::buildVectorLoop(
    OpBuilder &b, Location loc, int64_t extent, int64_t lanes,
    function_ref<void(OpBuilder &, Value, int64_t)> body) {
  int64_t full = extent / lanes * lanes;
  Value zero = constantIndex(b, loc, 0);
  if (full == lanes) {
    body(b, zero, lanes);
  } else if (full > 0) {
    OpBuilder::InsertionGuard guard(b);
    auto loop = scf::ForOp::create(b, loc, zero, constantIndex(b, loc, full),
                                   constantIndex(b, loc, lanes));
    b.setInsertionPointToStart(loop.getBody());
    body(b, loop.getInductionVar(), lanes);
  }
  if (full < extent)
    body(b, constantIndex(b, loc, full), extent - full);
}

bool cpu::isContiguous(MemRefType type) {
  if (type.getElementType().isInteger() && type.getElementTypeBitWidth() < 8)
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  return type.getRank() > 0 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

Value cpu::allocateScratch(OpBuilder &b, Location loc, ArrayRef<int64_t> shape,
                           Type element) {
  auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                              FragmentAttr::get(b.getContext()));
  return AllocFragmentOp::create(b, loc, type, ValueRange());
}

int64_t cpu::getElementBits(Type element) {
  return isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();
}

int64_t cpu::getSizeInBytes(MemRefType type) {
  int64_t bytes =
      std::max<int64_t>(1, getElementBits(type.getElementType()) / 8);
  for (int64_t extent : type.getShape())
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return INT64_MAX;
  return bytes;
}

Value cpu::isNull(OpBuilder &b, Location loc, Value buffer) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, address,
                               constantIndex(b, loc, 0));
}
