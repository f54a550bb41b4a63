//===- Copy.cpp - Copies and fills on the CPU -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy runs over the extents of its tile that are not one. Where a side is a
// global buffer the tile is clipped to it, dimension by dimension, once: if
// nothing is clipped, which is the common case, the loops have static extents;
// else the part of the target that exists is filled with the pad value and the
// part that exists on both sides is copied.
//
//===----------------------------------------------------------------------===//

#include "Prefetch.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

namespace {
/// Emits the loops of one copy.
class CopyLowering {
public:
  CopyLowering(RewriterBase &b, LaunchContext &context, CopyOp op,
               std::optional<unsigned> next)
      : b(b), context(context), op(op), loc(op.getLoc()), next(next) {}

  LogicalResult lower();

private:
  void copyWhole();
  void copyBox(ValueRange low, ValueRange high, bool isStatic);
  void fillBox(ValueRange low, ValueRange high);
  void copyElement(ValueRange point);
  /// Copies `lanes` elements along the last loop.
  void copyVector(ValueRange point, int64_t lanes);
  Value padValue();
  bool canUseVectors() const;

  RewriterBase &b;
  LaunchContext &context;
  CopyOp op;
  Location loc;
  TileSide source, target;
  SmallVector<int64_t> loops;
  /// Stores go around the caches.
  bool stream = false;
  /// The dimension of the source along which the next tile lies, and the same
  /// while that is read ahead.
  std::optional<unsigned> next, ahead;
};
} // namespace

Value CopyLowering::padValue() {
  Value pad = op.getPad();
  if (!pad)
    return zeroOf(b, loc, target.type().getElementType());
  return convertElement(b, loc, pad, target.type().getElementType(),
                        {op.getSaturate(), op.getIsUnsigned()});
}

/// Vectors need the last loop to run along the last dimension of both buffers.
bool CopyLowering::canUseVectors() const {
  if (loops.empty() || !isContiguous(source.type()) ||
      !isContiguous(target.type()))
    return false;
  unsigned last = loops.size() - 1;
  return source.dimOfLoop(last) == source.tile.size() - 1 &&
         target.dimOfLoop(last) == target.tile.size() - 1;
}

void CopyLowering::copyElement(ValueRange point) {
  Value value =
      memref::LoadOp::create(b, loc, source.buffer, source.at(b, loc, point));
  value = convertElement(b, loc, value, target.type().getElementType(),
                         {op.getSaturate(), op.getIsUnsigned()});
  memref::StoreOp::create(b, loc, value, target.buffer,
                          target.at(b, loc, point));
}

void CopyLowering::copyVector(ValueRange point, int64_t lanes) {
  auto type = VectorType::get({lanes}, source.type().getElementType());
  Value value = vector::LoadOp::create(b, loc, type, source.buffer,
                                       source.at(b, loc, point));
  if (ahead)
    buildPrefetch(b, loc, type, source.buffer, source.at(b, loc, point), *ahead,
                  source.tile[*ahead]);
  value = convertElement(b, loc, value, target.type().getElementType(),
                         {op.getSaturate(), op.getIsUnsigned()});
  buildStore(b, loc, value, target.buffer, target.at(b, loc, point), stream);
}

/// Copies the whole tile, which exists on both sides.
void CopyLowering::copyWhole() {
  if (canUseVectors())
    ahead = next;
  SmallVector<Value> low, high;
  for (int64_t extent : loops) {
    low.push_back(constantIndex(b, loc, 0));
    high.push_back(constantIndex(b, loc, extent));
  }
  Value may = canUseVectors()
                  ? mayStream(b, loc, target.buffer, target.at(b, loc, low))
                  : Value();
  if (!may)
    return copyBox(low, high, /*isStatic=*/true);
  context.streams = true;
  auto test = scf::IfOp::create(b, loc, may, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(test.thenBlock());
  stream = true;
  copyBox(low, high, /*isStatic=*/true);
  stream = false;
  b.setInsertionPointToStart(test.elseBlock());
  copyBox(low, high, /*isStatic=*/true);
}

void CopyLowering::copyBox(ValueRange low, ValueRange high, bool isStatic) {
  OpBuilder::InsertionGuard guard(b);
  Value one = constantIndex(b, loc, 1);
  SmallVector<Value> point;
  size_t depth = loops.size();
  size_t serial = canUseVectors() ? depth - 1 : depth;
  for (size_t i = 0; i < serial; ++i) {
    auto loop = scf::ForOp::create(b, loc, low[i], high[i], one);
    point.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  if (serial == depth)
    return copyElement(point);

  // Four registers of the wider type. Where the length is not known, a register
  // of the narrower one, for what is left over goes by single elements.
  int64_t inSource = context.lanes(source.type().getElementType());
  int64_t inTarget = context.lanes(target.type().getElementType());
  int64_t lanes = 4 * std::min(inSource, inTarget);
  if (!isStatic)
    lanes = std::min(lanes, std::max(inSource, inTarget));
  if (stream)
    lanes = std::max<int64_t>(
        lanes, 8 * kAlignment / getElementBits(target.type().getElementType()));
  auto emit = [&](Value position, int64_t count) {
    point.push_back(position);
    copyVector(point, count);
    point.pop_back();
  };
  if (isStatic) {
    buildVectorLoop(b, loc, loops.back(), lanes,
                    [&](OpBuilder &, Value position, int64_t count) {
                      emit(position, count);
                    });
    return;
  }
  // Whole vectors, then single elements.
  Value start = low.back(), end = high.back();
  Value width = constantIndex(b, loc, lanes);
  Value length = arith::SubIOp::create(b, loc, end, start);
  length = arith::MaxSIOp::create(b, loc, length, constantIndex(b, loc, 0));
  Value rest = arith::RemUIOp::create(b, loc, length, width);
  Value split = arith::SubIOp::create(b, loc, length, rest);
  split = arith::AddIOp::create(b, loc, start, split);
  auto vectors = scf::ForOp::create(b, loc, start, split, width);
  auto elements = scf::ForOp::create(b, loc, split, end, one);
  b.setInsertionPointToStart(vectors.getBody());
  emit(vectors.getInductionVar(), lanes);
  b.setInsertionPointToStart(elements.getBody());
  point.push_back(elements.getInductionVar());
  copyElement(point);
}

void CopyLowering::fillBox(ValueRange low, ValueRange high) {
  OpBuilder::InsertionGuard guard(b);
  Value pad = padValue();
  Value one = constantIndex(b, loc, 1);
  SmallVector<Value> point;
  for (auto [from, to] : llvm::zip(low, high)) {
    auto loop = scf::ForOp::create(b, loc, from, to, one);
    point.push_back(loop.getInductionVar());
    b.setInsertionPointToStart(loop.getBody());
  }
  memref::StoreOp::create(b, loc, pad, target.buffer, target.at(b, loc, point));
}

LogicalResult CopyLowering::lower() {
  FailureOr<SmallVector<int64_t>> sourceTile = op.getSourceTile();
  FailureOr<SmallVector<int64_t>> targetTile = op.getTargetTile();
  if (failed(sourceTile) || failed(targetTile))
    return op.emitOpError("expects a tile of static extents; run "
                          "tile-specialize first");
  source = {op.getSource(),
            getValueOrCreateConstantIndexOp(b, loc, op.getMixedSourceOffsets()),
            *sourceTile};
  target = {op.getTarget(),
            getValueOrCreateConstantIndexOp(b, loc, op.getMixedTargetOffsets()),
            *targetTile};
  loops = llvm::to_vector(llvm::make_filter_range(
      *sourceTile, [](int64_t extent) { return extent != 1; }));

  if (context.bounds() == Bounds::Assume) {
    copyWhole();
    b.eraseOp(op);
    return success();
  }

  TileClip from = clip(b, loc, source, loops), to = clip(b, loc, target, loops);
  if (!from.whole && !to.whole) {
    copyWhole();
    b.eraseOp(op);
    return success();
  }
  Value whole = from.whole && to.whole
                    ? b.createOrFold<arith::AndIOp>(loc, from.whole, to.whole)
                    : (from.whole ? from.whole : to.whole);
  auto test = scf::IfOp::create(b, loc, whole, /*withElseRegion=*/true);
  b.setInsertionPointToStart(test.thenBlock());
  copyWhole();
  ahead.reset();
  b.setInsertionPointToStart(test.elseBlock());
  if (context.bounds() == Bounds::Trap)
    buildReport(b, loc, op, "copy of elements outside the buffer");
  if (loops.empty()) {
    // One element that is missing on one side at least.
    if (!from.whole) {
      // It exists in the source, so it is the target that lacks it.
    } else {
      Value exists =
          to.whole ? to.whole
                   : arith::ConstantIntOp::create(b, loc, 1, 1).getResult();
      auto store = scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false);
      b.setInsertionPointToStart(store.thenBlock());
      fillBox({}, {});
    }
  } else {
    if (from.whole)
      fillBox(to.low, to.high);
    SmallVector<Value> low, high;
    for (size_t i = 0; i < loops.size(); ++i) {
      low.push_back(
          b.createOrFold<arith::MaxSIOp>(loc, from.low[i], to.low[i]));
      high.push_back(
          b.createOrFold<arith::MinSIOp>(loc, from.high[i], to.high[i]));
    }
    copyBox(low, high, /*isStatic=*/false);
  }
  b.setInsertionPointAfter(test);
  b.eraseOp(op);
  return success();
}

LogicalResult cpu::lowerCopy(RewriterBase &rewriter, LaunchContext &context,
                             CopyOp op, std::optional<unsigned> next) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  return CopyLowering(rewriter, context, op, next).lower();
}

LogicalResult cpu::lowerFill(RewriterBase &rewriter, LaunchContext &context,
                             FillOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto type = cast<MemRefType>(op.getBuffer().getType());
  Value buffer = op.getBuffer(), value = op.getValue();
  if (!isContiguous(type)) {
    buildLoops(rewriter, loc, type.getShape(),
               [&](OpBuilder &b, ValueRange ivs) {
                 memref::StoreOp::create(b, loc, value, buffer, ivs);
               });
  } else {
    int64_t lanes = context.lanes(type.getElementType());
    buildLoops(rewriter, loc, type.getShape().drop_back(),
               [&](OpBuilder &b, ValueRange ivs) {
                 buildVectorLoop(
                     b, loc, type.getShape().back(), lanes,
                     [&](OpBuilder &b, Value position, int64_t count) {
                       SmallVector<Value> indices(ivs);
                       indices.push_back(position);
                       vector::StoreOp::create(b, loc,
                                               splat(b, loc, value, count),
                                               buffer, indices);
                     });
               });
  }
  rewriter.eraseOp(op);
  return success();
}
