//===- CanonicalizeIdioms.cpp - One form for common idioms ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both rewrites look from a fill to the next op in its block that touches the
// buffer. On-chip buffers are named and never passed around, so an op touches
// one exactly if it, or an op inside it, has a view of it as an operand. A loop
// that starts with a gemm touches the buffer as a whole: whether it runs at all
// is not known here, so a fill before it stays.
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/CanonicalizeIdioms.h"
#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_CANONICALIZEIDIOMS
#include "Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace tile;

static bool touches(Operation *op, Value root) {
  // Views and extents are no accesses.
  if (isPure(op))
    return false;
  auto names = [&](Value operand) {
    return isa<MemRefType>(operand.getType()) && getRootBuffer(operand) == root;
  };
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(), names)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The next op of the block that touches the buffer of `fill`.
static Operation *getNextAccess(FillOp fill) {
  Value root = getRootBuffer(fill.getBuffer());
  for (Operation *op = fill->getNextNode(); op; op = op->getNextNode())
    if (touches(op, root))
      return op;
  return nullptr;
}

/// True if `op` writes every element of `buffer` and reads none of them.
static bool overwrites(Operation *op, Value buffer) {
  if (auto fill = dyn_cast<FillOp>(op))
    return fill.getBuffer() == buffer;
  if (auto gemm = dyn_cast<GemmOp>(op))
    return gemm.getClear() && gemm.getC() == buffer;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return !reduce.getAccumulate() && reduce.getTarget() == buffer;
  if (auto copy = dyn_cast<CopyOp>(op))
    // Where the source ends the pad value is written. Source and target do not
    // overlap, but the source may be another part of the same buffer.
    return copy.getTarget() == buffer &&
           copy.getStaticTargetOffsets().empty() &&
           copy.getTargetSizes().empty() &&
           getRootBuffer(copy.getSource()) != getRootBuffer(buffer);
  return false;
}

/// Minus zero is not the neutral start of a sum.
static bool isZero(Value value) {
  return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero());
}

IdiomCounts tile::canonicalizeIdioms(FunctionOpInterface function) {
  SmallVector<FillOp> fills;
  function.walk([&](FillOp fill) { fills.push_back(fill); });
  IdiomCounts counts;
  for (FillOp fill : fills) {
    Operation *next = getNextAccess(fill);
    if (!next)
      continue;
    auto gemm = dyn_cast<GemmOp>(next);
    if (gemm && !gemm.getClear() && gemm.getC() == fill.getBuffer() &&
        isZero(fill.getValue())) {
      gemm.setClear(true);
      ++counts.clearedGemms;
    }
    if (!overwrites(next, fill.getBuffer()))
      continue;
    fill.erase();
    ++counts.deadFills;
  }
  return counts;
}

namespace {
struct CanonicalizeIdiomsPass
    : tile::impl::CanonicalizeIdiomsBase<CanonicalizeIdiomsPass> {
  void runOnOperation() override {
    IdiomCounts counts = canonicalizeIdioms(getOperation());
    numClearedGemms += counts.clearedGemms;
    numDeadFills += counts.deadFills;
  }
};
} // namespace
