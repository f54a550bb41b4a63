//===- TileRegion.cpp - The tile that a transfer moves ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileRegion.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tile;

LogicalResult tile::foldCastsIntoOp(Operation *op) {
  bool changed = false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto cast = operand.get().getDefiningOp<memref::CastOp>();
    if (cast && memref::CastOp::canFoldIntoConsumerOp(cast)) {
      operand.set(cast.getSource());
      changed = true;
    }
  }
  return success(changed);
}

SmallVector<OpFoldResult>
TileRegion::getMixedOffsets(MLIRContext *context) const {
  if (offsets.empty())
    return SmallVector<OpFoldResult>(type.getRank(),
                                     Builder(context).getIndexAttr(0));
  return getMixedValues(offsets, values, context);
}

/// The extents that one side states by itself: its sizes, or its shape where it
/// is moved whole. A whole buffer of dynamic shape states none.
static std::optional<SmallVector<int64_t>>
getStatedTile(const TileRegion &region) {
  if (!region.sizes.empty())
    return SmallVector<int64_t>(region.sizes);
  if (region.offsets.empty() && region.type.hasStaticShape())
    return SmallVector<int64_t>(region.type.getShape());
  return std::nullopt;
}

/// `tile` as extents of a buffer of `rank` dimensions: aligned to the last one,
/// ones in front, ones cut from the front.
static std::optional<SmallVector<int64_t>> alignTile(ArrayRef<int64_t> tile,
                                                     int64_t rank) {
  int64_t extra = static_cast<int64_t>(tile.size()) - rank;
  if (extra <= 0) {
    SmallVector<int64_t> result(-extra, 1);
    result.append(tile.begin(), tile.end());
    return result;
  }
  if (llvm::any_of(tile.take_front(extra), [](int64_t e) { return e != 1; }))
    return std::nullopt;
  return SmallVector<int64_t>(tile.drop_front(extra));
}

FailureOr<SmallVector<int64_t>> tile::getTile(const TileRegion &region,
                                              const TileRegion &other) {
  if (auto stated = getStatedTile(region))
    return *stated;
  if (auto stated = getStatedTile(other))
    if (auto aligned = alignTile(*stated, region.type.getRank()))
      return *aligned;
  return failure();
}

/// Checks the offsets and sizes of one side.
static LogicalResult verifySide(Operation *op, const TileRegion &region) {
  auto rank = static_cast<size_t>(region.type.getRank());
  // copy-c1
  if (!region.offsets.empty() && region.offsets.size() != rank)
    return op->emitOpError("expects one offset for each of the ")
           << rank << " dimensions of '" << region.name << "', got "
           << region.offsets.size();
  size_t open = llvm::count_if(region.offsets, ShapedType::isDynamic);
  if (open != region.values.size())
    return op->emitOpError("expects one value for each of the ")
           << open << " offsets of '" << region.name
           << "' that are not constant, got " << region.values.size();
  // copy-c2
  if (!region.sizes.empty() && region.sizes.size() != rank)
    return op->emitOpError("expects one size for each of the ")
           << rank << " dimensions of '" << region.name << "', got "
           << region.sizes.size();
  for (int64_t size : region.sizes)
    if (size <= 0)
      return op->emitOpError("expects sizes of one or more for '")
             << region.name << "', got " << size;
  return success();
}

/// Checks that a tile of an on-chip buffer lies inside it, as far as constants
/// tell: only global buffers have a meaning outside.
static LogicalResult verifyInside(Operation *op, const TileRegion &region,
                                  ArrayRef<int64_t> tile) {
  if (!isOnChip(region.type))
    return success();
  for (auto [dim, offset, size, extent] :
       llvm::enumerate(region.getMixedOffsets(op->getContext()), tile,
                       region.type.getShape())) {
    std::optional<int64_t> start = getConstantIntValue(offset);
    if (!start || ShapedType::isDynamic(extent))
      continue;
    // copy-c3
    if (*start < 0 || *start > extent - size)
      return op->emitOpError("expects the tile to lie inside the on-chip '")
             << region.name << "', got " << size << " elements from " << *start
             << " on, of " << extent << " in dimension " << dim;
  }
  return success();
}

LogicalResult tile::verifyTransfer(Operation *op, const TileRegion &source,
                                   const TileRegion &target) {
  if (failed(verifySide(op, source)) || failed(verifySide(op, target)))
    return failure();
  // The tile is known only once the extents of on-chip buffers are.
  auto isOpen = [](MemRefType type) {
    return isOnChip(type) && !type.hasStaticShape();
  };
  if (isOpen(source.type) || isOpen(target.type))
    return success();
  FailureOr<SmallVector<int64_t>> sourceTile = getTile(source, target);
  FailureOr<SmallVector<int64_t>> targetTile = getTile(target, source);
  // copy-c8
  if (failed(sourceTile) || failed(targetTile))
    return op->emitOpError(
        "expects the extents of the tile from one side: give 'sizes', or take "
        "a whole buffer of static shape whose leading extents beyond the other "
        "side's rank are one");
  // copy-c9
  auto dropOnes = [](ArrayRef<int64_t> tile) {
    return llvm::to_vector(
        llvm::make_filter_range(tile, [](int64_t e) { return e != 1; }));
  };
  if (dropOnes(*sourceTile) != dropOnes(*targetTile)) {
    InFlightDiagnostic diag = op->emitOpError(
        "expects tiles of equal extents, apart from ones, got [");
    llvm::interleaveComma(*sourceTile, diag);
    diag << "] and [";
    llvm::interleaveComma(*targetTile, diag);
    return diag << "]";
  }
  if (failed(verifyInside(op, source, *sourceTile)))
    return failure();
  return verifyInside(op, target, *targetTile);
}
