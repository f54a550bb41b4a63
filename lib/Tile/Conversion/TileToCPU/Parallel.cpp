//===- Parallel.cpp - Elementwise loops on the CPU --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An elementwise loop becomes a nest of serial loops, its last dimension in
// vectors where the body allows. One test in front of the nest asks whether
// every access to a global buffer stays inside for the whole box; where it
// does, the nest has no tests, else a second version guards each access.
//
//===----------------------------------------------------------------------===//

#include "Intervals.h"
#include "Prefetch.h"
#include "Varying.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

/// Intervals of the body under the weakest assumption by which no index of an
/// access wraps around, if there is one.
static std::optional<IntervalAnalysis> findAssumption(ParallelOp op) {
  // Half and a quarter of the usual widths, so that products and sums fit.
  // Unsigned quotients want natural numbers.
  SmallVector<std::pair<unsigned, bool>> assumptions{
      {IntervalAnalysis::kNoAssumption, false}};
  for (unsigned bits : {61u, 47u, 31u, 30u, 23u, 15u, 7u})
    for (bool natural : {false, true})
      assumptions.emplace_back(bits, natural);
  for (auto [bits, natural] : assumptions) {
    IntervalAnalysis intervals(op, bits, natural);
    bool fits = true;
    op.getBody().walk([&](Operation *inner) {
      if (std::optional<GlobalAccess> access = getGlobalAccess(inner))
        for (Value index : access->indices)
          fits &= intervals.get(index).has_value();
    });
    if (!fits)
      continue;
    // Comparisons gain from it, but do not need it.
    op.getBody().walk([&](arith::CmpIOp compare) {
      if (isa<IndexType>(compare.getLhs().getType()))
        for (Value operand : compare.getOperands())
          if (op->isAncestor(operand.getParentBlock()->getParentOp()))
            intervals.get(operand);
    });
    intervals.freeze();
    return intervals;
  }
  return std::nullopt;
}

/// Whether each access to a global buffer stays inside and what `intervals`
/// assumes is so, as an i1 in front of the loop. Null where there is nothing to
/// test; failure where it cannot be told.
static FailureOr<Value> isAlwaysInside(OpBuilder &b, ParallelOp op,
                                       const IntervalAnalysis &intervals) {
  Location loc = op.getLoc();
  RangeMap known;
  for (auto [iv, extent] :
       llvm::zip(op.getInductionVars(), op.getStaticExtents()))
    known.ranges[iv] = {constantIndex(b, loc, 0),
                        constantIndex(b, loc, extent - 1)};

  Value inside;
  auto conjoin = [&](Value test) {
    inside = inside ? b.createOrFold<arith::AndIOp>(loc, inside, test) : test;
  };
  bool unknown = false;
  op.getBody().walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (auto loop = dyn_cast<scf::ForOp>(inner)) {
      FailureOr<IndexRange> low =
          getRange(b, loc, loop.getLowerBound(), known, op);
      FailureOr<IndexRange> high =
          getRange(b, loc, loop.getUpperBound(), known, op);
      if (succeeded(low) && succeeded(high)) {
        Type type = loop.getInductionVar().getType();
        Value one =
            arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, 1));
        known.ranges[loop.getInductionVar()] = {
            low->low, b.createOrFold<arith::SubIOp>(loc, high->high, one)};
      }
      return;
    }
    std::optional<GlobalAccess> access = getGlobalAccess(inner);
    if (!access)
      return;
    auto [buffer, indices, what] = *access;
    if (Operation *view = buffer.getDefiningOp();
        view && op->isAncestor(view)) {
      unknown = true;
      return;
    }
    Value zero = constantIndex(b, loc, 0);
    for (auto [index, existing] :
         llvm::zip(indices, getExistingRanges(b, loc, buffer))) {
      FailureOr<IndexRange> range = getRange(b, loc, index, known, op);
      if (failed(range)) {
        unknown = true;
        return;
      }
      conjoin(b.createOrFold<arith::CmpIOp>(
          loc, arith::CmpIPredicate::sge, range->low,
          existing.low ? existing.low : zero));
      conjoin(b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt,
                                            range->high, existing.high));
    }
  });
  if (unknown)
    return failure();
  if (!inside)
    return inside;
  llvm::for_each(known.conditions, conjoin);
  for (Value value : intervals.getAssumed()) {
    auto [low, high] = intervals.getAssumption();
    auto constant = [&](int64_t number) -> Value {
      return arith::ConstantOp::create(
          b, loc, b.getIntegerAttr(value.getType(), number));
    };
    Value shifted = b.createOrFold<arith::SubIOp>(loc, value, constant(low));
    conjoin(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, shifted,
                                  constant(high - low)));
  }
  return inside;
}

/// Collects the values, all from outside of `op`, which have to be multiples of
/// the elements of a line if `index` is to be one for lanes that are. Fails
/// where the lanes do not follow one another.
static LogicalResult findStarts(ParallelOp op, Value index,
                                SmallVectorImpl<Value> &starts) {
  if (index == op.getInductionVars().back())
    return success();
  if (!op.getBody().isAncestor(index.getParentRegion())) {
    starts.push_back(index);
    return success();
  }
  Operation *definition = index.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::RemUIOp, arith::RemSIOp>(
          definition))
    return failure();
  return success(llvm::all_of(definition->getOperands(), [&](Value operand) {
    return succeeded(findStarts(op, operand, starts));
  }));
}

/// Whether all stores to global buffers may go around the caches: they run
/// along the last dimension, and their rows begin cache lines. Null where that
/// is known not to be so.
static Value mayStreamStores(OpBuilder &b, ParallelOp op) {
  Location loc = op.getLoc();
  VaryingAnalysis varying(op);
  Value result;
  WalkResult walked = op.getBody().walk([&](memref::StoreOp store) {
    if (!isGlobal(store.getMemRefType()))
      return WalkResult::advance();
    ValueRange indices = store.getIndices();
    // Loops around it would come back to its lines before they are full.
    if (store->getParentOp() != op || indices.empty())
      return WalkResult::interrupt();
    SmallVector<Value> starts;
    if (!varying(indices.back()) ||
        failed(findStarts(op, indices.back(), starts)))
      return WalkResult::interrupt();
    // Whole rows are aligned, so which one does not matter.
    SmallVector<Value> start(indices.size(), constantIndex(b, loc, 0));
    for (Value value : starts)
      start.back() = b.createOrFold<arith::OrIOp>(loc, start.back(), value);
    Value may = mayStream(b, loc, store.getMemRef(), start);
    if (!may)
      return WalkResult::interrupt();
    result = result ? arith::AndIOp::create(b, loc, result, may) : may;
    return WalkResult::advance();
  });
  return walked.wasInterrupted() ? Value() : result;
}

namespace {
class ParallelLowering {
public:
  ParallelLowering(RewriterBase &b, LaunchContext &context, ParallelOp op)
      : b(b), context(context), op(op), vectorize(canVectorize(op)),
        intervals(op) {}

  void lower() {
    // A trapping guard reports each access by itself, so it is scalar.
    bool traps = context.bounds() == Bounds::Trap;
    (vectorize ? context.numVectorized : context.numScalar) += 1;
    if (context.bounds() == Bounds::Assume)
      return unguarded();
    std::optional<IntervalAnalysis> assumption = findAssumption(op);
    if (!assumption)
      return nest(vectorize && !traps, /*guard=*/true);
    FailureOr<Value> inside = isAlwaysInside(b, op, *assumption);
    if (failed(inside))
      return nest(vectorize && !traps, /*guard=*/true);
    isInside = true;
    if (!*inside)
      return unguarded();
    auto test =
        scf::IfOp::create(b, op.getLoc(), *inside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(test.thenBlock());
    std::swap(intervals, *assumption);
    unguarded();
    std::swap(intervals, *assumption);
    b.setInsertionPointToStart(test.elseBlock());
    nest(vectorize && !traps, /*guard=*/true);
  }

private:
  void unguarded() {
    Value stream = vectorize ? mayStreamStores(b, op) : Value();
    if (!stream)
      return nest(vectorize, /*guard=*/false);
    context.streams = true;
    auto test =
        scf::IfOp::create(b, op.getLoc(), stream, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(test.thenBlock());
    nest(vectorize, /*guard=*/false, /*stream=*/true);
    b.setInsertionPointToStart(test.elseBlock());
    nest(vectorize, /*guard=*/false);
  }

  /// Asks for what copies read next, in the place of the lanes; the tile after
  /// the next, for the loop may take less time than memory.
  void readAhead(ValueRange ivs, int64_t count) {
    auto it = context.readAhead.find(op);
    if (it == context.readAhead.end())
      return;
    Location loc = op.getLoc();
    for (const NextTile &next : it->second) {
      TileSide side{next.buffer,
                    getValueOrCreateConstantIndexOp(b, loc, next.offsets),
                    next.tile};
      auto piece = VectorType::get({count}, side.type().getElementType());
      buildPrefetch(b, loc, piece, next.buffer, side.at(b, loc, ivs), next.dim,
                    2 * next.tile[next.dim]);
    }
  }

  void nest(bool asVectors, bool guard, bool stream = false) {
    Location loc = op.getLoc();
    ArrayRef<int64_t> extents = op.getStaticExtents();
    if (asVectors) {
      // Two registers of the commonest type, so that independent work hides the
      // latency of long expressions. Stores around the caches fill lines.
      int64_t lanes = 2 * context.lanes(b.getF32Type());
      if (stream)
        op.getBody().walk([&](memref::StoreOp store) {
          if (isGlobal(store.getMemRefType()))
            lanes = std::max(
                lanes, 8 * kAlignment /
                           getElementBits(store.getValueToStore().getType()));
        });
      lanes = std::min(lanes, extents.back());
      buildLoops(
          b, loc, extents.drop_back(), [&](OpBuilder &, ValueRange outer) {
            buildVectorLoop(b, loc, extents.back(), lanes,
                            [&](OpBuilder &, Value position, int64_t count) {
                              SmallVector<Value> ivs(outer);
                              ivs.push_back(position);
                              if (!guard)
                                readAhead(ivs, count);
                              vectorizeBody(b, context, op, ivs, count,
                                            {guard, isInside && !guard, stream},
                                            intervals);
                            });
          });
      return;
    }
    buildLoops(b, loc, extents, [&](OpBuilder &, ValueRange ivs) {
      IRMapping mapping;
      mapping.map(op.getInductionVars(), ivs);
      for (Operation &inner : op.getBody().front().without_terminator())
        b.clone(inner, mapping);
      if (guard)
        guardAccesses(b, context, b.getInsertionBlock()->getParentOp());
    });
  }

  RewriterBase &b;
  LaunchContext &context;
  ParallelOp op;
  bool vectorize;
  /// Known where nothing is guarded.
  bool isInside = false;
  /// What holds in the version that is being emitted.
  IntervalAnalysis intervals;
};
} // namespace

LogicalResult cpu::lowerParallel(RewriterBase &rewriter, LaunchContext &context,
                                 ParallelOp op) {
  if (!op.hasStaticExtents())
    return op.emitOpError("expects static extents; run tile-specialize first");
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  if (!llvm::is_contained(op.getStaticExtents(), 0))
    ParallelLowering(rewriter, context, op).lower();
  rewriter.eraseOp(op);
  return success();
}
