//===- Quotients.cpp - Lanes that have one quotient -------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that see two dimensions of a buffer as one take an index apart again
// by division and remainder. Where all lanes of a vector have the same
// quotient, which is nearly always so, the quotient is uniform and the
// remainder linear, so that accesses are contiguous; lane by lane they would be
// gathers with a division each. One comparison a vector tells the two apart.
//
//===----------------------------------------------------------------------===//

#include "Vectorizer.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

static bool isRemainder(Operation *op) {
  return isa<arith::RemSIOp, arith::RemUIOp>(op);
}

/// A quotient of natural numbers that grow from lane to lane.
bool Vectorizer::isQuotientOfLine(Operation *op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
           arith::RemUIOp>(op))
    return false;
  Lanes line = get(op->getOperand(0)), divisor = get(op->getOperand(1));
  if (!line.base || line.stride <= 0 || !divisor.uniform)
    return false;
  std::optional<Interval> interval = intervals.get(op->getOperand(0));
  return interval && interval->low >= 0;
}

void Vectorizer::emitSteadyQuotient(Operation *op) {
  Location loc = op->getLoc();
  Lanes line = get(op->getOperand(0));
  IRMapping operands;
  operands.map(op->getOperand(0), line.base);
  operands.map(op->getOperand(1), scalar(op->getOperand(1)));
  Value first = b.clone(*op, operands)->getResult(0);
  first.setLoc(loc);
  if (isRemainder(op))
    values[op->getResult(0)] = {{}, first, line.stride, {}};
  else
    setUniform(op->getResult(0), first);
}

Value Vectorizer::findSteadyQuotients(ParallelOp op, ValueRange ivs,
                                      Quotients &found) {
  Block &body = op.getBody().front();
  if (lanes == 1 || llvm::none_of(body, [](Operation &inner) {
        return isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
                   arith::RemSIOp, arith::RemUIOp>(inner);
      }))
    return {};
  begin(op, ivs);
  Value result;
  // What the quotients do not depend on is not emitted.
  llvm::DenseSet<Value> unknown;
  llvm::DenseSet<std::tuple<Value, Value, unsigned>> tested;
  for (Operation &inner : body.without_terminator()) {
    bool isIndexArithmetic =
        inner.getNumResults() == 1 && inner.getNumRegions() == 0 &&
        isMemoryEffectFree(&inner) &&
        isa<IndexType>(inner.getResult(0).getType()) &&
        llvm::none_of(inner.getOperands(),
                      [&](Value v) { return unknown.contains(v); });
    if (!isIndexArithmetic) {
      unknown.insert_range(inner.getResults());
      continue;
    }
    if (llvm::all_of(inner.getOperands(),
                     [&](Value v) { return !!get(v).uniform; })) {
      emitUniform(&inner);
      continue;
    }
    if (!isQuotientOfLine(&inner)) {
      if (isa<arith::CmpIOp>(inner) || !emitLinear(&inner))
        unknown.insert(inner.getResult(0));
      continue;
    }
    Location loc = inner.getLoc();
    Lanes line = get(inner.getOperand(0));
    Value divisor = scalar(inner.getOperand(1));
    bool isUnsigned = isa<arith::DivUIOp, arith::RemUIOp>(inner);
    found.insert(&inner);
    emitSteadyQuotient(&inner);
    // The remainder mostly stands beside its quotient.
    if (!tested.insert({line.base, divisor, unsigned(isUnsigned)}).second)
      continue;
    // The remainder of the last lane, if the quotient does not change before.
    // Neither it nor what it is taken of wraps around.
    Value first =
        isUnsigned
            ? arith::RemUIOp::create(b, loc, line.base, divisor).getResult()
            : arith::RemSIOp::create(b, loc, line.base, divisor).getResult();
    Value last = addIndex(b, loc, first, (lanes - 1) * line.stride);
    result =
        conjoin(loc, result,
                arith::CmpIOp::create(b, loc,
                                      isUnsigned ? arith::CmpIPredicate::ult
                                                 : arith::CmpIPredicate::slt,
                                      last, divisor));
  }
  return result;
}
