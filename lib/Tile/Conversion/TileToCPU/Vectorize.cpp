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
// tile-split-lockstep), so any interleaving of them is right.
//
//===----------------------------------------------------------------------===//

#include "Varying.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

namespace {
/// What a value of the body is in the vector code. Exactly one of the forms.
struct Lanes {
  Value uniform;
  Value base; // linear: base + lane * stride
  int64_t stride = 0;
  Value vector;
};
} // namespace

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

namespace {
class Vectorizer {
public:
  Vectorizer(OpBuilder &b, ParallelOp op, int64_t lanes, bool guard)
      : b(b), lanes(lanes), guard(guard), varying(op) {}

  void run(ParallelOp op, ValueRange ivs) {
    for (auto [argument, iv] : llvm::zip(op.getInductionVars(), ivs))
      setUniform(argument, iv);
    values[op.getInductionVars().back()] = {{}, ivs.back(), 1, {}};
    emit(op.getBody().front(), /*mask=*/{});
  }

private:
  // Values.
  void setUniform(Value from, Value to) {
    values[from] = {to, {}, 0, {}};
    mapping.map(from, to);
  }
  void setVector(Value from, Value to) { values[from] = {{}, {}, 0, to}; }
  Lanes get(Value value) {
    auto it = values.find(value);
    if (it != values.end())
      return it->second;
    return {value, {}, 0, {}}; // defined outside the loop
  }
  Value scalar(Value value) {
    Lanes form = get(value);
    assert(form.uniform && "a uniform value was expected");
    return form.uniform;
  }
  Value vectorOf(Location loc, const Lanes &form);
  Value vectorOf(Location loc, Value value) {
    return vectorOf(loc, get(value));
  }
  VectorType vectorType(Type element) {
    return VectorType::get({lanes}, element);
  }

  // Masks.
  Value conjoin(Location loc, Value x, Value y) {
    if (!x || !y)
      return x ? x : y;
    return arith::AndIOp::create(b, loc, x, y);
  }
  Value isAnyActive(Location loc, Value mask) {
    return vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, mask);
  }
  Value compareLinear(Location loc, arith::CmpIPredicate predicate,
                      const Lanes &linear, Value bound);

  // Ops.
  void emit(Block &block, Value mask);
  void emitIf(scf::IfOp op, Value mask);
  void emitFor(scf::ForOp op, Value mask);
  void emitUniform(Operation *op, Value mask);
  void emitElementwise(Operation *op, Value mask);
  bool emitLinear(Operation *op);
  void emitLoad(memref::LoadOp op, Value mask);
  void emitStore(memref::StoreOp op, Value mask);

  /// An access: its buffer, its indices (a lane index added for local buffers)
  /// and the lanes that make it.
  struct Access {
    Value buffer;
    SmallVector<Lanes> indices;
    Value mask;
    bool isUniform() const {
      return llvm::all_of(indices, [](const Lanes &i) { return !!i.uniform; });
    }
  };
  Access getAccess(Location loc, Value buffer, ValueRange indices, Value mask);
  bool isContiguousAccess(const Access &access);
  SmallVector<Value> startOf(const Access &access);
  std::pair<Value, Value> flatten(Location loc, const Access &access);
  Value allActive(Location loc) {
    auto type = vectorType(b.getI1Type());
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(type, true));
  }

  OpBuilder &b;
  int64_t lanes;
  bool guard;
  VaryingAnalysis varying;
  DenseMap<Value, Lanes> values;
  /// The uniform values again, for cloning.
  IRMapping mapping;
};
} // namespace

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

/// Compares `base + lane * stride` with a bound in 32 bits: the distance
/// between base and bound is clamped to where the answer is the same for every
/// lane.
Value Vectorizer::compareLinear(Location loc, arith::CmpIPredicate predicate,
                                const Lanes &linear, Value bound) {
  constexpr int64_t far = 1 << 30;
  Value distance = arith::SubIOp::create(b, loc, bound, linear.base);
  distance =
      arith::MaxSIOp::create(b, loc, distance, constantIndex(b, loc, -far));
  distance =
      arith::MinSIOp::create(b, loc, distance, constantIndex(b, loc, far));
  Value narrow = arith::IndexCastOp::create(b, loc, b.getI32Type(), distance);
  SmallVector<int32_t> steps;
  for (int64_t lane = 0; lane < lanes; ++lane)
    steps.push_back(lane * linear.stride);
  Value step = arith::ConstantOp::create(b, loc, b.getI32VectorAttr(steps));
  return arith::CmpIOp::create(b, loc, predicate, step,
                               splat(b, loc, narrow, lanes));
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
    } else if (llvm::none_of(op.getOperands(), varying))
      emitUniform(&op, mask);
    else if (!emitLinear(&op))
      emitElementwise(&op, mask);
  }
}

static bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

void Vectorizer::emitUniform(Operation *op, Value mask) {
  Operation *copy = b.clone(*op, mapping);
  if (mask && isDivision(op)) {
    // No lane may be active, and then the divisor may be anything.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(copy);
    Location loc = op->getLoc();
    Type type = op->getOperand(1).getType();
    Value one = arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, 1));
    copy->setOperand(1, arith::SelectOp::create(b, loc, isAnyActive(loc, mask),
                                                copy->getOperand(1), one));
  }
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
    setUniform(from, to);
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
    bool isSigned = predicate < arith::CmpIPredicate::ult;
    if (!isSigned)
      return false;
    if (x.uniform && y.base) {
      std::swap(x, y);
      switch (predicate) {
      case arith::CmpIPredicate::slt:
        predicate = arith::CmpIPredicate::sgt;
        break;
      case arith::CmpIPredicate::sle:
        predicate = arith::CmpIPredicate::sge;
        break;
      case arith::CmpIPredicate::sgt:
        predicate = arith::CmpIPredicate::slt;
        break;
      case arith::CmpIPredicate::sge:
        predicate = arith::CmpIPredicate::sle;
        break;
      default:
        break;
      }
    }
    constexpr int64_t limit = 1 << 20;
    if (x.base && y.uniform && std::abs(x.stride) <= limit) {
      setVector(op->getResult(0), compareLinear(loc, predicate, x, y.uniform));
      return true;
    }
  }
  return false;
}

void Vectorizer::emitElementwise(Operation *op, Value mask) {
  Location loc = op->getLoc();
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, vectorOf(loc, operand));
  if (mask && isDivision(op)) {
    Value divisor = op->getOperand(1);
    Type type = vectorType(divisor.getType());
    Value ones = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(
            cast<VectorType>(type),
            Attribute(b.getIntegerAttr(divisor.getType(), 1))));
    Operation *copy = b.clone(*op, operands);
    b.setInsertionPoint(copy);
    copy->setOperand(
        1, arith::SelectOp::create(b, loc, mask, copy->getOperand(1), ones));
    b.setInsertionPointAfter(copy);
    copy->getResult(0).setType(vectorType(op->getResult(0).getType()));
    setVector(op->getResult(0), copy->getResult(0));
    return;
  }
  Operation *copy = b.clone(*op, operands);
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) {
    to.setType(vectorType(from.getType()));
    setVector(from, to);
  }
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
  Value taken = condition.vector;
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
  auto copy = scf::ForOp::create(b, loc, scalar(op.getLowerBound()),
                                 scalar(op.getUpperBound()),
                                 scalar(op.getStep()), inits);
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

Vectorizer::Access Vectorizer::getAccess(Location loc, Value buffer,
                                         ValueRange indices, Value mask) {
  Access access{scalar(buffer), {}, mask};
  for (Value index : indices)
    access.indices.push_back(get(index));
  if (varying(buffer)) // a local buffer, one element a lane
    access.indices.push_back({{}, constantIndex(b, loc, 0), 1, {}});
  auto type = cast<MemRefType>(access.buffer.getType());
  if (!guard || !isGlobal(type))
    return access;
  for (auto [dim, index] : llvm::enumerate(access.indices)) {
    Value extent = b.createOrFold<memref::DimOp>(loc, access.buffer,
                                                 static_cast<int64_t>(dim));
    Value inside;
    if (index.uniform)
      inside = splat(b, loc,
                     arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           index.uniform, extent),
                     lanes);
    else if (index.base && std::abs(index.stride) <= (1 << 20))
      inside = conjoin(
          loc, compareLinear(loc, arith::CmpIPredicate::slt, index, extent),
          compareLinear(loc, arith::CmpIPredicate::sge, index,
                        constantIndex(b, loc, 0)));
    else
      inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                     vectorOf(loc, index),
                                     splat(b, loc, extent, lanes));
    access.mask = conjoin(loc, access.mask, inside);
  }
  return access;
}

bool Vectorizer::isContiguousAccess(const Access &access) {
  if (access.indices.empty() ||
      !isContiguous(cast<MemRefType>(access.buffer.getType())))
    return false;
  const Lanes &last = access.indices.back();
  return last.base && last.stride == 1 &&
         llvm::all_of(ArrayRef(access.indices).drop_back(),
                      [](const Lanes &index) { return !!index.uniform; });
}

SmallVector<Value> Vectorizer::startOf(const Access &access) {
  SmallVector<Value> start;
  for (const Lanes &index : access.indices)
    start.push_back(index.uniform ? index.uniform : index.base);
  return start;
}

/// The buffer as one dimension and each lane's place in it, for accesses of any
/// form.
std::pair<Value, Value> Vectorizer::flatten(Location loc,
                                            const Access &access) {
  auto type = cast<MemRefType>(access.buffer.getType());
  auto metadata =
      memref::ExtractStridedMetadataOp::create(b, loc, access.buffer);
  Value place = splat(b, loc, constantIndex(b, loc, 0), lanes);
  for (auto [index, stride] :
       llvm::zip(access.indices, metadata.getStrides())) {
    Value scaled = arith::MulIOp::create(b, loc, vectorOf(loc, index),
                                         splat(b, loc, stride, lanes));
    place = arith::AddIOp::create(b, loc, place, scaled);
  }
  // The extent is not looked at; masked lanes are not touched.
  auto flat = MemRefType::get(
      {ShapedType::kDynamic}, type.getElementType(),
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}),
      type.getMemorySpace());
  Value view = memref::ReinterpretCastOp::create(
      b, loc, flat, metadata.getBaseBuffer(),
      OpFoldResult(metadata.getOffset()),
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  return {view, place};
}

void Vectorizer::emitLoad(memref::LoadOp op, Value mask) {
  Location loc = op.getLoc();
  Access access = getAccess(loc, op.getMemRef(), op.getIndices(), mask);
  Type element = op.getType();
  if (access.isUniform()) {
    // With a mask, the element need not exist.
    auto load = [&](OpBuilder &builder) -> Value {
      return memref::LoadOp::create(builder, loc, access.buffer,
                                    startOf(access));
    };
    if (!access.mask) {
      setUniform(op.getResult(), load(b));
      return;
    }
    auto test = scf::IfOp::create(
        b, loc, isAnyActive(loc, access.mask),
        [&](OpBuilder &builder, Location) {
          scf::YieldOp::create(builder, loc, load(builder));
        },
        [&](OpBuilder &builder, Location) {
          scf::YieldOp::create(builder, loc, zeroOf(builder, loc, element));
        });
    setUniform(op.getResult(), test.getResult(0));
    return;
  }
  VectorType type = vectorType(element);
  if (isContiguousAccess(access)) {
    Value result =
        access.mask ? vector::MaskedLoadOp::create(b, loc, type, access.buffer,
                                                   startOf(access), access.mask,
                                                   zeroOf(b, loc, type))
                          .getResult()
                    : vector::LoadOp::create(b, loc, type, access.buffer,
                                             startOf(access))
                          .getResult();
    setVector(op.getResult(), result);
    return;
  }
  auto [view, place] = flatten(loc, access);
  Value zero = constantIndex(b, loc, 0);
  Value active = access.mask ? access.mask : allActive(loc);
  setVector(op.getResult(),
            vector::GatherOp::create(b, loc, type, view, ValueRange{zero},
                                     place, active, zeroOf(b, loc, type)));
}

void Vectorizer::emitStore(memref::StoreOp op, Value mask) {
  Location loc = op.getLoc();
  Access access = getAccess(loc, op.getMemRef(), op.getIndices(), mask);
  Lanes value = get(op.getValue());
  if (access.isUniform() && value.uniform) {
    auto store = [&](OpBuilder &builder) {
      memref::StoreOp::create(builder, loc, value.uniform, access.buffer,
                              startOf(access));
    };
    if (!access.mask)
      return store(b);
    scf::IfOp::create(b, loc, isAnyActive(loc, access.mask),
                      [&](OpBuilder &builder, Location) {
                        store(builder);
                        scf::YieldOp::create(builder, loc);
                      });
    return;
  }
  Value vector = vectorOf(loc, value);
  if (isContiguousAccess(access)) {
    if (access.mask)
      vector::MaskedStoreOp::create(b, loc, access.buffer, startOf(access),
                                    access.mask, vector);
    else
      vector::StoreOp::create(b, loc, vector, access.buffer, startOf(access));
    return;
  }
  auto [view, place] = flatten(loc, access);
  Value zero = constantIndex(b, loc, 0);
  Value active = access.mask ? access.mask : allActive(loc);
  vector::ScatterOp::create(b, loc, /*resultType=*/Type(), view,
                            ValueRange{zero}, place, active, vector);
}

void cpu::vectorizeBody(OpBuilder &b, LaunchContext &, ParallelOp op,
                        ValueRange ivs, int64_t lanes, bool guard) {
  Vectorizer(b, op, lanes, guard).run(op, ivs);
}
