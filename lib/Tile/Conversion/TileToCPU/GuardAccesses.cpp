//===- GuardAccesses.cpp - Host code that stays inside buffers --*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's ops know the conditions under which they are defined and can write
// them down as assertions. Assertions end the process, and from a loop that
// runs in parallel there is no way out, so they become the condition under
// which the op runs at all.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Tile/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"

namespace tile {
#define GEN_PASS_DEF_GUARDACCESSES
#include "Tile/Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Whether zero can stand for what the op would have given.
static bool canBeSkipped(Operation *op) {
  return llvm::all_of(op->getResultTypes(),
                      [](Type type) { return type.isIntOrIndexOrFloat(); });
}

/// Moves what `test` runs, arithmetic and assertions, in front of it, so that
/// the assertions hold where it does not run.
static void flatten(OpBuilder &b, scf::IfOp test) {
  OpBuilder::InsertionGuard guard(b);
  Location loc = test.getLoc();
  b.setInsertionPoint(test);
  Value skips = arith::XOrIOp::create(
      b, loc, test.getCondition(), arith::ConstantIntOp::create(b, loc, 1, 1));
  for (Operation &op :
       llvm::make_early_inc_range(test.thenBlock()->without_terminator())) {
    op.moveBefore(test);
    if (auto nested = dyn_cast<scf::IfOp>(op))
      flatten(b, nested);
  }
  for (Operation *at = skips.getDefiningOp(); at != test;
       at = at->getNextNode())
    if (auto assertion = dyn_cast<cf::AssertOp>(at)) {
      b.setInsertionPoint(assertion);
      assertion.getArgMutable().assign(
          arith::OrIOp::create(b, loc, skips, assertion.getArg()));
    }
  test.erase();
}

/// The op's conditions as assertions in front of it.
static SmallVector<cf::AssertOp> assertConditions(OpBuilder &b, Operation *op) {
  // Marks where they begin.
  b.setInsertionPoint(op);
  auto mark = arith::ConstantIndexOp::create(b, op->getLoc(), 0);
  cast<RuntimeVerifiableOpInterface>(op).generateRuntimeVerification(
      b, op->getLoc(),
      [](Operation *, StringRef message) { return message.str(); });
  for (Operation &at : llvm::make_early_inc_range(
           llvm::make_range(mark->getIterator(), op->getIterator())))
    if (auto test = dyn_cast<scf::IfOp>(at))
      flatten(b, test);
  SmallVector<cf::AssertOp> assertions;
  for (Operation *at = mark; at != op; at = at->getNextNode())
    if (auto assertion = dyn_cast<cf::AssertOp>(at))
      assertions.push_back(assertion);
  mark.erase();
  return assertions;
}

static void buildReports(OpBuilder &b, Operation *op,
                         ArrayRef<cf::AssertOp> assertions) {
  OpBuilder::InsertionGuard guard(b);
  for (cf::AssertOp assertion : assertions) {
    Value fails = arith::XOrIOp::create(
        b, op->getLoc(), assertion.getArg(),
        arith::ConstantIntOp::create(b, op->getLoc(), 1, 1));
    auto test = scf::IfOp::create(b, op->getLoc(), fails,
                                  /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(test.thenBlock());
    cpu::buildReport(b, op->getLoc(), op,
                     ("'" + op->getName().getStringRef() +
                      "' does not run: " + assertion.getMsg())
                         .str());
  }
}

/// Runs `op` under its conditions; elsewhere says which does not hold. Gives
/// false where it has none.
static bool guard(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  SmallVector<cf::AssertOp> assertions = assertConditions(b, op);
  if (assertions.empty())
    return false;
  b.setInsertionPoint(op);
  Value holds = assertions.front().getArg();
  for (cf::AssertOp assertion : ArrayRef(assertions).drop_front())
    holds = arith::AndIOp::create(b, loc, holds, assertion.getArg());

  auto test = scf::IfOp::create(b, loc, op->getResultTypes(), holds,
                                /*addThenBlock=*/true, /*addElseBlock=*/true);
  op->replaceAllUsesWith(test.getResults());
  op->moveBefore(test.thenBlock(), test.thenBlock()->end());
  b.setInsertionPointToEnd(test.thenBlock());
  scf::YieldOp::create(b, loc, op->getResults());

  b.setInsertionPointToEnd(test.elseBlock());
  buildReports(b, op, assertions);
  SmallVector<Value> zeros;
  for (Type type : op->getResultTypes())
    zeros.push_back(
        arith::ConstantOp::create(b, loc, b.getZeroAttr(type)).getResult());
  scf::YieldOp::create(b, loc, zeros);
  for (cf::AssertOp assertion : assertions)
    assertion.erase();
  return true;
}

namespace {
struct GuardAccesses : tile::impl::GuardAccessesBase<GuardAccesses> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto launch = [](LaunchOp) { return WalkResult::interrupt(); };
      if (function.walk(launch).wasInterrupted())
        continue;
      SmallVector<Operation *> ops;
      // What stands inside a linalg op is about values alone.
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<RuntimeVerifiableOpInterface>(op) && canBeSkipped(op))
          ops.push_back(op);
        return isa<linalg::LinalgOp>(op) ? WalkResult::skip()
                                         : WalkResult::advance();
      });
      OpBuilder builder(&getContext());
      for (Operation *op : ops)
        numGuarded += guard(builder, op);
    }
  }
};
} // namespace
