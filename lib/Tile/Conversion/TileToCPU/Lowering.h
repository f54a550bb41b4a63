//===- Lowering.h - Pieces of the lowering to the CPU -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of this folder share. Each lowers one kind of op, in place:
// the rewriter stands at the op, emits scf, vector, memref and arith ops, and
// erases it. On-chip buffers keep their memory space until everything else is
// lowered (Launch.cpp strips it last), so that every step can still tell a
// global buffer, which has bounds, from scratch memory, which has none.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_TILETOCPU_LOWERING_H
#define TILE_CONVERSION_TILETOCPU_LOWERING_H

#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace tile::cpu {

/// What every lowering of one launch needs to know.
struct LaunchContext {
  LaunchOp launch;
  /// Bytes in a vector register.
  int64_t vectorBytes = 32;
  /// Counted for the pass's statistics.
  unsigned numVectorized = 0, numScalar = 0;

  Bounds bounds() { return launch.getBounds(); }
  /// Lanes of `type` in a vector register, at least one.
  int64_t lanes(mlir::Type type) const;
};

//===----------------------------------------------------------------------===//
// Small values (Elements.cpp)
//===----------------------------------------------------------------------===//

mlir::Value constantIndex(mlir::OpBuilder &b, mlir::Location loc,
                          int64_t value);

/// Adds two indices, folding zeros and constants.
mlir::Value addIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                     mlir::Value y);
mlir::Value addIndex(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                     int64_t y);

/// Zero, one or the like of a scalar or vector type.
mlir::Value zeroOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type);

/// `value` (scalar or vector) as elements of `to`: round to nearest even
/// between floats; floats to integers truncate and clamp, NaN to zero; integers
/// to narrower ones wrap, or clamp with `saturate`.
struct ElementConversion {
  bool saturate = false;
  bool isUnsigned = false;
};
mlir::Value convertElement(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value value, mlir::Type to,
                           ElementConversion how = {});

/// A vector with `value` in every lane; `value` itself where it is one already.
mlir::Value splat(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                  int64_t lanes);

/// A nest of scf.for from zero to `extents` in steps of one.
void buildLoops(
    mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange extents,
    llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange)> body);
void buildLoops(
    mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int64_t> extents,
    llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange)> body);

/// Covers `extent` elements by vectors: `body` is called with the first element
/// and the number of lanes, from a loop over full vectors and once for the
/// rest.
void buildVectorLoop(
    mlir::OpBuilder &b, mlir::Location loc, int64_t extent, int64_t lanes,
    llvm::function_ref<void(mlir::OpBuilder &, mlir::Value, int64_t)> body);

/// True where elements along the last dimension lie next to each other in
/// memory and vectors of them may be loaded. i1 may not: a vector of it is a
/// packed bit set, a buffer of it is not.
bool isContiguous(mlir::MemRefType type);

/// Scratch memory of `shape`, distinct from every other buffer.
mlir::Value allocateScratch(mlir::OpBuilder &b, mlir::Location loc,
                            llvm::ArrayRef<int64_t> shape, mlir::Type element);

//===----------------------------------------------------------------------===//
// Bounds of global buffers (Bounds.cpp)
//===----------------------------------------------------------------------===//

/// Smallest and largest value an index can take, both reached or wider.
struct IndexRange {
  mlir::Value low, high;
};

/// Known ranges of the indices that vary; other values are ranges of one point.
using RangeMap = llvm::DenseMap<mlir::Value, IndexRange>;

/// The range of `index`, as values computed at the builder's insertion point
/// from values that dominate it. Fails where the index comes from something
/// whose range is not known there, such as a loaded value.
mlir::FailureOr<IndexRange> getRange(mlir::OpBuilder &b, mlir::Location loc,
                                     mlir::Value index, RangeMap &known,
                                     mlir::Operation *scope);

/// Whether one access lies inside its buffer: an i1, or null where it is known
/// to.
mlir::Value isInside(mlir::OpBuilder &b, mlir::Location loc, mlir::Value buffer,
                     mlir::ValueRange indices);

/// Reports an access outside `buffer` at run time (see the JIT's
/// `__tile_cpu_report`).
void buildReport(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *op,
                 llvm::StringRef what);

/// Replaces loads and stores of global buffers below `root` by guarded ones.
void guardAccesses(mlir::RewriterBase &rewriter, LaunchContext &context,
                   mlir::Operation *root);

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

mlir::LogicalResult lowerCopy(mlir::RewriterBase &rewriter,
                              LaunchContext &context, CopyOp op);
mlir::LogicalResult lowerFill(mlir::RewriterBase &rewriter,
                              LaunchContext &context, FillOp op);
mlir::LogicalResult lowerGemm(mlir::RewriterBase &rewriter,
                              LaunchContext &context, GemmOp op);
mlir::LogicalResult lowerReduce(mlir::RewriterBase &rewriter,
                                LaunchContext &context, ReduceOp op);
mlir::LogicalResult lowerParallel(mlir::RewriterBase &rewriter,
                                  LaunchContext &context, ParallelOp op);
mlir::LogicalResult lowerPipelined(mlir::RewriterBase &rewriter,
                                   PipelinedOp op);

/// Emits the body of `op` for `lanes` consecutive points along the last
/// dimension, the first at `ivs`. With `guard`, accesses to global buffers are
/// masked. The caller has asked canVectorize.
bool canVectorize(ParallelOp op);
void vectorizeBody(mlir::OpBuilder &b, LaunchContext &context, ParallelOp op,
                   mlir::ValueRange ivs, int64_t lanes, bool guard);

/// Lowers a whole launch and strips the memory spaces.
mlir::LogicalResult lowerLaunch(mlir::RewriterBase &rewriter,
                                LaunchContext &context);

/// Expands elementary functions below `root` (Math.cpp).
mlir::LogicalResult lowerMath(mlir::Operation *root);

} // namespace tile::cpu

#endif // TILE_CONVERSION_TILETOCPU_LOWERING_H
