//===- GuardSteps.cpp - Loops that would never end --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step that a program computes may turn out not to be positive, and a kernel
// that never ends holds the GPU. Most steps are known to be positive, and a
// call that asserts nothing need not be waited for, so a guard stands only
// where that is not known.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/GPUPasses.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_TILEGUARDSTEPS
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

/// Where both kinds of loops have what a guard changes.
static constexpr unsigned lowerBound = 0, upperBound = 1, step = 2;

static bool hasStep(Operation *op) {
  auto pipelined = dyn_cast<PipelinedOp>(op);
  return isa<scf::ForOp>(op) || (pipelined && pipelined.getStep());
}

static bool comparesUnsigned(Operation *loop) {
  auto serial = dyn_cast<scf::ForOp>(loop);
  return serial && serial.getUnsignedCmp();
}

namespace {
/// Which values in a launch are certainly positive.
class PositiveValues {
public:
  PositiveValues(LaunchOp launch, const DataFlowSolver &solver)
      : launch(launch), solver(solver) {}

  /// The most that a positive value can be; nothing where it may be zero,
  /// negative or wrapped around.
  std::optional<int64_t> getMost(Value value) {
    // A block runs, and there are no more of them than a grid takes.
    if (llvm::is_contained(launch.getGrid(), value))
      return std::numeric_limits<int32_t>::max();
    if (auto product = value.getDefiningOp<arith::MulIOp>()) {
      std::optional<int64_t> x = getMost(product.getLhs()),
                             y = getMost(product.getRhs());
      int64_t most;
      if (x && y && !llvm::MulOverflow(*x, *y, most) &&
          llvm::isIntN(ConstantIntRanges::getStorageBitwidth(value.getType()),
                       most))
        return most;
    }
    auto *state = solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
    if (!state || state->getValue().isUninitialized() ||
        !state->getValue().getValue().smin().isStrictlyPositive())
      return std::nullopt;
    return state->getValue().getValue().smax().getSExtValue();
  }

private:
  LaunchOp launch;
  const DataFlowSolver &solver;
};
} // namespace

/// Asserts that a loop ends, and lets it do nothing where it would not.
static void guardStep(Operation *loop) {
  using arith::CmpIPredicate;
  ImplicitLocOpBuilder b(loop->getLoc(), loop);
  Value from = loop->getOperand(lowerBound), to = loop->getOperand(upperBound),
        by = loop->getOperand(step);
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(by.getType(), number));
  };
  bool isUnsigned = comparesUnsigned(loop);
  Value advances = arith::CmpIOp::create(
      b, isUnsigned ? CmpIPredicate::ne : CmpIPredicate::sgt, by, constant(0));
  Value isEmpty = arith::CmpIOp::create(
      b, isUnsigned ? CmpIPredicate::uge : CmpIPredicate::sge, from, to);
  AssertOp::create(b, arith::OrIOp::create(b, advances, isEmpty),
                   "the step of a loop is not positive");
  loop->setOperand(upperBound, arith::SelectOp::create(b, advances, to, from));
  loop->setOperand(step, arith::SelectOp::create(b, advances, by, constant(1)));
}

namespace {
struct TileGuardSteps : tile::impl::TileGuardStepsBase<TileGuardSteps> {
  void runOnOperation() override {
    DataFlowSolver solver;
    dataflow::loadBaselineAnalyses(solver);
    solver.load<dataflow::IntegerRangeAnalysis>();
    if (failed(solver.initializeAndRun(getOperation())))
      return signalPassFailure();
    SmallVector<Operation *> loops;
    getOperation()->walk([&](LaunchOp launch) {
      PositiveValues positive(launch, solver);
      launch.walk([&](Operation *op) {
        if (hasStep(op) && !positive.getMost(op->getOperand(step)))
          loops.push_back(op);
      });
    });
    for (Operation *loop : loops)
      guardStep(loop);
    numGuarded += loops.size();
  }
};
} // namespace
