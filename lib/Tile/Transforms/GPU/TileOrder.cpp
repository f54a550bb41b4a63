//===- TileOrder.cpp - Which tile comes when --------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order is a map from numbers to points, which costs a few divisions at the
// start of a block or tile.
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/TileOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;

static Value constantIndex(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

static std::pair<Value, Value> divide(ImplicitLocOpBuilder &b, Value x,
                                      Value y) {
  return {b.createOrFold<arith::DivUIOp>(x, y),
          b.createOrFold<arith::RemUIOp>(x, y)};
}

SmallVector<Value> tile::locateTile(ImplicitLocOpBuilder &b, Value number,
                                    ArrayRef<Value> extents,
                                    RasterAttr raster) {
  if (extents.size() == 1)
    return {number};
  Value rows = extents[extents.size() - 2], columns = extents.back();
  SmallVector<Value> point;
  if (extents.size() == 3) {
    auto [plane, rest] =
        divide(b, number, b.createOrFold<arith::MulIOp>(rows, columns));
    point.push_back(plane);
    number = rest;
  }
  bool byColumn = raster && raster.getOrder() == RasterOrder::Column;
  int64_t group = raster ? raster.getGroup() : 1;
  // A band is `group` lines of `length` tiles; there are `lines` lines in all.
  Value lines = byColumn ? columns : rows, length = byColumn ? rows : columns;
  Value line, along;
  if (group == 1) {
    std::tie(line, along) = divide(b, number, length);
  } else {
    Value width = constantIndex(b, group);
    auto [band, inBand] =
        divide(b, number, b.createOrFold<arith::MulIOp>(length, width));
    Value first = b.createOrFold<arith::MulIOp>(band, width);
    // The last band may have fewer lines.
    Value left = b.createOrFold<arith::SubIOp>(lines, first);
    Value actual = b.createOrFold<arith::MinSIOp>(left, width);
    Value inLine;
    std::tie(along, inLine) = divide(b, inBand, actual);
    line = b.createOrFold<arith::AddIOp>(first, inLine);
  }
  point.push_back(byColumn ? along : line);
  point.push_back(byColumn ? line : along);
  return point;
}
