//===- Effects.cpp - Memory effects of tile ops -----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op's effects, operand by operand, on the resource of the memory that the
// operand's type names.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"

using namespace mlir;
using namespace tile;

namespace {
struct SharedMemory : SideEffects::Resource::Base<SharedMemory> {
  StringRef getName() final { return "tile.shared"; }
};
struct FragmentMemory : SideEffects::Resource::Base<FragmentMemory> {
  StringRef getName() final { return "tile.fragment"; }
};
struct LocalMemory : SideEffects::Resource::Base<LocalMemory> {
  StringRef getName() final { return "tile.local"; }
};
} // namespace

SideEffects::Resource *tile::getResource(Space space) {
  switch (space) {
  case Space::Shared:
    return SharedMemory::get();
  case Space::Fragment:
    return FragmentMemory::get();
  case Space::Local:
    return LocalMemory::get();
  case Space::Global:
    // What memref.load and memref.store use.
    return SideEffects::DefaultResource::get();
  }
  llvm_unreachable("every space has a resource");
}

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addEffect(Effects &effects, MemoryEffects::Effect *effect,
                      OpOperand &operand) {
  auto type = cast<MemRefType>(operand.get().getType());
  effects.emplace_back(effect, &operand, getResource(getSpace(type)));
}

static void addAllocation(Effects &effects, OpResult buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  effects.emplace_back(MemoryEffects::Allocate::get(), buffer,
                       getResource(getSpace(type)));
}

void AllocSharedOp::getEffects(Effects &effects) {
  addAllocation(effects, getOperation()->getResult(0));
}

void AllocFragmentOp::getEffects(Effects &effects) {
  addAllocation(effects, getOperation()->getResult(0));
}

void AllocLocalOp::getEffects(Effects &effects) {
  addAllocation(effects, getOperation()->getResult(0));
}

void AllocGlobalOp::getEffects(Effects &effects) {
  addAllocation(effects, getOperation()->getResult(0));
}

void PrintOp::getEffects(Effects &effects) {
  for (OpOperand &operand : getValuesMutable())
    if (isa<MemRefType>(operand.get().getType()))
      addEffect(effects, MemoryEffects::Read::get(), operand);
  effects.emplace_back(MemoryEffects::Write::get(), DebugResource::get());
}

void CopyOp::getEffects(Effects &effects) {
  addEffect(effects, MemoryEffects::Read::get(), getSourceMutable());
  addEffect(effects, MemoryEffects::Write::get(), getTargetMutable());
}

void FillOp::getEffects(Effects &effects) {
  addEffect(effects, MemoryEffects::Write::get(), getBufferMutable());
}

template <typename OpTy> static void addGemmEffects(OpTy op, Effects &effects) {
  addEffect(effects, MemoryEffects::Read::get(), op.getAMutable());
  addEffect(effects, MemoryEffects::Read::get(), op.getBMutable());
  if (!op.getClear())
    addEffect(effects, MemoryEffects::Read::get(), op.getCMutable());
  addEffect(effects, MemoryEffects::Write::get(), op.getCMutable());
}

void GemmOp::getEffects(Effects &effects) { addGemmEffects(*this, effects); }

// The wait's effects keep what follows from moving in front of it.
void GemmAsyncOp::getEffects(Effects &effects) {
  addGemmEffects(*this, effects);
}

void ReduceOp::getEffects(Effects &effects) {
  addEffect(effects, MemoryEffects::Read::get(), getSourceMutable());
  if (getAccumulate())
    addEffect(effects, MemoryEffects::Read::get(), getTargetMutable());
  addEffect(effects, MemoryEffects::Write::get(), getTargetMutable());
}

void ScanOp::getEffects(Effects &effects) {
  addEffect(effects, MemoryEffects::Read::get(), getSourceMutable());
  addEffect(effects, MemoryEffects::Write::get(), getTargetMutable());
}

template <typename OpTy>
static void addAtomicEffects(OpTy op, Effects &effects) {
  addEffect(effects, MemoryEffects::Read::get(), op.getSourceMutable());
  addEffect(effects, MemoryEffects::Read::get(), op.getTargetMutable());
  addEffect(effects, MemoryEffects::Write::get(), op.getTargetMutable());
}

void AtomicAddOp::getEffects(Effects &effects) {
  addAtomicEffects(*this, effects);
}

void AtomicMaxOp::getEffects(Effects &effects) {
  addAtomicEffects(*this, effects);
}

void AtomicMinOp::getEffects(Effects &effects) {
  addAtomicEffects(*this, effects);
}
