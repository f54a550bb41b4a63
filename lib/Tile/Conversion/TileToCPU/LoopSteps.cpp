//===- LoopSteps.cpp - Loops that would never end ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The step of a loop is positive. One that a program computes may turn out not
// to be, and such a loop would run for ever: it is reported and does not run.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

static void guardStep(RewriterBase &b, scf::ForOp loop) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(),
        step = loop.getStep();
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(b, loc,
                                     b.getIntegerAttr(step.getType(), number));
  };
  bool isUnsigned = loop.getUnsignedCmp();
  auto less =
      isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  auto notPositive =
      isUnsigned ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sle;
  Value stays = arith::CmpIOp::create(b, loc, notPositive, step, constant(0));
  Value begins = arith::CmpIOp::create(b, loc, less, lower, upper);
  Value endless = arith::AndIOp::create(b, loc, stays, begins);
  auto test = scf::IfOp::create(b, loc, endless, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(test.thenBlock());
    buildReport(b, loc, loop, "the step of a loop is not positive");
  }
  b.modifyOpInPlace(loop, [&] {
    loop.setUpperBound(arith::SelectOp::create(b, loc, stays, lower, upper));
    loop.setStep(arith::SelectOp::create(b, loc, stays, constant(1), step));
  });
}

void cpu::guardSteps(RewriterBase &rewriter, Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) {
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!step || *step <= 0)
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    guardStep(rewriter, loop);
}
