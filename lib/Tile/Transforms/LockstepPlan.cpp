//===- LockstepPlan.cpp - How an elementwise loop is taken apart *- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First the statements are put into groups, in the order of the program: a
// statement joins the group before it unless lanes meet between the two. A loop
// or condition inside which lanes meet is taken apart itself: what is the same
// for all lanes goes around the groups, what is not becomes a mask. Then every
// value that a group needs and does not compute gets a home.
//
//===----------------------------------------------------------------------===//

#include "LockstepPlan.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tile;

llvm::SetVector<Value> LaneStatement::getNeeds() const {
  llvm::SetVector<Value> needs(from.begin(), from.end());
  switch (kind) {
  case Kind::Run:
    needs.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), needs);
    break;
  case Kind::StartFor:
    needs.insert(cast<scf::ForOp>(op).getLowerBound());
    needs.insert(cast<scf::ForOp>(op).getUpperBound());
    needs.insert(cast<scf::ForOp>(op).getStep());
    break;
  case Kind::AdvanceFor:
    needs.insert(cast<scf::ForOp>(op).getInductionVar());
    needs.insert(cast<scf::ForOp>(op).getUpperBound());
    needs.insert(cast<scf::ForOp>(op).getStep());
    break;
  case Kind::TestWhile:
    needs.insert(cast<scf::ConditionOp>(op).getCondition());
    break;
  case Kind::Carry:
  case Kind::StartWhile:
  case Kind::Test:
    break;
  }
  return needs;
}

namespace {

class Planner {
public:
  explicit Planner(ParallelOp loop) : loop(loop), analysis(loop) {}

  FailureOr<LockstepPlan> run() {
    if (failed(planBlock(loop.getBody().front(), {}, plan.steps)) ||
        failed(placeValues(plan.steps)) || failed(placeLocals()))
      return failure();
    return std::move(plan);
  }

private:
  // Grouping.
  LogicalResult planBlock(Block &block, const LaneGuard &guard,
                          LaneSequence &steps);
  LogicalResult planIf(scf::IfOp op, const LaneGuard &guard,
                       LaneSequence &steps);
  LogicalResult planFor(scf::ForOp op, const LaneGuard &guard,
                        LaneSequence &steps);
  LogicalResult planUniformFor(scf::ForOp op, const LaneGuard &guard,
                               LaneSequence &steps);
  LogicalResult planWhile(scf::WhileOp op, const LaneGuard &guard,
                          LaneSequence &steps);
  LaneStep &append(LaneSequence &steps, LaneStep::Kind kind, Operation *op);
  LaneStep &openGroup(LaneSequence &steps, Block *block,
                      const LaneGuard &guard);
  LaneStep &groupAtEnd(LaneSequence &steps, Block *block,
                       const LaneGuard &guard);
  void carry(LaneSequence &steps, Block *block, const LaneGuard &guard,
             LaneStatement statement);
  void start(LaneSequence &steps, Block *block, const LaneGuard &guard,
             LaneStatement statement);
  LaneGuard narrow(LaneSequence &steps, scf::IfOp op, bool isElse,
                   const LaneGuard &guard);
  bool isOnDemand(Operation *op);

  // Placing values.
  LogicalResult placeValues(LaneSequence &steps);
  LogicalResult require(Value value, const LaneStep *group);
  LogicalResult giveHomes(ValueRange values);
  LogicalResult giveHome(Value value);
  LogicalResult placeLocals();

  ParallelOp loop;
  LaneAnalysis analysis;
  LockstepPlan plan;
  /// The group of each statement.
  DenseMap<Operation *, LaneStep *> groupOf;
  /// Ops that are computed where they are needed, with their cost.
  DenseMap<Operation *, unsigned> onDemand;
  /// Loops and conditions that are taken apart.
  DenseSet<Operation *> takenApart;
  SmallVector<AllocLocalOp> locals;
};

} // namespace

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

LaneStep &Planner::append(LaneSequence &steps, LaneStep::Kind kind,
                          Operation *op) {
  steps.push_back(std::make_unique<LaneStep>());
  steps.back()->kind = kind;
  steps.back()->op = op;
  return *steps.back();
}

LaneStep &Planner::openGroup(LaneSequence &steps, Block *block,
                             const LaneGuard &guard) {
  LaneStep &group = append(steps, LaneStep::Kind::Group, nullptr);
  group.block = block;
  group.guard = guard;
  return group;
}

/// The group that ends `steps` if it is one of `block`, else a new one.
LaneStep &Planner::groupAtEnd(LaneSequence &steps, Block *block,
                              const LaneGuard &guard) {
  if (!steps.empty() && steps.back()->kind == LaneStep::Kind::Group &&
      steps.back()->block == block)
    return *steps.back();
  return openGroup(steps, block, guard);
}

/// Lets the last group of `block` end with `statement`, which touches nothing
/// but the lane's own temporaries.
void Planner::carry(LaneSequence &steps, Block *block, const LaneGuard &guard,
                    LaneStatement statement) {
  if (statement.kind == LaneStatement::Kind::Carry && statement.to.empty())
    return;
  groupAtEnd(steps, block, guard).statements.push_back(std::move(statement));
}

/// The same for a statement that sets a mask. Lanes outside `guard` do not run
/// it, so the mask is cleared before.
void Planner::start(LaneSequence &steps, Block *block, const LaneGuard &guard,
                    LaneStatement statement) {
  Temporary mask = statement.mask;
  carry(steps, block, guard, std::move(statement));
  if (guard.empty())
    return;
  LaneStep &clear = append(steps, LaneStep::Kind::Clear, nullptr);
  clear.mask = mask;
  std::swap(steps[steps.size() - 1], steps[steps.size() - 2]);
}

/// The guard of a branch inside `guard`. Each group tests all of its guard, so
/// that many conditions are put together in one mask, for each depth once.
LaneGuard Planner::narrow(LaneSequence &steps, scf::IfOp op, bool isElse,
                          const LaneGuard &guard) {
  constexpr size_t limit = 2;
  if (guard.size() < limit) {
    LaneGuard inner = guard;
    inner.push_back({op.getCondition(), isElse, std::nullopt});
    return inner;
  }
  Temporary mask = plan.temporaries.size();
  plan.temporaries.push_back(IntegerType::get(op.getContext(), 1));
  start(steps, op->getBlock(), guard,
        {LaneStatement::Kind::Test,
         nullptr,
         {op.getCondition()},
         {},
         mask,
         isElse});
  return {{Value(), false, mask}};
}

/// True if the op is computed wherever its results are needed instead of once:
/// views, and cheap arithmetic that does not depend on memory.
bool Planner::isOnDemand(Operation *op) {
  constexpr unsigned limit = 8;
  if (auto local = dyn_cast<AllocLocalOp>(op)) {
    locals.push_back(local);
    onDemand[op] = 0;
    return true;
  }
  if (!isPure(op) || op->getNumRegions() != 0)
    return false;
  bool isView = llvm::all_of(op->getResultTypes(), llvm::IsaPred<MemRefType>);
  if (isa<math::MathDialect>(op->getDialect()))
    return false;
  unsigned cost = op->hasTrait<OpTrait::ConstantLike>() ? 0 : 1;
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (!def || !loop->isProperAncestor(def) || takenApart.contains(def))
      continue;
    auto known = onDemand.find(def);
    if (known != onDemand.end())
      cost += known->second;
    else if (!isView)
      return false;
  }
  if (cost > limit && !isView)
    return false;
  onDemand[op] = std::min(cost, limit);
  return true;
}

LogicalResult Planner::planBlock(Block &block, const LaneGuard &guard,
                                 LaneSequence &steps) {
  LaneStep *group = nullptr;
  for (Operation &op : block.without_terminator()) {
    if (isOnDemand(&op))
      continue;
    std::optional<LaneConflict> inner;
    if (op.getNumRegions() != 0)
      inner = analysis.findConflictWithin(&op);
    if (!inner) {
      bool joins = group && llvm::none_of(group->statements, [&](auto &other) {
                     return analysis.findConflict(other.op, &op).has_value();
                   });
      if (!joins)
        group = &openGroup(steps, &block, guard);
      group->statements.push_back({LaneStatement::Kind::Run, &op, {}, {}, 0});
      groupOf[&op] = group;
      continue;
    }

    group = nullptr;
    takenApart.insert(&op);
    LogicalResult planned = success();
    if (auto ifOp = dyn_cast<scf::IfOp>(op)) {
      planned = planIf(ifOp, guard, steps);
    } else if (auto forOp = dyn_cast<scf::ForOp>(op)) {
      planned = planFor(forOp, guard, steps);
    } else if (auto whileOp = dyn_cast<scf::WhileOp>(op)) {
      planned = planWhile(whileOp, guard, steps);
    } else {
      InFlightDiagnostic diag =
          op.emitOpError("cannot be run in lockstep, and lanes meet inside it; "
                         "write it with scf.for, scf.while and scf.if");
      diag.attachNote(inner->first->getLoc())
          << "an element that one lane accesses here";
      diag.attachNote(inner->second->getLoc())
          << "may be one that another lane accesses here";
      planned = diag;
    }
    if (failed(planned))
      return failure();
  }
  return success();
}

LogicalResult Planner::planIf(scf::IfOp op, const LaneGuard &guard,
                              LaneSequence &steps) {
  if (failed(giveHomes(op.getResults())))
    return failure();
  bool uniform = analysis.isUniform(op.getCondition());
  LaneStep *branch = uniform ? &append(steps, LaneStep::Kind::If, op) : nullptr;
  for (bool isElse : {false, true}) {
    Region &region = isElse ? op.getElseRegion() : op.getThenRegion();
    if (region.empty())
      continue;
    LaneGuard inner = uniform ? guard : narrow(steps, op, isElse, guard);
    LaneSequence &own =
        uniform ? (isElse ? branch->second : branch->first) : steps;
    Block &block = region.front();
    if (failed(planBlock(block, inner, own)))
      return failure();
    carry(own, &block, inner,
          {LaneStatement::Kind::Carry, nullptr,
           llvm::to_vector<2>(block.getTerminator()->getOperands()),
           llvm::to_vector<2>(ValueRange(op.getResults())), 0});
  }
  return success();
}

/// Gives each loop-carried value one home, from the initial value to the
/// result.
static void shareHomes(LockstepPlan &plan, ValueRange arguments,
                       ValueRange results) {
  for (auto [argument, result] : llvm::zip(arguments, results))
    plan.homes[argument] = plan.homes[result];
}

LogicalResult Planner::planUniformFor(scf::ForOp op, const LaneGuard &guard,
                                      LaneSequence &steps) {
  Block *body = op.getBody();
  SmallVector<Value, 2> carried(op.getRegionIterArgs());
  carry(steps, op->getBlock(), guard,
        {LaneStatement::Kind::Carry, nullptr,
         llvm::to_vector<2>(op.getInitArgs()), carried, 0});
  analysis.addUniform(op.getInductionVar());
  LaneStep &around = append(steps, LaneStep::Kind::For, op);
  if (failed(planBlock(*body, guard, around.first)))
    return failure();
  carry(around.first, body, guard,
        {LaneStatement::Kind::Carry, nullptr,
         llvm::to_vector<2>(body->getTerminator()->getOperands()), carried, 0});
  return success();
}

LogicalResult Planner::planFor(scf::ForOp op, const LaneGuard &guard,
                               LaneSequence &steps) {
  if (failed(giveHomes(op.getResults())))
    return failure();
  shareHomes(plan, op.getRegionIterArgs(), op.getResults());
  if (analysis.isUniform(op.getLowerBound()) &&
      analysis.isUniform(op.getUpperBound()) &&
      analysis.isUniform(op.getStep()))
    return planUniformFor(op, guard, steps);

  if (failed(giveHome(op.getInductionVar())))
    return failure();
  Temporary mask = plan.temporaries.size();
  plan.temporaries.push_back(IntegerType::get(op.getContext(), 1));
  Block *body = op.getBody();
  SmallVector<Value, 2> carried(op.getRegionIterArgs());
  start(steps, op->getBlock(), guard,
        {LaneStatement::Kind::StartFor, op,
         llvm::to_vector<2>(op.getInitArgs()), carried, mask});
  LaneStep &around = append(steps, LaneStep::Kind::While, op);
  around.mask = mask;
  LaneGuard active = {{Value(), false, mask}};
  if (failed(planBlock(*body, active, around.second)))
    return failure();
  carry(around.second, body, active,
        {LaneStatement::Kind::AdvanceFor, op,
         llvm::to_vector<2>(body->getTerminator()->getOperands()), carried,
         mask});
  return success();
}

LogicalResult Planner::planWhile(scf::WhileOp op, const LaneGuard &guard,
                                 LaneSequence &steps) {
  // The values that a lane leaves the loop with are those it last took to the
  // condition.
  if (failed(giveHomes(op.getResults())) ||
      failed(giveHomes(op.getBeforeArguments())))
    return failure();
  shareHomes(plan, op.getAfterArguments(), op.getResults());
  Temporary mask = plan.temporaries.size();
  plan.temporaries.push_back(IntegerType::get(op.getContext(), 1));

  SmallVector<Value, 2> carried(op.getBeforeArguments());
  start(steps, op->getBlock(), guard,
        {LaneStatement::Kind::StartWhile, nullptr,
         llvm::to_vector<2>(op.getInits()), carried, mask});
  LaneStep &around = append(steps, LaneStep::Kind::While, op);
  around.mask = mask;
  LaneGuard active = {{Value(), false, mask}};
  scf::ConditionOp condition = op.getConditionOp();
  if (failed(planBlock(*op.getBeforeBody(), active, around.first)))
    return failure();
  carry(around.first, op.getBeforeBody(), active,
        {LaneStatement::Kind::TestWhile, condition,
         llvm::to_vector<2>(condition.getArgs()),
         llvm::to_vector<2>(ValueRange(op.getAfterArguments())), mask});
  if (failed(planBlock(*op.getAfterBody(), active, around.second)))
    return failure();
  carry(around.second, op.getAfterBody(), active,
        {LaneStatement::Kind::Carry, nullptr,
         llvm::to_vector<2>(op.getYieldOp().getOperands()), carried, 0});
  return success();
}

//===----------------------------------------------------------------------===//
// Homes
//===----------------------------------------------------------------------===//

LogicalResult Planner::giveHomes(ValueRange values) {
  for (Value value : values)
    if (failed(giveHome(value)))
      return failure();
  return success();
}

LogicalResult Planner::giveHome(Value value) {
  Type type = value.getType();
  bool fits = isa<IndexType, Float64Type, Float32Type, Float16Type,
                  BFloat16Type, Float8E4M3FNType, Float8E5M2Type>(type) ||
              llvm::any_of(std::initializer_list<unsigned>{1, 4, 8, 16, 32, 64},
                           [&](unsigned width) {
                             return type.isSignlessInteger(width);
                           });
  if (!fits) {
    InFlightDiagnostic diag =
        emitError(value.getLoc())
        << "a value of type " << type
        << " is needed after other lanes have gone on, but no buffer can keep "
           "it; compute it anew after the access, or use scalars";
    diag.attachNote(loop.getLoc()) << "lanes meet in this loop";
    return diag;
  }
  if (plan.homes.try_emplace(value, plan.temporaries.size()).second)
    plan.temporaries.push_back(type);
  return success();
}

/// Sees to it that `group` gets at `value`.
LogicalResult Planner::require(Value value, const LaneStep *group) {
  Operation *def = value.getDefiningOp();
  // Arguments are coordinates, indices of loops around, or have homes.
  if (!def || !loop->isProperAncestor(def) || plan.homes.contains(value))
    return success();
  if (onDemand.contains(def)) {
    for (Value operand : def->getOperands())
      if (failed(require(operand, group)))
        return failure();
    return success();
  }
  return groupOf.lookup(def) == group ? success() : giveHome(value);
}

LogicalResult Planner::placeValues(LaneSequence &steps) {
  for (std::unique_ptr<LaneStep> &step : steps) {
    for (const LaneCondition &condition : step->guard)
      if (condition.value && failed(require(condition.value, step.get())))
        return failure();
    for (const LaneStatement &statement : step->statements)
      for (Value need : statement.getNeeds())
        if (failed(require(need, step.get())))
          return failure();
    if (failed(placeValues(step->first)) || failed(placeValues(step->second)))
      return failure();
  }
  return success();
}

/// A lane's buffer stays one if only one group uses it, each time anew;
/// otherwise it becomes a part of a buffer of all lanes.
LogicalResult Planner::placeLocals() {
  for (AllocLocalOp local : locals) {
    DenseSet<LaneStep *> groups;
    Operation *unfit = nullptr;
    SmallVector<Value> worklist = {local.getBuffer()};
    while (!worklist.empty())
      for (OpOperand &use : worklist.pop_back_val().getUses()) {
        Operation *user = use.getOwner();
        if (isa<ViewLikeOpInterface>(user) || onDemand.contains(user)) {
          if (!user->use_empty())
            unfit = user;
          for (Value result : user->getResults())
            if (isa<BaseMemRefType>(result.getType()))
              worklist.push_back(result);
        } else if (!isa<memref::LoadOp, memref::StoreOp>(user)) {
          unfit = user;
        }
        for (Operation *op = user; op != loop; op = op->getParentOp())
          if (LaneStep *group = groupOf.lookup(op))
            groups.insert(group);
      }
    bool isOwn =
        groups.empty() ||
        (groups.size() == 1 && (*groups.begin())->block == local->getBlock());
    if (isOwn)
      continue;
    if (unfit) {
      InFlightDiagnostic diag = unfit->emitOpError(
          "uses a buffer of a lane that is kept while other lanes go on, which "
          "only loads and stores through subviews, casts and expanded or "
          "collapsed shapes can");
      diag.attachNote(local.getLoc()) << "the buffer is here";
      return diag;
    }
    if (!local.getBuffer().getType().hasStaticShape())
      return local.emitOpError("is kept while other lanes go on, which needs "
                               "static extents");
    plan.shared.insert(local);
  }
  return success();
}

FailureOr<LockstepPlan> tile::planLockstep(ParallelOp loop) {
  return Planner(loop).run();
}
