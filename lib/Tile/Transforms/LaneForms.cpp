//===- LaneForms.cpp - Indices as functions of the lane ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds forms in the order of the program, so that deep chains of arithmetic
// need no deep recursion; a term is interned after the terms inside it.
//
//===----------------------------------------------------------------------===//

#include "LaneForms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

LaneForms::LaneForms(ParallelOp loop)
    : body(&loop.getBody()), extents(loop.getStaticExtents()) {
  for (auto [dim, iv] : llvm::enumerate(loop.getInductionVars())) {
    LaneBounds range{0, std::nullopt};
    if (!ShapedType::isDynamic(extents[dim]))
      range.upper = std::max<int64_t>(extents[dim] - 1, 0);
    Term term{Kind::Coordinate, static_cast<int64_t>(dim), {}, {}, {}};
    forms[iv] = LaneForm{{{intern(term, range), 1}}, 0};
  }
  body->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      if (result.getType().isIntOrIndex())
        forms[result] = computeOrSymbol(result);
  });
  markUniform(*body);
}

//===----------------------------------------------------------------------===//
// Uniform values
//===----------------------------------------------------------------------===//

void LaneForms::markUniform(Region &region) {
  region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumRegions() == 0 && isPure(op) &&
        llvm::all_of(op->getOperands(),
                     [&](Value operand) { return isUniform(operand); }))
      uniform.insert_range(op->getResults());
  });
  uniformTerms.clear();
  widths.clear();
}

bool LaneForms::isUniform(Value value) const {
  return !body->isAncestor(value.getParentRegion()) || uniform.contains(value);
}

void LaneForms::addUniform(Value iv) {
  uniform.insert(iv);
  markUniform(*iv.getParentRegion());
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

TermId LaneForms::intern(Term term, LaneBounds range) {
  auto [it, isNew] = ids.try_emplace(std::move(term), terms.size());
  if (isNew) {
    nesting.push_back(
        1 + std::max(getNesting(it->first.form), getNesting(it->first.factor)));
    terms.push_back(it->first);
    bounds.push_back(range);
  }
  return it->second;
}

unsigned LaneForms::getNesting(const LaneForm &form) const {
  unsigned depth = 0;
  for (auto [term, coefficient] : form.terms)
    depth = std::max(depth, nesting[term]);
  return depth;
}

LaneForm LaneForms::symbol(Value value) {
  Term term{Kind::Symbol, 0, value, {}, {}};
  return {{{intern(term, getSymbolBounds(value)), 1}}, 0};
}

LaneBounds LaneForms::getSymbolBounds(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument) {
    if (value.getDefiningOp<memref::DimOp>())
      return {0, std::nullopt};
    return {};
  }
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<LaunchOp>(parent))
    return {0, std::nullopt};
  auto loop = dyn_cast<LoopLikeOpInterface>(parent);
  auto forOp = dyn_cast<scf::ForOp>(parent);
  if (!loop || (forOp && forOp.getUnsignedCmp()))
    return {};
  std::optional<SmallVector<Value>> ivs = loop.getLoopInductionVars();
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds(),
       step = loop.getLoopSteps();
  if (!ivs || ivs->size() != 1 || ivs->front() != value || !lower || !upper ||
      !step)
    return {};
  std::optional<int64_t> constant = getConstantIntValue(step->front());
  if (!constant || *constant <= 0)
    return {};
  auto boundsOf = [&](OpFoldResult bound) -> LaneBounds {
    if (std::optional<int64_t> number = getConstantIntValue(bound))
      return {*number, *number};
    return getBounds(get(cast<Value>(bound)));
  };
  LaneBounds range{boundsOf(lower->front()).lower,
                   boundsOf(upper->front()).upper};
  if (range.upper)
    range.upper = llvm::checkedSub<int64_t>(*range.upper, 1);
  // An empty range stands for a body that never runs.
  if (range.lower && range.upper && *range.upper < *range.lower)
    range.upper = range.lower;
  return range;
}

LaneBounds LaneForms::getBounds(const LaneForm &form) const {
  LaneBounds sum{form.constant, form.constant};
  auto accumulate = [](std::optional<int64_t> &total,
                       std::optional<int64_t> bound, int64_t coefficient) {
    if (!total)
      return;
    total =
        bound ? llvm::checkedMulAdd(*bound, coefficient, *total) : std::nullopt;
  };
  for (auto [term, coefficient] : form.terms) {
    LaneBounds range = bounds[term];
    if (coefficient < 0)
      std::swap(range.lower, range.upper);
    accumulate(sum.lower, range.lower, coefficient);
    accumulate(sum.upper, range.upper, coefficient);
  }
  return sum;
}

bool LaneForms::fits(const LaneForm &form, Type type) const {
  if (type.isIndex())
    return true;
  LaneBounds range = getBounds(form);
  unsigned width = type.getIntOrFloatBitWidth();
  return width > 1 && width <= 64 && range.lower && range.upper &&
         llvm::isIntN(width, *range.lower) && llvm::isIntN(width, *range.upper);
}

//===----------------------------------------------------------------------===//
// Arithmetic on forms
//===----------------------------------------------------------------------===//

std::optional<LaneForm> LaneForms::add(const LaneForm &a, const LaneForm &b,
                                       int64_t factor) {
  LaneForm sum;
  auto constant = llvm::checkedMulAdd(b.constant, factor, a.constant);
  if (!constant)
    return std::nullopt;
  sum.constant = *constant;
  const auto *x = a.terms.begin(), *y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    bool takeX =
        x != a.terms.end() && (y == b.terms.end() || x->first <= y->first);
    bool takeY =
        y != b.terms.end() && (x == a.terms.end() || y->first <= x->first);
    TermId term = takeX ? x->first : y->first;
    std::optional<int64_t> coefficient = takeX ? x->second : 0;
    if (takeY)
      coefficient = llvm::checkedMulAdd(y->second, factor, *coefficient);
    // The least integer has no absolute value.
    if (!coefficient || *coefficient == INT64_MIN)
      return std::nullopt;
    if (*coefficient != 0)
      sum.terms.push_back({term, *coefficient});
    x += takeX;
    y += takeY;
  }
  return sum;
}

std::optional<LaneForm> LaneForms::scale(const LaneForm &a, int64_t factor) {
  return add(LaneForm(), a, factor);
}

std::optional<LaneForm> LaneForms::multiply(const LaneForm &a,
                                            const LaneForm &b) {
  if (b.terms.empty())
    return scale(a, b.constant);
  if (a.terms.empty())
    return scale(b, a.constant);
  LaneBounds range, first = getBounds(a), second = getBounds(b);
  if (first.lower && second.lower && *first.lower >= 0 && *second.lower >= 0) {
    range.lower = 0;
    if (first.upper && second.upper)
      range.upper = llvm::checkedMul(*first.upper, *second.upper);
  }
  Term term{Kind::Product, 0, {}, std::min(a, b), std::max(a, b)};
  return LaneForm{{{intern(term, range), 1}}, 0};
}

std::optional<LaneForm> LaneForms::multiplyAdd(const LaneForm &a,
                                               const LaneForm &b,
                                               const LaneForm &c) {
  std::optional<LaneForm> product = multiply(a, b);
  return product ? add(*product, c) : std::nullopt;
}

LaneForm LaneForms::quotient(const LaneForm &a, int64_t divisor) {
  LaneBounds range = getBounds(a);
  if (range.lower && range.upper) {
    int64_t low = llvm::divideFloorSigned(*range.lower, divisor);
    if (low == llvm::divideFloorSigned(*range.upper, divisor))
      return {{}, low};
  }
  // (x / c) / d is x / (c * d).
  if (a.terms.size() == 1 && a.terms[0].second == 1 && a.constant == 0)
    if (const Term &inner = terms[a.terms[0].first];
        inner.kind == Kind::Quotient)
      if (auto product = llvm::checkedMul(inner.number, divisor)) {
        LaneForm numerator = inner.form;
        return quotient(numerator, *product);
      }
  if (range.lower)
    range.lower = llvm::divideFloorSigned(*range.lower, divisor);
  if (range.upper)
    range.upper = llvm::divideFloorSigned(*range.upper, divisor);
  Term term{Kind::Quotient, divisor, {}, a, {}};
  return {{{intern(term, range), 1}}, 0};
}

LaneForm LaneForms::remainder(const LaneForm &a, int64_t divisor) {
  LaneBounds range = getBounds(a);
  if (range.lower && range.upper && *range.lower >= 0 && *range.upper < divisor)
    return a;
  Term term{Kind::Remainder, divisor, {}, a, {}};
  return {{{intern(term, {0, divisor - 1}), 1}}, 0};
}

//===----------------------------------------------------------------------===//
// From values to forms
//===----------------------------------------------------------------------===//

LaneForm LaneForms::get(Value value) {
  if (auto known = forms.find(value); known != forms.end())
    return known->second;
  LaneForm form = computeOrSymbol(value);
  forms[value] = form;
  return form;
}

LaneForm LaneForms::computeOrSymbol(Value value) {
  // The body is walked in order, so only what lies outside is looked into from
  // its use.
  constexpr unsigned limit = 32;
  Operation *op = value.getDefiningOp();
  if (!op || depth >= limit)
    return symbol(value);
  ++depth;
  std::optional<LaneForm> form = compute(op);
  --depth;
  if (form && fits(*form, value.getType()))
    return *form;
  return symbol(value);
}

std::optional<LaneForm> LaneForms::compute(Operation *op) {
  llvm::APInt number;
  if (op->getNumResults() == 1 && matchPattern(op, m_ConstantInt(&number))) {
    if (number.getBitWidth() > 64)
      return std::nullopt;
    return LaneForm{{}, number.getSExtValue()};
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return computeAffine(apply.getAffineMap().getResult(0),
                         apply.getMapOperands(),
                         apply.getAffineMap().getNumDims());
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
    // computeOrSymbol checks that the value fits the result's type.
    Type from = op->getOperand(0).getType();
    return from.isIntOrIndex() ? std::optional(get(op->getOperand(0)))
                               : std::nullopt;
  }
  auto isNatural = [&](const LaneForm &form) {
    std::optional<int64_t> lower = getBounds(form).lower;
    return lower && *lower >= 0;
  };
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op)) {
    if (!op->getOperand(0).getType().isIntOrIndex())
      return std::nullopt;
    LaneForm form = get(op->getOperand(0));
    return isNatural(form) ? std::optional(form) : std::nullopt;
  }

  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivUIOp,
           arith::DivSIOp, arith::FloorDivSIOp, arith::RemUIOp, arith::RemSIOp,
           arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp, arith::AndIOp>(op) ||
      !op->getResult(0).getType().isIntOrIndex())
    return std::nullopt;
  LaneForm a = get(op->getOperand(0)), b = get(op->getOperand(1));
  // Deeper ones than this come from no program that a person wrote, and proofs
  // recur over them.
  constexpr unsigned limit = 64;
  if (std::max(getNesting(a), getNesting(b)) > limit)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return add(a, b);
  if (isa<arith::SubIOp>(op))
    return add(a, b, -1);
  if (isa<arith::MulIOp>(op))
    return multiply(a, b);
  if (!b.terms.empty())
    return std::nullopt;

  int64_t constant = b.constant;
  bool isShift = constant >= 0 && constant < 62;
  if (isa<arith::ShLIOp>(op))
    return isShift ? scale(a, int64_t(1) << constant) : std::nullopt;
  if (isa<arith::ShRSIOp>(op) || (isa<arith::ShRUIOp>(op) && isNatural(a)))
    return isShift ? std::optional(quotient(a, int64_t(1) << constant))
                   : std::nullopt;
  // In two's complement a mask of low bits is a remainder, whatever the sign.
  if (isa<arith::AndIOp>(op))
    return constant > 0 && constant < INT64_MAX &&
                   llvm::isPowerOf2_64(constant + 1)
               ? std::optional(remainder(a, constant + 1))
               : std::nullopt;
  // Of a natural number the signed, unsigned and flooring forms agree.
  if (constant <= 0 || (!isNatural(a) && !isa<arith::FloorDivSIOp>(op)))
    return std::nullopt;
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op))
    return quotient(a, constant);
  if (isa<arith::RemUIOp, arith::RemSIOp>(op))
    return remainder(a, constant);
  return std::nullopt;
}

std::optional<LaneForm> LaneForms::computeAffine(AffineExpr expr,
                                                 ValueRange operands,
                                                 unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return LaneForm{{}, constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return get(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return get(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto a = computeAffine(binary.getLHS(), operands, numDims);
  auto b = computeAffine(binary.getRHS(), operands, numDims);
  if (!a || !b)
    return std::nullopt;
  bool divides = b->terms.empty() && b->constant > 0;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return add(*a, *b);
  case AffineExprKind::Mul:
    return multiply(*a, *b);
  case AffineExprKind::FloorDiv:
    return divides ? std::optional(quotient(*a, b->constant)) : std::nullopt;
  case AffineExprKind::Mod:
    return divides ? std::optional(remainder(*a, b->constant)) : std::nullopt;
  default:
    return std::nullopt;
  }
}
