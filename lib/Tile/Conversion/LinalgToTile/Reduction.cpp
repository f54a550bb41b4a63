//===- Reduction.cpp - Sums and the like ------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block owns a tile of the output's last dimension. It walks along the loops
// it reduces, computes the elements of a tile, the neutral one beyond the ends,
// and folds the tile into its results with `tile.reduce`.
//
// The softmax works the same way: a walk for the maximum, one for the sum, one
// that writes.
//
//===----------------------------------------------------------------------===//

#include "Nest.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::linalg_to_tile;

namespace {
struct Combination {
  Operation *op;
  ReduceKind kind;
  bool isUnsigned = false;
  TypedAttr neutral;
};
} // namespace

/// The op that combines an element with the result so far, where `tile.reduce`
/// has it.
static std::optional<Combination> matchCombination(linalg::LinalgOp op) {
  SmallVector<Operation *> ops;
  if (op.getNumDpsInits() != 1 ||
      !matchReduction(op.getRegionOutputArgs(), 0, ops) || ops.size() != 1)
    return std::nullopt;
  Operation *combiner = ops.front();
  auto kind = llvm::TypeSwitch<Operation *, std::optional<ReduceKind>>(combiner)
                  .Case<arith::AddFOp, arith::AddIOp>(
                      [](auto) { return ReduceKind::Sum; })
                  .Case<arith::MulFOp, arith::MulIOp>(
                      [](auto) { return ReduceKind::Product; })
                  .Case<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(
                      [](auto) { return ReduceKind::Max; })
                  .Case<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(
                      [](auto) { return ReduceKind::Min; })
                  .Case<arith::AndIOp>([](auto) { return ReduceKind::And; })
                  .Case<arith::OrIOp>([](auto) { return ReduceKind::Or; })
                  .Case<arith::XOrIOp>([](auto) { return ReduceKind::Xor; })
                  .Default([](Operation *) { return std::nullopt; });
  if (!kind)
    return std::nullopt;
  // The computation ends with it.
  if (op.getBlock()->getTerminator()->getOperand(0) != combiner->getResult(0))
    return std::nullopt;
  std::optional<TypedAttr> neutral = arith::getNeutralElement(combiner);
  if (!neutral)
    return std::nullopt;
  return Combination{combiner, *kind,
                     isa<arith::MaxUIOp, arith::MinUIOp>(combiner), *neutral};
}

/// Picks the loop that a block takes in tiles: the one along which the first
/// input lies in memory if there is one, else the last.
static unsigned chooseReduced(linalg::LinalgOp op,
                              ArrayRef<unsigned> reductions) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() != 0 &&
        llvm::is_contained(reductions,
                           map.getDimPosition(map.getNumResults() - 1)))
      return map.getDimPosition(map.getNumResults() - 1);
  }
  return reductions.back();
}

/// True where neighbours along `loop` are neighbours in memory.
static bool runsAlongMemory(linalg::LinalgOp op, unsigned loop) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return map.getNumResults() != 0 &&
           map.getDimPosition(map.getNumResults() - 1) == loop;
  });
}

LogicalResult linalg_to_tile::lowerReduction(RewriterBase &rewriter,
                                             linalg::LinalgOp op) {
  SmallVector<unsigned> parallel = loopsOf(op, utils::IteratorType::parallel);
  SmallVector<unsigned> reductions =
      loopsOf(op, utils::IteratorType::reduction);
  if (reductions.empty() || op.getNumDpsInits() != 1 ||
      parallel.size() + reductions.size() != op.getNumLoops() ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return rewriter.notifyMatchFailure(op, "is no reduction over whole dims");
  OpOperand &output = op.getDpsInitsMutable()[0];
  AffineMap order = op.getMatchingIndexingMap(&output);
  if (order.getNumResults() != parallel.size())
    return rewriter.notifyMatchFailure(op, "has an output of another shape");
  std::optional<Combination> combination = matchCombination(op);
  if (!combination || !mayRunAnywhere(op))
    return rewriter.notifyMatchFailure(op, "no tile.reduce combines like that");

  Nest nest(op);
  Tunables tunables(op);
  for (unsigned i = 0; i < parallel.size(); ++i)
    parallel[i] = order.getDimPosition(i);
  unsigned reduced = chooseReduced(op, reductions);
  bool isAlongMemory = runsAlongMemory(op, reduced);
  SmallVector<unsigned> kept;
  if (!parallel.empty())
    kept.push_back(parallel.back());
  for (unsigned loop : kept) {
    Loop &it = nest.loops()[loop];
    it.tile = tunables.get("kept", it.staticExtent, isAlongMemory ? 16 : 128);
  }
  Loop &along = nest.loops()[reduced];
  along.tile =
      tunables.get("reduced", along.staticExtent, isAlongMemory ? 256 : 32);

  // Elements that are neighbours in memory are neighbours in the tile.
  SmallVector<unsigned> dims(kept);
  dims.insert(isAlongMemory ? dims.end() : dims.begin(), reduced);
  unsigned dim = isAlongMemory ? dims.size() - 1 : 0;
  bool isScalar = kept.empty();

  nest.launch(parallel);
  ImplicitLocOpBuilder &b = nest.builder();
  Location loc = op.getLoc();
  Type element = getElementTypeOrSelf(output.get().getType());
  Value results = nest.allocate(kept, element);
  // A tile of one dimension has to keep one.
  Value elements = nest.allocate(dims, element);
  auto at = [&](OpBuilder &builder, ValueRange position) {
    SmallVector<Value> indices(position);
    if (isScalar)
      indices.assign(
          1, arith::ConstantIndexOp::create(builder, loc, 0).getResult());
    return indices;
  };
  nest.forEach(kept, [&](OpBuilder &builder, ValueRange position,
                         ValueRange point) {
    memref::StoreOp::create(builder, loc, loadAt(builder, op, output, point),
                            results, at(builder, position));
  });
  SmallVector<Operation *> loops;
  for (unsigned loop : reductions)
    if (loop != reduced)
      loops.push_back(nest.runAlong(loop));
  loops.push_back(nest.runAlong(reduced));
  nest.forEach(
      dims, [&](OpBuilder &builder, ValueRange position, ValueRange point) {
        IRMapping mapping;
        computeAt(builder, op, point, mapping, combination->op);
        Value first = combination->op->getOperand(0);
        Value chosen = first == op.getRegionOutputArgs()[0]
                           ? combination->op->getOperand(1)
                           : first;
        Value value = mapping.lookupOrDefault(chosen);
        if (Value inside = nest.isInside(builder, {reduced}, point)) {
          Value neutral =
              arith::ConstantOp::create(builder, loc, combination->neutral);
          value = arith::SelectOp::create(builder, loc, inside, value, neutral);
        }
        memref::StoreOp::create(builder, loc, value, elements, position);
      });
  auto reduce = ReduceOp::create(b, combination->kind, elements, dim, results,
                                 /*accumulate=*/true, combination->isUnsigned);
  if (auto flags = dyn_cast<arith::ArithFastMathInterface>(combination->op))
    reduce.setFastmath(flags.getFastMathFlagsAttr().getValue());
  for (Operation *loop : llvm::reverse(loops))
    nest.leave(loop);
  nest.forEach(kept,
               [&](OpBuilder &builder, ValueRange position, ValueRange point) {
                 Value value = memref::LoadOp::create(builder, loc, results,
                                                      at(builder, position));
                 storeAt(builder, op, output, point, value);
               });
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

LogicalResult linalg_to_tile::lowerSoftmax(RewriterBase &rewriter,
                                           linalg::SoftmaxOp op) {
  auto type = cast<MemRefType>(op.getInput().getType());
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element || op.getOutput().getType() != type)
    return rewriter.notifyMatchFailure(op, "has operands of different types");
  Nest nest(op, op.getInput());
  Tunables tunables(op);
  unsigned rank = type.getRank(), reduced = op.getDimension();
  bool isLast = reduced == rank - 1;
  SmallVector<unsigned> parallel;
  for (unsigned loop = 0; loop < rank; ++loop)
    if (loop != reduced)
      parallel.push_back(loop);
  SmallVector<unsigned> kept;
  if (!parallel.empty()) {
    kept.push_back(parallel.back());
    Loop &it = nest.loops()[kept.front()];
    it.tile = tunables.get("kept", it.staticExtent, isLast ? 16 : 128);
  }
  Loop &along = nest.loops()[reduced];
  along.tile = tunables.get("reduced", along.staticExtent, isLast ? 256 : 32);
  SmallVector<unsigned> dims(kept);
  dims.insert(isLast ? dims.end() : dims.begin(), reduced);
  unsigned dim = isLast ? dims.size() - 1 : 0;

  nest.launch(parallel);
  ImplicitLocOpBuilder &b = nest.builder();
  Location loc = op.getLoc();
  // Narrow floats are computed in f32.
  FloatType wide = element.getWidth() < 32 ? b.getF32Type() : element;
  auto number = [&](OpBuilder &builder, const APFloat &value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(wide, value));
  };
  APFloat lowest = APFloat::getInf(wide.getFloatSemantics(), true);
  APFloat zero = APFloat::getZero(wide.getFloatSemantics());
  Value maxima = nest.allocate(kept, wide), sums = nest.allocate(kept, wide);
  Value elements = nest.allocate(dims, wide);
  FillOp::create(b, maxima, number(b, lowest));
  FillOp::create(b, sums, number(b, zero));

  auto resultAt = [&](OpBuilder &builder, Value results, ValueRange position) {
    SmallVector<Value> indices;
    if (kept.empty())
      indices.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
    else
      indices.push_back(position[isLast ? 0 : 1]);
    return memref::LoadOp::create(builder, loc, results, indices).getResult();
  };
  auto distance = [&](OpBuilder &builder, ValueRange position,
                      ValueRange point) -> Value {
    Value value = memref::LoadOp::create(builder, loc, op.getInput(), point);
    if (wide != element)
      value = arith::ExtFOp::create(builder, loc, wide, value);
    if (position.empty())
      return value;
    return arith::SubFOp::create(builder, loc, value,
                                 resultAt(builder, maxima, position));
  };
  auto walk = [&](ReduceKind kind, const APFloat &neutral, Value results,
                  auto compute) {
    Operation *loop = nest.runAlong(reduced);
    nest.forEach(
        dims, [&](OpBuilder &builder, ValueRange position, ValueRange point) {
          Value value = compute(builder, position, point);
          if (Value inside = nest.isInside(builder, {reduced}, point))
            value = arith::SelectOp::create(builder, loc, inside, value,
                                            number(builder, neutral));
          memref::StoreOp::create(builder, loc, value, elements, position);
        });
    ReduceOp::create(b, kind, elements, dim, results, /*accumulate=*/true,
                     /*is_unsigned=*/false);
    nest.leave(loop);
  };
  auto exponential = [&](OpBuilder &builder, ValueRange position,
                         ValueRange point) -> Value {
    return math::ExpOp::create(builder, loc,
                               distance(builder, position, point));
  };
  walk(ReduceKind::Max, lowest, maxima,
       [&](OpBuilder &builder, ValueRange, ValueRange point) {
         return distance(builder, {}, point);
       });
  walk(ReduceKind::Sum, zero, sums, exponential);
  Operation *loop = nest.runAlong(reduced);
  nest.forEach(dims, [&](OpBuilder &builder, ValueRange position,
                         ValueRange point) {
    Value value = arith::DivFOp::create(builder, loc,
                                        exponential(builder, position, point),
                                        resultAt(builder, sums, position));
    if (wide != element)
      value = arith::TruncFOp::create(builder, loc, element, value);
    memref::StoreOp::create(builder, loc, value, op.getOutput(), point);
  });
  nest.leave(loop);
  rewriter.eraseOp(op);
  return success();
}
