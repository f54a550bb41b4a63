//===- MemoryOps.cpp - Allocation and movement ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules and simplification of allocations, copies and fills.
//
//===----------------------------------------------------------------------===//

#include "AssemblyFormat.h"
#include "TileRegion.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tile;

LogicalResult CopyOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return foldCastsIntoOp(*this);
}
LogicalResult FillOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return foldCastsIntoOp(*this);
}
LogicalResult GemmOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return foldCastsIntoOp(*this);
}
LogicalResult GemmAsyncOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return foldCastsIntoOp(*this);
}
LogicalResult ReduceOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
  return foldCastsIntoOp(*this);
}
LogicalResult ScanOp::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {
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

/// Two elements that strides put in one place; none where each has its own.
static std::optional<std::pair<SmallVector<int64_t>, SmallVector<int64_t>>>
findOverlap(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  // Where each stride reaches beyond all smaller ones nothing overlaps.
  SmallVector<size_t> order = llvm::to_vector(llvm::seq<size_t>(shape.size()));
  llvm::sort(order,
             [&](size_t x, size_t y) { return strides[x] < strides[y]; });
  int64_t reach = 0;
  bool isNested = true;
  for (size_t dim : order) {
    if (shape[dim] == 1)
      continue;
    isNested &= strides[dim] > reach;
    reach += strides[dim] * (shape[dim] - 1);
  }
  if (isNested)
    return std::nullopt;
  DenseMap<int64_t, int64_t> seen;
  auto locate = [&](int64_t number) {
    SmallVector<int64_t> coordinate(shape.size());
    for (size_t dim = shape.size(); dim-- > 0; number /= shape[dim])
      coordinate[dim] = number % shape[dim];
    return coordinate;
  };
  for (int64_t i = 0, e = ShapedType::getNumElements(shape); i < e; ++i) {
    SmallVector<int64_t> coordinate = locate(i);
    int64_t place = 0;
    for (auto [index, stride] : llvm::zip(coordinate, strides))
      place += index * stride;
    auto [at, isNew] = seen.try_emplace(place, i);
    if (!isNew)
      return std::pair(locate(at->second), coordinate);
  }
  return std::nullopt;
}

static LogicalResult verifySharedLayout(AllocSharedOp op) {
  MemRefType type = op.getBuffer().getType();
  ArrayRef<int64_t> strides =
      cast<SharedAttr>(type.getMemorySpace()).getStrides();
  // alloc-c6
  constexpr int64_t most = int64_t(1) << 32;
  if (strides.empty())
    return success();
  if (int64_t(strides.size()) != type.getRank() ||
      llvm::any_of(strides,
                   [](int64_t stride) { return stride < 0 || stride > most; }))
    return op.emitOpError("expects a stride from 0 to ")
           << most << " for each of " << type.getRank() << " dimensions, got ["
           << strides << "]";
  // alloc-c7: beyond a block's memory others complain.
  constexpr int64_t mostElements = 1 << 18;
  if (!type.hasStaticShape() ||
      llvm::any_of(type.getShape(),
                   [](int64_t extent) { return extent > mostElements; }) ||
      type.getNumElements() > mostElements)
    return success();
  auto overlap = findOverlap(type.getShape(), strides);
  if (!overlap)
    return success();
  return op.emitOpError("expects strides that give each element a place of its "
                        "own, but [")
         << overlap->first << "] and [" << overlap->second
         << "] share one with [" << strides << "]";
}

LogicalResult AllocSharedOp::verify() {
  if (failed(verifyAlloc(*this, getBuffer().getType(), getDynamicSizes().size(),
                         /*perLane=*/false)))
    return failure();
  return verifySharedLayout(*this);
}
LogicalResult AllocFragmentOp::verify() {
  return verifyAlloc(*this, getBuffer().getType(), getDynamicSizes().size(),
                     /*perLane=*/false);
}
LogicalResult AllocLocalOp::verify() {
  return verifyAlloc(*this, getBuffer().getType(), getDynamicSizes().size(),
                     /*perLane=*/true);
}

LogicalResult AllocGlobalOp::verify() {
  MemRefType type = getBuffer().getType();
  // global-c1
  if (type.getMemorySpace() || !type.getLayout().isIdentity())
    return emitOpError("expects a buffer without memory space, strides or "
                       "offset, got ")
           << type;
  // global-c2
  if (getDynamicSizes().size() != type.getNumDynamicDims())
    return emitOpError("expects one size for each of the ")
           << type.getNumDynamicDims() << " dynamic extents, got "
           << getDynamicSizes().size();
  // global-c3
  auto function = dyn_cast_or_null<FunctionOpInterface>((*this)->getParentOp());
  if (!function || !(*this)->getBlock()->isEntryBlock())
    return emitOpError("must stand directly in a function's body, outside "
                       "loops, branches and launches");
  // global-c4
  for (Block &block : function.getFunctionBody())
    if (Operation *end = &block.back(); end->hasTrait<OpTrait::ReturnLike>())
      for (Value value : end->getOperands())
        if (getRootBuffer(value) == getBuffer())
          return emitOpError("names a workspace that ends with the function, "
                             "but the function returns it");
  return success();
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
void AllocGlobalOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
  patterns
      .add<FoldConstantSizes<AllocGlobalOp>, EraseUnusedAlloc<AllocGlobalOp>>(
          context);
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
        targetSizes, /*cache=*/CachePolicyAttr(), /*saturate=*/false,
        /*is_unsigned=*/false, /*is_async=*/false);
}

SmallVector<OpFoldResult> CopyOp::getMixedSourceOffsets() {
  return getSourceRegion(*this).getMixedOffsets(getContext());
}
SmallVector<OpFoldResult> CopyOp::getMixedTargetOffsets() {
  return getTargetRegion(*this).getMixedOffsets(getContext());
}
FailureOr<SmallVector<int64_t>> CopyOp::getSourceTile() {
  return getTile(getSourceRegion(*this), getTargetRegion(*this));
}
FailureOr<SmallVector<int64_t>> CopyOp::getTargetTile() {
  return getTile(getTargetRegion(*this), getSourceRegion(*this));
}

LogicalResult CopyOp::verify() {
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
  // copy-c10
  if (getIsAsync() &&
      (from != to || !isGlobal(getSourceType()) || !isShared(getTargetType())))
    return emitOpError("is 'async' only from global to shared memory without "
                       "a conversion, got ")
           << getSourceType() << " to " << getTargetType();

  // copy-c11
  bool fromGlobal = isGlobal(getSourceType());
  bool toGlobal = isGlobal(getTargetType());
  if (getCache() && !fromGlobal && !toGlobal)
    return emitOpError("has a 'cache' policy, but neither side is in global "
                       "memory");
  // copy-c12
  bool isAsyncEngine =
      getEngine() == CopyEngine::CpAsync || getEngine() == CopyEngine::TMA;
  bool toShared = fromGlobal && isShared(getTargetType());
  bool fromShared = toGlobal && isShared(getSourceType());
  if (isAsyncEngine &&
      (from != to ||
       !(toShared || (fromShared && getEngine() == CopyEngine::TMA))))
    return emitOpError("cannot run on engine(")
           << stringifyCopyEngine(getEngine())
           << "), which moves elements as they are from global to shared "
              "memory"
           << (getEngine() == CopyEngine::TMA ? " or back" : "") << "; got "
           << getSourceType() << " to " << getTargetType();
  return verifyTransfer(*this, getSourceRegion(*this), getTargetRegion(*this));
}

void CopyOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<FoldConstantOffsets<CopyOp>>(context);
}
