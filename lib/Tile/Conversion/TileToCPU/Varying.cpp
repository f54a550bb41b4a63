//===- Varying.cpp - Which values differ between lanes ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Varying.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

VaryingAnalysis::VaryingAnalysis(ParallelOp op) {
  varying.insert(op.getInductionVars().back());
  // Loop-carried values need another round after their loop is seen.
  do {
    changed = false;
    visit(op.getBody().front());
  } while (changed);
}

void VaryingAnalysis::visit(Block &block) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
      for (auto [init, arg, next, result] :
           llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                     yield.getOperands(), loop.getResults())) {
        if (!(*this)(init) && !(*this)(next))
          continue;
        mark(arg);
        mark(result);
      }
      visit(*loop.getBody());
      continue;
    }
    if (auto test = dyn_cast<scf::IfOp>(op)) {
      for (Region *region : {&test.getThenRegion(), &test.getElseRegion()})
        if (!region->empty())
          visit(region->front());
      for (auto [i, result] : llvm::enumerate(test.getResults()))
        if ((*this)(test.getCondition()) ||
            (*this)(test.thenYield().getOperand(i)) ||
            (*this)(test.elseYield().getOperand(i)))
          mark(result);
      continue;
    }
    // Each lane has a local buffer of its own.
    auto load = dyn_cast<memref::LoadOp>(op);
    bool perLane = load && (*this)(load.getMemRef());
    if (isa<AllocLocalOp>(op) || perLane ||
        llvm::any_of(op.getOperands(), [&](Value v) { return (*this)(v); }))
      for (Value result : op.getResults())
        mark(result);
  }
}
