//===- Clip.cpp - The part of a tile that exists ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile of a global buffer may reach over its edges. Clipping it once in front
// of the loops leaves loops without tests.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

SmallVector<Value> TileSide::at(OpBuilder &b, Location loc,
                                ValueRange point) const {
  SmallVector<Value> indices;
  unsigned next = 0;
  for (auto [offset, extent] : llvm::zip(offsets, tile))
    indices.push_back(extent == 1 ? offset
                                  : addIndex(b, loc, offset, point[next++]));
  return indices;
}

unsigned TileSide::dimOfLoop(unsigned loop) const {
  for (auto [dim, extent] : llvm::enumerate(tile))
    if (extent != 1 && loop-- == 0)
      return dim;
  llvm_unreachable("more loops than extents");
}

TileClip cpu::clip(OpBuilder &b, Location loc, const TileSide &side,
                   ArrayRef<int64_t> loops) {
  TileClip result;
  Value zero = constantIndex(b, loc, 0);
  for (int64_t extent : loops) {
    result.low.push_back(zero);
    result.high.push_back(constantIndex(b, loc, extent));
  }
  if (!isGlobal(side.type()))
    return result;

  auto conjoin = [&](Value test) {
    result.whole = result.whole
                       ? b.createOrFold<arith::AndIOp>(loc, result.whole, test)
                       : test;
  };
  Value exists;
  unsigned loop = 0;
  for (auto [offset, extent, range] : llvm::zip(
           side.offsets, side.tile, getExistingRanges(b, loc, side.buffer))) {
    std::optional<int64_t> constant = getConstantIntValue(offset),
                           end = getConstantIntValue(range.high);
    if (!range.low && constant && *constant >= 0 && end &&
        *constant <= *end - extent) {
      loop += extent != 1;
      continue;
    }
    Value size = range.high;
    if (extent == 1) {
      auto require = [&](arith::CmpIPredicate predicate, Value x, Value bound) {
        Value test = arith::CmpIOp::create(b, loc, predicate, x, bound);
        exists =
            exists ? b.createOrFold<arith::AndIOp>(loc, exists, test) : test;
        conjoin(test);
      };
      require(arith::CmpIPredicate::ult, offset, size);
      if (range.low)
        require(arith::CmpIPredicate::sge, offset, range.low);
      continue;
    }
    // Offsets near the ends of the index type must not wrap: both are clamped
    // to where nothing of the tile is left.
    Value top = constantIndex(b, loc, extent),
          bottom = constantIndex(b, loc, -extent);
    Value start = b.createOrFold<arith::MaxSIOp>(loc, offset, bottom);
    start = b.createOrFold<arith::MinSIOp>(loc, start, size);
    Value low =
        b.createOrFold<arith::SubIOp>(loc, range.low ? range.low : zero, start);
    low = b.createOrFold<arith::MaxSIOp>(loc, low, zero);
    Value high = b.createOrFold<arith::SubIOp>(loc, size, start);
    high = b.createOrFold<arith::MinSIOp>(loc, high, top);
    if (range.low)
      low = b.createOrFold<arith::MinSIOp>(loc, low, high);
    result.low[loop] = low;
    result.high[loop] = high;
    conjoin(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, low, zero));
    conjoin(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, high, top));
    ++loop;
  }
  if (exists)
    for (Value &high : result.high)
      high = arith::SelectOp::create(b, loc, exists, high, zero);
  return result;
}
