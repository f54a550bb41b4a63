//===- ThreadLevel.cpp - Statements that speak of threads -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/ThreadLevel.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tile;

bool ThreadLevel::dependsOnThread(Value value) {
  // A value that is asked for again on the way to itself, around a loop, adds
  // nothing.
  auto [at, isNew] = known.try_emplace(value, false);
  if (!isNew)
    return at->second;
  size_t first = independent.size();
  if (!compute(value)) {
    independent.push_back(value);
    return false;
  }
  // What was found in between may rest on the assumption that this value adds
  // nothing, and is asked for anew.
  for (Value other : ArrayRef(independent).drop_front(first))
    known.erase(other);
  independent.truncate(first);
  return known[value] = true;
}

bool ThreadLevel::isWrittenByThreads(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return llvm::any_of(user->getResults(),
                          [&](Value view) { return isWrittenByThreads(view); });
    return hasEffect<MemoryEffects::Write>(user, buffer) &&
           runsOnEveryThread(user);
  });
}

bool ThreadLevel::compute(Value value) {
  auto anyOf = [&](ValueRange values) {
    return llvm::any_of(values,
                        [&](Value inner) { return dependsOnThread(inner); });
  };
  auto yields = [&](Operation *op) {
    return llvm::any_of(op->getRegions(), [&](Region &region) {
      return llvm::any_of(region, [&](Block &block) {
        return !block.empty() &&
               block.back().hasTrait<OpTrait::IsTerminator>() &&
               anyOf(block.back().getOperands());
      });
    });
  };
  Operation *op = value.getDefiningOp();
  if (!op) {
    Operation *parent = cast<BlockArgument>(value).getOwner()->getParentOp();
    // The points of tiles are the same for all; what loops carry may not be.
    if (!parent ||
        isa<FunctionOpInterface, LaunchOp, ParallelOp, PersistentOp>(parent))
      return false;
    return anyOf(parent->getOperands()) || yields(parent);
  }
  if (isa<gpu::BlockIdOp, gpu::GridDimOp, gpu::BlockDimOp, gpu::NumSubgroupsOp,
          gpu::SubgroupSizeOp>(op))
    return false;
  if (isa_and_nonnull<gpu::GPUDialect, NVVM::NVVMDialect>(op->getDialect()))
    return true;
  if (isa<AllocLocalOp>(op))
    return isWrittenByThreads(value);
  return anyOf(op->getOperands()) || (op->getNumRegions() && yields(op));
}

bool ThreadLevel::parts(Operation *op) {
  if (isa<LaunchOp, ParallelOp, RolesOp, RoleOp>(op))
    return false;
  // What a loop starts with may be the same for all, and what it goes on with
  // not.
  auto loop = dyn_cast<scf::WhileOp>(op);
  return (loop && dependsOnThread(loop.getConditionOp().getCondition())) ||
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return dependsOnThread(operand); });
}

bool ThreadLevel::runsOnEveryThread(Operation *op) {
  for (Operation *at = op; at && !isa<LaunchOp>(at); at = at->getParentOp())
    if (parts(at))
      return true;
  return false;
}
