//===- FuseCopies.cpp - Let elementwise loops copy their tiles --*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs bring a tile onto the chip, compute each of its elements and take it
// back. Where caches do the bringing, a loop may as well load and store the
// elements where they are: the tile then needs neither memory nor passes of its
// own over it, and memory is waited for while something is computed.
//
// A copy joins a loop whose lanes use the tile's element of their own place
// alone, if nobody else sees the tile in between or afterwards, and if neither
// the ops in between nor the loop itself touch what the copy does in global
// memory in another order.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/EntryAttributes.h"
#include "Tile/Transforms/Passes.h"
#include "Tile/Transforms/TileUses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

namespace tile {
#define GEN_PASS_DEF_FUSECOPIES
#include "Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// What an op does to global memory, and to nothing that is not known.
enum class GlobalEffect { None, Reads, Writes };

/// The accesses of a loop to a tile, and the copies that join them.
struct TileCopies : TileUses {
  CopyOp in, out;
};

class CopyFusion {
public:
  explicit CopyFusion(LaunchOp launch)
      : launch(launch),
        function(launch->getParentOfType<FunctionOpInterface>()),
        dominance(function) {}

  /// The number of copies that joined `loop`.
  unsigned fuse(ParallelOp loop);

private:
  using Tiles = llvm::MapVector<Value, TileCopies>;

  CopyOp findIn(ParallelOp loop, Value tile);
  CopyOp findOut(ParallelOp loop, Value tile);
  bool areDistinct(Value x, Value y);
  bool checkOrder(ParallelOp loop, Tiles &tiles);

  LaunchOp launch;
  FunctionOpInterface function;
  DominanceInfo dominance;
};
} // namespace

static GlobalEffect getEffect(Operation *op) {
  auto result = GlobalEffect::None;
  auto add = [&](Value buffer, GlobalEffect effect) {
    if (isGlobal(buffer.getType()))
      result = std::max(result, effect);
  };
  op->walk([&](Operation *inner) {
    if (auto load = dyn_cast<memref::LoadOp>(inner)) {
      add(load.getMemRef(), GlobalEffect::Reads);
    } else if (auto store = dyn_cast<memref::StoreOp>(inner)) {
      add(store.getMemRef(), GlobalEffect::Writes);
    } else if (auto copy = dyn_cast<CopyOp>(inner)) {
      add(copy.getSource(), GlobalEffect::Reads);
      add(copy.getTarget(), GlobalEffect::Writes);
    } else if (!isa<FillOp, GemmOp, ReduceOp, ScanOp, ParallelOp, PipelinedOp,
                    StepOp, YieldOp, AllocLocalOp, scf::ForOp, scf::IfOp,
                    scf::WhileOp, scf::ConditionOp, scf::YieldOp>(inner) &&
               !(inner->getNumRegions() == 0 && isMemoryEffectFree(inner))) {
      result = GlobalEffect::Writes;
    }
  });
  return result;
}

/// Whether an element becomes a value of the other type by one operation at
/// most.
static bool isConverted(CopyOp copy, Type global, Type onChip) {
  if (!global.isIntOrFloat() || global.getIntOrFloatBitWidth() < 8)
    return false;
  return global == onChip || (onChip.isF32() && !copy.getSaturate() &&
                              (global.isF16() || global.isBF16()));
}

static Value convert(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (type.isF32())
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

/// Whether the global side of a copy with all of `tile` can be accessed element
/// by element, lanes beside each other.
static bool isPlain(CopyOp copy, Value tile) {
  bool isIn = copy.getTarget() == tile;
  Value global = isIn ? copy.getSource() : copy.getTarget();
  auto type = cast<MemRefType>(global.getType());
  auto onChip = cast<MemRefType>(tile.getType());
  if (!isGlobal(type) || global == tile ||
      !isConverted(copy, type.getElementType(), onChip.getElementType()))
    return false;
  FailureOr<SmallVector<int64_t>> box =
      isIn ? copy.getSourceTile() : copy.getTargetTile();
  if (!takesWhole(copy, tile) || failed(box) || box->empty() ||
      box->back() != onChip.getShape().back())
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return false;
  // What is not there reads as zero.
  return !isIn || !copy.getPad() || matchPattern(copy.getPad(), m_Zero()) ||
         matchPattern(copy.getPad(), m_PosZeroFloat());
}

/// The copy that brings all of `tile` for `loop`, if it can wait until then.
CopyOp CopyFusion::findIn(ParallelOp loop, Value tile) {
  for (Operation *op = loop->getPrevNode(); op; op = op->getPrevNode()) {
    if (touches(op, tile)) {
      auto copy = dyn_cast<CopyOp>(op);
      return copy && copy.getTarget() == tile && isPlain(copy, tile) ? copy
                                                                     : CopyOp();
    }
    if (getEffect(op) == GlobalEffect::Writes)
      return {};
  }
  return {};
}

/// The copy that takes all of `tile` from `loop`, if it need not wait.
CopyOp CopyFusion::findOut(ParallelOp loop, Value tile) {
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    if (touches(op, tile)) {
      auto copy = dyn_cast<CopyOp>(op);
      if (!copy || copy.getSource() != tile || !isPlain(copy, tile))
        return {};
      for (Value offset : copy.getTargetOffsets())
        if (!dominance.properlyDominates(offset, loop))
          return {};
      return dominance.properlyDominates(copy.getTarget(), loop) ? copy
                                                                 : CopyOp();
    }
    if (getEffect(op) != GlobalEffect::None)
      return {};
  }
  return {};
}

/// Whether two global buffers have no memory in common.
bool CopyFusion::areDistinct(Value x, Value y) {
  x = getRootBuffer(x);
  y = getRootBuffer(y);
  if (x == y)
    return false;
  auto getArgument = [&](Value root) {
    auto argument = dyn_cast<BlockArgument>(root);
    return argument && argument.getOwner()->getParentOp() == function
               ? argument
               : BlockArgument();
  };
  BlockArgument first = getArgument(x), second = getArgument(y);
  if (first && second)
    return !mayAlias(function, first.getArgNumber(), second.getArgNumber());
  return (first || x.getDefiningOp<AllocGlobalOp>()) &&
         (second || y.getDefiningOp<AllocGlobalOp>());
}

/// Drops copies that would meet other accesses of the loop in memory: a copy is
/// over before the loop begins, or begins when that is over.
bool CopyFusion::checkOrder(ParallelOp loop, Tiles &tiles) {
  SmallVector<Value> read, written;
  bool isKnown = true;
  loop.getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (isGlobal(load.getMemRefType()))
        read.push_back(load.getMemRef());
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (isGlobal(store.getMemRefType()))
        written.push_back(store.getMemRef());
    } else if (getEffect(op) != GlobalEffect::None &&
               op->getNumRegions() == 0) {
      isKnown = false;
    }
  });
  for (auto &[tile, uses] : tiles) {
    if (uses.in)
      read.push_back(uses.in.getSource());
    if (uses.out)
      written.push_back(uses.out.getTarget());
  }
  for (size_t i = 0; i < written.size(); ++i) {
    auto meets = [&](Value other) { return !areDistinct(written[i], other); };
    if (llvm::any_of(read, meets) ||
        llvm::any_of(ArrayRef(written).drop_front(i + 1), meets))
      isKnown = false;
  }
  return isKnown;
}

/// Where the element at `place` of the tile lies in global memory.
static SmallVector<Value> getIndices(OpBuilder &b, CopyOp copy, bool ofSource,
                                     ValueRange place) {
  Location loc = copy.getLoc();
  SmallVector<OpFoldResult> offsets =
      ofSource ? copy.getMixedSourceOffsets() : copy.getMixedTargetOffsets();
  SmallVector<int64_t> box =
      ofSource ? *copy.getSourceTile() : *copy.getTargetTile();
  SmallVector<int64_t> own =
      ofSource ? *copy.getTargetTile() : *copy.getSourceTile();
  // Extents of one have no counterpart.
  SmallVector<Value> lanes;
  for (auto [lane, extent] : llvm::zip(place, own))
    if (extent != 1)
      lanes.push_back(lane);
  SmallVector<Value> indices;
  size_t next = 0;
  for (auto [dim, extent] : llvm::enumerate(box)) {
    OpFoldResult offset =
        offsets.empty() ? OpFoldResult(b.getIndexAttr(0)) : offsets[dim];
    if (extent != 1 && isConstantIntValue(offset, 0)) {
      indices.push_back(lanes[next++]);
      continue;
    }
    Value start = getValueOrCreateConstantIndexOp(b, loc, offset);
    indices.push_back(
        extent == 1
            ? start
            : arith::AddIOp::create(b, loc, start, lanes[next++]).getResult());
  }
  return indices;
}

unsigned CopyFusion::fuse(ParallelOp loop) {
  Tiles tiles;
  for (auto &[tile, uses] : findTileUses(loop)) {
    TileCopies copies{uses, findIn(loop, tile), findOut(loop, tile)};
    // What is not brought has to be made first.
    bool isFused = copies.in || (copies.out && copies.isMade());
    if (isFused &&
        isDeadAfter(copies.out ? copies.out.getOperation() : loop, tile))
      tiles[tile] = std::move(copies);
  }
  if (tiles.empty() || !checkOrder(loop, tiles))
    return 0;

  unsigned count = 0;
  OpBuilder b(loop.getContext());
  Block &body = loop.getBody().front();
  ValueRange place(loop.getInductionVars());
  for (auto &[tile, uses] : tiles) {
    Type type = getElementTypeOrSelf(tile);
    Value element;
    if (uses.in) {
      b.setInsertionPointToStart(&body);
      Location loc = uses.in.getLoc();
      element = memref::LoadOp::create(
          b, loc, uses.in.getSource(),
          getIndices(b, uses.in, /*ofSource=*/true, place));
      element = convert(b, loc, element, type);
      ++count;
    }
    // Stores stand in the body itself, so that each load sees the one before.
    Operation *end = body.getTerminator();
    auto stores = ArrayRef(uses.stores);
    for (memref::LoadOp load : uses.loads) {
      Operation *at = body.findAncestorOpInBlock(*load);
      Value value = element;
      for (memref::StoreOp store : stores)
        if (store->isBeforeInBlock(at))
          value = store.getValue();
      load.replaceAllUsesWith(value);
    }
    // Values of stores that were loads have been replaced by now.
    if (!uses.stores.empty())
      element = uses.stores.back().getValue();
    if (uses.out) {
      b.setInsertionPoint(end);
      Location loc = uses.out.getLoc();
      Value target = uses.out.getTarget();
      memref::StoreOp::create(
          b, loc, convert(b, loc, element, getElementTypeOrSelf(target)),
          target, getIndices(b, uses.out, /*ofSource=*/false, place));
      uses.out.erase();
      ++count;
    }
    for (memref::LoadOp load : uses.loads)
      load.erase();
    for (memref::StoreOp store : uses.stores)
      store.erase();
    if (uses.in)
      uses.in.erase();
    if (tile.use_empty())
      tile.getDefiningOp()->erase();
  }
  return count;
}

namespace {
struct FuseCopiesPass : tile::impl::FuseCopiesBase<FuseCopiesPass> {
  void runOnOperation() override {
    getOperation().walk([&](LaunchOp launch) {
      // Reports tell copies from loops.
      if (launch.getBounds() == Bounds::Trap)
        return;
      SmallVector<ParallelOp> loops;
      launch.walk([&](ParallelOp loop) { loops.push_back(loop); });
      CopyFusion fusion(launch);
      for (ParallelOp loop : loops)
        numFused += fusion.fuse(loop);
    });
  }
};
} // namespace
