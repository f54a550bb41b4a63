//===- TileRegion.h - The tile that a transfer moves ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies and atomics name a tile on each of two sides: a whole buffer, or the
// part of a larger one at given offsets. Here is how the extents follow from
// the two sides and what makes them agree.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILEREGION_H
#define TILE_IR_TILEREGION_H

#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {

/// One side of a transfer, as the op states it.
struct TileRegion {
  /// How messages call the operand.
  llvm::StringRef name;
  mlir::MemRefType type;
  mlir::ValueRange values;
  llvm::ArrayRef<int64_t> offsets, sizes;

  /// One offset for each dimension; zeros where the op gives none.
  llvm::SmallVector<mlir::OpFoldResult>
  getMixedOffsets(mlir::MLIRContext *context) const;
};

/// The extents of the tile in `region`'s buffer. Fails where an extent is not
/// static.
mlir::FailureOr<llvm::SmallVector<int64_t>> getTile(const TileRegion &region,
                                                    const TileRegion &other);

/// The rules that both sides keep, alone and together.
mlir::LogicalResult verifyTransfer(mlir::Operation *op,
                                   const TileRegion &source,
                                   const TileRegion &target);

template <typename OpTy> TileRegion getSourceRegion(OpTy op) {
  return {"source", op.getSourceType(), op.getSourceOffsets(),
          op.getStaticSourceOffsets(), op.getSourceSizes()};
}
template <typename OpTy> TileRegion getTargetRegion(OpTy op) {
  return {"target", op.getTargetType(), op.getTargetOffsets(),
          op.getStaticTargetOffsets(), op.getTargetSizes()};
}

/// Constant offsets become part of the op.
template <typename OpTy>
struct FoldConstantOffsets : mlir::OpRewritePattern<OpTy> {
  using mlir::OpRewritePattern<OpTy>::OpRewritePattern;
  mlir::LogicalResult
  matchAndRewrite(OpTy op, mlir::PatternRewriter &rewriter) const override {
    llvm::SmallVector<mlir::OpFoldResult> source = op.getMixedSourceOffsets();
    llvm::SmallVector<mlir::OpFoldResult> target = op.getMixedTargetOffsets();
    bool changed = succeeded(mlir::foldDynamicIndexList(source));
    changed |= succeeded(mlir::foldDynamicIndexList(target));
    if (!changed)
      return rewriter.notifyMatchFailure(op, "no offset is constant");
    llvm::SmallVector<mlir::Value> sourceValues, targetValues;
    llvm::SmallVector<int64_t> sourceConstants, targetConstants;
    mlir::dispatchIndexOpFoldResults(source, sourceValues, sourceConstants);
    mlir::dispatchIndexOpFoldResults(target, targetValues, targetConstants);
    rewriter.modifyOpInPlace(op, [&] {
      op.getSourceOffsetsMutable().assign(sourceValues);
      op.getTargetOffsetsMutable().assign(targetValues);
      // A side without offsets stays without.
      if (!op.getStaticSourceOffsets().empty())
        op.setStaticSourceOffsets(sourceConstants);
      if (!op.getStaticTargetOffsets().empty())
        op.setStaticTargetOffsets(targetConstants);
    });
    return mlir::success();
  }
};

/// Replaces operands that are casts from a more static type by their source, so
/// that extents become known once tunables are fixed.
mlir::LogicalResult foldCastsIntoOp(mlir::Operation *op);

} // namespace tile

#endif // TILE_IR_TILEREGION_H
