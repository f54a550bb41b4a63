//===- Extents.cpp - The elements that a global buffer has ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A view may say that it has elements which the buffer behind it has not. Which
// there are is computed where the view is used; loops do not change it, and
// constants fold.
//
// Offsets, sizes and strides of views are arbitrary numbers: sums are taken of
// clamped ones, and products tell whether they wrap around.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

/// No buffer reaches further.
static constexpr int64_t kFar = int64_t(1) << 60;

namespace {
class ExtentBuilder {
public:
  ExtentBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  SmallVector<ExistingRange> get(Value buffer) {
    Operation *op = buffer.getDefiningOp();
    if (auto cast = dyn_cast_or_null<memref::CastOp>(op);
        cast && isa<MemRefType>(cast.getSource().getType()))
      return get(cast.getSource());
    if (auto subview = dyn_cast_or_null<memref::SubViewOp>(op))
      return getOfSubview(subview);
    if (auto transpose = dyn_cast_or_null<memref::TransposeOp>(op)) {
      SmallVector<ExistingRange> source = get(transpose.getIn()), result;
      for (AffineExpr expr : transpose.getPermutation().getResults())
        result.push_back(source[cast<AffineDimExpr>(expr).getPosition()]);
      return result;
    }
    SmallVector<ExistingRange> whole = getSizes(buffer);
    if (auto view = dyn_cast_or_null<memref::ReinterpretCastOp>(op))
      return onlyIf(isInRoot(view), whole);
    // Of what cannot be taken apart, all exists or nothing does.
    if (auto view = dyn_cast_or_null<ViewLikeOpInterface>(op);
        view && isa<MemRefType>(view.getViewSource().getType()))
      return onlyIf(existsWhole(view.getViewSource()), whole);
    return whole;
  }

private:
  Value constant(int64_t number) { return constantIndex(b, loc, number); }
  Value value(OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(b, loc, number);
  }
  template <typename Op> Value make(Value x, Value y) {
    return b.createOrFold<Op>(loc, x, y);
  }
  template <typename Op> Value make(Value x, Type type) {
    return b.createOrFold<Op>(loc, type, x);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
  }
  /// Null stands for true.
  Value conjoin(Value x, Value y) {
    return x && y ? make<arith::AndIOp>(x, y) : (x ? x : y);
  }
  Value clamp(Value x, int64_t limit) {
    x = make<arith::MaxSIOp>(x, constant(-limit));
    return make<arith::MinSIOp>(x, constant(limit));
  }

  SmallVector<ExistingRange> getSizes(Value buffer) {
    SmallVector<ExistingRange> result;
    for (int64_t dim = 0, e = cast<MemRefType>(buffer.getType()).getRank();
         dim < e; ++dim)
      result.push_back(
          {Value(), b.createOrFold<memref::DimOp>(loc, buffer, dim)});
    return result;
  }

  SmallVector<ExistingRange> onlyIf(Value condition,
                                    SmallVector<ExistingRange> ranges) {
    if (condition && !matchPattern(condition, m_One()))
      for (ExistingRange &range : ranges)
        range.high = b.createOrFold<arith::SelectOp>(loc, condition, range.high,
                                                     constant(0));
    return ranges;
  }

  /// Whether all elements that `buffer` says it has exist.
  Value existsWhole(Value buffer) {
    Value result;
    for (auto [range, size] : llvm::zip(get(buffer), getSizes(buffer))) {
      if (range.high != size.high)
        result = conjoin(
            result, compare(arith::CmpIPredicate::sge, range.high, size.high));
      if (range.low)
        result = conjoin(
            result, compare(arith::CmpIPredicate::sle, range.low, constant(0)));
    }
    return result;
  }

  SmallVector<ExistingRange> getOfSubview(memref::SubViewOp view) {
    SmallVector<ExistingRange> source = get(view.getSource()), result;
    llvm::SmallBitVector dropped = view.getDroppedDims();
    Value exists;
    for (auto [dim, range, offset, size, stride] :
         llvm::enumerate(source, view.getMixedOffsets(), view.getMixedSizes(),
                         view.getMixedStrides())) {
      Value start = clamp(value(offset), kFar);
      if (dropped.test(dim)) {
        Value low = range.low ? range.low : constant(0);
        exists =
            conjoin(exists, compare(arith::CmpIPredicate::sge, start, low));
        exists = conjoin(exists,
                         compare(arith::CmpIPredicate::slt, start, range.high));
        continue;
      }
      std::optional<int64_t> step = getConstantIntValue(stride);
      if (step && *step > 0 && *step <= kFar) {
        result.push_back(getOfSteps(range, start, value(size), *step));
        continue;
      }
      // Unknown steps reach both ends or are not taken at all.
      Reach reach{start, start, {}};
      extend(reach, value(size), value(stride));
      Value low = range.low ? range.low : constant(0);
      exists = conjoin(exists, reach.isKnown);
      exists =
          conjoin(exists, compare(arith::CmpIPredicate::sge, reach.low, low));
      exists = conjoin(
          exists, compare(arith::CmpIPredicate::slt, reach.high, range.high));
      result.push_back({Value(), value(size)});
    }
    return onlyIf(exists, result);
  }

  /// The i from 0 to `size` for which start + i * step lies in `range`.
  ExistingRange getOfSteps(ExistingRange range, Value start, Value size,
                           int64_t step) {
    auto quotient = [&](Value distance) {
      return step == 1 ? distance
                       : make<arith::CeilDivSIOp>(distance, constant(step));
    };
    Value zero = constant(0);
    Value low = make<arith::SubIOp>(range.low ? range.low : zero, start);
    low = make<arith::MaxSIOp>(quotient(low), zero);
    Value high = quotient(make<arith::SubIOp>(range.high, start));
    high = make<arith::MaxSIOp>(make<arith::MinSIOp>(high, size), zero);
    if (getConstantIntValue(low) == 0)
      low = Value();
    return {low, high};
  }

  /// Places from `low` to `high`, where that did not wrap around.
  struct Reach {
    Value low, high, isKnown;
  };
  void extend(Reach &reach, Value size, Value stride) {
    Value zero = constant(0);
    Value steps = make<arith::SubIOp>(clamp(size, kFar), constant(1));
    Value distance = make<arith::MulIOp>(steps, stride);
    if (!getConstantIntValue(distance)) {
      Type i64 = b.getI64Type();
      auto product = arith::MulSIExtendedOp::create(
          b, loc, make<arith::IndexCastOp>(steps, i64),
          make<arith::IndexCastOp>(stride, i64));
      Value low = make<arith::IndexCastOp>(product.getLow(), b.getIndexType());
      Value high =
          make<arith::IndexCastOp>(product.getHigh(), b.getIndexType());
      Value near = clamp(low, kFar);
      // The upper half is nothing but signs.
      reach.isKnown = conjoin(reach.isKnown,
                              compare(arith::CmpIPredicate::eq, high,
                                      make<arith::ShRSIOp>(low, constant(63))));
      reach.isKnown =
          conjoin(reach.isKnown, compare(arith::CmpIPredicate::eq, low, near));
      distance = near;
    }
    reach.low = clamp(
        make<arith::AddIOp>(reach.low, make<arith::MinSIOp>(distance, zero)),
        2 * kFar);
    reach.high = clamp(
        make<arith::AddIOp>(reach.high, make<arith::MaxSIOp>(distance, zero)),
        2 * kFar);
  }

  Reach getReach(OpFoldResult offset, ArrayRef<OpFoldResult> sizes,
                 ArrayRef<OpFoldResult> strides) {
    Value start = clamp(value(offset), kFar);
    Reach reach{start, start, {}};
    for (auto [size, stride] : llvm::zip(sizes, strides))
      extend(reach, value(size), value(stride));
    return reach;
  }

  /// Whether `view`, whose places count from the beginning of the memory, stays
  /// inside the buffer that all this is a view of.
  Value isInRoot(memref::ReinterpretCastOp view) {
    Value root = view.getSource();
    while (Operation *op = root.getDefiningOp()) {
      if (auto viewLike = dyn_cast<ViewLikeOpInterface>(op))
        root = viewLike.getViewSource();
      else if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op))
        root = metadata.getSource();
      else
        break;
    }
    auto type = dyn_cast<MemRefType>(root.getType());
    if (!type || type.getElementType() != view.getType().getElementType() ||
        !type.isStrided())
      return Value();
    auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, root);
    Reach has = getReach(metadata.getConstifiedMixedOffset(),
                         metadata.getConstifiedMixedSizes(),
                         metadata.getConstifiedMixedStrides());
    Reach wants = getReach(view.getConstifiedMixedOffset(),
                           view.getConstifiedMixedSizes(),
                           view.getConstifiedMixedStrides());
    Value inside = conjoin(has.isKnown, wants.isKnown);
    for (OpFoldResult size : metadata.getConstifiedMixedSizes())
      inside = conjoin(
          inside, compare(arith::CmpIPredicate::sge, value(size), constant(1)));
    inside =
        conjoin(inside, compare(arith::CmpIPredicate::sge, wants.low, has.low));
    return conjoin(inside,
                   compare(arith::CmpIPredicate::sle, wants.high, has.high));
  }

  OpBuilder &b;
  Location loc;
};
} // namespace

SmallVector<ExistingRange> cpu::getExistingRanges(OpBuilder &b, Location loc,
                                                  Value buffer) {
  return ExtentBuilder(b, loc).get(buffer);
}
