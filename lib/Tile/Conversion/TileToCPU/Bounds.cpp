//===- Bounds.cpp - Accesses outside global buffers -------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranges of index expressions, computed at run time in front of a loop so that
// the loop itself needs no tests, and the tests themselves where it does.
// Ranges are those of whole numbers: whoever asks has to know that nothing
// wraps around (Intervals.h).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

namespace {
/// Computes ranges op by op. Each case emits what it needs at the insertion
/// point; folding builders keep constant ranges constant.
class RangeBuilder {
public:
  RangeBuilder(OpBuilder &b, Location loc, RangeMap &known, Operation *scope)
      : b(b), loc(loc), known(known), scope(scope) {}

  FailureOr<IndexRange> get(Value value) {
    if (auto it = known.ranges.find(value); it != known.ranges.end())
      return it->second;
    FailureOr<IndexRange> range = compute(value);
    if (succeeded(range))
      known.ranges[value] = *range;
    return range;
  }

private:
  template <typename Op> Value make(Value x, Value y) {
    return b.createOrFold<Op>(loc, x, y);
  }
  IndexRange point(Value value) { return {value, value}; }
  bool isNonNegative(const IndexRange &range) {
    std::optional<int64_t> low = getConstant(range.low);
    return low && *low >= 0;
  }
  Value constant(Type type, int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  void require(arith::CmpIPredicate predicate, Value value, int64_t bound) {
    known.conditions.push_back(b.createOrFold<arith::CmpIOp>(
        loc, predicate, value, constant(value.getType(), bound)));
  }

  FailureOr<IndexRange> compute(Value value) {
    Operation *op = value.getDefiningOp();
    bool isOutside =
        op ? !scope->isAncestor(op)
           : !scope->isAncestor(value.getParentBlock()->getParentOp());
    if (isOutside)
      return point(value);
    if (!op)
      return failure();
    if (std::optional<int64_t> constant = getConstant(value)) {
      if (!isa<IndexType>(value.getType()))
        return point(arith::ConstantOp::create(
            b, loc, b.getIntegerAttr(value.getType(), *constant)));
      return point(constantIndex(b, loc, *constant));
    }
    SmallVector<IndexRange> operands;
    // Only these have a case below; asking first keeps dead code out.
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
             arith::DivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
             arith::RemUIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
             arith::MaxUIOp, arith::SelectOp, arith::IndexCastOp,
             arith::ExtSIOp>(op))
      return failure();
    for (Value operand : op->getOperands()) {
      // The range of a choice does not depend on the condition.
      if (isa<arith::SelectOp>(op) && operand == op->getOperand(0)) {
        operands.push_back({});
        continue;
      }
      FailureOr<IndexRange> range = get(operand);
      if (failed(range))
        return failure();
      operands.push_back(*range);
    }
    return combine(op, operands);
  }

  FailureOr<IndexRange> combine(Operation *op, ArrayRef<IndexRange> in) {
    return llvm::TypeSwitch<Operation *, FailureOr<IndexRange>>(op)
        .Case<arith::AddIOp>([&](auto) {
          return IndexRange{make<arith::AddIOp>(in[0].low, in[1].low),
                            make<arith::AddIOp>(in[0].high, in[1].high)};
        })
        .Case<arith::SubIOp>([&](auto) {
          return IndexRange{make<arith::SubIOp>(in[0].low, in[1].high),
                            make<arith::SubIOp>(in[0].high, in[1].low)};
        })
        .Case<arith::MulIOp>([&](auto) { return multiply(in[0], in[1]); })
        .Case<arith::MinSIOp>([&](auto) {
          return IndexRange{make<arith::MinSIOp>(in[0].low, in[1].low),
                            make<arith::MinSIOp>(in[0].high, in[1].high)};
        })
        .Case<arith::MaxSIOp>([&](auto) {
          return IndexRange{make<arith::MaxSIOp>(in[0].low, in[1].low),
                            make<arith::MaxSIOp>(in[0].high, in[1].high)};
        })
        .Case<arith::SelectOp>([&](auto) {
          return IndexRange{make<arith::MinSIOp>(in[1].low, in[2].low),
                            make<arith::MaxSIOp>(in[1].high, in[2].high)};
        })
        .Case<arith::IndexCastOp, arith::ExtSIOp>([&](auto cast) {
          Type type = cast.getType();
          using Cast = decltype(cast);
          return IndexRange{b.createOrFold<Cast>(loc, type, in[0].low),
                            b.createOrFold<Cast>(loc, type, in[0].high)};
        })
        .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
            [&](auto) { return divide(op, in[0], in[1]); })
        .Case<arith::RemSIOp, arith::RemUIOp>(
            [&](auto) { return remainder(op, in[0], in[1]); })
        .Default([](Operation *) { return failure(); });
  }

  IndexRange multiply(IndexRange x, IndexRange y) {
    if (getConstant(x.low) && x.low == x.high)
      std::swap(x, y);
    std::optional<int64_t> low = getConstant(y.low);
    if (low && y.low == y.high && *low >= 0)
      return {make<arith::MulIOp>(x.low, y.low),
              make<arith::MulIOp>(x.high, y.low)};
    // The extremes of a bilinear form lie in the corners.
    Value corners[] = {make<arith::MulIOp>(x.low, y.low),
                       make<arith::MulIOp>(x.low, y.high),
                       make<arith::MulIOp>(x.high, y.low),
                       make<arith::MulIOp>(x.high, y.high)};
    IndexRange result = point(corners[0]);
    for (Value corner : ArrayRef(corners).drop_front()) {
      result.low = make<arith::MinSIOp>(result.low, corner);
      result.high = make<arith::MaxSIOp>(result.high, corner);
    }
    return result;
  }

  /// Whether `divisor` is one number. It has to be positive, and where it is
  /// not known before the program runs, or the op is unsigned, `x` not
  /// negative.
  bool prepareDivision(Operation *op, const IndexRange &x,
                       const IndexRange &divisor) {
    if (divisor.low != divisor.high)
      return false;
    std::optional<int64_t> number = getConstant(divisor.low);
    if (number && *number <= 0)
      return false;
    if (!number)
      require(arith::CmpIPredicate::sgt, divisor.low, 0);
    if ((!number || isa<arith::DivUIOp>(op)) && !isNonNegative(x))
      require(arith::CmpIPredicate::sge, x.low, 0);
    return true;
  }

  FailureOr<IndexRange> divide(Operation *op, IndexRange x, IndexRange y) {
    if (!prepareDivision(op, x, y))
      return failure();
    // Both roundings are monotone; the truncating one serves unsigned, too.
    if (isa<arith::FloorDivSIOp>(op))
      return IndexRange{make<arith::FloorDivSIOp>(x.low, y.low),
                        make<arith::FloorDivSIOp>(x.high, y.low)};
    return IndexRange{make<arith::DivSIOp>(x.low, y.low),
                      make<arith::DivSIOp>(x.high, y.low)};
  }

  FailureOr<IndexRange> remainder(Operation *op, IndexRange x, IndexRange y) {
    if (!prepareDivision(op, x, y))
      return failure();
    Type type = x.low.getType();
    std::optional<int64_t> divisor = getConstant(y.low);
    Value top = make<arith::SubIOp>(y.low, constant(type, 1));
    if (!divisor || isNonNegative(x))
      return IndexRange{constant(type, 0), make<arith::MinSIOp>(x.high, top)};
    return IndexRange{
        constant(type, isa<arith::RemUIOp>(op) ? 0 : 1 - *divisor), top};
  }

  OpBuilder &b;
  Location loc;
  RangeMap &known;
  Operation *scope;
};
} // namespace

FailureOr<IndexRange> cpu::getRange(OpBuilder &b, Location loc, Value index,
                                    RangeMap &known, Operation *scope) {
  return RangeBuilder(b, loc, known, scope).get(index);
}

Value cpu::isInside(OpBuilder &b, Location loc, Value buffer,
                    ValueRange indices) {
  Value inside;
  auto conjoin = [&](arith::CmpIPredicate predicate, Value index, Value bound) {
    Value test = arith::CmpIOp::create(b, loc, predicate, index, bound);
    inside =
        inside ? arith::AndIOp::create(b, loc, inside, test).getResult() : test;
  };
  for (auto [index, range] :
       llvm::zip(indices, getExistingRanges(b, loc, buffer))) {
    std::optional<int64_t> constant = getConstant(index),
                           high = getConstant(range.high);
    if (!range.low && constant && *constant >= 0 && high && *constant < *high)
      continue;
    // As unsigned numbers, negative indices lie beyond every extent.
    conjoin(arith::CmpIPredicate::ult, index, range.high);
    if (range.low)
      conjoin(arith::CmpIPredicate::sge, index, range.low);
  }
  return inside;
}

std::optional<GlobalAccess> cpu::getGlobalAccess(Operation *op) {
  GlobalAccess access;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    access = {load.getMemRef(), load.getIndices(), "load"};
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    access = {store.getMemRef(), store.getIndices(), "store"};
  else if (auto atomic = dyn_cast<memref::AtomicRMWOp>(op))
    access = {atomic.getMemref(), atomic.getIndices(), "atomic update"};
  else if (auto atomic = dyn_cast<memref::GenericAtomicRMWOp>(op))
    access = {atomic.getMemref(), atomic.getIndices(), "atomic update"};
  if (!access.buffer || !isGlobal(access.buffer.getType()))
    return std::nullopt;
  return access;
}

void cpu::guardAccesses(RewriterBase &rewriter, LaunchContext &context,
                        Operation *root) {
  if (context.bounds() == Bounds::Assume)
    return;
  bool traps = context.bounds() == Bounds::Trap;
  SmallVector<Operation *> accesses;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Elementwise loops are guarded as a whole (Parallel.cpp).
    if (isa<ParallelOp>(op))
      return WalkResult::skip();
    if (getGlobalAccess(op))
      accesses.push_back(op);
    return WalkResult::advance();
  });
  OpBuilder::InsertionGuard guard(rewriter);
  for (Operation *op : accesses) {
    Location loc = op->getLoc();
    rewriter.setInsertionPoint(op);
    GlobalAccess access = *getGlobalAccess(op);
    Value inside = isInside(rewriter, loc, access.buffer, access.indices);
    if (!inside)
      continue;
    // A load gives zero outside, and so does the old value of an atomic.
    bool hasResult = op->getNumResults() != 0;
    auto test = scf::IfOp::create(rewriter, loc, op->getResultTypes(), inside,
                                  /*withElseRegion=*/hasResult || traps);
    rewriter.setInsertionPointToStart(test.thenBlock());
    Operation *copy = rewriter.clone(*op);
    if (hasResult)
      scf::YieldOp::create(rewriter, loc, copy->getResults());
    if (hasResult || traps) {
      rewriter.setInsertionPointToStart(test.elseBlock());
      if (traps)
        buildReport(rewriter, loc, op,
                    (access.what + " outside the buffer").str());
      if (hasResult)
        scf::YieldOp::create(rewriter, loc,
                             zeroOf(rewriter, loc, op->getResult(0).getType()));
    }
    rewriter.replaceOp(op, test.getResults());
  }
}
