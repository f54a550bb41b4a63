//===- Atomic.cpp - Accumulation in global memory on the CPU ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One atomic instruction an element: blocks that meet in an element run on
// different cores.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Tile/IR/Integers.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

static arith::AtomicRMWKind getAtomicKind(ReduceKind kind, Type element,
                                          bool isUnsigned) {
  bool isFloat = isa<FloatType>(element);
  isUnsigned = isTakenUnsigned(element, isUnsigned);
  if (kind == ReduceKind::Sum)
    return isFloat ? arith::AtomicRMWKind::addf : arith::AtomicRMWKind::addi;
  if (kind == ReduceKind::Max)
    return isFloat      ? arith::AtomicRMWKind::maximumf
           : isUnsigned ? arith::AtomicRMWKind::maxu
                        : arith::AtomicRMWKind::maxs;
  return isFloat      ? arith::AtomicRMWKind::minimumf
         : isUnsigned ? arith::AtomicRMWKind::minu
                      : arith::AtomicRMWKind::mins;
}

template <typename OpTy>
static LogicalResult lower(RewriterBase &b, LaunchContext &context, OpTy op) {
  Location loc = op.getLoc();
  FailureOr<SmallVector<int64_t>> sourceTile = op.getSourceTile();
  FailureOr<SmallVector<int64_t>> targetTile = op.getTargetTile();
  if (failed(sourceTile) || failed(targetTile))
    return op.emitOpError("expects a tile of static extents; run "
                          "tile-specialize first");
  TileSide source{
      op.getSource(),
      getValueOrCreateConstantIndexOp(b, loc, op.getMixedSourceOffsets()),
      *sourceTile};
  TileSide target{
      op.getTarget(),
      getValueOrCreateConstantIndexOp(b, loc, op.getMixedTargetOffsets()),
      *targetTile};
  Type element = target.type().getElementType();
  arith::AtomicRMWKind kind =
      getAtomicKind(OpTy::getKind(), element, op.getIsUnsigned());
  ElementConversion how;
  how.isUnsigned = op.getIsUnsigned();

  SmallVector<int64_t> loops = llvm::to_vector(llvm::make_filter_range(
      *sourceTile, [](int64_t extent) { return extent != 1; }));
  auto update = [&](ValueRange point) {
    Value value =
        memref::LoadOp::create(b, loc, source.buffer, source.at(b, loc, point));
    memref::AtomicRMWOp::create(b, loc, kind,
                                convertElement(b, loc, value, element, how),
                                target.buffer, target.at(b, loc, point));
  };

  if (context.bounds() == Bounds::Assume) {
    buildLoops(b, loc, loops,
               [&](OpBuilder &, ValueRange point) { update(point); });
    b.eraseOp(op);
    return success();
  }
  TileClip box = clip(b, loc, target, loops);
  if (box.whole && context.bounds() == Bounds::Trap) {
    Value outside = arith::XOrIOp::create(
        b, loc, box.whole, arith::ConstantIntOp::create(b, loc, 1, 1));
    auto test = scf::IfOp::create(b, loc, outside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(test.thenBlock());
    buildReport(b, loc, op, "atomic update of elements outside the buffer");
  }
  if (loops.empty() && box.whole) {
    auto test = scf::IfOp::create(b, loc, box.whole, /*withElseRegion=*/false);
    b.setInsertionPointToStart(test.thenBlock());
  }
  SmallVector<Value> point;
  Value one = constantIndex(b, loc, 1);
  for (auto [from, to] : llvm::zip(box.low, box.high)) {
    auto loop = scf::ForOp::create(b, loc, from, to, one);
    point.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  update(point);
  b.eraseOp(op);
  return success();
}

LogicalResult cpu::lowerAtomic(RewriterBase &rewriter, LaunchContext &context,
                               Operation *op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<AtomicAddOp, AtomicMaxOp, AtomicMinOp>(
          [&](auto atomic) { return lower(rewriter, context, atomic); });
}
