//===- Vectorize.cpp - Lanes of an elementwise loop as vectors --*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs consecutive lanes of an elementwise loop in one vector. Every value of
// the body is one of three things: uniform (the same in all lanes, kept
// scalar), linear (an index that grows by a constant from lane to lane, kept as
// its first value) or a vector. Linear last indices make contiguous loads and
// stores. Conditions that differ between lanes become masks; loops whose bounds
// do not differ stay loops. The lanes are independent (see
// tile-split-lockstep), so any interleaving of them is right. What is computed
// has no effect in lanes that are turned off: divisions are guarded later.
//
//===----------------------------------------------------------------------===//

#include "Vectorizer.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

static bool isElementwiseScalar(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) &&
         llvm::all_of(op->getResultTypes(),
                      [](Type type) { return type.isIntOrIndexOrFloat(); });
}

bool cpu::canVectorize(ParallelOp op) {
  VaryingAnalysis varying(op);
  auto uniform = [&](ValueRange values) {
    return llvm::none_of(values, varying);
  };
  WalkResult result = op.getBody().walk([&](Operation *inner) -> WalkResult {
    bool supported = false;
    // Half bytes are taken one by one.
    std::optional<GlobalAccess> access = getGlobalAccess(inner);
    if (access && isPacked(cast<MemRefType>(access->buffer.getType())))
      return WalkResult::interrupt();
    if (isa<YieldOp, scf::YieldOp>(inner))
      supported = true;
    else if (auto loop = dyn_cast<scf::ForOp>(inner))
      supported =
          uniform({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    else if (isa<scf::IfOp>(inner))
      supported = true;
    else if (auto alloc = dyn_cast<AllocLocalOp>(inner))
      supported = alloc.getDynamicSizes().empty();
    else if (auto load = dyn_cast<memref::LoadOp>(inner))
      supported = !varying(load.getMemRef()) ||
                  load.getMemRef().getDefiningOp<AllocLocalOp>();
    else if (auto store = dyn_cast<memref::StoreOp>(inner))
      supported = !varying(store.getMemRef()) ||
                  store.getMemRef().getDefiningOp<AllocLocalOp>();
    else if (uniform(inner->getResults()) && uniform(inner->getOperands()))
      supported = inner->getNumRegions() == 0 && isMemoryEffectFree(inner);
    else
      supported = isElementwiseScalar(inner);
    return supported ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

Value Vectorizer::vectorOf(Location loc, const Lanes &form) {
  if (form.vector)
    return form.vector;
  if (form.uniform)
    return splat(b, loc, form.uniform, lanes);
  SmallVector<Attribute> steps;
  for (int64_t lane = 0; lane < lanes; ++lane)
    steps.push_back(b.getIndexAttr(lane * form.stride));
  Value step = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(vectorType(b.getIndexType()), steps));
  return arith::AddIOp::create(b, loc, splat(b, loc, form.base, lanes), step);
}

bool Vectorizer::isModerate(Value value) {
  std::optional<Interval> interval = intervals.get(value);
  return interval && interval->low >= -kModerate && interval->high <= kModerate;
}

Value Vectorizer::clamp(Location loc, Value value, int64_t limit) {
  value =
      b.createOrFold<arith::MaxSIOp>(loc, value, constantIndex(b, loc, -limit));
  return b.createOrFold<arith::MinSIOp>(loc, value,
                                        constantIndex(b, loc, limit));
}

/// Compares `base + lane * stride` with a bound in 32 bits: the distance
/// between base and bound, both moderate, is clamped to where the answer is the
/// same for every lane.
Value Vectorizer::compareLinear(Location loc, arith::CmpIPredicate predicate,
                                const Lanes &linear, Value bound) {
  constexpr int64_t far = 1 << 30;
  Value distance =
      clamp(loc, arith::SubIOp::create(b, loc, bound, linear.base), far);
  Value narrow = arith::IndexCastOp::create(b, loc, b.getI32Type(), distance);
  SmallVector<int32_t> steps;
  for (int64_t lane = 0; lane < lanes; ++lane)
    steps.push_back(lane * linear.stride);
  Value step = arith::ConstantOp::create(b, loc, b.getI32VectorAttr(steps));
  return arith::CmpIOp::create(b, loc, predicate, step,
                               splat(b, loc, narrow, lanes));
}

void Vectorizer::setHoldsForAll(Value condition, Location loc,
                                arith::CmpIPredicate predicate,
                                const Lanes &linear, Value bound) {
  // Equality with the ends says nothing of what lies between.
  if (predicate == arith::CmpIPredicate::eq ||
      predicate == arith::CmpIPredicate::ne)
    return;
  Value first = linear.base;
  Value last = addIndex(b, loc, first, (lanes - 1) * linear.stride);
  auto compare = [&](arith::CmpIPredicate how, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, how, x, y);
  };
  // If the last lane wrapped around, it would lie on the other side of the
  // first.
  bool isUnsigned = predicate >= arith::CmpIPredicate::ult;
  Value low = linear.stride < 0 ? last : first;
  Value high = linear.stride < 0 ? first : last;
  Value holds = compare(isUnsigned ? arith::CmpIPredicate::ule
                                   : arith::CmpIPredicate::sle,
                        low, high);
  holds = conjoin(loc, holds, compare(predicate, first, bound));
  holdsForAll[condition] = conjoin(loc, holds, compare(predicate, last, bound));
}

void Vectorizer::emit(Block &block, Value mask) {
  for (Operation &op : block.without_terminator()) {
    if (auto test = dyn_cast<scf::IfOp>(op))
      emitIf(test, mask);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      emitFor(loop, mask);
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      emitLoad(load, mask);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      emitStore(store, mask);
    else if (auto alloc = dyn_cast<AllocLocalOp>(op)) {
      MemRefType type = alloc.getBuffer().getType();
      SmallVector<int64_t> shape(type.getShape());
      shape.push_back(lanes);
      auto expanded =
          MemRefType::get(shape, type.getElementType(),
                          MemRefLayoutAttrInterface(), type.getMemorySpace());
      setUniform(alloc.getBuffer(),
                 AllocLocalOp::create(b, op.getLoc(), expanded, ValueRange()));
    } else if (steady.contains(&op))
      emitSteadyQuotient(&op);
    else if (llvm::all_of(op.getOperands(),
                          [&](Value v) { return !!get(v).uniform; }))
      emitUniform(&op);
    else if (!emitLinear(&op))
      emitElementwise(&op);
  }
}

void Vectorizer::emitUniform(Operation *op) {
  Operation *copy = b.clone(*op, mapping);
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
    setUniform(from, to);
}

static arith::CmpIPredicate toSigned(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::ult:
    return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::ule:
    return arith::CmpIPredicate::sle;
  case arith::CmpIPredicate::ugt:
    return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::uge:
    return arith::CmpIPredicate::sge;
  default:
    return predicate;
  }
}

/// `y swapSides(predicate) x` says what `x predicate y` does.
static arith::CmpIPredicate swapSides(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::sle:
    return arith::CmpIPredicate::sge;
  case arith::CmpIPredicate::sgt:
    return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::sge:
    return arith::CmpIPredicate::sle;
  case arith::CmpIPredicate::ult:
    return arith::CmpIPredicate::ugt;
  case arith::CmpIPredicate::ule:
    return arith::CmpIPredicate::uge;
  case arith::CmpIPredicate::ugt:
    return arith::CmpIPredicate::ult;
  case arith::CmpIPredicate::uge:
    return arith::CmpIPredicate::ule;
  default:
    return predicate;
  }
}

/// Index arithmetic that keeps the form base + lane * stride, and comparisons
/// of it with a uniform bound.
bool Vectorizer::emitLinear(Operation *op) {
  Location loc = op->getLoc();
  if (op->getNumOperands() != 2 || !isa<IndexType>(op->getOperand(0).getType()))
    return false;
  Lanes x = get(op->getOperand(0)), y = get(op->getOperand(1));
  auto set = [&](Value base, int64_t stride) {
    values[op->getResult(0)] = {{}, base, stride, {}};
    return true;
  };
  if (isa<arith::AddIOp>(op)) {
    if (y.base && x.uniform)
      std::swap(x, y);
    if (x.base && y.uniform)
      return set(arith::AddIOp::create(b, loc, x.base, y.uniform), x.stride);
    return false;
  }
  if (isa<arith::SubIOp>(op) && x.base && y.uniform)
    return set(arith::SubIOp::create(b, loc, x.base, y.uniform), x.stride);
  if (isa<arith::MulIOp>(op)) {
    if (y.base && x.uniform)
      std::swap(x, y);
    APInt factor;
    constexpr int64_t limit = 1 << 20;
    if (x.base && y.uniform &&
        matchPattern(y.uniform, m_ConstantInt(&factor)) &&
        factor.abs().ule(limit) && x.stride <= limit / 64)
      return set(arith::MulIOp::create(b, loc, x.base, y.uniform),
                 x.stride * factor.getSExtValue());
    return false;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    arith::CmpIPredicate predicate = compare.getPredicate();
    Value line = op->getOperand(0), bound = op->getOperand(1);
    if (x.uniform && y.base) {
      std::swap(x, y);
      std::swap(line, bound);
      predicate = swapSides(predicate);
    }
    constexpr int64_t limit = 1 << 20;
    if (!x.base || !y.uniform || std::abs(x.stride) > limit)
      return false;
    setHoldsForAll(op->getResult(0), loc, predicate, x, y.uniform);
    bool isUnsigned = predicate >= arith::CmpIPredicate::ult;
    predicate = toSigned(predicate);
    if (isModerate(line)) {
      std::optional<Interval> limits = intervals.get(bound);
      Value near = y.uniform;
      if (isUnsigned && intervals.get(line)->low < 0)
        return false;
      // All lanes are on the same side of a bound that is not. Both orders of
      // numbers agree on natural ones.
      if (isUnsigned && !(isModerate(bound) && limits->low >= 0))
        near = b.createOrFold<arith::MinUIOp>(
            loc, near, constantIndex(b, loc, 2 * kModerate));
      else if (!isModerate(bound))
        near = clamp(loc, near, 2 * kModerate);
      setVector(op->getResult(0), compareLinear(loc, predicate, x, near));
      return true;
    }
  }
  return false;
}

void Vectorizer::emitElementwise(Operation *op) {
  Location loc = op->getLoc();
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, vectorOf(loc, operand));
  Operation *copy = b.clone(*op, operands);
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) {
    to.setType(vectorType(from.getType()));
    setVector(from, to);
  }
  if (!isa<arith::AndIOp>(op))
    return;
  auto x = holdsForAll.find(op->getOperand(0)),
       y = holdsForAll.find(op->getOperand(1));
  if (x != holdsForAll.end() && y != holdsForAll.end())
    holdsForAll[op->getResult(0)] =
        arith::AndIOp::create(b, loc, x->second, y->second);
}

void Vectorizer::emitIf(scf::IfOp op, Value mask) {
  Location loc = op.getLoc();
  Lanes condition = get(op.getCondition());
  if (condition.uniform) {
    SmallVector<Type> types;
    for (Value result : op.getResults())
      types.push_back(varying(result) ? vectorType(result.getType())
                                      : result.getType());
    bool hasElse = !op.getElseRegion().empty();
    auto copy = scf::IfOp::create(b, loc, types, condition.uniform, hasElse);
    auto branch = [&](Block *from, Block *to, scf::YieldOp yield) {
      OpBuilder::InsertionGuard guard(b);
      // An if without results has a terminator already.
      if (!to->empty())
        to->back().erase();
      b.setInsertionPointToEnd(to);
      emit(*from, mask);
      SmallVector<Value> results;
      for (auto [value, result] :
           llvm::zip(yield.getOperands(), op.getResults()))
        results.push_back(varying(result) ? vectorOf(loc, value)
                                          : scalar(value));
      scf::YieldOp::create(b, loc, results);
    };
    branch(op.thenBlock(), copy.thenBlock(), op.thenYield());
    if (hasElse)
      branch(op.elseBlock(), copy.elseBlock(), op.elseYield());
    for (auto [from, to] : llvm::zip(op.getResults(), copy.getResults()))
      varying(from) ? setVector(from, to) : setUniform(from, to);
    return;
  }
  auto holds = holdsForAll.find(op.getCondition());
  // One level, so that nests do not grow with each of theirs.
  bool isFlat = llvm::none_of(*op.thenBlock(), [](Operation &inner) {
    return inner.getNumRegions() != 0;
  });
  if (isRare || mask || holds == holdsForAll.end() || !isFlat)
    return emitMaskedIf(op, condition.vector, mask);
  emitUnmaskedIf(op, holds->second);
}

/// Most often a condition on indices holds in all lanes, but for those at an
/// edge; stores without masks are worth the test.
void Vectorizer::emitUnmaskedIf(scf::IfOp op, Value holds) {
  Location loc = op.getLoc();
  SmallVector<Type> types;
  for (Value result : op.getResults())
    types.push_back(vectorType(result.getType()));
  auto copy = scf::IfOp::create(b, loc, types, holds, /*withElseRegion=*/true);
  auto branch = [&](Block *to, function_ref<void()> emitBranch,
                    ValueRange values) {
    OpBuilder::InsertionGuard guard(b);
    if (!to->empty())
      to->back().erase();
    b.setInsertionPointToEnd(to);
    emitBranch();
    SmallVector<Value> results;
    for (Value value : values)
      results.push_back(vectorOf(loc, value));
    scf::YieldOp::create(b, loc, results);
  };
  branch(
      copy.thenBlock(), [&] { emit(*op.thenBlock(), /*mask=*/{}); },
      op.getNumResults() ? ValueRange(op.thenYield().getOperands())
                         : ValueRange());
  branch(
      copy.elseBlock(),
      [&] { emitMaskedIf(op, get(op.getCondition()).vector, /*mask=*/{}); },
      op.getResults());
  for (auto [from, to] : llvm::zip(op.getResults(), copy.getResults()))
    setVector(from, to);
}

void Vectorizer::emitMaskedIf(scf::IfOp op, Value taken, Value mask) {
  Location loc = op.getLoc();
  emit(*op.thenBlock(), conjoin(loc, mask, taken));
  if (op.getElseRegion().empty())
    return;
  Value other = arith::XOrIOp::create(b, loc, taken, allActive(loc));
  emit(*op.elseBlock(), conjoin(loc, mask, other));
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    setVector(result,
              arith::SelectOp::create(
                  b, loc, taken, vectorOf(loc, op.thenYield().getOperand(i)),
                  vectorOf(loc, op.elseYield().getOperand(i))));
}

void Vectorizer::emitFor(scf::ForOp op, Value mask) {
  Location loc = op.getLoc();
  SmallVector<Value> inits;
  for (auto [init, arg] : llvm::zip(op.getInitArgs(), op.getRegionIterArgs()))
    inits.push_back(varying(arg) ? vectorOf(loc, init) : scalar(init));
  auto copy =
      scf::ForOp::create(b, loc, scalar(op.getLowerBound()),
                         scalar(op.getUpperBound()), scalar(op.getStep()),
                         inits, /*bodyBuilder=*/nullptr, op.getUnsignedCmp());
  setUniform(op.getInductionVar(), copy.getInductionVar());
  for (auto [from, to] :
       llvm::zip(op.getRegionIterArgs(), copy.getRegionIterArgs()))
    varying(from) ? setVector(from, to) : setUniform(from, to);
  {
    OpBuilder::InsertionGuard guard(b);
    if (!copy.getBody()->empty())
      copy.getBody()->back().erase();
    b.setInsertionPointToEnd(copy.getBody());
    emit(*op.getBody(), mask);
    auto yield = cast<scf::YieldOp>(op.getBody()->getTerminator());
    SmallVector<Value> results;
    for (auto [value, arg] :
         llvm::zip(yield.getOperands(), op.getRegionIterArgs()))
      results.push_back(varying(arg) ? vectorOf(loc, value) : scalar(value));
    scf::YieldOp::create(b, loc, results);
  }
  for (auto [from, to] : llvm::zip(op.getResults(), copy.getResults()))
    varying(from) ? setVector(from, to) : setUniform(from, to);
}

void cpu::vectorizeBody(OpBuilder &b, LaunchContext &context, ParallelOp op,
                        ValueRange ivs, int64_t lanes, VectorizeOptions options,
                        IntervalAnalysis &intervals) {
  auto make = [&] {
    return Vectorizer(b, context.vectorBytes, op, lanes, options, intervals);
  };
  Vectorizer::Quotients quotients;
  Value isSteady = make().findSteadyQuotients(op, ivs, quotients);
  if (!isSteady)
    return make().run(op, ivs);
  auto test = scf::IfOp::create(b, op.getLoc(), isSteady,
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(test.thenBlock());
  make().run(op, ivs, quotients);
  b.setInsertionPointToStart(test.elseBlock());
  Vectorizer unsteady = make();
  unsteady.setRare();
  unsteady.run(op, ivs);
}
