//===- StageElementwise.cpp - Elementwise access as copies ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"
#include "Tile/IR/Updates.h"
#include "Tile/Transforms/GPUPasses.h"
#include "Tile/Transforms/LoopLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_TILESTAGEELEMENTWISE
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

namespace {

/// An index as one induction variable, or none, plus addends that are the same
/// for all lanes.
struct Index {
  std::optional<unsigned> variable;
  SmallVector<Value> addends;
};

class Stager {
public:
  explicit Stager(ParallelOp loop) : loop(loop), builder(loop) {}

  int64_t run();

private:
  bool isOutside(Value value) {
    return !loop.getBody().isAncestor(value.getParentRegion());
  }
  bool isUniform(Value value);
  /// Moves the computation of a uniform value in front of the loop.
  void hoist(Value value);
  bool decompose(Value value, Index &index);
  std::optional<SmallVector<Index>> decompose(ValueRange indices);
  Value makeOffset(const Index &index);

  bool isStaged(Operation *op);
  MemRefType getFragmentType(Value buffer, ArrayRef<Index> indices);
  void stage(Operation *op, Value buffer, ValueRange indices);

  ParallelOp loop;
  OpBuilder builder;
  /// Accesses to global buffers in program order.
  SmallVector<Operation *> accesses;
  /// What the loop updates indivisibly.
  llvm::SmallPtrSet<Value, 4> updated;
};
} // namespace

bool Stager::isUniform(Value value) {
  if (isOutside(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getNumRegions() == 0 && isPure(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isUniform(operand); });
}

void Stager::hoist(Value value) {
  if (isOutside(value))
    return;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    hoist(operand);
  op->moveBefore(loop);
}

bool Stager::decompose(Value value, Index &index) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &loop.getBody().front()) {
    if (index.variable)
      return false;
    index.variable = argument.getArgNumber();
    return true;
  }
  if (isUniform(value)) {
    index.addends.push_back(value);
    return true;
  }
  auto sum = value.getDefiningOp<arith::AddIOp>();
  return sum && decompose(sum.getLhs(), index) &&
         decompose(sum.getRhs(), index);
}

std::optional<SmallVector<Index>> Stager::decompose(ValueRange indices) {
  SmallVector<Index> result;
  SmallVector<unsigned> seen;
  for (Value value : indices) {
    Index &index = result.emplace_back();
    if (!decompose(value, index))
      return std::nullopt;
    if (!index.variable)
      continue;
    if (llvm::is_contained(seen, *index.variable))
      return std::nullopt;
    seen.push_back(*index.variable);
  }
  // Without an induction variable it is one element, which every lane reads.
  if (seen.empty())
    return std::nullopt;
  return result;
}

Value Stager::makeOffset(const Index &index) {
  Value offset;
  for (Value addend : index.addends) {
    hoist(addend);
    offset = offset ? builder.createOrFold<arith::AddIOp>(loop.getLoc(), offset,
                                                          addend)
                    : addend;
  }
  return offset ? offset
                : arith::ConstantIndexOp::create(builder, loop.getLoc(), 0)
                      .getResult();
}

static Value getBuffer(Operation *access) {
  if (auto load = dyn_cast<memref::LoadOp>(access))
    return load.getMemRef();
  return cast<memref::StoreOp>(access).getMemRef();
}

/// A load must not come after a store to its buffer, which it might have to
/// see; a store must be the last access to its buffer.
bool Stager::isStaged(Operation *op) {
  if (op->getBlock() != &loop.getBody().front())
    return false;
  Value root = getRootBuffer(getBuffer(op));
  if (updated.contains(root))
    return false;
  bool isLoad = isa<memref::LoadOp>(op);
  bool isPast = false;
  for (Operation *other : accesses) {
    if (other == op) {
      isPast = true;
      continue;
    }
    if (getRootBuffer(getBuffer(other)) != root)
      continue;
    bool storesBefore = !isPast && isa<memref::StoreOp>(other);
    if (isLoad ? storesBefore : (isPast || storesBefore))
      return false;
  }
  return isOutside(getBuffer(op));
}

/// The part of the buffer that the loop accesses.
MemRefType Stager::getFragmentType(Value buffer, ArrayRef<Index> indices) {
  SmallVector<int64_t> shape;
  for (const Index &index : indices)
    if (index.variable)
      shape.push_back(loop.getStaticExtents()[*index.variable]);
  return MemRefType::get(
      shape, cast<MemRefType>(buffer.getType()).getElementType(),
      MemRefLayoutAttrInterface(), FragmentAttr::get(loop.getContext()));
}

void Stager::stage(Operation *op, Value buffer, ValueRange indices) {
  std::optional<SmallVector<Index>> parts = decompose(indices);
  builder.setInsertionPoint(loop);
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> offsets;
  SmallVector<int64_t> sizes;
  SmallVector<Value> variables;
  for (const Index &index : *parts) {
    offsets.push_back(makeOffset(index));
    sizes.push_back(1);
    if (!index.variable)
      continue;
    sizes.back() = loop.getStaticExtents()[*index.variable];
    variables.push_back(loop.getInductionVars()[*index.variable]);
  }
  Value fragment = AllocFragmentOp::create(
      builder, loc, getFragmentType(buffer, *parts), ValueRange());
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    CopyOp::create(builder, loc, buffer, offsets, fragment,
                   ArrayRef<OpFoldResult>(), sizes);
    builder.setInsertionPoint(op);
    load.replaceAllUsesWith(
        memref::LoadOp::create(builder, loc, fragment, variables).getResult());
    op->erase();
    return;
  }
  builder.setInsertionPointAfter(loop);
  CopyOp::create(builder, loc, fragment, ArrayRef<OpFoldResult>(), buffer,
                 offsets, /*sourceSizes=*/ArrayRef<int64_t>(), sizes);
  builder.setInsertionPoint(op);
  memref::StoreOp::create(builder, loc,
                          cast<memref::StoreOp>(op).getValueToStore(), fragment,
                          variables);
  op->erase();
}

int64_t Stager::run() {
  if (!loop.hasStaticExtents())
    return 0;
  int64_t points = 1;
  for (int64_t extent : loop.getStaticExtents())
    points *= extent;
  if (points > mostStraightElements || points == 0)
    return 0;
  bool readsOldElements = false;
  loop.walk([&](Operation *op) {
    if (isa<memref::LoadOp, memref::StoreOp>(op) &&
        isGlobal(getBuffer(op).getType()))
      accesses.push_back(op);
    if (Value buffer = getUpdatedBuffer(op)) {
      updated.insert(getRootBuffer(buffer));
      readsOldElements |= !op->use_empty();
    }
  });
  // Such a loop runs on one thread for each lane and has no use for fragments.
  if (readsOldElements)
    return 0;
  // A launch that leaves the choice has at least so many.
  int64_t threads =
      loop->getParentOfType<LaunchOp>().getStaticThreads().value_or(128);
  SmallVector<Operation *> staged;
  for (Operation *op : accesses) {
    ValueRange indices = isa<memref::LoadOp>(op)
                             ? ValueRange(cast<memref::LoadOp>(op).getIndices())
                             : cast<memref::StoreOp>(op).getIndices();
    std::optional<SmallVector<Index>> parts = decompose(indices);
    if (!parts || !isStaged(op) ||
        !fitsRegisters(getFragmentType(getBuffer(op), *parts), threads))
      continue;
    // A store whose element does not depend on some lane is written by several
    // lanes at once.
    size_t variables = llvm::count_if(
        *parts, [](const Index &index) { return index.variable.has_value(); });
    if (isa<memref::StoreOp>(op) && variables != size_t(loop.getRank()))
      continue;
    staged.push_back(op);
  }
  for (Operation *op : staged) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      stage(op, load.getMemRef(), SmallVector<Value>(load.getIndices()));
    else
      stage(op, getBuffer(op),
            SmallVector<Value>(cast<memref::StoreOp>(op).getIndices()));
  }
  return staged.size();
}

namespace {
struct StageElementwisePass
    : tile::impl::TileStageElementwiseBase<StageElementwisePass> {
  void runOnOperation() override {
    SmallVector<ParallelOp> loops;
    getOperation()->walk([&](ParallelOp loop) { loops.push_back(loop); });
    for (ParallelOp loop : loops)
      numStaged += Stager(loop).run();
  }
};
} // namespace
