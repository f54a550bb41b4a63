//===- StepOp.cpp - Schedules written by hand ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that running the steps of a pipelined loop by stage and order leaves
// the loop's meaning as it is. The rules are those of modulo scheduling: a step
// of stage s runs for iteration i in slot i + s.
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "Tile/IR/TileDialect.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile;

namespace {
/// One step with its place in the schedule.
struct Placed {
  StepOp step;
  int64_t stage, order;

  /// Runs before `other` does for an iteration that is `distance` later.
  bool runsBefore(const Placed &other, int64_t distance) const {
    int64_t slot = other.stage + distance;
    return stage < slot || (stage == slot && order < other.order);
  }
};

/// What the steps of a loop do to one buffer.
struct Uses {
  /// The iteration's first access is a read: what it finds is the last
  /// iteration's.
  bool isCarried = false;
  /// By position of the step.
  llvm::MapVector<unsigned, bool> writesByStep;
};
} // namespace

/// Notes the accesses of `op` and what is inside, in the order of the program.
static void collectUses(Operation *op, unsigned position,
                        llvm::MapVector<Value, Uses> &uses) {
  op->walk([&](MemoryEffectOpInterface inner) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    inner.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      bool reads = isa<MemoryEffects::Read>(effect.getEffect());
      bool writes = isa<MemoryEffects::Write>(effect.getEffect());
      Value value = effect.getValue();
      if (!value || !isa<MemRefType>(value.getType()) || (!reads && !writes))
        continue;
      Value buffer = getRootBuffer(value);
      bool isFirst = !uses.contains(buffer);
      Uses &use = uses[buffer];
      // The reads of an op come first among its effects.
      if (isFirst)
        use.isCarried = reads || isGlobal(buffer.getType());
      use.writesByStep[position] |= writes;
    }
  });
}

static InFlightDiagnostic reportConflict(StepOp step, StepOp other,
                                         Value buffer) {
  InFlightDiagnostic diag = step.emitOpError();
  diag.attachNote(other.getLoc()) << "the other step is here";
  diag.attachNote(buffer.getLoc()) << "the buffer is here";
  return diag;
}

static LogicalResult checkBuffer(ArrayRef<Placed> steps, Value buffer,
                                 const Uses &uses) {
  for (auto [first, writesFirst] : uses.writesByStep)
    for (auto [second, writesSecond] : uses.writesByStep) {
      if (first >= second || (!writesFirst && !writesSecond))
        continue;
      const Placed &early = steps[first], &late = steps[second];
      // step-c4
      if (!early.runsBefore(late, /*distance=*/0))
        return reportConflict(late.step, early.step, buffer)
               << "of stage " << late.stage << " and order " << late.order
               << " would run before the step of stage " << early.stage
               << " and order " << early.order
               << " that is written first and uses the same buffer; give it a "
                  "larger stage, or the same stage and a larger order";
      // step-c5
      if (uses.isCarried && !late.runsBefore(early, /*distance=*/1))
        return reportConflict(late.step, early.step, buffer)
               << "of stage " << late.stage << " and order " << late.order
               << " would run after the next iteration's step of stage "
               << early.stage << " and order " << early.order
               << ", but the buffer they share keeps its contents from one "
                  "iteration to the next; their stages may be one apart at "
                  "most, and the later one must then have the smaller order";
    }
  return success();
}

LogicalResult StepOp::verify() {
  // step-c1
  if (!isa_and_nonnull<PipelinedOp>((*this)->getParentOp()))
    return emitOpError("must stand directly in a tile.pipelined");
  return success();
}

LogicalResult tile::verifySteps(PipelinedOp loop) {
  SmallVector<Placed> steps;
  for (StepOp step : loop.getBody().front().getOps<StepOp>()) {
    auto position = static_cast<int64_t>(steps.size());
    steps.push_back(
        {step, static_cast<int64_t>(step.getStage()),
         step.getOrder() ? static_cast<int64_t>(*step.getOrder()) : position});
  }
  if (steps.empty())
    return success();

  // step-c2
  llvm::SmallDenseMap<int64_t, StepOp> seen;
  for (Placed &placed : steps) {
    if (placed.step.getOrder().has_value() !=
        steps.front().step.getOrder().has_value())
      return placed.step.emitOpError(
          "expects all steps of a loop to give an 'order' or none");
    auto [other, isNew] = seen.try_emplace(placed.order, placed.step);
    if (!isNew) {
      InFlightDiagnostic diag =
          placed.step.emitOpError("expects the orders of a loop's steps to "
                                  "differ, got ")
          << placed.order << " twice";
      diag.attachNote(other->second.getLoc()) << "the other step is here";
      return diag;
    }
    // step-c3
    if (std::optional<uint64_t> stages = loop.getStaticStages();
        stages && placed.stage >= static_cast<int64_t>(*stages))
      return placed.step.emitOpError("expects a stage below the loop's ")
             << *stages << " stages, got " << placed.stage;
  }

  llvm::MapVector<Value, Uses> uses;
  unsigned position = 0;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (isa<StepOp>(op)) {
      collectUses(&op, position++, uses);
      continue;
    }
    // step-c6
    if (!isMemoryEffectFree(&op) &&
        !isa<AllocSharedOp, AllocFragmentOp, AllocLocalOp>(op)) {
      InFlightDiagnostic diag = op.emitOpError(
          "must stand in a step: a loop that has steps says of everything that "
          "touches memory when it runs");
      diag.attachNote(steps.front().step.getLoc()) << "the first step is here";
      return diag;
    }
  }
  for (auto &[buffer, use] : uses)
    if (failed(checkBuffer(steps, buffer, use)))
      return failure();
  return success();
}
