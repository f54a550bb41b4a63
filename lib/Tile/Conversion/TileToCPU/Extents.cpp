//===- Extents.cpp - The elements that a global buffer has ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A view may say that it has elements which the buffer behind it has not. Which
// there are is computed where the view is used; loops do not change it, and
// constants fold (ViewRanges.h).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Tile/Transforms/ViewRanges.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

static SmallVector<Value> getSizes(OpBuilder &b, Location loc, Value buffer) {
  SmallVector<Value> sizes;
  for (int64_t dim = 0, e = cast<MemRefType>(buffer.getType()).getRank();
       dim < e; ++dim)
    sizes.push_back(b.createOrFold<memref::DimOp>(loc, buffer, dim));
  return sizes;
}

/// Whether `view`, whose places count from the beginning of the memory, stays
/// inside the buffer that all this is a view of.
static Value isInRoot(OpBuilder &b, Location loc,
                      memref::ReinterpretCastOp view) {
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
  return liesWithin(
      b, loc,
      {view.getConstifiedMixedOffset(), view.getConstifiedMixedSizes(),
       view.getConstifiedMixedStrides()},
      {metadata.getConstifiedMixedOffset(), metadata.getConstifiedMixedSizes(),
       metadata.getConstifiedMixedStrides()});
}

SmallVector<ViewRange> cpu::getExistingRanges(OpBuilder &b, Location loc,
                                              Value buffer) {
  Operation *op = buffer.getDefiningOp();
  if (auto cast = dyn_cast_or_null<memref::CastOp>(op);
      cast && isa<MemRefType>(cast.getSource().getType()))
    return getExistingRanges(b, loc, cast.getSource());
  if (auto view = dyn_cast_or_null<memref::SubViewOp>(op))
    return getSubviewRanges(b, loc, getExistingRanges(b, loc, view.getSource()),
                            view.getMixedOffsets(), view.getMixedSizes(),
                            view.getMixedStrides(), view.getDroppedDims());
  if (auto transpose = dyn_cast_or_null<memref::TransposeOp>(op)) {
    SmallVector<ViewRange> source =
        getExistingRanges(b, loc, transpose.getIn());
    SmallVector<ViewRange> result;
    for (AffineExpr expr : transpose.getPermutation().getResults())
      result.push_back(source[cast<AffineDimExpr>(expr).getPosition()]);
    return result;
  }
  SmallVector<ViewRange> whole;
  for (Value size : getSizes(b, loc, buffer))
    whole.push_back({Value(), size});
  if (auto view = dyn_cast_or_null<memref::ReinterpretCastOp>(op))
    return existOnlyIf(b, loc, isInRoot(b, loc, view), whole);
  // Of what cannot be taken apart, all exists or nothing does.
  if (auto view = dyn_cast_or_null<ViewLikeOpInterface>(op);
      view && isa<MemRefType>(view.getViewSource().getType())) {
    Value source = view.getViewSource();
    Value condition = existsWhole(b, loc, getExistingRanges(b, loc, source),
                                  getSizes(b, loc, source));
    return existOnlyIf(b, loc, condition, whole);
  }
  return whole;
}
