//===- AtomicOps.cpp - Accumulation in global memory ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyFormat.h"
#include "TileRegion.h"

using namespace mlir;
using namespace tile;

/// The element types that hardware combines in memory in one step.
static bool isAtomicElement(Type type) {
  return type.isF64() || type.isF32() || type.isF16() || type.isBF16() ||
         type.isInteger(64) || type.isInteger(32);
}

template <typename OpTy> static LogicalResult verifyAtomic(OpTy op) {
  Type from = op.getSourceType().getElementType();
  Type to = op.getTargetType().getElementType();
  // atomic-c1
  if (!isAtomicElement(to))
    return op.emitOpError("combines elements of f64, f32, f16, bf16, i64 or "
                          "i32 in global memory, got ")
           << to;
  // atomic-c2
  if (isa<IndexType>(from) || isa<FloatType>(from) != isa<FloatType>(to))
    return op.emitOpError("expects floats on both sides or integers on both, "
                          "got ")
           << from << " and " << to;
  // atomic-c3
  if (op.getIsUnsigned() && !isa<IntegerType>(to))
    return op.emitOpError("'unsigned' needs integers, got ") << to;
  return verifyTransfer(op, getSourceRegion(op), getTargetRegion(op));
}

// The three ops differ in nothing else.
#define TILE_ATOMIC_OP(OP)                                                     \
  SmallVector<OpFoldResult> OP::getMixedSourceOffsets() {                      \
    return getSourceRegion(*this).getMixedOffsets(getContext());               \
  }                                                                            \
  SmallVector<OpFoldResult> OP::getMixedTargetOffsets() {                      \
    return getTargetRegion(*this).getMixedOffsets(getContext());               \
  }                                                                            \
  FailureOr<SmallVector<int64_t>> OP::getSourceTile() {                        \
    return getTile(getSourceRegion(*this), getTargetRegion(*this));            \
  }                                                                            \
  FailureOr<SmallVector<int64_t>> OP::getTargetTile() {                        \
    return getTile(getTargetRegion(*this), getSourceRegion(*this));            \
  }                                                                            \
  LogicalResult OP::verify() { return verifyAtomic(*this); }                   \
  LogicalResult OP::fold(FoldAdaptor, SmallVectorImpl<OpFoldResult> &) {       \
    return foldCastsIntoOp(*this);                                             \
  }                                                                            \
  void OP::getCanonicalizationPatterns(RewritePatternSet &patterns,            \
                                       MLIRContext *context) {                 \
    patterns.add<FoldConstantOffsets<OP>>(context);                            \
  }

TILE_ATOMIC_OP(AtomicAddOp)
TILE_ATOMIC_OP(AtomicMaxOp)
TILE_ATOMIC_OP(AtomicMinOp)
