//===- Persistent.cpp - Shared tiles and their order -------------*- C++
//-*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Intervals.h"
#include "Lowering.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

/// Extents that a program computes may be negative, which means nothing to do.
static Value atLeastZero(OpBuilder &b, Location loc, Value value) {
  return b.createOrFold<arith::MaxSIOp>(loc, value, constantIndex(b, loc, 0));
}

Value cpu::countPoints(OpBuilder &b, Operation *op, ArrayRef<Value> extents,
                       StringRef things) {
  Location loc = op->getLoc();
  Value count = extents.front();
  // That one counts as far as anybody can wait for.
  if (extents.size() == 1)
    return count;
  Value zero = constantIndex(b, loc, 0), one = constantIndex(b, loc, 1);
  Value limit = constantIndex(b, loc, kMaxCount);
  Value isTooLarge, isEmpty;
  auto disjoin = [&](Value &any, Value test) {
    any = any ? b.createOrFold<arith::OrIOp>(loc, any, test) : test;
  };
  count = one;
  for (Value extent : extents) {
    // The product so far is below the limit, or it does not matter any more.
    Value divisor = b.createOrFold<arith::MaxSIOp>(loc, extent, one);
    Value most = b.createOrFold<arith::DivUIOp>(loc, limit, divisor);
    disjoin(isTooLarge, b.createOrFold<arith::CmpIOp>(
                            loc, arith::CmpIPredicate::ugt, count, most));
    disjoin(isEmpty, b.createOrFold<arith::CmpIOp>(
                         loc, arith::CmpIPredicate::eq, extent, zero));
    count = b.createOrFold<arith::MulIOp>(loc, count, extent);
  }
  if (matchPattern(isTooLarge, m_Zero()))
    return count;
  Value isSome = arith::XOrIOp::create(
      b, loc, isEmpty, arith::ConstantIntOp::create(b, loc, 1, 1));
  isTooLarge = arith::AndIOp::create(b, loc, isTooLarge, isSome);
  auto test = scf::IfOp::create(b, loc, isTooLarge, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(test.thenBlock());
    buildReport(b, loc, op,
                ("more than " + Twine(kMaxCount) + " " + things).str());
  }
  return arith::SelectOp::create(b, loc, isTooLarge, zero, count);
}

SmallVector<Value> cpu::unravel(OpBuilder &b, Location loc, Value number,
                                ArrayRef<Value> extents, RasterAttr raster) {
  auto quotient = [&](Value x, Value y) -> Value {
    return arith::DivUIOp::create(b, loc, x, y);
  };
  auto remainder = [&](Value x, Value y) -> Value {
    return arith::RemUIOp::create(b, loc, x, y);
  };
  auto product = [&](Value x, Value y) {
    return b.createOrFold<arith::MulIOp>(loc, x, y);
  };
  SmallVector<Value> point;
  if (extents.size() == 1)
    return {number};
  Value rows = extents[extents.size() - 2], columns = extents.back();
  if (extents.size() == 3) {
    Value plane = product(rows, columns);
    point.push_back(quotient(number, plane));
    number = remainder(number, plane);
  }
  bool byColumn = raster && raster.getOrder() == RasterOrder::Column;
  // Bands follow one another across, tiles inside a band along it.
  Value across = byColumn ? columns : rows, along = byColumn ? rows : columns;
  int64_t group = raster ? raster.getGroup() : 1;
  Value first, second;
  if (group == 1) {
    second = remainder(number, along);
    first = quotient(number, along);
  } else {
    // The last band may be narrower.
    Value width = constantIndex(b, loc, group);
    Value tilesPerBand = product(width, along);
    Value start = product(quotient(number, tilesPerBand), width);
    Value inBand = remainder(number, tilesPerBand);
    Value left = arith::SubIOp::create(b, loc, across, start);
    Value actual = arith::MinSIOp::create(b, loc, left, width);
    first = arith::AddIOp::create(b, loc, start, remainder(inBand, actual));
    second = quotient(inBand, actual);
  }
  point.push_back(byColumn ? second : first);
  point.push_back(byColumn ? first : second);
  return point;
}

LogicalResult cpu::lowerPersistent(RewriterBase &rewriter,
                                   LaunchContext &context, PersistentOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  // A block that runs has a grid without empty dimensions.
  Value worker = constantIndex(rewriter, loc, 0);
  Value workers = constantIndex(rewriter, loc, 1);
  for (auto [id, extent] :
       llvm::zip(context.launch.getBlockIds(), context.launch.getGrid())) {
    Value scaled = rewriter.createOrFold<arith::MulIOp>(loc, id, workers);
    worker = addIndex(rewriter, loc, worker, scaled);
    workers = rewriter.createOrFold<arith::MulIOp>(loc, workers, extent);
  }
  SmallVector<Value> extents;
  for (Value extent : op.getTiles())
    extents.push_back(atLeastZero(rewriter, loc, extent));
  Value count = countPoints(rewriter, op, extents, "tiles");
  auto loop = scf::ForOp::create(rewriter, loc, worker, count, workers);
  rewriter.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> point = unravel(rewriter, loc, loop.getInductionVar(),
                                     extents, op.getRasterAttr());
  rewriter.eraseOp(op.getBody().front().getTerminator());
  rewriter.inlineBlockBefore(&op.getBody().front(),
                             loop.getBody()->getTerminator(), point);
  rewriter.eraseOp(op);
  return success();
}
