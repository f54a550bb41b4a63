//===- LockstepPlan.h - How an elementwise loop is taken apart --*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of a loop whose lanes meet: groups of statements that are each an
// independent loop, in an order and inside outer loops and conditions that give
// the lockstep result. Making the plan changes no IR; emitting it replaces the
// loop.
//
// A value that is needed in another group than the one that computes it has a
// *home*: a temporary with one element for each lane. Cheap arithmetic on the
// lane's coordinates has none; each group computes it anew.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_LOCKSTEPPLAN_H
#define TILE_TRANSFORMS_LOCKSTEPPLAN_H

#include "Tile/Transforms/LaneAnalysis.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

/// A temporary, by its position among those of the plan.
using Temporary = unsigned;

/// What a lane must meet to run a group: a value of the program, or what stands
/// in a temporary.
struct LaneCondition {
  mlir::Value value;
  bool negated = false;
  std::optional<Temporary> mask;
};
using LaneGuard = llvm::SmallVector<LaneCondition, 2>;

struct LaneStatement {
  enum class Kind {
    /// Run `op`.
    Run,
    /// Put `from` into the homes of `to`, all at once.
    Carry,
    /// Begin the scf.for `op`, which each lane counts for itself: index and
    /// mask, besides carrying.
    StartFor,
    /// Go to the next iteration of the scf.for `op`, besides carrying.
    AdvanceFor,
    /// Begin an scf.while: set the mask, besides carrying.
    StartWhile,
    /// Take the scf.condition `op` into the mask, besides carrying.
    TestWhile,
    /// Take the condition in `from`, or its opposite, into the mask.
    Test
  };
  Kind kind;
  mlir::Operation *op = nullptr;
  llvm::SmallVector<mlir::Value, 2> from, to;
  Temporary mask = 0;
  bool negated = false;

  /// The values that running the statement takes, other than its guard.
  llvm::SetVector<mlir::Value> getNeeds() const;
};

struct LaneStep;
using LaneSequence = std::vector<std::unique_ptr<LaneStep>>;

struct LaneStep {
  enum class Kind {
    /// An independent loop over the statements, for the lanes of `guard`.
    Group,
    /// Set `mask` to false for all lanes.
    Clear,
    /// The scf.for `op`, run once for all lanes, around `first`.
    For,
    /// The scf.if `op`, run once for all lanes: `first` or `second`.
    If,
    /// `first`; then, while `mask` holds for any lane, `second` and again.
    While
  };
  Kind kind;
  mlir::Operation *op = nullptr;
  /// Of a group: the block that its statements stand in.
  mlir::Block *block = nullptr;
  LaneGuard guard;
  llvm::SmallVector<LaneStatement> statements;
  Temporary mask = 0;
  LaneSequence first, second;
};

struct LockstepPlan {
  LaneSequence steps;
  /// The element types of the temporaries.
  llvm::SmallVector<mlir::Type> temporaries;
  llvm::DenseMap<mlir::Value, Temporary> homes;
  /// Buffers of a lane that live across groups.
  llvm::SetVector<AllocLocalOp> shared;
};

/// Plans `loop`, whose lanes meet. Reports what cannot be taken apart.
mlir::FailureOr<LockstepPlan> planLockstep(ParallelOp loop);

struct SplitCounts;

/// Replaces `loop` by what `plan` says.
void emitLockstep(ParallelOp loop, const LockstepPlan &plan,
                  SplitCounts &counts);

} // namespace tile

#endif // TILE_TRANSFORMS_LOCKSTEPPLAN_H
