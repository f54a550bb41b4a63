//===- Reduce.cpp - Reductions on the CPU -----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Along the last dimension a vector of partial results runs over the elements
// and is combined once at its end; along another one, vectors of neighbouring
// results are carried. Both need contiguous elements; other views reduce
// element by element.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

namespace {
class ReduceLowering {
public:
  ReduceLowering(RewriterBase &b, LaunchContext &context, ReduceOp op)
      : b(b), context(context), op(op), loc(op.getLoc()), dim(op.getDim()),
        accumulator(Combiner::getType(op.getTargetType().getElementType())),
        combiner{op.getKind(), accumulator, op.getIsUnsigned(),
                 op.getFastmath() | context.launch.getFastmath()} {}

  void lower();

private:
  Value identity(int64_t lanes) { return combiner.identity(b, loc, lanes); }
  Value load(ValueRange indices, int64_t lanes);
  Value combine(Value x, Value y) { return combiner.combine(b, loc, x, y); }
  Value collapse(Value vector);
  void finish(ValueRange targetIndices, Value result, int64_t lanes);

  void alongLast();
  void alongOther();
  void scalar();

  /// Indices into target for a point of source's other dimensions.
  SmallVector<Value> targetAt(ValueRange others) {
    SmallVector<Value> indices(others);
    if (op.keepsDim())
      indices.insert(indices.begin() + dim, constantIndex(b, loc, 0));
    return indices;
  }
  SmallVector<int64_t> otherExtents() {
    SmallVector<int64_t> extents(op.getSourceType().getShape());
    extents.erase(extents.begin() + dim);
    return extents;
  }
  int64_t extent() { return op.getSourceType().getDimSize(dim); }

  RewriterBase &b;
  LaunchContext &context;
  ReduceOp op;
  Location loc;
  int64_t dim;
  Type accumulator;
  Combiner combiner;
};
} // namespace

/// Zero lanes stand for a scalar.
Value ReduceLowering::load(ValueRange indices, int64_t lanes) {
  Value value;
  if (lanes == 0)
    value = memref::LoadOp::create(b, loc, op.getSource(), indices);
  else
    value = vector::LoadOp::create(
        b, loc, VectorType::get({lanes}, op.getSourceType().getElementType()),
        op.getSource(), indices);
  ElementConversion how;
  how.isUnsigned = op.getIsUnsigned();
  return combiner.prepare(b, loc,
                          convertElement(b, loc, value, accumulator, how));
}

/// Halves the vector until one element is left: a tree, whose order is ours to
/// choose, instead of a chain.
Value ReduceLowering::collapse(Value vector) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  while (lanes > 1) {
    int64_t half = lanes / 2;
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < half; ++i) {
      low.push_back(i);
      high.push_back(half + i);
    }
    Value x = vector::ShuffleOp::create(b, loc, vector, vector, low);
    Value y = vector::ShuffleOp::create(b, loc, vector, vector, high);
    Value folded = combine(x, y);
    if (lanes % 2) {
      // The odd one out joins lane zero.
      Value last = vector::ExtractOp::create(b, loc, vector, lanes - 1);
      Value first = vector::ExtractOp::create(b, loc, folded, int64_t(0));
      folded = vector::InsertOp::create(b, loc, combine(first, last), folded,
                                        int64_t(0));
    }
    vector = folded;
    lanes = half;
  }
  return vector::ExtractOp::create(b, loc, vector, int64_t(0));
}

void ReduceLowering::finish(ValueRange indices, Value result, int64_t lanes) {
  Type element = op.getTargetType().getElementType();
  ElementConversion how;
  how.isUnsigned = op.getIsUnsigned();
  if (lanes == 0) {
    if (op.getAccumulate()) {
      Value old = memref::LoadOp::create(b, loc, op.getTarget(), indices);
      result = combine(convertElement(b, loc, old, accumulator, how), result);
    }
    memref::StoreOp::create(b, loc,
                            convertElement(b, loc, result, element, how),
                            op.getTarget(), indices);
    return;
  }
  if (op.getAccumulate()) {
    Value old = vector::LoadOp::create(
        b, loc, VectorType::get({lanes}, element), op.getTarget(), indices);
    result = combine(convertElement(b, loc, old, accumulator, how), result);
  }
  vector::StoreOp::create(b, loc, convertElement(b, loc, result, element, how),
                          op.getTarget(), indices);
}

void ReduceLowering::alongLast() {
  // Four registers of partial results hide the latency of an addition.
  int64_t lanes = std::min(context.lanes(accumulator) * 4, extent());
  int64_t full = extent() / lanes * lanes;
  buildLoops(b, loc, otherExtents(), [&](OpBuilder &, ValueRange others) {
    SmallVector<Value> indices(others);
    Value zero = constantIndex(b, loc, 0);
    Value partial;
    if (full == lanes) {
      indices.push_back(zero);
      partial = load(indices, lanes);
    } else {
      auto loop =
          scf::ForOp::create(b, loc, zero, constantIndex(b, loc, full),
                             constantIndex(b, loc, lanes), identity(lanes));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      indices.push_back(loop.getInductionVar());
      Value next = combine(loop.getRegionIterArgs()[0], load(indices, lanes));
      scf::YieldOp::create(b, loc, next);
      partial = loop.getResult(0);
    }
    Value result = collapse(partial);
    if (full < extent()) {
      indices.back() = constantIndex(b, loc, full);
      result = combine(result, collapse(load(indices, extent() - full)));
    }
    finish(targetAt(others), result, /*lanes=*/0);
  });
}

void ReduceLowering::alongOther() {
  SmallVector<int64_t> outer = otherExtents();
  int64_t last = outer.pop_back_val();
  int64_t lanes = std::min(context.lanes(accumulator) * 2, last);
  buildLoops(b, loc, outer, [&](OpBuilder &, ValueRange ivs) {
    buildVectorLoop(
        b, loc, last, lanes, [&](OpBuilder &, Value position, int64_t count) {
          SmallVector<Value> others(ivs);
          others.push_back(position);
          auto loop = scf::ForOp::create(
              b, loc, constantIndex(b, loc, 0), constantIndex(b, loc, extent()),
              constantIndex(b, loc, 1), identity(count));
          {
            OpBuilder::InsertionGuard guard(b);
            b.setInsertionPointToStart(loop.getBody());
            SmallVector<Value> indices(others);
            indices.insert(indices.begin() + dim, loop.getInductionVar());
            Value next =
                combine(loop.getRegionIterArgs()[0], load(indices, count));
            scf::YieldOp::create(b, loc, next);
          }
          finish(targetAt(others), loop.getResult(0), count);
        });
  });
}

void ReduceLowering::scalar() {
  buildLoops(b, loc, otherExtents(), [&](OpBuilder &, ValueRange others) {
    auto loop = scf::ForOp::create(b, loc, constantIndex(b, loc, 0),
                                   constantIndex(b, loc, extent()),
                                   constantIndex(b, loc, 1), identity(0));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> indices(others);
      indices.insert(indices.begin() + dim, loop.getInductionVar());
      Value next = combine(loop.getRegionIterArgs()[0], load(indices, 0));
      scf::YieldOp::create(b, loc, next);
    }
    finish(targetAt(others), loop.getResult(0), 0);
  });
}

void ReduceLowering::lower() {
  MemRefType source = op.getSourceType(), target = op.getTargetType();
  if (llvm::is_contained(source.getShape(), 0))
    return scalar();
  if (isContiguous(source) && dim == source.getRank() - 1)
    return alongLast();
  // The target's last dimension is the source's, unless that one is kept as
  // one.
  if (isContiguous(source) && isContiguous(target) && source.getRank() > 1)
    return alongOther();
  scalar();
}

LogicalResult cpu::lowerReduce(RewriterBase &rewriter, LaunchContext &context,
                               ReduceOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  ReduceLowering(rewriter, context, op).lower();
  rewriter.eraseOp(op);
  return success();
}
