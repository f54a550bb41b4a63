//===- TileUses.cpp - How loops use tiles on the chip -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/TileUses.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tile;

bool tile::touches(Operation *op, Value tile) {
  return llvm::any_of(tile.getUsers(),
                      [&](Operation *user) { return op->isAncestor(user); });
}

/// Whether a view may be used wherever the tile is not.
static bool hasViews(Value tile) {
  return llvm::any_of(tile.getUsers(), [](Operation *user) {
    return isa<ViewLikeOpInterface>(user);
  });
}

llvm::MapVector<Value, TileUses> tile::findTileUses(ParallelOp loop) {
  llvm::MapVector<Value, TileUses> tiles;
  if (!loop.hasStaticExtents())
    return tiles;
  llvm::DenseSet<Value> others;
  loop.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (!isOnChip(operand.getType()) ||
          loop->isAncestor(operand.getParentRegion()->getParentOp()))
        continue;
      auto load = dyn_cast<memref::LoadOp>(op);
      auto store = dyn_cast<memref::StoreOp>(op);
      auto type = cast<MemRefType>(operand.getType());
      bool isOwn = isa_and_nonnull<AllocSharedOp, AllocFragmentOp>(
                       operand.getDefiningOp()) &&
                   !hasViews(operand) && type.getLayout().isIdentity() &&
                   type.getShape() == loop.getStaticExtents() &&
                   ((load && ValueRange(load.getIndices()) ==
                                 ValueRange(loop.getInductionVars())) ||
                    (store && store->getParentOp() == loop &&
                     ValueRange(store.getIndices()) ==
                         ValueRange(loop.getInductionVars())));
      if (!isOwn)
        others.insert(operand);
      else if (load)
        tiles[operand].loads.push_back(load);
      else
        tiles[operand].stores.push_back(store);
    }
  });
  tiles.remove_if(
      [&](const auto &entry) { return others.contains(entry.first); });
  return tiles;
}

bool tile::takesWhole(CopyOp copy, Value tile) {
  bool isTarget = copy.getTarget() == tile;
  FailureOr<SmallVector<int64_t>> box =
      isTarget ? copy.getTargetTile() : copy.getSourceTile();
  return succeeded(box) &&
         ArrayRef(*box) == cast<MemRefType>(tile.getType()).getShape() &&
         llvm::all_of(
             isTarget ? copy.getMixedTargetOffsets()
                      : copy.getMixedSourceOffsets(),
             [](OpFoldResult offset) { return isConstantIntValue(offset, 0); });
}

bool TileUses::isMade() const {
  if (stores.empty())
    return false;
  memref::StoreOp first = stores.front();
  return llvm::all_of(loads, [&](memref::LoadOp load) {
    return first->isBeforeInBlock(
        first->getBlock()->findAncestorOpInBlock(*load));
  });
}

/// Whether `op`, which touches `tile`, does not depend on what it holds.
static bool overwrites(Operation *op, Value tile) {
  if (auto loop = dyn_cast<ParallelOp>(op)) {
    llvm::MapVector<Value, TileUses> tiles = findTileUses(loop);
    auto it = tiles.find(tile);
    return it != tiles.end() && it->second.isMade();
  }
  if (auto copy = dyn_cast<CopyOp>(op))
    return copy.getTarget() == tile && copy.getSource() != tile &&
           takesWhole(copy, tile);
  return isa<FillOp>(op);
}

bool tile::isDeadAfter(Operation *op, Value tile) {
  // Nothing where `tile` is not met, else whether it is overwritten first.
  auto scan = [&](Operation *from, Operation *to) -> std::optional<bool> {
    for (Operation *next = from; next != to; next = next->getNextNode())
      if (touches(next, tile))
        return overwrites(next, tile);
    return std::nullopt;
  };
  if (std::optional<bool> ends = scan(op->getNextNode(), nullptr))
    return *ends;
  Operation *parent = op->getParentOp();
  if (isa<LaunchOp>(parent))
    return true;
  if (isa<scf::ForOp, PipelinedOp>(parent)) {
    // The next iteration comes first; it may be that there is none.
    if (!scan(&op->getBlock()->front(), op->getNextNode()).value_or(true))
      return false;
  } else if (!isa<scf::IfOp, StepOp>(parent)) {
    return false;
  }
  return isDeadAfter(parent, tile);
}
