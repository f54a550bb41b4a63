//===- Reduce.cpp - Reductions on the CPU -----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Along the last dimension registers of partial results run over the elements
// of a row and are combined once at its end, those of as many rows as a
// register has lanes together: half the work of each step of their tree then
// goes to every row. Along another dimension, vectors of neighbouring results
// are carried. Both need contiguous elements; other views reduce element by
// element.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Tile/IR/Integers.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

namespace {
class ReduceLowering {
public:
  ReduceLowering(RewriterBase &b, LaunchContext &context, ReduceOp op)
      : b(b), context(context), op(op), loc(op.getLoc()), dim(op.getDim()),
        accumulator(Combiner::getType(op.getTargetType().getElementType())),
        combiner{op.getKind(), accumulator,
                 isTakenUnsigned(accumulator, op.getIsUnsigned()),
                 op.getFastmath() | context.launch.getFastmath()} {}

  void lower();

private:
  Value identity(int64_t lanes) { return combiner.identity(b, loc, lanes); }
  Value load(ValueRange indices, int64_t lanes);
  Value combine(Value x, Value y) { return combiner.combine(b, loc, x, y); }
  Value collapse(Value vector);
  void finish(ValueRange targetIndices, Value result, int64_t lanes);

  /// Partial results of a row: registers and, where instructions for them lose
  /// NaN, which lanes have met one.
  struct Partials {
    SmallVector<Value, 4> registers;
    SmallVector<Value, 2> isNaN;
  };
  void add(Partials &partials, ArrayRef<Value> values);
  Value partialOf(ValueRange row);
  Value collapseRows(SmallVector<Value> rows);
  void reduceRow(ValueRange row);
  void reduceRows(ValueRange first, int64_t rows);

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

/// Combines as many values with the registers.
void ReduceLowering::add(Partials &partials, ArrayRef<Value> values) {
  if (!combiner.losesNaN()) {
    for (auto [sum, value] : llvm::zip(partials.registers, values))
      sum = combine(sum, value);
    return;
  }
  for (auto [sum, value] : llvm::zip(partials.registers, values))
    sum = combiner.combineNumbers(b, loc, value, sum);
  // One comparison for two values tells whether either is NaN.
  for (size_t i = 0; i < values.size(); i += 2) {
    Value isNaN =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, values[i],
                              values[std::min(i + 1, values.size() - 1)]);
    Value &seen = partials.isNaN[i / 2];
    if (seen.getType() != isNaN.getType())
      isNaN = arith::ExtSIOp::create(b, loc, seen.getType(), isNaN);
    seen = arith::OrIOp::create(b, loc, seen, isNaN);
  }
}

/// The elements of a row, which are enough for a register, brought down to one.
/// Four registers hide the latency of an addition.
Value ReduceLowering::partialOf(ValueRange row) {
  int64_t lanes = context.lanes(accumulator);
  int64_t count = std::min<int64_t>(4, extent() / lanes);
  int64_t full = extent() / (count * lanes) * (count * lanes);
  SmallVector<Value> indices(row);
  indices.push_back({});
  auto loadAll = [&](Value first) {
    SmallVector<Value> values;
    for (int64_t i = 0; i < count; ++i) {
      indices.back() = addIndex(b, loc, first, i * lanes);
      values.push_back(load(indices, lanes));
    }
    return values;
  };

  Partials partials;
  partials.registers.assign(count, identity(lanes));
  if (combiner.losesNaN()) {
    // Bits where registers of masks are narrow, else as wide as the elements.
    Type bit = b.getI1Type();
    if (context.vectorBytes < 64)
      bit = b.getIntegerType(accumulator.getIntOrFloatBitWidth());
    partials.isNaN.assign((count + 1) / 2,
                          zeroOf(b, loc, VectorType::get({lanes}, bit)));
  }
  auto take = [&](ValueRange values) {
    partials.registers = llvm::to_vector<4>(values.take_front(count));
    partials.isNaN = llvm::to_vector<2>(values.drop_front(count));
  };
  SmallVector<Value> inits = llvm::to_vector(partials.registers);
  llvm::append_range(inits, partials.isNaN);
  auto loop = scf::ForOp::create(b, loc, constantIndex(b, loc, 0),
                                 constantIndex(b, loc, full),
                                 constantIndex(b, loc, count * lanes), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    take(loop.getRegionIterArgs());
    add(partials, loadAll(loop.getInductionVar()));
    SmallVector<Value> results = llvm::to_vector(partials.registers);
    llvm::append_range(results, partials.isNaN);
    scf::YieldOp::create(b, loc, results);
  }
  take(loop.getResults());

  // What is left over: registers, the last filled up.
  SmallVector<Value> rest;
  for (int64_t at = full; at < extent(); at += lanes) {
    indices.back() = constantIndex(b, loc, at);
    int64_t width = std::min(lanes, extent() - at);
    Value value = load(indices, width);
    if (width < lanes)
      value = vector::InsertStridedSliceOp::create(b, loc, value,
                                                   identity(lanes), 0, 1);
    rest.push_back(value);
  }
  add(partials, rest);

  // The registers hold numbers alone where NaN is kept beside them.
  for (; count > 1; count = (count + 1) / 2)
    for (int64_t i = 0; i < count / 2; ++i) {
      Value &x = partials.registers[i];
      Value y = partials.registers[(count + 1) / 2 + i];
      x = combiner.losesNaN() ? combiner.combineNumbers(b, loc, x, y)
                              : combine(x, y);
    }
  Value result = partials.registers.front();
  if (!combiner.losesNaN())
    return result;
  Value isNaN = partials.isNaN.front();
  for (Value other : ArrayRef(partials.isNaN).drop_front())
    isNaN = arith::OrIOp::create(b, loc, isNaN, other);
  if (context.vectorBytes < 64)
    isNaN = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, isNaN,
                                  zeroOf(b, loc, isNaN.getType()));
  return arith::SelectOp::create(b, loc, isNaN,
                                 combiner.notANumber(b, loc, lanes), result);
}

/// Row i of a square, combined, in lane i. Each step halves the lanes that a
/// row takes and the number of registers.
Value ReduceLowering::collapseRows(SmallVector<Value> rows) {
  auto size = static_cast<int64_t>(rows.size());
  for (int64_t block = 1; block < size; block *= 2) {
    auto [low, high] = getExchangeMasks(size, block);
    SmallVector<Value> halved;
    for (size_t i = 0; i < rows.size(); i += 2)
      halved.push_back(combine(
          vector::ShuffleOp::create(b, loc, rows[i], rows[i + 1], low),
          vector::ShuffleOp::create(b, loc, rows[i], rows[i + 1], high)));
    rows = std::move(halved);
  }
  return rows.front();
}

void ReduceLowering::reduceRow(ValueRange row) {
  int64_t lanes = context.lanes(accumulator);
  Value partial;
  if (extent() < lanes) {
    SmallVector<Value> indices(row);
    indices.push_back(constantIndex(b, loc, 0));
    partial = load(indices, extent());
  } else {
    partial = partialOf(row);
  }
  finish(targetAt(row), collapse(partial), /*lanes=*/0);
}

/// Reduces the rows from `first` on, as many as a register has lanes.
void ReduceLowering::reduceRows(ValueRange first, int64_t rows) {
  Value square = allocateScratch(b, loc, {rows, rows}, accumulator);
  Value zero = constantIndex(b, loc, 0);
  SmallVector<Value> row(first);
  buildLoops(b, loc, ArrayRef<int64_t>{rows}, [&](OpBuilder &, ValueRange i) {
    row.back() = addIndex(b, loc, first.back(), i[0]);
    vector::StoreOp::create(b, loc, partialOf(row), square,
                            ValueRange{i[0], zero});
  });
  SmallVector<Value> partials;
  auto type = VectorType::get({rows}, accumulator);
  for (int64_t i = 0; i < rows; ++i)
    partials.push_back(vector::LoadOp::create(
        b, loc, type, square, ValueRange{constantIndex(b, loc, i), zero}));
  Value results = collapseRows(partials);
  if (!op.keepsDim() && isContiguous(op.getTargetType()))
    return finish(targetAt(first), results, rows);
  for (int64_t i = 0; i < rows; ++i) {
    row.back() = addIndex(b, loc, first.back(), i);
    finish(targetAt(row), vector::ExtractOp::create(b, loc, results, i),
           /*lanes=*/0);
  }
}

void ReduceLowering::alongLast() {
  SmallVector<int64_t> outer = otherExtents();
  int64_t lanes = context.lanes(accumulator);
  int64_t rows = outer.empty() ? 0 : outer.back();
  if (lanes < 2 || rows < lanes || extent() < lanes) {
    buildLoops(b, loc, outer,
               [&](OpBuilder &, ValueRange row) { reduceRow(row); });
    return;
  }
  outer.pop_back();
  buildLoops(b, loc, outer, [&](OpBuilder &, ValueRange others) {
    SmallVector<Value> row(others);
    row.push_back({});
    auto loop = [&](int64_t from, int64_t to, int64_t step, auto body) {
      if (from == to)
        return;
      OpBuilder::InsertionGuard guard(b);
      auto loop = scf::ForOp::create(b, loc, constantIndex(b, loc, from),
                                     constantIndex(b, loc, to),
                                     constantIndex(b, loc, step));
      b.setInsertionPointToStart(loop.getBody());
      row.back() = loop.getInductionVar();
      body();
    };
    int64_t whole = rows / lanes * lanes;
    loop(0, whole, lanes, [&] { reduceRows(row, lanes); });
    loop(whole, rows, 1, [&] { reduceRow(row); });
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
