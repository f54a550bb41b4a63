//===- MemoryOps.cpp - Allocation and movement ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules and simplification of allocations, copies and fills.
//
//===----------------------------------------------------------------------===//

#include "AssemblyFormat.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tile;

/// Replaces operands that are casts from a more static type by their source, so
/// that extents become known once tunables are fixed.
static LogicalResult foldCastsIntoOp(Operation *op) {
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

LogicalResult CopyOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return foldCastsIntoOp(*this);
}
LogicalResult FillOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return foldCastsIntoOp(*this);
}
LogicalResult GemmOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return foldCastsIntoOp(*this);
}
LogicalResult ReduceOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return foldCastsIntoOp(*this);
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

static LogicalResult verifyAlloc(Operation *op, MemRefType type,
                                 unsigned numSizes, bool perLane) {
  // alloc-c1
  if (!type.getLayout().isIdentity())
    return op->emitOpError("expects a buffer without strides or offset (views "
                           "come from memref.subview), got ")
           << type;
  // alloc-c2
  if (numSizes != type.getNumDynamicDims())
    return op->emitOpError("expects one size for each of the ")
           << type.getNumDynamicDims() << " dynamic extents, got " << numSizes;
  // alloc-c3
  for (int64_t extent : type.getShape())
    if (extent == 0)
      return op->emitOpError("expects extents of one or more, got ") << type;
  // alloc-c4
  Operation *parallel = op->getParentOfType<ParallelOp>();
  if (parallel && !perLane) {
    InFlightDiagnostic diag = op->emitOpError(
        "must stand outside elementwise loops; inside one, alloc_local gives "
        "each lane a buffer of its own");
    diag.attachNote(parallel->getLoc()) << "the loop is here";
    return diag;
  }
  // alloc-c5: a function with launches is a host function; without, it may be
  // a helper that a launch calls.
  if (!op->getParentOfType<LaunchOp>()) {
    auto function = op->getParentOfType<FunctionOpInterface>();
    bool hasLaunch = false;
    if (function)
      function->walk([&](LaunchOp) {
        hasLaunch = true;
        return WalkResult::interrupt();
      });
    if (hasLaunch)
      return op->emitOpError("must stand inside a tile.launch: on-chip "
                             "buffers belong to a block");
  }
  return success();
}

LogicalResult AllocSharedOp::verify() {
  return verifyAlloc(*this, getBuffer().getType(), getDynamicSizes().size(),
                     /*perLane=*/false);
}
LogicalResult AllocFragmentOp::verify() {
  return verifyAlloc(*this, getBuffer().getType(), getDynamicSizes().size(),
                     /*perLane=*/false);
}
LogicalResult AllocLocalOp::verify() {
  return verifyAlloc(*this, getBuffer().getType(), getDynamicSizes().size(),
                     /*perLane=*/true);
}

namespace {
/// A constant size becomes a static extent; a cast keeps the users' type until
/// they fold it.
template <typename AllocOp>
struct FoldConstantSizes : OpRewritePattern<AllocOp> {
  using OpRewritePattern<AllocOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(AllocOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<MemRefType>(op.getBuffer().getType());
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<Value> sizes;
    unsigned next = 0;
    for (int64_t &extent : shape) {
      if (!ShapedType::isDynamic(extent))
        continue;
      Value size = op.getDynamicSizes()[next++];
      llvm::APInt constant;
      if (matchPattern(size, m_ConstantInt(&constant)) &&
          constant.isStrictlyPositive())
        extent = constant.getSExtValue();
      else
        sizes.push_back(size);
    }
    if (sizes.size() == op.getDynamicSizes().size())
      return rewriter.notifyMatchFailure(op, "no size is constant");
    auto staticType = MemRefType::get(shape, type.getElementType(),
                                      type.getLayout(), type.getMemorySpace());
    auto alloc = AllocOp::create(rewriter, op.getLoc(), staticType, sizes);
    rewriter.replaceOpWithNewOp<memref::CastOp>(op, type, alloc.getBuffer());
    return success();
  }
};

/// An allocation that is only written is of no use to anyone.
template <typename AllocOp>
struct EraseUnusedAlloc : OpRewritePattern<AllocOp> {
  using OpRewritePattern<AllocOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(AllocOp op,
                                PatternRewriter &rewriter) const override {
    if (!op->use_empty())
      return rewriter.notifyMatchFailure(op, "the buffer is used");
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void AllocSharedOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
  patterns
      .add<FoldConstantSizes<AllocSharedOp>, EraseUnusedAlloc<AllocSharedOp>>(
          context);
}
void AllocFragmentOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                  MLIRContext *context) {
  patterns.add<FoldConstantSizes<AllocFragmentOp>,
               EraseUnusedAlloc<AllocFragmentOp>>(context);
}
void AllocLocalOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<FoldConstantSizes<AllocLocalOp>, EraseUnusedAlloc<AllocLocalOp>>(
      context);
}

//===----------------------------------------------------------------------===//
// CopyOp
//===----------------------------------------------------------------------===//

void CopyOp::build(OpBuilder &builder, OperationState &state, Value source,
                   ArrayRef<OpFoldResult> sourceOffsets, Value target,
                   ArrayRef<OpFoldResult> targetOffsets,
                   ArrayRef<int64_t> sourceSizes,
                   ArrayRef<int64_t> targetSizes) {
  SmallVector<Value> sourceValues, targetValues;
  SmallVector<int64_t> sourceConstants, targetConstants;
  dispatchIndexOpFoldResults(sourceOffsets, sourceValues, sourceConstants);
  dispatchIndexOpFoldResults(targetOffsets, targetValues, targetConstants);
  build(builder, state, source, sourceValues, target, targetValues,
        /*pad=*/Value(), sourceConstants, sourceSizes, targetConstants,
        targetSizes, /*saturate=*/false, /*is_unsigned=*/false);
}

static SmallVector<OpFoldResult> getOffsets(MLIRContext *context,
                                            ValueRange values,
                                            ArrayRef<int64_t> constants,
                                            int64_t rank) {
  Builder builder(context);
  if (constants.empty())
    return SmallVector<OpFoldResult>(rank, builder.getIndexAttr(0));
  return getMixedValues(constants, values, context);
}

SmallVector<OpFoldResult> CopyOp::getMixedSourceOffsets() {
  return getOffsets(getContext(), getSourceOffsets(), getStaticSourceOffsets(),
                    getSourceType().getRank());
}
SmallVector<OpFoldResult> CopyOp::getMixedTargetOffsets() {
  return getOffsets(getContext(), getTargetOffsets(), getStaticTargetOffsets(),
                    getTargetType().getRank());
}

/// The extents that one side states by itself: its sizes, or its shape where it
/// is copied whole. A whole buffer of dynamic shape states none.
static std::optional<SmallVector<int64_t>>
getStatedTile(MemRefType type, ArrayRef<int64_t> offsets,
              ArrayRef<int64_t> sizes) {
  if (!sizes.empty())
    return SmallVector<int64_t>(sizes);
  if (offsets.empty() && type.hasStaticShape())
    return SmallVector<int64_t>(type.getShape());
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

static FailureOr<SmallVector<int64_t>>
getTile(MemRefType type, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
        MemRefType otherType, ArrayRef<int64_t> otherOffsets,
        ArrayRef<int64_t> otherSizes) {
  if (auto stated = getStatedTile(type, offsets, sizes))
    return *stated;
  if (auto other = getStatedTile(otherType, otherOffsets, otherSizes))
    if (auto aligned = alignTile(*other, type.getRank()))
      return *aligned;
  return failure();
}

FailureOr<SmallVector<int64_t>> CopyOp::getSourceTile() {
  return getTile(getSourceType(), getStaticSourceOffsets(), getSourceSizes(),
                 getTargetType(), getStaticTargetOffsets(), getTargetSizes());
}
FailureOr<SmallVector<int64_t>> CopyOp::getTargetTile() {
  return getTile(getTargetType(), getStaticTargetOffsets(), getTargetSizes(),
                 getSourceType(), getStaticSourceOffsets(), getSourceSizes());
}

/// Checks the offsets and sizes of one side.
static LogicalResult verifySide(CopyOp op, StringRef side, MemRefType type,
                                ArrayRef<int64_t> offsets, size_t numValues,
                                ArrayRef<int64_t> sizes) {
  auto rank = static_cast<size_t>(type.getRank());
  // copy-c1
  if (!offsets.empty() && offsets.size() != rank)
    return op.emitOpError("expects one offset for each of the ")
           << rank << " dimensions of '" << side << "', got " << offsets.size();
  size_t open = llvm::count_if(offsets, ShapedType::isDynamic);
  if (open != numValues)
    return op.emitOpError("expects one value for each of the ")
           << open << " offsets of '" << side << "' that are not constant, got "
           << numValues;
  // copy-c2
  if (!sizes.empty() && sizes.size() != rank)
    return op.emitOpError("expects one size for each of the ")
           << rank << " dimensions of '" << side << "', got " << sizes.size();
  for (int64_t size : sizes)
    if (size <= 0)
      return op.emitOpError("expects sizes of one or more for '")
             << side << "', got " << size;
  return success();
}

/// Checks that a tile of an on-chip buffer lies inside it, as far as constants
/// tell: only global buffers have a meaning outside.
static LogicalResult verifyInside(CopyOp op, StringRef side, MemRefType type,
                                  ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<int64_t> tile) {
  if (!isOnChip(type))
    return success();
  for (auto [dim, offset, size, extent] :
       llvm::enumerate(offsets, tile, type.getShape())) {
    std::optional<int64_t> start = getConstantIntValue(offset);
    if (!start || ShapedType::isDynamic(extent))
      continue;
    // copy-c3
    if (*start < 0 || *start > extent - size)
      return op.emitOpError("expects the tile to lie inside the on-chip '")
             << side << "', got " << size << " elements from " << *start
             << " on, of " << extent << " in dimension " << dim;
  }
  return success();
}

LogicalResult CopyOp::verify() {
  if (failed(verifySide(*this, "source", getSourceType(),
                        getStaticSourceOffsets(), getSourceOffsets().size(),
                        getSourceSizes())) ||
      failed(verifySide(*this, "target", getTargetType(),
                        getStaticTargetOffsets(), getTargetOffsets().size(),
                        getTargetSizes())))
    return failure();
  // copy-c4
  Type from = getSourceType().getElementType();
  Type to = getTargetType().getElementType();
  if (from != to && (isa<IndexType>(from) || isa<IndexType>(to)))
    return emitOpError("expects index elements on both sides or on neither, "
                       "got ")
           << from << " and " << to;
  // copy-c5
  if (getPad() && getPad().getType() != from)
    return emitOpError("expects 'pad' to have the element type of 'source', ")
           << from << ", got " << getPad().getType();
  // copy-c6
  if (getSaturate() && from == to)
    return emitOpError("saturates only where it converts, but both sides have "
                       "elements of type ")
           << from;
  // copy-c7
  if (getIsUnsigned() && !isa<IntegerType>(from) && !isa<IntegerType>(to))
    return emitOpError("'unsigned' needs integers on one side, got ")
           << from << " and " << to;

  // The tile is known only once the extents of on-chip buffers are.
  auto isOpen = [](MemRefType type) {
    return isOnChip(type) && !type.hasStaticShape();
  };
  if (isOpen(getSourceType()) || isOpen(getTargetType()))
    return success();
  FailureOr<SmallVector<int64_t>> source = getSourceTile();
  FailureOr<SmallVector<int64_t>> target = getTargetTile();
  // copy-c8
  if (failed(source) || failed(target))
    return emitOpError(
        "expects the extents of the tile from one side: give 'sizes', or copy "
        "a whole buffer of static shape whose leading extents beyond the other "
        "side's rank are one");
  // copy-c9
  auto dropOnes = [](ArrayRef<int64_t> tile) {
    return llvm::to_vector(
        llvm::make_filter_range(tile, [](int64_t e) { return e != 1; }));
  };
  if (dropOnes(*source) != dropOnes(*target)) {
    InFlightDiagnostic diag =
        emitOpError("expects tiles of equal extents, apart from ones, got [");
    llvm::interleaveComma(*source, diag);
    diag << "] and [";
    llvm::interleaveComma(*target, diag);
    return diag << "]";
  }
  if (failed(verifyInside(*this, "source", getSourceType(),
                          getMixedSourceOffsets(), *source)))
    return failure();
  return verifyInside(*this, "target", getTargetType(), getMixedTargetOffsets(),
                      *target);
}

namespace {
/// Constant offsets become part of the op.
struct FoldConstantOffsets : OpRewritePattern<CopyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CopyOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> source = op.getMixedSourceOffsets();
    SmallVector<OpFoldResult> target = op.getMixedTargetOffsets();
    bool changed = succeeded(foldDynamicIndexList(source));
    changed |= succeeded(foldDynamicIndexList(target));
    if (!changed)
      return rewriter.notifyMatchFailure(op, "no offset is constant");
    SmallVector<Value> sourceValues, targetValues;
    SmallVector<int64_t> sourceConstants, targetConstants;
    dispatchIndexOpFoldResults(source, sourceValues, sourceConstants);
    dispatchIndexOpFoldResults(target, targetValues, targetConstants);
    rewriter.modifyOpInPlace(op, [&] {
      op.getSourceOffsetsMutable().assign(sourceValues);
      op.getTargetOffsetsMutable().assign(targetValues);
      // A side without offsets stays without.
      if (!op.getStaticSourceOffsets().empty())
        op.setStaticSourceOffsets(sourceConstants);
      if (!op.getStaticTargetOffsets().empty())
        op.setStaticTargetOffsets(targetConstants);
    });
    return success();
  }
};
} // namespace

void CopyOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<FoldConstantOffsets>(context);
}
