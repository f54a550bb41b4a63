//===- KnownDivisor.cpp - What is known of an offset ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/KnownDivisor.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tile;

static int64_t greatestPowerOfTwoIn(int64_t value) {
  return value ? value & -value : 16;
}

int64_t tile::getKnownDivisor(OpFoldResult value) {
  constexpr int64_t limit = 1 << 20;
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant ? std::min(greatestPowerOfTwoIn(*constant), limit) : limit;
  auto dynamic = cast<Value>(value);
  if (auto argument = dyn_cast<BlockArgument>(dynamic)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast_or_null<scf::ForOp>(parent);
        loop && argument == loop.getInductionVar())
      return std::min(getKnownDivisor(loop.getLowerBound()),
                      getKnownDivisor(loop.getStep()));
    if (auto loop = dyn_cast_or_null<PipelinedOp>(parent))
      return std::min(getKnownDivisor(loop.getLower()),
                      loop.getStep() ? getKnownDivisor(loop.getStep())
                                     : int64_t(1));
    return 1;
  }
  Operation *op = dynamic.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp,
          arith::MaxUIOp, arith::MinUIOp>(op))
    return std::min(getKnownDivisor(op->getOperand(0)),
                    getKnownDivisor(op->getOperand(1)));
  if (isa<arith::MulIOp>(op))
    return std::min(limit, getKnownDivisor(op->getOperand(0)) *
                               getKnownDivisor(op->getOperand(1)));
  if (isa<arith::SelectOp>(op))
    return std::min(getKnownDivisor(op->getOperand(1)),
                    getKnownDivisor(op->getOperand(2)));
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return getKnownDivisor(op->getOperand(0));
  return 1;
}

bool tile::isKnownNonNegative(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant >= 0;
  auto dynamic = dyn_cast<Value>(value);
  if (!dynamic)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(dynamic)) {
    Operation *parent = argument.getOwner()->getParentOp();
    // Loops count up.
    if (auto loop = dyn_cast_or_null<scf::ForOp>(parent))
      return argument == loop.getInductionVar() &&
             isKnownNonNegative(loop.getLowerBound());
    if (auto loop = dyn_cast_or_null<PipelinedOp>(parent))
      return isKnownNonNegative(loop.getLower());
    return isa_and_nonnull<LaunchOp, ParallelOp>(parent);
  }
  Operation *op = dynamic.getDefiningOp();
  if (isa<memref::DimOp>(op))
    return true;
  auto both = [&](auto combine) {
    return combine(isKnownNonNegative(op->getOperand(0)),
                   isKnownNonNegative(op->getOperand(1)));
  };
  if (isa<arith::AddIOp, arith::MulIOp, arith::MinSIOp, arith::DivSIOp,
          arith::CeilDivSIOp, arith::DivUIOp>(op))
    return both(std::logical_and<bool>());
  if (isa<arith::MaxSIOp>(op))
    return both(std::logical_or<bool>());
  if (isa<arith::RemSIOp>(op))
    return isKnownNonNegative(op->getOperand(0));
  if (isa<arith::SelectOp>(op))
    return isKnownNonNegative(op->getOperand(1)) &&
           isKnownNonNegative(op->getOperand(2));
  return false;
}
