//===- Intervals.cpp - What integers a value can be -------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Intervals.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

static unsigned getWidth(Type type) {
  return isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
}

/// Everything that a signed number of the type's width can be.
static Interval getIntervalOf(Type type) {
  unsigned width = getWidth(type);
  return {llvm::minIntN(width), llvm::maxIntN(width)};
}

static std::optional<Interval> makeInterval(std::optional<int64_t> low,
                                            std::optional<int64_t> high) {
  if (!low || !high)
    return std::nullopt;
  return Interval{*low, *high};
}

static std::optional<Interval> add(Interval x, Interval y) {
  return makeInterval(llvm::checkedAdd(x.low, y.low),
                      llvm::checkedAdd(x.high, y.high));
}

static std::optional<Interval> subtract(Interval x, Interval y) {
  return makeInterval(llvm::checkedSub(x.low, y.high),
                      llvm::checkedSub(x.high, y.low));
}

static std::optional<Interval> multiply(Interval x, Interval y) {
  std::optional<Interval> result;
  for (int64_t a : {x.low, x.high})
    for (int64_t b : {y.low, y.high}) {
      std::optional<int64_t> corner = llvm::checkedMul(a, b);
      if (!corner)
        return std::nullopt;
      result = result ? Interval{std::min(result->low, *corner),
                                 std::max(result->high, *corner)}
                      : Interval{*corner, *corner};
    }
  return result;
}

bool IntervalAnalysis::isOutside(Value value) const {
  return !scope->isAncestor(value.getParentBlock()->getParentOp());
}

/// Drops an interval of which the type holds only a part: then the operation
/// may wrap around, and does not have the value that it stands for.
static std::optional<Interval> ifHeld(std::optional<Interval> interval,
                                      Type type) {
  Interval all = getIntervalOf(type);
  if (interval && (interval->low < all.low || interval->high > all.high))
    return std::nullopt;
  return interval;
}

std::optional<Interval> IntervalAnalysis::get(Value value) {
  Type type = value.getType();
  if (!type.isIntOrIndex() || getWidth(type) > 64)
    return std::nullopt;
  if (isOutside(value))
    return depth > 0 ? getFact(value) : assume(value);
  if (auto it = known.find(value); it != known.end())
    return it->second;
  std::optional<Interval> result = ifHeld(compute(value), type);
  known[value] = result;
  return result;
}

Interval IntervalAnalysis::getFact(Value value) {
  if (auto it = facts.find(value); it != facts.end())
    return it->second;
  constexpr unsigned limit = 32;
  std::optional<Interval> result;
  if (depth < limit) {
    ++depth;
    result = ifHeld(compute(value), value.getType());
    --depth;
  }
  Interval fact = result.value_or(getIntervalOf(value.getType()));
  facts[value] = fact;
  return fact;
}

Interval IntervalAnalysis::assume(Value value) {
  Interval fact = getFact(value);
  if (bits >= kNoAssumption)
    return fact;
  auto [low, high] = getAssumption();
  if ((fact.low >= low && fact.high <= high) ||
      (frozen && !assumed.contains(value)))
    return fact;
  assumed.insert(value);
  return {std::max(fact.low, low), std::min(fact.high, high)};
}

std::optional<Interval> IntervalAnalysis::compute(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Interval{constant.getSExtValue(), constant.getSExtValue()};
  if (auto argument = dyn_cast<BlockArgument>(value))
    return computeArgument(argument);
  return computeResult(value.getDefiningOp());
}

std::optional<Interval> IntervalAnalysis::get(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return Interval{*constant, *constant};
  return get(cast<Value>(value));
}

std::optional<Interval>
IntervalAnalysis::computeArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<LaunchOp, PersistentOp>(parent))
    return Interval{0, kMaxCount - 1};
  if (auto parallel = dyn_cast<ParallelOp>(parent)) {
    int64_t extent = parallel.getStaticExtents()[argument.getArgNumber()];
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    return Interval{0, std::max<int64_t>(extent - 1, 0)};
  }
  auto loop = dyn_cast<LoopLikeOpInterface>(parent);
  if (!loop || loop.getSingleInductionVar() != argument)
    return std::nullopt;
  std::optional<OpFoldResult> from = loop.getSingleLowerBound(),
                              to = loop.getSingleUpperBound(),
                              by = loop.getSingleStep();
  if (!from || !to || !by)
    return std::nullopt;
  std::optional<Interval> lower = get(*from), upper = get(*to), step = get(*by);
  if (!lower || !upper || !step)
    return std::nullopt;
  // Both orders of numbers agree on natural ones.
  auto counted = dyn_cast<scf::ForOp>(parent);
  if (counted && counted.getUnsignedCmp() && (lower->low < 0 || upper->low < 0))
    return std::nullopt;
  std::optional<int64_t> last = llvm::checkedSub<int64_t>(upper->high, 1);
  // The step past the end must not come out at the beginning. Steps that are
  // not positive do not come here.
  if (!last)
    return std::nullopt;
  std::optional<int64_t> past =
      llvm::checkedAdd(*last, std::max<int64_t>(step->high, 1));
  if (!past || *past > getIntervalOf(argument.getType()).high)
    return std::nullopt;
  // An empty range stands for a body that never runs.
  return Interval{std::min(lower->low, *last), *last};
}

/// Extents are those that views were given; only those of whole buffers are
/// certainly not huge.
std::optional<Interval> IntervalAnalysis::getExtent(Value buffer, Value dim) {
  APInt number;
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type || !matchPattern(dim, m_ConstantInt(&number)) ||
      number.uge(type.getRank()))
    return std::nullopt;
  auto position = static_cast<unsigned>(number.getZExtValue());
  if (!type.isDynamicDim(position))
    return Interval{type.getDimSize(position), type.getDimSize(position)};
  if (Operation *op = buffer.getDefiningOp())
    return isa<AllocGlobalOp>(op) ? std::optional(Interval{0, kMaxCount - 1})
                                  : std::nullopt;
  if (isa<FunctionOpInterface>(
          cast<BlockArgument>(buffer).getOwner()->getParentOp()))
    return Interval{0, kMaxCount - 1};
  return std::nullopt;
}

std::optional<Interval> IntervalAnalysis::divide(Operation *op, Interval x,
                                                 Interval y) {
  bool isRemainder = isa<arith::RemUIOp, arith::RemSIOp>(op);
  if (y.low != y.high || y.low <= 0) {
    // By zero, a quotient is zero and a remainder the dividend.
    bool isUnsigned =
        isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(op);
    if (x.low >= 0 && (isUnsigned || y.low >= 0))
      return Interval{0, isRemainder && y.low > 0 ? std::min(x.high, y.high - 1)
                                                  : x.high};
    if (isUnsigned || x.low == std::numeric_limits<int64_t>::min())
      return std::nullopt;
    int64_t magnitude = std::max(-x.low, x.high);
    return Interval{-magnitude, magnitude};
  }
  int64_t divisor = y.low;
  if (isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(op) &&
      x.low < 0) {
    if (isa<arith::RemUIOp>(op))
      return Interval{0, divisor - 1};
    return std::nullopt;
  }
  if (isRemainder)
    return x.low >= 0 ? Interval{0, std::min(x.high, divisor - 1)}
                      : Interval{1 - divisor, divisor - 1};
  if (isa<arith::FloorDivSIOp>(op))
    return Interval{llvm::divideFloorSigned(x.low, divisor),
                    llvm::divideFloorSigned(x.high, divisor)};
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return Interval{llvm::divideCeilSigned(x.low, divisor),
                    llvm::divideCeilSigned(x.high, divisor)};
  return Interval{x.low / divisor, x.high / divisor};
}

std::optional<Interval> IntervalAnalysis::computeResult(Operation *op) {
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return getExtent(dim.getSource(), dim.getIndex());
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
           arith::DivUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
           arith::CeilDivUIOp, arith::RemSIOp, arith::RemUIOp, arith::MinSIOp,
           arith::MaxSIOp, arith::SelectOp, arith::IndexCastOp,
           arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
           arith::TruncIOp>(op))
    return std::nullopt;
  SmallVector<Interval> in;
  for (Value operand :
       op->getOperands().drop_front(isa<arith::SelectOp>(op) ? 1 : 0)) {
    std::optional<Interval> interval = get(operand);
    if (!interval)
      return std::nullopt;
    in.push_back(*interval);
  }
  return llvm::TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case<arith::AddIOp>([&](auto) { return add(in[0], in[1]); })
      .Case<arith::SubIOp>([&](auto) { return subtract(in[0], in[1]); })
      .Case<arith::MulIOp>([&](auto) { return multiply(in[0], in[1]); })
      .Case<arith::MinSIOp>([&](auto) {
        return Interval{std::min(in[0].low, in[1].low),
                        std::min(in[0].high, in[1].high)};
      })
      .Case<arith::MaxSIOp>([&](auto) {
        return Interval{std::max(in[0].low, in[1].low),
                        std::max(in[0].high, in[1].high)};
      })
      .Case<arith::SelectOp>([&](auto) {
        return Interval{std::min(in[0].low, in[1].low),
                        std::max(in[0].high, in[1].high)};
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto) { return in[0]; })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>([&](auto) {
        return in[0].low >= 0 ? std::optional(in[0]) : std::nullopt;
      })
      .Default([&](Operation *) { return divide(op, in[0], in[1]); });
}
