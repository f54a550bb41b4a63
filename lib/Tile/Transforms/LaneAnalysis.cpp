//===- LaneAnalysis.cpp - Which accesses order the lanes --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses are collected once, each with the form of its indices in the
// coordinates of the buffer that its views lead to. Two accesses conflict
// unless their buffers cannot overlap, neither writes, or the forms prove that
// no two lanes meet.
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/LaneAnalysis.h"
#include "LaneForms.h"
#include "Tile/IR/EntryAttributes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tile;

struct LaneAnalysis::Access {
  Operation *op;
  /// The allocation or argument; null for memory that no operand names.
  Value root;
  /// The value whose coordinates `indices` are in: the root, or a view that
  /// cannot be looked through.
  Value base;
  /// None if unknown.
  std::optional<SmallVector<LaneForm>> indices;
  bool reads, writes;
};

LaneAnalysis::LaneAnalysis(ParallelOp loop)
    : loop(loop), forms(std::make_unique<LaneForms>(loop)) {
  collect(loop);
}

LaneAnalysis::~LaneAnalysis() = default;

bool LaneAnalysis::isUniform(Value value) const {
  return forms->isUniform(value);
}
void LaneAnalysis::addUniform(Value iv) { forms->addUniform(iv); }

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void LaneAnalysis::addMemRefAccess(Operation *op, Value memref,
                                   std::optional<ValueRange> indices,
                                   bool reads, bool writes) {
  Value root = getRootBuffer(memref);
  // A buffer that the lane allocates itself meets nobody.
  Operation *def = root.getDefiningOp();
  if (isa_and_nonnull<AllocLocalOp, memref::AllocaOp, memref::AllocOp>(def) &&
      loop->isAncestor(def))
    return;
  Access access{op, root, memref, std::nullopt, reads, writes};
  if (indices) {
    access.indices.emplace();
    for (Value index : *indices)
      access.indices->push_back(forms->get(index));
  }
  resolveViews(access);
  accesses.push_back(std::move(access));
}

/// Carries the indices through subviews and casts towards the root. Other views
/// are one-to-one, so their own coordinates serve as well, with the exception
/// of those that choose their strides freely.
void LaneAnalysis::resolveViews(Access &access) {
  while (Operation *view = access.base.getDefiningOp()) {
    if (auto cast = dyn_cast<memref::CastOp>(view)) {
      access.base = cast.getSource();
      continue;
    }
    if (isa<memref::ReinterpretCastOp>(view))
      access.indices.reset();
    auto subview = dyn_cast<memref::SubViewOp>(view);
    if (!subview || !access.indices)
      return;
    llvm::SmallBitVector dropped = subview.getDroppedDims();
    SmallVector<LaneForm> inner = std::move(*access.indices);
    access.indices.emplace();
    auto getForm = [&](OpFoldResult value) {
      if (std::optional<int64_t> constant = getConstantIntValue(value))
        return LaneForm{{}, *constant};
      return forms->get(cast<Value>(value));
    };
    unsigned next = 0;
    for (auto [dim, offset, stride] : llvm::enumerate(
             subview.getMixedOffsets(), subview.getMixedStrides())) {
      LaneForm index = dropped.test(dim) ? LaneForm() : inner[next++];
      std::optional<LaneForm> moved =
          forms->multiplyAdd(index, getForm(stride), getForm(offset));
      if (!moved) {
        access.indices.reset();
        return;
      }
      access.indices->push_back(*moved);
    }
    access.base = subview.getSource();
  }
}

void LaneAnalysis::collect(Operation *op) {
  unsigned first = accesses.size();
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    addMemRefAccess(op, load.getMemRef(), load.getIndices(), true, false);
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    addMemRefAccess(op, store.getMemRef(), store.getIndices(), false, true);
  } else if (auto update = dyn_cast<memref::AtomicRMWOp>(op)) {
    addMemRefAccess(op, update.getMemref(), update.getIndices(), true, true);
  } else if (auto update = dyn_cast<memref::GenericAtomicRMWOp>(op)) {
    addMemRefAccess(op, update.getMemref(), update.getIndices(), true, true);
  } else if (auto interface = dyn_cast<MemoryEffectOpInterface>(op)) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      if (isa<MemoryEffects::Allocate>(effect.getEffect()) ||
          effect.getResource() == DebugResource::get())
        continue;
      bool reads = isa<MemoryEffects::Read>(effect.getEffect());
      Value value = effect.getValue();
      if (value && isa<BaseMemRefType>(value.getType()))
        addMemRefAccess(op, value, std::nullopt, reads, !reads);
      else
        accesses.push_back({op, {}, {}, std::nullopt, reads, !reads});
    }
  } else if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
             !op->hasTrait<OpTrait::IsTerminator>()) {
    // Whatever it does, it may do it to any buffer.
    accesses.push_back({op, {}, {}, std::nullopt, true, true});
  }
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      collect(&inner);
  ranges[op] = {first, static_cast<unsigned>(accesses.size())};
}

ArrayRef<LaneAnalysis::Access> LaneAnalysis::getAccesses(Operation *op) const {
  auto [first, last] = ranges.lookup(op);
  return ArrayRef<Access>(accesses).slice(first, last - first);
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

/// True if the two buffers may share memory. Arguments of an entry do not
/// overlap where one of them is written, unless they say so: the launch checks
/// it.
static bool mayOverlap(Value a, Value b) {
  if (!a || !b || a == b)
    return true;
  auto isEntryArgument = [](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && isGlobal(value.getType()) &&
           isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  };
  auto isAllocation = [](Value value) {
    return isa_and_nonnull<memref::AllocOp, memref::AllocaOp, AllocGlobalOp>(
        value.getDefiningOp());
  };
  auto isOnChipAllocation = [](Value value) {
    return isa_and_nonnull<AllocSharedOp, AllocFragmentOp, AllocLocalOp>(
        value.getDefiningOp());
  };
  // On-chip buffers are never passed around, others may be.
  if (isOnChipAllocation(a) || isOnChipAllocation(b))
    return false;
  if (isEntryArgument(a) && isEntryArgument(b)) {
    auto x = cast<BlockArgument>(a), y = cast<BlockArgument>(b);
    auto function = cast<FunctionOpInterface>(x.getOwner()->getParentOp());
    return mayAlias(function, x.getArgNumber(), y.getArgNumber());
  }
  if ((isEntryArgument(a) || isAllocation(a)) &&
      (isEntryArgument(b) || isAllocation(b)))
    return false;
  auto getSpaceOf = [](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    return type ? getSpace(type) : Space::Global;
  };
  return getSpaceOf(a) == getSpaceOf(b);
}

bool LaneAnalysis::meet(const Access &a, const Access &b) {
  if ((!a.writes && !b.writes) || !mayOverlap(a.root, b.root))
    return false;
  if (a.base != b.base || !a.indices || !b.indices)
    return true;
  return forms->mayMeet(*a.indices, *b.indices);
}

std::optional<LaneConflict> LaneAnalysis::findConflict(Operation *a,
                                                       Operation *b) {
  for (const Access &x : getAccesses(a))
    for (const Access &y : getAccesses(b))
      if (meet(x, y))
        return LaneConflict{x.op, y.op};
  return std::nullopt;
}

/// One statement orders nothing, but the same one in two iterations of a loop
/// inside `scope` does.
bool LaneAnalysis::meetsItself(const Access &access, Operation *scope) {
  if (!access.writes)
    return false;
  SmallVector<Value> ivs;
  bool inLoop = false, known = true;
  for (Operation *op = access.op; op != scope;) {
    op = op->getParentOp();
    if (isa<LoopLikeOpInterface>(op)) {
      inLoop = true;
      // Equal indices mean the same iteration only if all lanes count alike.
      auto loop = dyn_cast<scf::ForOp>(op);
      if (loop && isUniform(loop.getLowerBound()) && isUniform(loop.getStep()))
        ivs.push_back(loop.getInductionVar());
      else
        known = false;
    }
  }
  if (!inLoop)
    return false;
  if (!access.indices)
    return true;
  return !(known && forms->determines(*access.indices, ivs)) &&
         forms->mayMeet(*access.indices, *access.indices);
}

std::optional<LaneConflict> LaneAnalysis::findConflictWithin(Operation *op) {
  ArrayRef<Access> inside = getAccesses(op);
  for (size_t i = 0; i < inside.size(); ++i) {
    if (meetsItself(inside[i], op))
      return LaneConflict{inside[i].op, inside[i].op};
    for (size_t j = i + 1; j < inside.size(); ++j)
      // An op that reads and writes is one statement.
      if (inside[i].op != inside[j].op && meet(inside[i], inside[j]))
        return LaneConflict{inside[i].op, inside[j].op};
  }
  return std::nullopt;
}

std::optional<LaneConflict> tile::findLaneConflict(ParallelOp loop) {
  return LaneAnalysis(loop).findConflictWithin(loop);
}

//===----------------------------------------------------------------------===//
// Writes that contradict each other
//===----------------------------------------------------------------------===//

LogicalResult tile::checkLaneWrites(ParallelOp loop) {
  LaneAnalysis analysis(loop);
  bool valid = true;
  // Only statements that every lane certainly runs.
  for (auto store : loop.getBody().front().getOps<memref::StoreOp>()) {
    // Outside a global buffer nothing is written.
    if (!isOnChip(store.getMemRefType()))
      continue;
    ArrayRef<LaneAnalysis::Access> accesses = analysis.getAccesses(store);
    Value value = store.getValueToStore();
    if (accesses.empty() || !accesses.front().indices ||
        !value.getType().isIntOrIndex() || value.getType().isInteger(1))
      continue;
    if (!analysis.forms->certainlyDiffers(*accesses.front().indices,
                                          analysis.forms->get(value)))
      continue;
    InFlightDiagnostic diag =
        store.emitOpError("writes different values of different lanes to one "
                          "element; store under a condition that one lane "
                          "meets, or index the element by the lane");
    diag.attachNote(loop.getLoc()) << "the lanes are those of this loop";
    valid = false;
  }
  return success(valid);
}
