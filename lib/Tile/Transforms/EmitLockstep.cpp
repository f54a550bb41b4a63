//===- EmitLockstep.cpp - Replace a loop by what its plan says --*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every temporary has the shape of the loop's box and is accessed by each lane
// at its own coordinates, so the loops that come out stay independent.
//
//===----------------------------------------------------------------------===//

#include "LockstepPlan.h"
#include "Tile/Transforms/SplitLockstep.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tile;

namespace {

class Emitter {
public:
  Emitter(ParallelOp loop, const LockstepPlan &plan, SplitCounts &counts)
      : loop(loop), plan(plan), counts(counts), outer(loop) {
    SmallVector<OpFoldResult> box = loop.getMixedExtents();
    for (Type type : plan.temporaries)
      temporaries.push_back(allocate(type, box));
    for (AllocLocalOp local : plan.shared) {
      MemRefType type = local.getBuffer().getType();
      SmallVector<OpFoldResult> extents = box;
      for (int64_t extent : type.getShape())
        extents.push_back(outer.getIndexAttr(extent));
      buffers[local.getBuffer()] = allocate(type.getElementType(), extents);
    }
  }

  void run() {
    emit(plan.steps);
    loop.erase();
  }

private:
  // Outside the lanes.
  Value allocate(Type element, ArrayRef<OpFoldResult> extents);
  void emit(const LaneSequence &steps);
  void emitFor(const LaneStep &step);
  void emitIf(const LaneStep &step);
  void emitWhile(const LaneStep &step);
  Value emitAny(Temporary mask, Location loc);
  Value getUniform(Value value);
  Value cloneUniform(Value value, IRMapping &copies);

  // In a lane.
  void emitGroup(const LaneStep &group);
  Value get(Value value);
  Value negate(Value condition, Location loc);
  Value load(Value temporary, Location loc);
  void store(Value value, Value temporary, Location loc);
  void emitStatement(const LaneStatement &statement);
  void emitRun(Operation *op);

  ParallelOp loop;
  const LockstepPlan &plan;
  SplitCounts &counts;
  OpBuilder outer;
  Operation *lastAllocation = nullptr;
  SmallVector<Value> temporaries;
  /// The buffer of all lanes in place of each shared local one.
  DenseMap<Value, Value> buffers;
  /// Indices of the loops around the groups.
  IRMapping hoisted;

  /// Of the group being emitted.
  OpBuilder lane{loop.getContext()};
  IRMapping values;
  SmallVector<Value> coordinates;
};

} // namespace

//===----------------------------------------------------------------------===//
// Outside the lanes
//===----------------------------------------------------------------------===//

Value Emitter::allocate(Type element, ArrayRef<OpFoldResult> extents) {
  // All stand in front of what is emitted, in whatever loops that is.
  OpBuilder builder(loop);
  if (lastAllocation)
    builder.setInsertionPointAfter(lastAllocation);
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  dispatchIndexOpFoldResults(extents, sizes, shape);
  auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                              FragmentAttr::get(loop.getContext()));
  auto allocation =
      AllocFragmentOp::create(builder, loop.getLoc(), type, sizes);
  lastAllocation = allocation;
  ++counts.temporaries;
  return allocation.getBuffer();
}

/// `value`, which is the same for all lanes, where `outer` stands.
Value Emitter::getUniform(Value value) {
  // The copies are good for this place only.
  IRMapping copies = hoisted;
  return cloneUniform(value, copies);
}

Value Emitter::cloneUniform(Value value, IRMapping &copies) {
  Operation *op = value.getDefiningOp();
  if (Value copy = copies.lookupOrNull(value))
    return copy;
  if (!op || !loop->isProperAncestor(op))
    return value;
  for (Value operand : op->getOperands())
    copies.map(operand, cloneUniform(operand, copies));
  outer.clone(*op, copies);
  return copies.lookup(value);
}

void Emitter::emit(const LaneSequence &steps) {
  for (const std::unique_ptr<LaneStep> &step : steps) {
    switch (step->kind) {
    case LaneStep::Kind::Group:
      emitGroup(*step);
      break;
    case LaneStep::Kind::Clear: {
      Value none = arith::ConstantOp::create(outer, loop.getLoc(),
                                             outer.getBoolAttr(false));
      FillOp::create(outer, loop.getLoc(), temporaries[step->mask], none);
      break;
    }
    case LaneStep::Kind::For:
      emitFor(*step);
      break;
    case LaneStep::Kind::If:
      emitIf(*step);
      break;
    case LaneStep::Kind::While:
      emitWhile(*step);
      break;
    }
  }
}

void Emitter::emitFor(const LaneStep &step) {
  auto op = cast<scf::ForOp>(step.op);
  Value lower = getUniform(op.getLowerBound());
  Value upper = getUniform(op.getUpperBound());
  Value by = getUniform(op.getStep());
  auto around = scf::ForOp::create(outer, op.getLoc(), lower, upper, by);
  around->setAttrs(op->getAttrs());
  hoisted.map(op.getInductionVar(), around.getInductionVar());
  OpBuilder::InsertionGuard guard(outer);
  outer.setInsertionPoint(around.getBody()->getTerminator());
  emit(step.first);
}

void Emitter::emitIf(const LaneStep &step) {
  auto op = cast<scf::IfOp>(step.op);
  auto around =
      scf::IfOp::create(outer, op.getLoc(), getUniform(op.getCondition()),
                        /*withElseRegion=*/!step.second.empty());
  around->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(outer);
  outer.setInsertionPoint(around.thenBlock()->getTerminator());
  emit(step.first);
  if (step.second.empty())
    return;
  outer.setInsertionPoint(around.elseBlock()->getTerminator());
  emit(step.second);
}

void Emitter::emitWhile(const LaneStep &step) {
  auto around =
      scf::WhileOp::create(outer, step.op->getLoc(), TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(outer);
  Block *before = outer.createBlock(&around.getBefore());
  emit(step.first);
  outer.setInsertionPointToEnd(before);
  Value any = emitAny(step.mask, step.op->getLoc());
  scf::ConditionOp::create(outer, step.op->getLoc(), any, ValueRange());
  Block *after = outer.createBlock(&around.getAfter());
  emit(step.second);
  outer.setInsertionPointToEnd(after);
  scf::YieldOp::create(outer, step.op->getLoc());
}

/// Whether the mask holds for any lane: reduced dimension by dimension.
Value Emitter::emitAny(Temporary mask, Location loc) {
  Value current = temporaries[mask];
  SmallVector<OpFoldResult> extents = loop.getMixedExtents();
  while (!extents.empty()) {
    extents.erase(extents.begin());
    // The last one keeps an extent of one.
    SmallVector<OpFoldResult> rest = extents;
    if (rest.empty())
      rest.push_back(outer.getIndexAttr(1));
    Value target = allocate(outer.getI1Type(), rest);
    ReduceOp::create(outer, loc, ReduceKind::Or, current, /*dim=*/0, target);
    current = target;
  }
  Value zero = arith::ConstantIndexOp::create(outer, loc, 0);
  return memref::LoadOp::create(outer, loc, current, zero);
}

//===----------------------------------------------------------------------===//
// In a lane
//===----------------------------------------------------------------------===//

Value Emitter::load(Value temporary, Location loc) {
  return memref::LoadOp::create(lane, loc, temporary, coordinates);
}

void Emitter::store(Value value, Value temporary, Location loc) {
  memref::StoreOp::create(lane, loc, value, temporary, coordinates);
}

Value Emitter::negate(Value condition, Location loc) {
  Value yes = arith::ConstantOp::create(lane, loc, lane.getBoolAttr(true));
  return arith::XOrIOp::create(lane, loc, condition, yes);
}

/// The lane's copy of `value`.
Value Emitter::get(Value value) {
  if (Value copy = values.lookupOrNull(value))
    return copy;
  if (auto home = plan.homes.find(value); home != plan.homes.end()) {
    Value copy = load(temporaries[home->second], value.getLoc());
    values.map(value, copy);
    return copy;
  }
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isProperAncestor(op) || buffers.contains(value))
    return value;
  for (Value operand : op->getOperands())
    get(operand);
  lane.clone(*op, values);
  return values.lookup(value);
}

void Emitter::emitRun(Operation *op) {
  LaneStatement statement{LaneStatement::Kind::Run, op, {}, {}, 0};
  for (Value need : statement.getNeeds())
    get(need);
  Operation *copy = lane.clone(*op, values);
  // The buffers of all lanes take the lane's coordinates in front.
  auto widen = [&](auto access) {
    auto buffer = buffers.find(access.getMemRef());
    if (buffer == buffers.end())
      return;
    SmallVector<Value> indices = coordinates;
    llvm::append_range(indices, access.getIndices());
    access.getMemrefMutable().assign(buffer->second);
    access.getIndicesMutable().assign(indices);
  };
  copy->walk([&](Operation *inner) {
    if (auto access = dyn_cast<memref::LoadOp>(inner))
      widen(access);
    else if (auto access = dyn_cast<memref::StoreOp>(inner))
      widen(access);
  });
  for (auto [result, own] : llvm::zip(op->getResults(), copy->getResults()))
    if (auto home = plan.homes.find(result); home != plan.homes.end())
      store(own, temporaries[home->second], op->getLoc());
}

void Emitter::emitStatement(const LaneStatement &statement) {
  using Kind = LaneStatement::Kind;
  if (statement.kind == Kind::Run)
    return emitRun(statement.op);

  // All values are read before any home is written.
  Location loc = statement.op ? statement.op->getLoc() : loop.getLoc();
  SmallVector<std::pair<Value, Value>> writes;
  for (auto [from, to] : llvm::zip(statement.from, statement.to))
    writes.push_back({get(from), temporaries[plan.homes.lookup(to)]});
  auto count = [&](scf::ForOp op, Value index) {
    auto below = op.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                     : arith::CmpIPredicate::slt;
    Value upper = get(op.getUpperBound());
    Value active = arith::CmpIOp::create(lane, loc, below, index, upper);
    // A loop that would not end does not begin.
    if (std::optional<int64_t> step = getConstantIntValue(op.getStep());
        !step || *step <= 0) {
      Value by = get(op.getStep());
      Value zero = arith::ConstantOp::create(
          lane, loc, lane.getIntegerAttr(by.getType(), 0));
      auto above = op.getUnsignedCmp() ? arith::CmpIPredicate::ugt
                                       : arith::CmpIPredicate::sgt;
      Value ends = arith::CmpIOp::create(lane, loc, above, by, zero);
      active = arith::AndIOp::create(lane, loc, active, ends);
    }
    writes.push_back(
        {index, temporaries[plan.homes.lookup(op.getInductionVar())]});
    writes.push_back({active, temporaries[statement.mask]});
  };
  switch (statement.kind) {
  case Kind::StartFor: {
    auto op = cast<scf::ForOp>(statement.op);
    count(op, get(op.getLowerBound()));
    break;
  }
  case Kind::AdvanceFor: {
    auto op = cast<scf::ForOp>(statement.op);
    Value index = get(op.getInductionVar()), by = get(op.getStep());
    count(op, arith::AddIOp::create(lane, loc, index, by));
    break;
  }
  case Kind::StartWhile: {
    Value active = arith::ConstantOp::create(lane, loc, lane.getBoolAttr(true));
    writes.push_back({active, temporaries[statement.mask]});
    break;
  }
  case Kind::TestWhile:
    writes.push_back({get(cast<scf::ConditionOp>(statement.op).getCondition()),
                      temporaries[statement.mask]});
    break;
  case Kind::Test: {
    Value holds = get(statement.from.front());
    if (statement.negated)
      holds = negate(holds, loc);
    writes.push_back({holds, temporaries[statement.mask]});
    break;
  }
  case Kind::Run:
  case Kind::Carry:
    break;
  }
  for (auto [value, home] : writes)
    store(value, home, loc);
}

void Emitter::emitGroup(const LaneStep &group) {
  ++counts.groups;
  auto own =
      ParallelOp::create(outer, loop.getLoc(), loop.getMixedExtents(), nullptr);
  own->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  coordinates.assign(own.getInductionVars().begin(),
                     own.getInductionVars().end());
  values = hoisted;
  values.map(loop.getInductionVars(), own.getInductionVars());
  lane.setInsertionPoint(own.getBody().front().getTerminator());
  // Conditions are nested, not joined: an inner one is only computed for the
  // lanes that meet the outer ones.
  for (const LaneCondition &condition : group.guard) {
    Location loc = condition.value ? condition.value.getLoc() : loop.getLoc();
    Value holds = condition.mask ? load(temporaries[*condition.mask], loc)
                                 : get(condition.value);
    if (condition.negated)
      holds = negate(holds, loc);
    auto ifOp = scf::IfOp::create(lane, loc, holds, /*withElseRegion=*/false);
    lane.setInsertionPoint(ifOp.thenBlock()->getTerminator());
  }
  for (const LaneStatement &statement : group.statements)
    emitStatement(statement);
}

void tile::emitLockstep(ParallelOp loop, const LockstepPlan &plan,
                        SplitCounts &counts) {
  Emitter(loop, plan, counts).run();
}
