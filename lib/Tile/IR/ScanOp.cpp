//===- ScanOp.cpp - Running results along a dimension -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"

using namespace mlir;
using namespace tile;

LogicalResult ScanOp::verify() {
  MemRefType source = getSourceType(), target = getTargetType();
  // scan-c1
  if (!llvm::is_contained({ReduceKind::Sum, ReduceKind::Product,
                           ReduceKind::Max, ReduceKind::Min},
                          getKind()))
    return emitOpError("expects sum, product, max or min, got ")
           << stringifyReduceKind(getKind());
  // scan-c2
  auto dim = static_cast<int64_t>(getDim());
  if (dim >= source.getRank())
    return emitOpError("expects 'along' to be a dimension of 'source', below ")
           << source.getRank() << ", got " << dim;
  // scan-c3
  bool agrees = source.getRank() == target.getRank() &&
                llvm::all_of(llvm::zip(source.getShape(), target.getShape()),
                             [](auto pair) {
                               auto [x, y] = pair;
                               return x == y || ShapedType::isDynamic(x) ||
                                      ShapedType::isDynamic(y);
                             });
  if (!agrees)
    return emitOpError("expects 'target' to have the shape of 'source', got ")
           << target << " from " << source;
  // scan-c4
  Type from = source.getElementType(), to = target.getElementType();
  bool sameKind = (isa<FloatType>(from) && isa<FloatType>(to)) ||
                  (isa<IntegerType>(from) && isa<IntegerType>(to));
  if (!sameKind || from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
    return emitOpError("expects the elements of 'target' to be of the kind of "
                       "'source', at least as wide, got ")
           << to << " from " << from;
  // scan-c5
  if (getIsUnsigned() && !isa<IntegerType>(from))
    return emitOpError("'unsigned' needs integers, got ") << from;
  // scan-c6: two views of one buffer might overlap out of step.
  if (getSource() != getTarget() &&
      getRootBuffer(getSource()) == getRootBuffer(getTarget()))
    return emitOpError("expects 'target' to be 'source' itself or a view of "
                       "another buffer");
  return success();
}
