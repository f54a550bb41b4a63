//===- Combine.cpp - How reductions combine elements -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

Type Combiner::getType(Type target) {
  if (isa<FloatType>(target) && target.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(target.getContext());
  return target;
}

static TypedAttr getIdentity(const Combiner &combiner) {
  Type element = combiner.type;
  Builder builder(element.getContext());
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    switch (combiner.kind) {
    case ReduceKind::Product:
      return builder.getFloatAttr(type, 1.0);
    case ReduceKind::Max:
      return builder.getFloatAttr(
          type, APFloat::getInf(semantics, /*Negative=*/true));
    case ReduceKind::Min:
      return builder.getFloatAttr(type, APFloat::getInf(semantics));
    default:
      return builder.getFloatAttr(type, 0.0);
    }
  }
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = combiner.isUnsigned;
  APInt zero(width, 0);
  switch (combiner.kind) {
  case ReduceKind::Product:
    return builder.getIntegerAttr(element, APInt(width, 1));
  case ReduceKind::Max:
    return builder.getIntegerAttr(
        element, isUnsigned ? zero : APInt::getSignedMinValue(width));
  case ReduceKind::Min:
    return builder.getIntegerAttr(element,
                                  isUnsigned ? APInt::getMaxValue(width)
                                             : APInt::getSignedMaxValue(width));
  case ReduceKind::And:
    return builder.getIntegerAttr(element, APInt::getAllOnes(width));
  default:
    return builder.getIntegerAttr(element, zero);
  }
}

Value Combiner::identity(OpBuilder &b, Location loc, int64_t lanes) const {
  TypedAttr value = getIdentity(*this);
  if (lanes == 0)
    return arith::ConstantOp::create(b, loc, value);
  auto vector = VectorType::get({lanes}, type);
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(vector, value));
}

Value Combiner::prepare(OpBuilder &b, Location loc, Value value) const {
  if (kind != ReduceKind::AbsSum && kind != ReduceKind::AbsMax)
    return value;
  if (isa<FloatType>(type))
    return math::AbsFOp::create(b, loc, value);
  return isUnsigned ? value : math::AbsIOp::create(b, loc, value).getResult();
}

Value Combiner::combine(OpBuilder &b, Location loc, Value x, Value y) const {
  auto fast = arith::FastMathFlagsAttr::get(b.getContext(), flags);
  bool ignoresNaN = bitEnumContainsAll(flags, arith::FastMathFlags::nnan);
  if (isa<FloatType>(type)) {
    // The op does not tell zeros apart, which would double the work.
    if (kind == ReduceKind::Max || kind == ReduceKind::Min)
      fast = arith::FastMathFlagsAttr::get(b.getContext(),
                                           flags | arith::FastMathFlags::nsz);
    switch (kind) {
    case ReduceKind::Product:
      return arith::MulFOp::create(b, loc, x, y, fast);
    case ReduceKind::Max:
    case ReduceKind::AbsMax:
      if (ignoresNaN)
        return arith::MaxNumFOp::create(b, loc, x, y, fast);
      return arith::MaximumFOp::create(b, loc, x, y, fast);
    case ReduceKind::Min:
      if (ignoresNaN)
        return arith::MinNumFOp::create(b, loc, x, y, fast);
      return arith::MinimumFOp::create(b, loc, x, y, fast);
    default:
      return arith::AddFOp::create(b, loc, x, y, fast);
    }
  }
  switch (kind) {
  case ReduceKind::Product:
    return arith::MulIOp::create(b, loc, x, y);
  case ReduceKind::Max:
  case ReduceKind::AbsMax:
    // The absolute value of the smallest integer is itself, as unsigned the
    // largest.
    return isUnsigned || kind == ReduceKind::AbsMax
               ? arith::MaxUIOp::create(b, loc, x, y).getResult()
               : arith::MaxSIOp::create(b, loc, x, y).getResult();
  case ReduceKind::Min:
    return isUnsigned ? arith::MinUIOp::create(b, loc, x, y).getResult()
                      : arith::MinSIOp::create(b, loc, x, y).getResult();
  case ReduceKind::And:
    return arith::AndIOp::create(b, loc, x, y);
  case ReduceKind::Or:
    return arith::OrIOp::create(b, loc, x, y);
  case ReduceKind::Xor:
    return arith::XOrIOp::create(b, loc, x, y);
  default:
    return arith::AddIOp::create(b, loc, x, y);
  }
}

bool Combiner::losesNaN() const {
  return isa<FloatType>(type) &&
         !bitEnumContainsAll(flags, arith::FastMathFlags::nnan) &&
         (kind == ReduceKind::Max || kind == ReduceKind::Min ||
          kind == ReduceKind::AbsMax);
}

Value Combiner::combineNumbers(OpBuilder &b, Location loc, Value x,
                               Value y) const {
  auto predicate = kind == ReduceKind::Min ? arith::CmpFPredicate::OLT
                                           : arith::CmpFPredicate::OGT;
  Value takes = arith::CmpFOp::create(b, loc, predicate, x, y);
  return arith::SelectOp::create(b, loc, takes, x, y);
}

Value Combiner::notANumber(OpBuilder &b, Location loc, int64_t lanes) const {
  auto element = cast<FloatType>(type);
  return arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(VectorType::get({lanes}, type),
                             APFloat::getNaN(element.getFloatSemantics())));
}
