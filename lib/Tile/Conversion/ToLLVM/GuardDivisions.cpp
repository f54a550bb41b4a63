//===- GuardDivisions.cpp - Every division has a result ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes beyond an edge read zeros and divide by them, and a processor that
// traps on that takes the whole process down. Next to a division, a comparison
// and two selects cost nothing.
//
//===----------------------------------------------------------------------===//

#include "Tile/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace tile {
#define GEN_PASS_DEF_GUARDDIVISIONS
#include "Tile/Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;

static bool isSignedRemainder(Operation *op) {
  return isa<arith::RemSIOp, index::RemSOp>(op);
}
static bool isRemainder(Operation *op) {
  return isSignedRemainder(op) || isa<arith::RemUIOp, index::RemUOp>(op);
}
static bool isSigned(Operation *op) {
  return isSignedRemainder(op) ||
         isa<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp,
             index::DivSOp, index::CeilDivSOp, index::FloorDivSOp>(op);
}
static bool isDivision(Operation *op) {
  return isSigned(op) || isRemainder(op) ||
         isa<arith::DivUIOp, arith::CeilDivUIOp, index::DivUOp,
             index::CeilDivUOp>(op);
}

/// True for constants that neither are zero nor let a quotient overflow.
static bool isHarmless(Value divisor, bool isSigned) {
  auto isHarmless = [&](const APInt &number) {
    return !number.isZero() && !(isSigned && number.isAllOnes());
  };
  Attribute constant;
  if (!matchPattern(divisor, m_Constant(&constant)))
    return false;
  if (auto number = dyn_cast<IntegerAttr>(constant))
    return isHarmless(number.getValue());
  auto elements = dyn_cast<DenseIntElementsAttr>(constant);
  return elements && llvm::all_of(elements.getValues<APInt>(), isHarmless);
}

/// With a divisor of zero or, where signed, minus one, divides by one instead
/// and selects what the result is to be.
static void guard(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value x = op->getOperand(0), divisor = op->getOperand(1);
  Type type = divisor.getType();
  auto constant = [&](int64_t number) -> Value {
    TypedAttr value = b.getIntegerAttr(getElementTypeOrSelf(type), number);
    if (auto shaped = dyn_cast<ShapedType>(type))
      value = DenseElementsAttr::get(shaped, Attribute(value));
    return arith::ConstantOp::create(b, value);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value y, int64_t number) {
    return arith::CmpIOp::create(b, predicate, y, constant(number));
  };
  Value isZero = compare(arith::CmpIPredicate::eq, divisor, 0);
  Value isSpecial = isZero;
  if (isSigned(op)) {
    Value isMinusOne = compare(arith::CmpIPredicate::eq, divisor, -1);
    isSpecial = arith::OrIOp::create(b, isZero, isMinusOne);
  }
  op->setOperand(1,
                 arith::SelectOp::create(b, isSpecial, constant(1), divisor));
  b.setInsertionPointAfter(op);
  Value result = op->getResult(0), chosen;
  if (isRemainder(op))
    // By minus one it is zero, as by one.
    chosen = arith::SelectOp::create(b, isZero, x, result);
  else
    // Zero, or the negated dividend.
    chosen = arith::SelectOp::create(
        b, isSpecial, arith::MulIOp::create(b, x, divisor), result);
  result.replaceAllUsesExcept(chosen, chosen.getDefiningOp());
}

namespace {
struct GuardDivisions : tile::impl::GuardDivisionsBase<GuardDivisions> {
  void runOnOperation() override {
    SmallVector<Operation *> divisions;
    getOperation()->walk([&](Operation *op) {
      if (isDivision(op) && !isHarmless(op->getOperand(1), isSigned(op)))
        divisions.push_back(op);
    });
    for (Operation *op : divisions)
      guard(op);
    numGuarded += divisions.size();
  }
};
} // namespace
