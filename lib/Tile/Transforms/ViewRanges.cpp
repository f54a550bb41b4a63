//===- ViewRanges.cpp - The elements that a view has ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/ViewRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

/// No buffer reaches further.
static constexpr int64_t kFar = int64_t(1) << 60;

namespace {
class RangeArithmetic {
public:
  RangeArithmetic(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// Places from `low` to `high`, where that did not wrap around.
  struct Reach {
    Value low, high, isKnown;
  };

  Value constant(int64_t number) {
    return arith::ConstantIndexOp::create(b, loc, number);
  }
  Value value(OpFoldResult number) {
    return getValueOrCreateConstantIndexOp(b, loc, number);
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
  Value clampedValue(OpFoldResult number) { return clamp(value(number), kFar); }

  /// The i from 0 to `size` for which start + i * step lies in `range`.
  ViewRange getOfSteps(ViewRange range, Value start, Value size, int64_t step) {
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

  Reach getReach(const StridedPlaces &places) {
    Value start = clampedValue(places.offset);
    Reach reach{start, start, {}};
    for (auto [size, stride] : llvm::zip(places.sizes, places.strides))
      extend(reach, value(size), value(stride));
    return reach;
  }

private:
  template <typename Op> Value make(Value x, Value y) {
    return b.createOrFold<Op>(loc, x, y);
  }
  template <typename Op> Value make(Value x, Type type) {
    return b.createOrFold<Op>(loc, type, x);
  }

  OpBuilder &b;
  Location loc;
};
} // namespace

SmallVector<ViewRange> tile::existOnlyIf(OpBuilder &b, Location loc,
                                         Value condition,
                                         ArrayRef<ViewRange> ranges) {
  SmallVector<ViewRange> result(ranges);
  if (condition && !matchPattern(condition, m_One()))
    for (ViewRange &range : result)
      range.high = b.createOrFold<arith::SelectOp>(
          loc, condition, range.high,
          arith::ConstantIndexOp::create(b, loc, 0).getResult());
  return result;
}

Value tile::existsWhole(OpBuilder &b, Location loc, ArrayRef<ViewRange> ranges,
                        ValueRange sizes) {
  RangeArithmetic a(b, loc);
  Value result;
  for (auto [range, size] : llvm::zip(ranges, sizes)) {
    if (range.high != size)
      result = a.conjoin(
          result, a.compare(arith::CmpIPredicate::sge, range.high, size));
    if (range.low)
      result = a.conjoin(result, a.compare(arith::CmpIPredicate::sle, range.low,
                                           a.constant(0)));
  }
  return result;
}

SmallVector<ViewRange> tile::getSubviewRanges(
    OpBuilder &b, Location loc, ArrayRef<ViewRange> source,
    ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
    ArrayRef<OpFoldResult> strides, const llvm::SmallBitVector &dropped) {
  RangeArithmetic a(b, loc);
  SmallVector<ViewRange> result;
  Value exists;
  auto require = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    exists = a.conjoin(exists, a.compare(predicate, x, y));
  };
  for (auto [dim, range, offset, size, stride] :
       llvm::enumerate(source, offsets, sizes, strides)) {
    Value start = a.clampedValue(offset);
    Value low = range.low ? range.low : a.constant(0);
    if (dropped.test(dim)) {
      require(arith::CmpIPredicate::sge, start, low);
      require(arith::CmpIPredicate::slt, start, range.high);
      continue;
    }
    std::optional<int64_t> step = getConstantIntValue(stride);
    if (step && *step > 0 && *step <= kFar) {
      result.push_back(a.getOfSteps(range, start, a.value(size), *step));
      continue;
    }
    // Unknown steps reach both ends or are not taken at all.
    RangeArithmetic::Reach reach{start, start, {}};
    a.extend(reach, a.value(size), a.value(stride));
    exists = a.conjoin(exists, reach.isKnown);
    require(arith::CmpIPredicate::sge, reach.low, low);
    require(arith::CmpIPredicate::slt, reach.high, range.high);
    result.push_back({Value(), a.value(size)});
  }
  return existOnlyIf(b, loc, exists, result);
}

Value tile::liesWithin(OpBuilder &b, Location loc, const StridedPlaces &wants,
                       const StridedPlaces &has) {
  RangeArithmetic a(b, loc);
  RangeArithmetic::Reach outer = a.getReach(has), inner = a.getReach(wants);
  Value inside = a.conjoin(outer.isKnown, inner.isKnown);
  for (OpFoldResult size : has.sizes)
    inside = a.conjoin(inside, a.compare(arith::CmpIPredicate::sge,
                                         a.value(size), a.constant(1)));
  inside = a.conjoin(
      inside, a.compare(arith::CmpIPredicate::sge, inner.low, outer.low));
  return a.conjoin(
      inside, a.compare(arith::CmpIPredicate::sle, inner.high, outer.high));
}
