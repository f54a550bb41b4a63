//===- Scan.cpp - Running results on the CPU -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Along the last dimension a vector is scanned in registers, in as many steps
// as its length has bits, and one value is carried from vector to vector. Along
// another dimension a vector of neighbours is carried.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Tile/IR/Integers.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

namespace {
class ScanLowering {
public:
  ScanLowering(RewriterBase &b, LaunchContext &context, ScanOp op)
      : b(b), context(context), op(op), loc(op.getLoc()), dim(op.getDim()),
        shape(op.getSourceType().getShape()),
        type(Combiner::getType(op.getTargetType().getElementType())),
        combiner{op.getKind(), type, isTakenUnsigned(type, op.getIsUnsigned()),
                 op.getFastmath() | context.launch.getFastmath()} {}

  void lower();

private:
  /// Zero lanes stand for a scalar.
  Value load(ValueRange indices, int64_t lanes);
  void store(Value value, ValueRange indices, int64_t lanes);
  Value combine(Value x, Value y) { return combiner.combine(b, loc, x, y); }

  Value scanVector(Value vector);
  Value shift(Value vector, int64_t distance);
  Value carryThrough(ValueRange others, Value position, int64_t lanes,
                     Value carry);
  void alongLast();
  void alongOther(bool asVectors);

  RewriterBase &b;
  LaunchContext &context;
  ScanOp op;
  Location loc;
  int64_t dim;
  ArrayRef<int64_t> shape;
  Type type;
  Combiner combiner;
};
} // namespace

Value ScanLowering::load(ValueRange indices, int64_t lanes) {
  Value value;
  if (lanes == 0)
    value = memref::LoadOp::create(b, loc, op.getSource(), indices);
  else
    value = vector::LoadOp::create(
        b, loc, VectorType::get({lanes}, op.getSourceType().getElementType()),
        op.getSource(), indices);
  ElementConversion how;
  how.isUnsigned = op.getIsUnsigned();
  return convertElement(b, loc, value, type, how);
}

void ScanLowering::store(Value value, ValueRange indices, int64_t lanes) {
  value = convertElement(b, loc, value, op.getTargetType().getElementType());
  if (lanes == 0)
    memref::StoreOp::create(b, loc, value, op.getTarget(), indices);
  else
    vector::StoreOp::create(b, loc, value, op.getTarget(), indices);
}

/// Moves the lanes by `distance` in the direction of the scan; the neutral
/// element moves in.
Value ScanLowering::shift(Value vector, int64_t distance) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t from = op.getReverse() ? lane + distance : lane - distance;
    mask.push_back(from < 0 || from >= lanes ? lanes : from);
  }
  return vector::ShuffleOp::create(b, loc, vector,
                                   combiner.identity(b, loc, lanes), mask);
}

/// The running results within one vector, each step doubling their reach.
Value ScanLowering::scanVector(Value vector) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t distance = 1; distance < lanes; distance *= 2)
    vector = combine(shift(vector, distance), vector);
  return vector;
}

/// Scans the vector at `position` and returns the next one's carry.
Value ScanLowering::carryThrough(ValueRange others, Value position,
                                 int64_t lanes, Value carry) {
  SmallVector<Value> indices(others);
  indices.push_back(position);
  Value inside = scanVector(load(indices, lanes));
  Value before = splat(b, loc, carry, lanes);
  store(combine(before, op.getExclusive() ? shift(inside, 1) : inside), indices,
        lanes);
  int64_t last = op.getReverse() ? 0 : lanes - 1;
  return combine(carry, vector::ExtractOp::create(b, loc, inside, last));
}

void ScanLowering::alongLast() {
  int64_t extent = shape.back();
  int64_t lanes = std::min(context.lanes(type), extent);
  int64_t full = extent / lanes * lanes, rest = extent - full;
  buildLoops(b, loc, shape.drop_back(), [&](OpBuilder &, ValueRange others) {
    // In reverse the whole vectors end where the row ends.
    Value first = constantIndex(b, loc, op.getReverse() ? extent - lanes : 0);
    auto loop = scf::ForOp::create(
        b, loc, constantIndex(b, loc, 0), constantIndex(b, loc, full),
        constantIndex(b, loc, lanes), combiner.identity(b, loc, 0));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value position = loop.getInductionVar();
      if (op.getReverse())
        position = arith::SubIOp::create(b, loc, first, position);
      Value carry =
          carryThrough(others, position, lanes, loop.getRegionIterArgs()[0]);
      scf::YieldOp::create(b, loc, carry);
    }
    if (rest)
      carryThrough(others, constantIndex(b, loc, op.getReverse() ? 0 : full),
                   rest, loop.getResult(0));
  });
}

void ScanLowering::alongOther(bool asVectors) {
  int64_t extent = shape[dim];
  // `others` are the indices of the dimensions but `dim`.
  auto column = [&](ValueRange others, int64_t lanes) {
    auto loop = scf::ForOp::create(
        b, loc, constantIndex(b, loc, 0), constantIndex(b, loc, extent),
        constantIndex(b, loc, 1), combiner.identity(b, loc, lanes));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value position = loop.getInductionVar();
    if (op.getReverse())
      position = arith::SubIOp::create(
          b, loc, constantIndex(b, loc, extent - 1), position);
    SmallVector<Value> indices(others);
    indices.insert(indices.begin() + dim, position);
    Value before = loop.getRegionIterArgs()[0];
    Value after = combine(before, load(indices, lanes));
    store(op.getExclusive() ? before : after, indices, lanes);
    scf::YieldOp::create(b, loc, after);
  };
  SmallVector<int64_t> outer(shape);
  outer.erase(outer.begin() + dim);
  if (!asVectors) {
    buildLoops(b, loc, outer,
               [&](OpBuilder &, ValueRange others) { column(others, 0); });
    return;
  }
  int64_t last = outer.pop_back_val();
  int64_t lanes = std::min(context.lanes(type) * 2, last);
  buildLoops(b, loc, outer, [&](OpBuilder &, ValueRange ivs) {
    buildVectorLoop(b, loc, last, lanes,
                    [&](OpBuilder &, Value position, int64_t count) {
                      SmallVector<Value> others(ivs);
                      others.push_back(position);
                      column(others, count);
                    });
  });
}

void ScanLowering::lower() {
  if (llvm::is_contained(shape, 0))
    return;
  bool contiguous =
      isContiguous(op.getSourceType()) && isContiguous(op.getTargetType());
  bool isLast = dim == static_cast<int64_t>(shape.size()) - 1;
  if (contiguous && isLast)
    return alongLast();
  alongOther(/*asVectors=*/contiguous);
}

LogicalResult cpu::lowerScan(RewriterBase &rewriter, LaunchContext &context,
                             ScanOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  ScanLowering(rewriter, context, op).lower();
  rewriter.eraseOp(op);
  return success();
}
