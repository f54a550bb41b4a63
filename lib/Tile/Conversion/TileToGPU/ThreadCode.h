//===- ThreadCode.h - Code of one thread of a launch ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what one thread does for each op of a launch. Expects what layout
// inference and barrier insertion leave. Scalar ops are cloned; ops on tiles
// are divided by the layouts of their fragments, or dealt out.
//
// Memory is addressed through LLVM pointers from here on: a buffer is a View.
// Fragments and local buffers are arrays on the thread's stack with constant
// indices, which LLVM turns into registers.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_TILETOGPU_THREADCODE_H
#define TILE_CONVERSION_TILETOGPU_THREADCODE_H

#include "Tile/IR/Layouts.h"
#include "Tile/Layout/MatrixTransfer.h"
#include "Tile/Transforms/GemmPlan.h"
#include "Tile/Transforms/KnownDivisor.h"
#include "Tile/Transforms/LoopLayouts.h"
#include "Tile/Transforms/ThreadLevel.h"
#include "Tile/Transforms/ViewRanges.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tile::gpu_code {

using mlir::OpFoldResult;
using mlir::Value;
using Values = llvm::SmallVector<Value>;

/// A strided buffer in memory.
struct View {
  /// A pointer; for packed elements the address of a half byte (Packed.cpp).
  Value base;
  mlir::Type element;
  Space space = Space::Global;
  llvm::SmallVector<OpFoldResult> sizes, strides;
  /// The elements that exist, where that is not known to be all of `sizes`.
  llvm::SmallVector<ViewRange> ranges;
  /// Bytes that the address of the first element is known to be a multiple of;
  /// zero where it may be in the middle of one.
  int64_t baseAlignment = 1;
  /// What dynamic strides (but the last) are multiples of, in bytes.
  int64_t promisedAlignment = 1;
  /// For each dimension, what both ends of the elements that exist are known to
  /// be multiples of. Constant ends speak for themselves.
  llvm::SmallVector<int64_t> endDivisors;

  /// What is done to offsets, which count from `base`; the view starts `offset`
  /// elements behind (null for none), a multiple of the swizzle's period or
  /// not.
  layout::Swizzle swizzle;
  Value offset;
  bool isOffsetPeriodic = true;

  /// How long what is accessed is to stay in the cache.
  std::optional<CachePolicy> cache;

  int64_t getRank() const { return sizes.size(); }
  /// The end of the elements that exist along a dimension.
  OpFoldResult getEnd(int64_t dim) const {
    return ranges.empty() ? sizes[dim] : OpFoldResult(ranges[dim].high);
  }
  /// Where they begin; null for zero.
  Value getStart(int64_t dim) const {
    return ranges.empty() ? Value() : ranges[dim].low;
  }
  bool isPacked() const {
    return space == Space::Global && element.isInteger(4);
  }
  /// Of one element in memory.
  int64_t getBits() const {
    if (element.isIndex())
      return 64;
    int64_t bits = element.getIntOrFloatBitWidth();
    return isPacked() ? bits : std::max<int64_t>(8, bits);
  }
  /// Bytes that `elements` elements are known to be, rounded down.
  int64_t toBytes(int64_t elements) const { return elements * getBits() / 8; }
};

/// Where a register slot of a layout lies in the tile: `thread`, which depends
/// on the thread only, plus `slot`, dimension by dimension.
class Slots {
public:
  Slots(mlir::ImplicitLocOpBuilder &builder, Value threadId,
        const layout::FragmentLayout &layout);

  const Values &thread() const { return threadPart; }
  /// Constants wherever the layout strides through the tile.
  llvm::SmallVector<OpFoldResult> slot(int64_t reg);
  Values coordinates(int64_t reg);
  /// The bits that the sum of thread() times `strides` may have.
  int64_t threadBits(llvm::ArrayRef<int64_t> strides) const;
  /// Whether the slot holds an element; null where it always does.
  Value isUsed(int64_t reg);
  /// Whether this thread is the first of those that hold the same elements;
  /// null where there is one only.
  Value isFirstCopy();
  /// Whether this slot is the one of those that hold its element that acts for
  /// all of them; null where no other does. Exact for every layout, at the
  /// price of a table for irregular ones.
  Value isOwner(int64_t reg);
  /// The largest group of up to `most` registers of which a thread owns all or
  /// none.
  int64_t getOwnedWidth(int64_t most);

private:
  /// A table of the kernel's module, one number for each thread, and what it
  /// says for this one.
  std::string makeTable(llvm::ArrayRef<int32_t> column);
  Value lookUp(llvm::StringRef table);
  Value elementFromTable(int64_t reg);
  Values delinearize(Value element);

  mlir::ImplicitLocOpBuilder &b;
  Value threadId;
  const layout::FragmentLayout &layout;
  /// The thread's part of the coordinate in the layout's box.
  Values boxPart;
  layout::Coordinate largestBoxPart;
  Values threadPart;
  /// How `isOwner` tells: not at all, by the digits of replicas, by a table.
  enum class Ownership { Unknown, Single, Digits, Table };
  void findOwnership();
  bool owns(int64_t thread, int64_t reg) const;
  Ownership ownership = Ownership::Unknown;
  Value firstCopy;
  std::vector<std::vector<layout::Owner>> owners;
  llvm::DenseMap<int64_t, std::string> ownerTables;
};

/// How a reduction or a scan combines two elements.
struct Combiner {
  ReduceKind kind;
  bool isUnsigned;
  mlir::arith::FastMathFlags flags;
  /// The type partial results have: that of the results, but small floats are
  /// combined in f32 and rounded once.
  mlir::Type type;
};

/// What the kernels of one function assert, each of it once.
class Reports {
public:
  using Report = std::pair<mlir::Location, std::string>;

  int64_t add(Report report) {
    auto at = llvm::find(reports, report);
    if (at == reports.end())
      at = reports.insert(at, std::move(report));
    return at - reports.begin();
  }
  llvm::ArrayRef<Report> get() const { return reports; }

private:
  std::vector<Report> reports;
};

class ThreadCode {
public:
  /// `sharedBase` points to the launch's shared memory, of which named buffers
  /// take `bufferBytes`.
  ThreadCode(mlir::ImplicitLocOpBuilder &builder, LaunchOp launch,
             const Chip &chip, int64_t bufferBytes, Value sharedBase);

  /// Where the launch notes, with a word for each, what does not hold.
  void setReports(Reports *reports, Value words) {
    this->reports = reports;
    reportWords = words;
  }

  /// Names the kernel's view of a global buffer of the host, whose base is a
  /// pointer here.
  void setView(Value buffer, View view) {
    if (view.isPacked())
      view.base = getHalfAddress(view.base);
    views[buffer] = std::move(view);
  }
  mlir::IRMapping &mapping() { return map; }
  /// Emits an op that stands in front of the launch's body.
  mlir::LogicalResult emit(mlir::Operation *op);
  mlir::LogicalResult emitBody();
  /// Bytes of shared memory the code uses, once it is all there.
  int64_t getSharedBytes() const {
    return bufferBytes + barrierBytes + scratchBytes;
  }

private:
  friend class Slots;

  //===--- ThreadCode.cpp
  //--------------------------------------------------===//

  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitRegionOp(mlir::Operation *op);
  mlir::LogicalResult emitPipelined(PipelinedOp op);
  void emitAlloc(mlir::Operation *op);
  mlir::LogicalResult emitView(mlir::Operation *op);
  void emitSubView(mlir::memref::SubViewOp op, View &view);
  mlir::LogicalResult emitReinterpretCast(mlir::memref::ReinterpretCastOp op,
                                          View &view);
  llvm::SmallVector<ViewRange> getRanges(const View &view);
  void restrict(View &view, Value condition);
  mlir::LogicalResult checkPlain(mlir::Operation *op, Value buffer);

  Value constant(int64_t value);
  Value i32(int64_t value);
  Value mapped(OpFoldResult value);
  llvm::SmallVector<OpFoldResult> mapped(llvm::ArrayRef<OpFoldResult> values);
  Value materialize(OpFoldResult value);
  Value add(Value a, Value b);
  Value mul(Value a, Value b);
  Value allOf(Value a, Value b);

  //===--- Memory.cpp
  //------------------------------------------------------===//

  const View &getView(Value buffer) const;
  Value getAddress(const View &view, Value offset);
  Value swizzle(const layout::Swizzle &swizzle, Value offset);
  Value getOffset(const View &view, mlir::ValueRange indices);
  /// Whether the element lies in its buffer; null where that needs no test.
  Value isInside(const View &view, mlir::ValueRange indices);
  Value isInside(const View &view, int64_t dim, Value index);
  Value loadElement(const View &view, mlir::ValueRange indices);
  /// Asserts `what` of an access, that `inside` (which counts if `when`, which
  /// may be null, holds) holds, where the launch's bounds trap.
  void assertInside(Value when, Value inside, llvm::StringRef what);
  void storeElement(const View &view, mlir::ValueRange indices, Value value,
                    Value predicate);
  mlir::LogicalResult emitLoad(mlir::Operation *op);
  mlir::LogicalResult emitStore(mlir::Operation *op);
  /// `count` neighbours at `address`, zero where the predicate (may be null)
  /// does not hold.
  Values loadChunk(const View &view, Value address, int64_t count,
                   Value predicate);
  void storeChunk(const View &view, Value address, mlir::ValueRange values,
                  Value predicate);
  Value getFragment(Value buffer) const { return stackArrays.lookup(buffer); }
  Value loadRegister(Value buffer, int64_t reg);
  void storeRegister(Value buffer, int64_t reg, Value value);
  /// The same for 32 bits at a time, as i32: neighbours that share a word stay
  /// together on their way through loops. `count` counts elements.
  Values loadWords(Value buffer, int64_t reg, int64_t count);
  void storeWord(Value buffer, int64_t reg, Value word);
  mlir::Type storageType(mlir::Type element);
  Value toStorage(Value value);
  Value fromStorage(Value value, mlir::Type element);

  //===--- Convert.cpp
  //-----------------------------------------------------===//

  struct Conversion {
    mlir::Type to;
    bool saturate = false, isUnsigned = false;
  };
  /// Each value in another element type, in pairs where the hardware does.
  Values convert(mlir::ValueRange values, Conversion conversion);
  Value convert(Value value, Conversion conversion) {
    return convert(mlir::ValueRange(value), conversion).front();
  }

  //===--- Copy.cpp
  //--------------------------------------------------------===//

  struct Side;
  mlir::LogicalResult emitCopy(CopyOp op);
  mlir::LogicalResult emitRegisterCopy(CopyOp op);
  mlir::LogicalResult emitFill(FillOp op);
  std::optional<layout::MatrixTransfer>
  getMatrixTransfer(const Side &side, const layout::FragmentLayout &layout);
  std::optional<layout::MatrixTransfer>
  getMatrixLoad(CopyOp op, const Side &source,
                const layout::FragmentLayout &layout);
  void emitMatrixLoad(CopyOp op, Side &source,
                      const layout::MatrixTransfer &transfer);
  std::optional<layout::MatrixTransfer>
  getMatrixStore(const Side &target, const layout::FragmentLayout &layout);
  void emitMatrixStore(CopyOp op, Side &target,
                       const layout::MatrixTransfer &transfer);
  void copyAsync(Value target, Value source, int64_t bytes, Value inside,
                 Value isUsed);
  /// How many registers in a row, up to `most`, always hold neighbours in the
  /// last dimension; a power of two, as is `most`.
  int64_t getVectorWidth(const layout::FragmentLayout &layout, int64_t most);
  int64_t getChunk(const Side &side, int64_t most);
  int64_t getCommonBits(const Side &side, Slots &slots);
  Value getRest(OpFoldResult size, Value index);
  Value isLess(int64_t element, Value rest);
  void prepareSide(Side &side, Slots &slots);
  Value getSideAddress(const Side &side, Slots &slots, int64_t reg,
                       int64_t extra);
  Value getSidePredicate(const Side &side, Slots &slots, int64_t reg);

  //===--- Atomic.cpp
  //------------------------------------------------------===//

  template <typename OpTy> mlir::LogicalResult emitAtomic(OpTy op);
  mlir::LogicalResult emitAtomicElement(mlir::Operation *op);
  /// How an element changes: by an instruction with `operand`, where there is
  /// one, else to what `next` makes of the old element.
  struct Update {
    std::optional<mlir::LLVM::AtomicBinOp> instruction;
    Value operand;
    llvm::function_ref<Value(Value)> next;
  };
  /// Changes the element at `address` where `predicate` (may be null) holds;
  /// gives the old element, zero where it does not, or null where `returnsOld`
  /// is not asked for.
  Value updateElement(const Update &update, const View &view, Value address,
                      Value predicate, bool returnsOld);
  Value updateElement(mlir::arith::AtomicRMWKind kind, const View &view,
                      Value address, Value value, Value predicate,
                      bool returnsOld);
  /// The same for neighbours, without their old contents.
  void addChunk(const View &view, Value address, mlir::ValueRange values,
                Value predicate);
  int64_t getAtomicChunk(const Side &target, int64_t most);
  /// A value that one thread has, on all of them.
  Value broadcast(Value value, Value isHolder);

  /// Replaces the bits of an element by what `next` makes of them; gives the
  /// old ones. They are `guess` first, or what a load finds where it is null.
  Value updateBits(Value address, mlir::Type raw, Value guess,
                   llvm::function_ref<Value(Value)> next);

  //===--- Roles.cpp
  //-------------------------------------------------------===//

  /// The warps that run the code being written: all of the block, or those of a
  /// role. `threads` and `threadId` are theirs.
  struct Team {
    /// The named barrier they meet on; the block's is 0.
    int64_t barrierId = 0;
    /// Where their scratch begins behind the named buffers.
    int64_t scratchStart = 0;
  };
  /// Waits until all threads of the team are here.
  void barrier();
  mlir::LogicalResult emitRoles(RolesOp op);
  void placeBarriers();
  Value getBarrierWord(Value barrier, Value index);
  mlir::LogicalResult emitAllocBarrier(AllocBarrierOp op);
  void signalBarrier(Value barrier, Value index, int64_t arrivals, Value bytes);
  void emitBarrierWait(BarrierWaitOp op);
  mlir::LogicalResult emitBarrierOp(mlir::Operation *op);
  mlir::LogicalResult emitCopyAsync(CopyAsyncOp op);
  /// Which threads run a statement outside of elementwise loops: one, unless it
  /// speaks of threads; null where all do.
  Value getActingThread(mlir::Operation *op);

  //===--- Packed.cpp
  //------------------------------------------------------===//

  Value getHalfAddress(Value pointer);
  Values loadHalves(Value address, int64_t count, Value predicate);
  void storeHalves(Value address, mlir::ValueRange values, Value predicate);

  //===--- Print.cpp
  //-------------------------------------------------------===//

  class Printer;
  mlir::LogicalResult emitAssert(AssertOp op);
  /// Notes where `when` holds that `what`, which the op being lowered asserts,
  /// does not.
  void report(Value when, llvm::StringRef what);
  mlir::LogicalResult emitPrint(PrintOp op);

  //===--- Scan.cpp
  //--------------------------------------------------------===//

  mlir::LogicalResult emitScan(ScanOp op);

  //===--- Loop.cpp
  //--------------------------------------------------------===//

  mlir::LogicalResult emitParallel(ParallelOp op);
  mlir::LogicalResult emitDealtLoop(ParallelOp op);

  //===--- Reduce.cpp
  //------------------------------------------------------===//

  mlir::LogicalResult emitReduce(ReduceOp op);
  void reduceThroughMemory(ReduceOp op, const layout::FragmentLayout &source,
                           const layout::FragmentLayout &target, int64_t dim);
  /// An element of the source as what is combined, and a result on its way into
  /// the target.
  Value loadPartial(ReduceOp op, int64_t reg);
  void storeResult(ReduceOp op, int64_t reg, Value value);
  template <typename OpTy> Combiner getCombiner(OpTy op);
  Value combine(const Combiner &combiner, Value a, Value b);
  Value combine(ReduceOp op, Value a, Value b);
  /// What combines with any element to that element.
  Value getIdentity(const Combiner &combiner);
  Value reduceAcrossLanes(ReduceOp op, Value value,
                          llvm::ArrayRef<int64_t> laneSteps);
  /// A value of any width of another lane: that whose number differs in the
  /// bits of `distance` (xor), or is smaller by it (up).
  enum class Exchange { Xor, Up };
  Value exchange(Value value, Exchange kind, int64_t distance);
  void reduceAcrossWarps(ReduceOp op, Values &values,
                         llvm::ArrayRef<std::pair<int64_t, int64_t>> digits);

  //===--- Gemm.cpp, MatrixOperands.cpp
  //------------------------------------===//

  mlir::LogicalResult emitGemm(GemmOp op);
  void emitMatrixGemm(GemmOp op, const GemmPlan &plan);
  void emitScalarGemm(GemmOp op);
  /// The registers that one instruction takes of A or B for the tile at (outer,
  /// inner) steps of the warp: outer counts along M or N, inner along K.
  struct Operand;
  Values loadOperand(Operand &operand, int64_t outer, int64_t inner);
  Operand getOperand(GemmOp op, const GemmPlan &plan, bool isA);
  /// One ldmatrix: `count` words, of the rows whose addresses the lanes give.
  Values loadMatrices(Value address, int64_t count,
                      layout::Transposed transposed);
  Values loadElements(const Operand &operand, int64_t outer, int64_t inner);
  /// Elements as the 32-bit words (or f64) that instructions take.
  Values packRegisters(mlir::ValueRange elements);
  Value roundToTF32(Value value);
  Values multiply(const GemmPlan &plan, mlir::ValueRange a, mlir::ValueRange b,
                  mlir::ValueRange c);

  /// Scratch for the inside of one op, behind all named buffers.
  Value getScratch(int64_t bytes);

  mlir::ImplicitLocOpBuilder &b;
  LaunchOp launch;
  const Chip &chip;
  int64_t bufferBytes;
  Value sharedBase, threadId;
  Reports *reports = nullptr;
  Value reportWords;
  int64_t threads;
  int64_t scratchBytes = 0;
  Team team;
  int64_t nextBarrierId = 1;
  /// Places of the program's barriers, behind the named buffers.
  llvm::DenseMap<Value, int64_t> barrierPlaces;
  int64_t barrierBytes = 0;
  ThreadLevel threadLevel;
  mlir::IRMapping map;
  llvm::DenseMap<Value, View> views;
  llvm::DenseMap<Value, Value> stackArrays;

  /// Under which copies ahead are issued; null where always.
  Value copyCondition;
  /// Commits of and waits for copies' groups, all of which are empty unless
  /// something may copy asynchronously.
  llvm::SmallVector<mlir::Operation *> copyGroups;
  bool mayCopyAsync = false;

  /// The point of the elementwise loop being unrolled.
  struct LoopPoint {
    int64_t reg = 0;
    llvm::DenseMap<mlir::Operation *, std::vector<int64_t>> registers;
    /// Which copy of a replicated loop writes to memory; may be null.
    Value mayStore;
    bool isActive = false;
  } point;
};

/// How many registers of a fragment, whose elements are stored as `storage`,
/// share 32 bits.
inline int64_t getRegistersOfWord(mlir::Type storage) {
  return std::max<int64_t>(1, 32 / storage.getIntOrFloatBitWidth());
}

} // namespace tile::gpu_code

#endif // TILE_CONVERSION_TILETOGPU_THREADCODE_H
