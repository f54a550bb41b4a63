//===- WrittenArguments.cpp - Which arguments a function writes -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WrittenArguments.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace tile;

namespace {

class WriteAnalysis {
public:
  llvm::BitVector analyze(FunctionOpInterface function);

private:
  /// For each buffer, the arguments of one function it may be a view of.
  class Origins {
  public:
    explicit Origins(FunctionOpInterface function);

    llvm::BitVector get(Value value) const;
    llvm::BitVector get(ValueRange values) const;

  private:
    void propagate(Operation *op);
    void add(ValueRange values, const llvm::BitVector &more);

    unsigned numArguments;
    llvm::DenseMap<Value, llvm::BitVector> origins;
    bool changed = true;
  };

  void addWrites(Operation *op, const Origins &origins,
                 llvm::BitVector &written);

  llvm::DenseMap<Operation *, llvm::BitVector> results;
};

} // namespace

WriteAnalysis::Origins::Origins(FunctionOpInterface function)
    : numArguments(function.getNumArguments()) {
  for (BlockArgument argument : function.getArguments())
    if (isa<BaseMemRefType>(argument.getType())) {
      llvm::BitVector self(numArguments);
      self.set(argument.getArgNumber());
      origins[argument] = self;
    }
  // Loops feed buffers back; sets only grow, so this ends.
  while (changed) {
    changed = false;
    function->walk([&](Operation *op) { propagate(op); });
  }
}

llvm::BitVector WriteAnalysis::Origins::get(Value value) const {
  auto found = origins.find(value);
  return found == origins.end() ? llvm::BitVector(numArguments) : found->second;
}

llvm::BitVector WriteAnalysis::Origins::get(ValueRange values) const {
  llvm::BitVector all(numArguments);
  for (Value value : values)
    all |= get(value);
  return all;
}

void WriteAnalysis::Origins::add(ValueRange values,
                                 const llvm::BitVector &more) {
  for (Value value : values) {
    if (!isa<BaseMemRefType>(value.getType()))
      continue;
    llvm::BitVector &known =
        origins.try_emplace(value, numArguments).first->second;
    // `test` asks for a bit of `more` that is not in `known`.
    if (more.test(known)) {
      known |= more;
      changed = true;
    }
  }
}

/// Whatever passes a buffer on, a view, a select, a loop or a branch, may pass
/// on any of its operands.
void WriteAnalysis::Origins::propagate(Operation *op) {
  llvm::BitVector passed = get(op->getOperands());
  if (passed.none())
    return;
  add(op->getResults(), passed);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      add(block.getArguments(), passed);
  for (Block *successor : op->getSuccessors())
    add(successor->getArguments(), passed);
  if (!op->hasTrait<OpTrait::IsTerminator>())
    return;
  Operation *parent = op->getParentOp();
  if (isa<FunctionOpInterface>(parent))
    return;
  add(parent->getResults(), passed);
  for (Region &region : parent->getRegions())
    for (Block &block : region)
      add(block.getArguments(), passed);
}

void WriteAnalysis::addWrites(Operation *op, const Origins &origins,
                              llvm::BitVector &written) {
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
    if (!callee || callee.isExternal()) {
      written |= origins.get(op->getOperands());
      return;
    }
    llvm::BitVector inner = analyze(callee);
    for (auto [index, operand] : llvm::enumerate(call.getArgOperands()))
      if (index < inner.size() && inner.test(index))
        written |= origins.get(operand);
    return;
  }
  if (auto effectful = dyn_cast<MemoryEffectOpInterface>(op)) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    effectful.getEffects(effects);
    bool namesOperands =
        llvm::any_of(effects, [](const MemoryEffects::EffectInstance &effect) {
          return bool(effect.getValue());
        });
    for (const MemoryEffects::EffectInstance &effect : effects) {
      // What is printed is not written.
      if (!isa<MemoryEffects::Write>(effect.getEffect()) ||
          effect.getResource() == DebugResource::get())
        continue;
      if (effect.getValue()) {
        written |= origins.get(effect.getValue());
        continue;
      }
      // Somewhere in the buffers it takes, and not where a number comes from.
      // An op that says which it writes means something else, such as a
      // barrier.
      for (Value operand : op->getOperands())
        if (!namesOperands && isa<BaseMemRefType>(operand.getType()))
          written |= origins.get(operand);
    }
    return;
  }
  // The ops inside speak for it.
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return;
  written |= origins.get(op->getOperands());
}

llvm::BitVector WriteAnalysis::analyze(FunctionOpInterface function) {
  auto found = results.find(function);
  if (found != results.end())
    return found->second;
  // What a recursive call finds.
  results[function] = llvm::BitVector(function.getNumArguments(), true);
  Origins origins(function);
  llvm::BitVector written(function.getNumArguments());
  function->walk([&](Operation *op) {
    if (op != function)
      addWrites(op, origins, written);
  });
  return results[function] = written;
}

llvm::BitVector
tile::driver::findWrittenArguments(FunctionOpInterface function) {
  return WriteAnalysis().analyze(function);
}
