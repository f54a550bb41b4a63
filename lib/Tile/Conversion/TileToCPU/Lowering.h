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
#include "Tile/Transforms/ViewRanges.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

namespace tile::cpu {

/// The tile of a global buffer that a copy reads in the next step of a loop or
/// in the next block, as far as this one is from it along `dim`.
struct NextTile {
  mlir::Value buffer;
  llvm::SmallVector<mlir::OpFoldResult> offsets;
  llvm::SmallVector<int64_t> tile;
  unsigned dim;
};

/// What every lowering of one launch needs to know.
struct LaunchContext {
  LaunchOp launch;
  /// Bytes in a vector register.
  int64_t vectorBytes = 32;
  /// Counted for the pass's statistics.
  unsigned numVectorized = 0, numScalar = 0;
  /// A block may have printed.
  bool prints = false;
  /// A block may have stored around the caches.
  bool streams = false;
  /// What elementwise loops ask for in the place of copies.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<NextTile>> readAhead;

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

/// What two vectors of `size` lanes shuffle to, to exchange blocks of `block`
/// lanes: the even blocks of both in turn, and the odd ones.
std::pair<llvm::SmallVector<int64_t>, llvm::SmallVector<int64_t>>
getExchangeMasks(int64_t size, int64_t block);

/// `value` (scalar or vector) as elements of `to`: to the nearest, ties to
/// even, where floats are converted; floats to integers clamp, NaN to zero;
/// integers to narrower ones wrap, or clamp with `saturate`.
struct ElementConversion {
  bool saturate = false;
  bool isUnsigned = false;
};
mlir::Value convertElement(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value value, mlir::Type to,
                           ElementConversion how = {});

/// A cache line, and the widest vector register.
inline constexpr int64_t kAlignment = 64;

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
/// memory and vectors of them may be loaded. i1 and i4 may not: vectors of them
/// are packed, on-chip buffers of them hold one element a byte.
bool isContiguous(mlir::MemRefType type);

/// Bits of an element, of an index those it has in registers.
int64_t getElementBits(mlir::Type element);

/// The bytes of a buffer of static shape; the largest integer where there are
/// more.
int64_t getSizeInBytes(mlir::MemRefType type);

/// Whether there was no memory for an allocation.
mlir::Value isNull(mlir::OpBuilder &b, mlir::Location loc, mlir::Value buffer);

/// Scratch memory of `shape`, distinct from every other buffer.
mlir::Value allocateScratch(mlir::OpBuilder &b, mlir::Location loc,
                            llvm::ArrayRef<int64_t> shape, mlir::Type element);

//===----------------------------------------------------------------------===//
// Tiles of larger buffers (Clip.cpp)
//===----------------------------------------------------------------------===//

/// One side of a copy or an atomic: how the loops over the tile index its
/// buffer. There is one loop for each extent of the tile that is not one.
struct TileSide {
  mlir::Value buffer;
  llvm::SmallVector<mlir::Value> offsets;
  llvm::SmallVector<int64_t> tile;

  mlir::MemRefType type() const {
    return llvm::cast<mlir::MemRefType>(buffer.getType());
  }
  /// Indices for a point of the loops.
  llvm::SmallVector<mlir::Value> at(mlir::OpBuilder &b, mlir::Location loc,
                                    mlir::ValueRange point) const;
  /// The dimension of the buffer that loop `loop` runs along.
  unsigned dimOfLoop(unsigned loop) const;
};

/// The part of the loops' range for which a side's buffer exists.
struct TileClip {
  llvm::SmallVector<mlir::Value> low, high;
  /// i1: nothing is clipped. Null where that is known.
  mlir::Value whole;
};

/// Clips each loop to the extents of `side`'s buffer. Dimensions without a loop
/// (extents of one) empty all of them where they lie outside.
TileClip clip(mlir::OpBuilder &b, mlir::Location loc, const TileSide &side,
              llvm::ArrayRef<int64_t> loops);

//===----------------------------------------------------------------------===//
// Streaming stores (Stream.cpp)
//===----------------------------------------------------------------------===//

/// An i1: the buffer is so large that it is better written around the caches,
/// and `start`, like every element some rows and whole cache lines further,
/// begins a line. Null where that is known not to be so.
mlir::Value mayStream(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value buffer, mlir::ValueRange start);

/// Stores a vector, with `stream` around the caches if it fills lines.
void buildStore(mlir::OpBuilder &b, mlir::Location loc, mlir::Value vector,
                mlir::Value buffer, mlir::ValueRange indices, bool stream);

//===----------------------------------------------------------------------===//
// Combining elements (Combine.cpp)
//===----------------------------------------------------------------------===//

/// How reductions and scans combine elements.
struct Combiner {
  ReduceKind kind;
  /// The type in which elements are combined.
  mlir::Type type;
  bool isUnsigned;
  mlir::arith::FastMathFlags flags;

  /// Narrow floats are combined in f32, everything else in the target's type.
  static mlir::Type getType(mlir::Type target);

  /// What leaves every element as it is; zero lanes stand for a scalar.
  mlir::Value identity(mlir::OpBuilder &b, mlir::Location loc,
                       int64_t lanes) const;
  /// The absolute value where the kind wants it.
  mlir::Value prepare(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value value) const;
  mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                      mlir::Value y) const;

  /// Whether one instruction combines numbers, but loses NaN where it is `x`.
  bool losesNaN() const;
  /// The same for a number `y`; gives `y` where `x` is NaN.
  mlir::Value combineNumbers(mlir::OpBuilder &b, mlir::Location loc,
                             mlir::Value x, mlir::Value y) const;
  mlir::Value notANumber(mlir::OpBuilder &b, mlir::Location loc,
                         int64_t lanes) const;
};

//===----------------------------------------------------------------------===//
// The elements that a global buffer has (Extents.cpp)
//===----------------------------------------------------------------------===//

/// One range for each dimension of `buffer`: its extents, but for views that
/// leave the buffer behind them.
llvm::SmallVector<ViewRange>
getExistingRanges(mlir::OpBuilder &b, mlir::Location loc, mlir::Value buffer);

//===----------------------------------------------------------------------===//
// Bounds of global buffers (Bounds.cpp)
//===----------------------------------------------------------------------===//

/// Smallest and largest value an index can take, both reached or wider.
struct IndexRange {
  mlir::Value low, high;
};

/// Known ranges of the indices that vary; other values are ranges of one point.
struct RangeMap {
  llvm::DenseMap<mlir::Value, IndexRange> ranges;
  /// What has to hold for them, as i1s computed beside them.
  llvm::SmallVector<mlir::Value> conditions;
};

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

/// An access of one element of a global buffer.
struct GlobalAccess {
  mlir::Value buffer;
  mlir::ValueRange indices;
  /// For messages.
  llvm::StringRef what;
};
std::optional<GlobalAccess> getGlobalAccess(mlir::Operation *op);

/// Replaces loads, stores and atomics on global buffers below `root` by guarded
/// ones.
void guardAccesses(mlir::RewriterBase &rewriter, LaunchContext &context,
                   mlir::Operation *root);

//===----------------------------------------------------------------------===//
// Reports and prints (Debug.cpp)
//===----------------------------------------------------------------------===//

/// Calls a function without results that the JIT provides.
void callRuntime(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *op,
                 llvm::StringRef function, mlir::ValueRange arguments);

/// The same for one that takes nothing and gives `result`.
mlir::Value askRuntime(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Operation *op, llvm::StringRef function,
                       mlir::Type result);

/// The address of `text`, which ends in a zero byte there.
mlir::Value constantText(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Operation *op, llvm::StringRef text);

/// Shows the lines printed so far, in the order of their blocks.
void buildPrintFlush(mlir::OpBuilder &b, mlir::Location loc,
                     mlir::Operation *op);

/// `file:line:column: ` of the op in the tile program.
std::string describePlace(mlir::Operation *op);

/// Reports at run time what went wrong at `op` (see the JIT's
/// `__tile_cpu_report`).
void buildReport(mlir::OpBuilder &b, mlir::Location loc, mlir::Operation *op,
                 llvm::StringRef what);

/// Lets no loop below `root` run whose step is not positive (LoopSteps.cpp).
void guardSteps(mlir::RewriterBase &rewriter, mlir::Operation *root);

//===----------------------------------------------------------------------===//
// Order of tiles (Persistent.cpp)
//===----------------------------------------------------------------------===//

/// The number of points in a box of `extents`, none of them negative. A box of
/// more than kMaxCount `things` is reported and counts as empty.
mlir::Value countPoints(mlir::OpBuilder &b, mlir::Operation *op,
                        llvm::ArrayRef<mlir::Value> extents,
                        llvm::StringRef things);

/// The point with this number in a box of 1 to 3 dimensions, whose last counts
/// columns, the one before it rows and a third planes.
llvm::SmallVector<mlir::Value> unravel(mlir::OpBuilder &b, mlir::Location loc,
                                       mlir::Value number,
                                       llvm::ArrayRef<mlir::Value> extents,
                                       RasterAttr raster);

//===----------------------------------------------------------------------===//
// Packed elements (Packed.cpp)
//===----------------------------------------------------------------------===//

/// True for buffers that hold two elements a byte: global ones of i4.
bool isPacked(mlir::MemRefType type);

/// Replaces accesses of packed buffers below `root` by accesses of bytes.
/// What stands in launches below `root` is left alone.
mlir::LogicalResult lowerPackedAccesses(mlir::RewriterBase &rewriter,
                                        mlir::Operation *root);

/// Makes loops of the updates of single elements below `root` for which
/// upstream knows no instruction (AtomicLoops.cpp).
void lowerAtomicLoops(mlir::RewriterBase &rewriter, mlir::Operation *root);

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// `next` is the dimension along which the tile that is read next lies.
mlir::LogicalResult lowerCopy(mlir::RewriterBase &rewriter,
                              LaunchContext &context, CopyOp op,
                              std::optional<unsigned> next);
mlir::LogicalResult lowerFill(mlir::RewriterBase &rewriter,
                              LaunchContext &context, FillOp op);
mlir::LogicalResult lowerGemm(mlir::RewriterBase &rewriter,
                              LaunchContext &context, GemmOp op);
mlir::LogicalResult lowerReduce(mlir::RewriterBase &rewriter,
                                LaunchContext &context, ReduceOp op);
mlir::LogicalResult lowerScan(mlir::RewriterBase &rewriter,
                              LaunchContext &context, ScanOp op);
/// `op` is one of the atomics on tiles.
mlir::LogicalResult lowerAtomic(mlir::RewriterBase &rewriter,
                                LaunchContext &context, mlir::Operation *op);
mlir::LogicalResult lowerParallel(mlir::RewriterBase &rewriter,
                                  LaunchContext &context, ParallelOp op);
mlir::LogicalResult lowerPersistent(mlir::RewriterBase &rewriter,
                                    LaunchContext &context, PersistentOp op);
mlir::LogicalResult lowerAssert(mlir::RewriterBase &rewriter, AssertOp op);
/// `launch` is null where the op stands on the host side.
mlir::LogicalResult lowerPrint(mlir::RewriterBase &rewriter, LaunchOp launch,
                               PrintOp op);
/// Steps run as they are written.
mlir::LogicalResult lowerStep(mlir::RewriterBase &rewriter, StepOp op);
mlir::LogicalResult lowerPipelined(mlir::RewriterBase &rewriter,
                                   PipelinedOp op);

/// Emits the body of `op` for `lanes` consecutive points along the last
/// dimension, the first at `ivs`. The caller has asked canVectorize.
bool canVectorize(ParallelOp op);
struct VectorizeOptions {
  /// Mask accesses to global buffers where they have no elements.
  bool guard = false;
  /// Each global buffer has an element for each access of each lane, also of
  /// those that a condition turns off.
  bool inside = false;
  /// Stores of neighbouring elements to global buffers go around the caches.
  bool stream = false;
};
class IntervalAnalysis;
void vectorizeBody(mlir::OpBuilder &b, LaunchContext &context, ParallelOp op,
                   mlir::ValueRange ivs, int64_t lanes,
                   VectorizeOptions options, IntervalAnalysis &intervals);

/// Keeps operands of gemms in f32 where only copies fill them (Widen.cpp).
void widenGemmOperands(LaunchOp launch);

/// Lowers what stands beside the launches of a function.
mlir::LogicalResult lowerHostOps(mlir::RewriterBase &rewriter,
                                 mlir::Operation *function);

/// Makes buffers below `root` plain memory.
void stripMemorySpaces(mlir::Operation *root);

/// Checks what the lowering of a launch relies on, and decides what does not
/// concern a single op.
mlir::LogicalResult prepareLaunch(LaunchOp launch);

class SharedCode;
/// Lowers a whole launch and strips the memory spaces.
mlir::LogicalResult lowerLaunch(mlir::RewriterBase &rewriter,
                                LaunchContext &context, SharedCode &shared);

/// Computes an elementwise op in f32 instead of narrower floats and rounds each
/// of its results (NarrowFloats.cpp).
mlir::LogicalResult computeInF32(mlir::PatternRewriter &rewriter,
                                 mlir::Operation *op,
                                 llvm::function_ref<bool(mlir::Type)> isNarrow);

/// Replaces conversions that upstream lacks or rounds twice (NarrowFloats.cpp).
void populateNarrowFloatPatterns(mlir::RewritePatternSet &patterns);

/// Expands elementary functions below `root` (Math.cpp).
mlir::LogicalResult lowerMath(mlir::Operation *root, int64_t vectorBytes);

} // namespace tile::cpu

#endif // TILE_CONVERSION_TILETOCPU_LOWERING_H
