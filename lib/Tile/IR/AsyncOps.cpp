//===- AsyncOps.cpp - Asynchrony written by hand ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules and effects of roles, barriers and asynchronous ops. What makes other
// threads' work visible, or one's own, is declared as a read and a write of all
// memory that threads share, so that nothing moves across it.
//
//===----------------------------------------------------------------------===//

#include "AssemblyFormat.h"
#include "TileRegion.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

namespace {
struct BarrierResource : SideEffects::Resource::Base<BarrierResource> {
  StringRef getName() final { return "tile.barrier"; }
};
} // namespace

/// Nothing moves across an op with these effects.
static void addFence(Effects &effects, std::initializer_list<Space> spaces) {
  effects.emplace_back(MemoryEffects::Read::get(), BarrierResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), BarrierResource::get());
  for (Space space : spaces) {
    effects.emplace_back(MemoryEffects::Read::get(), getResource(space));
    effects.emplace_back(MemoryEffects::Write::get(), getResource(space));
  }
}

void AllocBarrierOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(),
                       getOperation()->getResult(0), BarrierResource::get());
}
void BarrierArriveOp::getEffects(Effects &effects) {
  addFence(effects, {Space::Shared, Space::Global});
}
void BarrierExpectOp::getEffects(Effects &effects) {
  addFence(effects, {Space::Shared, Space::Global});
}
void BarrierWaitOp::getEffects(Effects &effects) {
  addFence(effects, {Space::Shared, Space::Global});
}
void GemmWaitOp::getEffects(Effects &effects) {
  addFence(effects, {Space::Shared, Space::Fragment});
}
void CopyAsyncOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable(),
                       getResource(Space::Global));
  effects.emplace_back(MemoryEffects::Write::get(), &getTargetMutable(),
                       getResource(Space::Shared));
  effects.emplace_back(MemoryEffects::Write::get(), BarrierResource::get());
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

LogicalResult BarrierType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t count) {
  // barrier-c1
  if (count < 1)
    return emitError() << "expects one barrier or more, got " << count;
  return success();
}

/// Barriers belong to a block.
static LogicalResult verifyInLaunch(Operation *op) {
  // barrier-c2
  if (!op->getParentOfType<LaunchOp>())
    return op->emitOpError("must stand inside a tile.launch");
  return success();
}

/// Checks an index into a ring of barriers as far as constants tell.
static LogicalResult verifyIndex(Operation *op, BarrierType type, Value index) {
  // barrier-c3
  llvm::APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)) &&
      (constant.isNegative() || constant.sge(type.getCount())))
    return op->emitOpError("expects the index of a barrier from 0 to ")
           << type.getCount() - 1 << ", got " << constant.getSExtValue();
  return verifyInLaunch(op);
}

LogicalResult AllocBarrierOp::verify() { return verifyInLaunch(*this); }
LogicalResult GemmWaitOp::verify() { return verifyInLaunch(*this); }
LogicalResult BarrierArriveOp::verify() {
  return verifyIndex(*this, getBarrier().getType(), getIndex());
}
LogicalResult BarrierExpectOp::verify() {
  return verifyIndex(*this, getBarrier().getType(), getIndex());
}
LogicalResult BarrierWaitOp::verify() {
  return verifyIndex(*this, getBarrier().getType(), getIndex());
}

//===----------------------------------------------------------------------===//
// CopyAsyncOp
//===----------------------------------------------------------------------===//

SmallVector<OpFoldResult> CopyAsyncOp::getMixedSourceOffsets() {
  return getSourceRegion(*this).getMixedOffsets(getContext());
}
SmallVector<OpFoldResult> CopyAsyncOp::getMixedTargetOffsets() {
  return getTargetRegion(*this).getMixedOffsets(getContext());
}
FailureOr<SmallVector<int64_t>> CopyAsyncOp::getSourceTile() {
  return getTile(getSourceRegion(*this), getTargetRegion(*this));
}
FailureOr<SmallVector<int64_t>> CopyAsyncOp::getTargetTile() {
  return getTile(getTargetRegion(*this), getSourceRegion(*this));
}

LogicalResult CopyAsyncOp::verify() {
  // async-c1
  Type from = getSourceType().getElementType();
  Type to = getTargetType().getElementType();
  if (from != to)
    return emitOpError("moves elements as they are, but source and target have "
                       "elements of ")
           << from << " and " << to
           << "; use tile.copy, which converts, or two copies";
  if (failed(verifyIndex(*this, getBarrier().getType(), getIndex())))
    return failure();
  return verifyTransfer(*this, getSourceRegion(*this), getTargetRegion(*this));
}

LogicalResult CopyAsyncOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return foldCastsIntoOp(*this);
}

void CopyAsyncOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<FoldConstantOffsets<CopyAsyncOp>>(context);
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

LogicalResult RolesOp::verify() {
  // roles-c1
  if (!isa_and_nonnull<LaunchOp>((*this)->getParentOp()))
    return emitOpError("must stand directly in a tile.launch, whose warps it "
                       "divides");
  return success();
}

LogicalResult RolesOp::verifyRegions() {
  constexpr int64_t maxWarps = 32;
  int64_t warps = 0;
  for (Operation &op : getBody().front()) {
    auto role = dyn_cast<RoleOp>(op);
    // roles-c2
    if (!role)
      return op.emitOpError("must stand in a tile.role: beside roles there is "
                            "nobody to run it");
    // roles-c3
    if (__builtin_add_overflow(warps, role.getWarps(), &warps) ||
        warps > maxWarps)
      return role.emitOpError("brings the warps of the block to more than ")
             << maxWarps;
  }
  return success();
}

LogicalResult RoleOp::verify() {
  // roles-c4
  if (!isa_and_nonnull<RolesOp>((*this)->getParentOp()))
    return emitOpError("must stand directly in a tile.roles");
  return success();
}
