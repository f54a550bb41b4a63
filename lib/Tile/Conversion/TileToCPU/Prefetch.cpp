//===- Prefetch.cpp - Reading ahead of the loops ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile is read in as many short pieces as it has rows, each too short for the
// prefetchers of the machine to follow. But which tile comes next is known:
// that of the next step of the loop around, or of the next block. While one is
// read, the same place of the next is asked for.
//
// A copy waits for memory with nothing else to do, and what it asks for besides
// queues up behind. An elementwise loop behind it that computes functions has
// time, so that it asks in the copy's place.
//
//===----------------------------------------------------------------------===//

#include "Prefetch.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

/// Whether `value` is computed from `from`, in a few steps.
static bool dependsOn(Value value, Value from, unsigned depth = 8) {
  if (value == from)
    return true;
  if (!value)
    return false;
  Operation *definition = value.getDefiningOp();
  return depth != 0 && definition && definition->getNumRegions() == 0 &&
         llvm::any_of(definition->getOperands(), [&](Value operand) {
           return dependsOn(operand, from, depth - 1);
         });
}

std::optional<unsigned> cpu::findNextTile(LaunchOp launch, Operation *op,
                                          ValueRange indices) {
  // The number of the block that changes first, where there is no loop.
  Value number = launch.getBody().getArgument(0);
  for (Operation *outer = op->getParentOp(); outer != launch;
       outer = outer->getParentOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(outer)) {
      number = loop.getInductionVar();
      break;
    }
    if (auto loop = dyn_cast<PipelinedOp>(outer)) {
      number = loop.getInductionVar();
      break;
    }
  }
  // Where indices were taken apart by division, the last is that of neighbours
  // in memory.
  for (size_t dim = indices.size(); dim-- > 0;)
    if (dependsOn(indices[dim], number))
      return dim;
  return std::nullopt;
}

std::optional<NextRows> cpu::findNextRows(LaunchOp launch, ParallelOp loop,
                                          memref::LoadOp load) {
  // The loop over the tiles of the rows, and what is repeated for all rows.
  Operation *pass = loop->getParentOp();
  while (pass != launch && !isa<scf::ForOp, PipelinedOp>(pass))
    pass = pass->getParentOp();
  if (pass == launch)
    return std::nullopt;
  llvm::SmallPtrSet<Operation *, 4> before;
  for (Operation *user : load.getMemRef().getUsers()) {
    Operation *other = pass->getBlock()->findAncestorOpInBlock(*user);
    if (other && other->isBeforeInBlock(pass) &&
        isa<scf::ForOp, PipelinedOp>(other))
      before.insert(other);
  }
  if (before.size() != 1)
    return std::nullopt;
  auto strips = dyn_cast<scf::ForOp>(pass->getParentOp());
  Value number = strips ? strips.getInductionVar()
                        : Value(launch.getBody().getArgument(0));
  ValueRange indices = load.getIndices();
  for (size_t dim = indices.size(); dim-- > 0;) {
    if (!dependsOn(indices[dim], number))
      continue;
    ValueRange lanes(loop.getInductionVars());
    for (auto [lane, extent] :
         llvm::zip(lanes.drop_back(), loop.getStaticExtents()))
      if (dependsOn(indices[dim], lane))
        return NextRows{unsigned(dim), extent};
    return std::nullopt;
  }
  return std::nullopt;
}

/// Bytes that may come into a first-level cache beside what a loop works on.
static constexpr int64_t kReadAheadBytes = 16 << 10;

/// The loop that asks for the tile that follows the source of `copy`.
static ParallelOp findReader(LaunchOp launch, CopyOp copy) {
  FailureOr<SmallVector<int64_t>> tile = copy.getSourceTile();
  MemRefType type = copy.getSourceType();
  if (failed(tile) || launch.getBounds() == Bounds::Trap ||
      !isContiguous(type) || !isOnChip(copy.getTargetType()))
    return {};
  SmallVector<int64_t> loops;
  int64_t bytes = getElementBits(type.getElementType()) / 8;
  for (int64_t extent : *tile) {
    bytes *= extent;
    if (extent != 1)
      loops.push_back(extent);
  }
  if (bytes > kReadAheadBytes || loops.empty() || loops.back() != tile->back())
    return {};
  auto computes = [](Operation *op) {
    return isa_and_nonnull<math::MathDialect>(op->getDialect())
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  for (Operation *op = copy->getNextNode(); op; op = op->getNextNode())
    if (auto loop = dyn_cast<ParallelOp>(op))
      if (loop.getStaticExtents() == ArrayRef(loops) &&
          loop.getBody().walk(computes).wasInterrupted() && canVectorize(loop))
        return loop;
  return {};
}

static std::optional<unsigned> findNext(LaunchOp launch, CopyOp copy) {
  if (!isGlobal(copy.getSourceType()))
    return std::nullopt;
  // Constants depend on nothing.
  SmallVector<Value> offsets;
  for (OpFoldResult offset : copy.getMixedSourceOffsets())
    offsets.push_back(dyn_cast<Value>(offset));
  return findNextTile(launch, copy, offsets);
}

std::optional<unsigned> cpu::findNextTile(LaunchOp launch, CopyOp copy) {
  return findReader(launch, copy) ? std::nullopt : findNext(launch, copy);
}

void cpu::spreadPrefetches(LaunchContext &context) {
  context.launch.getBody().walk([&](CopyOp copy) {
    std::optional<unsigned> dim = findNext(context.launch, copy);
    if (!dim)
      return;
    if (ParallelOp loop = findReader(context.launch, copy))
      context.readAhead[loop].push_back({copy.getSource(),
                                         copy.getMixedSourceOffsets(),
                                         *copy.getSourceTile(), *dim});
  });
}

void cpu::buildPrefetch(OpBuilder &b, Location loc, VectorType piece,
                        Value buffer, ValueRange indices, unsigned dim,
                        int64_t distance, unsigned localityHint) {
  int64_t bits = getElementBits(piece.getElementType());
  int64_t inLine = std::max<int64_t>(8 * kAlignment / bits, 1);
  for (int64_t at = 0; at < piece.getNumElements(); at += inLine) {
    SmallVector<Value> next(indices);
    next[dim] = addIndex(b, loc, next[dim], distance);
    next.back() = addIndex(b, loc, next.back(), at);
    memref::PrefetchOp::create(b, loc, buffer, next, /*isWrite=*/false,
                               localityHint, /*isDataCache=*/true);
  }
}
