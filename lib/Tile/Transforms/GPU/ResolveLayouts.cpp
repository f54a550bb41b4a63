//===- ResolveLayouts.cpp - Where two layouts meet --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op that needs a fragment in another layout gets a copy of it there. A copy
// between layouts is the explicit conversion: free where only the order of
// registers differs, through shared memory otherwise.
//
//===----------------------------------------------------------------------===//

#include "LayoutInference.h"
#include "Tile/IR/Layouts.h"
#include "Tile/Transforms/KnownDivisor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile;
using layout::FragmentLayout;

void LayoutInference::forEachFragmentAccess(ParallelOp loop,
                                            OnAccess onAccess) {
  loop.walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (isFragment(load.getMemRefType()))
        onAccess(op, load.getMemrefMutable(), load.getIndices());
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (isFragment(store.getMemRefType()))
        onAccess(op, store.getMemrefMutable(), store.getIndices());
    }
  });
}

std::optional<FragmentLayout> LayoutInference::suggest(ParallelOp loop) {
  auto layoutOf = [&](Value fragment) -> std::optional<FragmentLayout> {
    auto at = known.find(fragment);
    if (at == known.end())
      return std::nullopt;
    return at->second;
  };
  // What the program gives comes first.
  if (!pinned.empty())
    if (auto layout = suggestLoopLayout(loop, [&](Value fragment) {
          return isPinned(fragment) ? layoutOf(fragment) : std::nullopt;
        }))
      return layout;
  return suggestLoopLayout(loop, layoutOf);
}

FragmentLayout LayoutInference::reshapeTo(const FragmentLayout &layout,
                                          Value fragment) {
  auto reshaped = layout.reshape(
      getTileShape(cast<MemRefType>(fragment.getType()).getShape()));
  assert(reshaped && "both tiles have as many elements");
  return *reshaped;
}

FragmentLayout LayoutInference::getReducedLayout(ReduceOp reduce) {
  FragmentLayout::Slice slice =
      sliceLayout(known.find(reduce.getSource())->second, reduce.getDim());
  return reshapeTo(slice.layout, reduce.getTarget());
}

Value LayoutInference::convertAround(Operation *op, Value fragment,
                                     const FragmentLayout &layout, bool reads,
                                     bool writes) {
  ++numConversions;
  OpBuilder builder(op);
  Value inner = AllocFragmentOp::create(builder, op->getLoc(),
                                        cast<MemRefType>(fragment.getType()),
                                        ValueRange())
                    .getBuffer();
  assign(inner, layout);
  if (reads)
    CopyOp::create(builder, op->getLoc(), fragment, ArrayRef<OpFoldResult>(),
                   inner, ArrayRef<OpFoldResult>());
  if (writes) {
    builder.setInsertionPointAfter(op);
    CopyOp::create(builder, op->getLoc(), inner, ArrayRef<OpFoldResult>(),
                   fragment, ArrayRef<OpFoldResult>());
  }
  return inner;
}

LogicalResult LayoutInference::resolveConflicts() {
  SmallVector<Operation *> ops;
  launch.walk([&](Operation *op) {
    if (isa<ParallelOp, ReduceOp, GemmOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    auto loop = dyn_cast<ParallelOp>(op);
    auto reduce = dyn_cast<ReduceOp>(op);
    if (failed(loop     ? resolveLoop(loop)
               : reduce ? resolveReduce(reduce)
                        : resolveGemm(cast<GemmOp>(op))))
      return failure();
  }
  return success();
}

/// Gives a fragment contents where it is allocated; what nobody needs of that
/// costs nothing in registers.
static void initialize(Value fragment) {
  Operation *alloc = fragment.getDefiningOp();
  auto next = dyn_cast<FillOp>(alloc->getNextNode());
  if (next && next.getBuffer() == fragment)
    return;
  OpBuilder builder(alloc);
  Type element = cast<MemRefType>(fragment.getType()).getElementType();
  Value zero = arith::ConstantOp::create(builder, alloc->getLoc(),
                                         builder.getZeroAttr(element));
  builder.setInsertionPointAfter(alloc);
  FillOp::create(builder, alloc->getLoc(), fragment, zero);
}

LogicalResult LayoutInference::resolveLoop(ParallelOp loop) {
  std::optional<FragmentLayout> suggested = suggest(loop);
  FragmentLayout layout =
      suggested ? *suggested : getPlainLoopLayout(loop, threads);
  // By buffer: what the loop needs of it and does to it.
  struct Need {
    FragmentLayout layout;
    bool reads, writes, fits;
    /// Every element is certainly written, or read.
    bool writesAll, readsAll;
  };
  bool mayBeEmpty = llvm::is_contained(loop.getStaticExtents(), 0);
  llvm::MapVector<Value, Need> needs;
  forEachFragmentAccess(loop, [&](Operation *op, OpOperand &buffer,
                                  ValueRange indices) {
    LoopAccess access = *getLoopAccess(loop, buffer.get(), indices);
    ArrayRef<int64_t> shape =
        cast<MemRefType>(buffer.get().getType()).getShape();
    const FragmentLayout &has = known.find(buffer.get())->second;
    bool isStore = isa<memref::StoreOp>(op);
    bool fits = getAccessRegisters(layout, access, shape, has).has_value() &&
                (!isStore || reachesAllCopies(layout, access, shape, has));
    auto [at, isNew] = needs.try_emplace(
        buffer.get(), Need{getAccessLayout(layout, access, shape).layout, false,
                           false, true, false, false});
    at->second.reads |= !isStore;
    at->second.writes |= isStore;
    at->second.fits &= fits;
    // An access spans its buffer; under a condition not all lanes take part.
    if (!mayBeEmpty && op->getBlock() == &loop.getBody().front())
      (isStore ? at->second.writesAll : at->second.readsAll) = true;
  });
  Value given;
  for (auto &[fragment, need] : needs)
    if (need.fits && isPinned(fragment) && !given)
      given = fragment;
  for (auto &[fragment, need] : needs) {
    if (need.fits)
      continue;
    if (given && isPinned(fragment))
      return reportConflict(loop, given, fragment);
    // What the loop leaves as it is has to come back from it. Where it reads
    // only a part, the program may have given values to that part alone.
    bool reads = need.reads || !need.writesAll;
    if (reads && !need.readsAll)
      initialize(fragment);
    Value inner =
        convertAround(loop, fragment, need.layout, reads, need.writes);
    forEachFragmentAccess(
        loop,
        [&, fragment = fragment](Operation *, OpOperand &buffer, ValueRange) {
          if (buffer.get() == fragment)
            buffer.set(inner);
        });
  }
  return success();
}

LogicalResult LayoutInference::resolveReduce(ReduceOp reduce) {
  FragmentLayout wanted = getReducedLayout(reduce);
  if (known.find(reduce.getTarget())->second == wanted)
    return success();
  if (isPinned(reduce.getSource()) && isPinned(reduce.getTarget()))
    return reportConflict(reduce, reduce.getSource(), reduce.getTarget());
  reduce.getTargetMutable().assign(convertAround(reduce, reduce.getTarget(),
                                                 wanted, reduce.getAccumulate(),
                                                 /*writes=*/true));
  return success();
}

LogicalResult LayoutInference::resolveGemm(GemmOp gemm) {
  std::optional<GemmPlan> plan = planGemm(gemm, threads, chip);
  // Scalar products take any layout.
  if (!plan)
    return success();
  FragmentLayout wanted = plan->layoutC();
  Value result = gemm.getC();
  bool fits = known.find(result)->second == wanted;
  if (!fits)
    gemm.getCMutable().assign(convertAround(gemm, gemm.getC(), wanted,
                                            !gemm.getClear(),
                                            /*writes=*/true));
  if (!isFragment(gemm.getA().getType()) ||
      known.find(gemm.getA())->second == plan->layoutA())
    return success();
  if (fits && isPinned(result) && isPinned(gemm.getA()))
    return reportConflict(gemm, result, gemm.getA());
  gemm.getAMutable().assign(convertAround(gemm, gemm.getA(), plan->layoutA(),
                                          /*reads=*/true,
                                          /*writes=*/false));
  return success();
}

/// Two copies in place of one between fragments or from a fragment to global
/// memory, with `shared` in between.
static void splitCopy(CopyOp copy, Value shared) {
  OpBuilder builder(copy);
  auto first = CopyOp::create(builder, copy.getLoc(), copy.getSource(),
                              ArrayRef<OpFoldResult>(), shared,
                              ArrayRef<OpFoldResult>());
  // The copy itself becomes the second, so that it keeps what it says of its
  // target. Who converts says how.
  auto isConversion = [](CopyOp op) {
    return op.getSourceType().getElementType() !=
           op.getTargetType().getElementType();
  };
  bool saturates = copy.getSaturate(), isUnsigned = copy.getIsUnsigned();
  copy.getSourceMutable().assign(shared);
  for (CopyOp half : {first, copy}) {
    half.setSaturate(saturates && isConversion(half));
    half.setIsUnsigned(isUnsigned && isConversion(half));
  }
}

static int64_t getStoredBits(MemRefType type) {
  Type element = type.getElementType();
  return element.isIndex()
             ? 64
             : std::max<int64_t>(8, element.getIntOrFloatBitWidth());
}

/// Whether a copy to global memory may move 16 bytes at once, were it not for
/// the registers it comes from.
static bool allowsWideStores(CopyOp copy, int64_t promisedBytes) {
  constexpr int64_t wideBits = 128;
  MemRefType type = copy.getTargetType();
  int64_t bits = getStoredBits(type);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides.empty() ||
      strides.back() != 1 || promisedBytes * 8 % wideBits)
    return false;
  for (int64_t stride : ArrayRef<int64_t>(strides).drop_back())
    if (!ShapedType::isDynamic(stride) && stride * bits % wideBits)
      return false;
  if (!type.isDynamicDim(type.getRank() - 1) &&
      type.getDimSize(type.getRank() - 1) * bits % wideBits)
    return false;
  SmallVector<OpFoldResult> offsets = copy.getMixedTargetOffsets();
  return getKnownDivisor(offsets.back()) * bits % wideBits == 0;
}

void LayoutInference::stageNarrowStores() {
  constexpr int64_t wideBits = 128;
  int64_t promisedBytes = launch.getAlignment().value_or(1);
  int64_t sharedBytes = 0;
  SmallVector<CopyOp> copies;
  launch.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<AllocSharedOp>(op))
      sharedBytes +=
          getSharedBytes(cast<MemRefType>(alloc.getBuffer().getType()));
    auto copy = dyn_cast<CopyOp>(op);
    if (copy && isFragment(copy.getSourceType()) &&
        isGlobal(copy.getTargetType()))
      copies.push_back(copy);
  });
  for (CopyOp copy : copies) {
    MemRefType type = copy.getSourceType();
    int64_t bits = getStoredBits(copy.getTargetType());
    FragmentLayout layout = *getFragmentLayout(type);
    int64_t vector = layout.vectorWidth(layout.rank() - 1);
    // Two rows of a matrix instruction's registers are as far apart as whole
    // sectors; what is as wide gains nothing.
    if (type.getRank() < 2 || vector * bits >= wideBits ||
        type.getDimSize(type.getRank() - 1) * bits % wideBits ||
        !allowsWideStores(copy, promisedBytes))
      continue;
    // The buffer takes the place of those that are no longer in use.
    constexpr int64_t alwaysGranted = 16384;
    if (type.getNumElements() * bits / 8 >
        std::max(sharedBytes, alwaysGranted)) {
      copy.emitRemark("stores ")
          << vector * bits / 8 << " bytes at a time: its tile of "
          << type.getNumElements() * bits / 8
          << " bytes takes more shared memory than the launch uses otherwise";
      continue;
    }
    OpBuilder builder(copy);
    Value shared = AllocSharedOp::create(
        builder, copy.getLoc(),
        MemRefType::get(type.getShape(), copy.getTargetType().getElementType(),
                        MemRefLayoutAttrInterface(),
                        SharedAttr::get(copy.getContext())),
        ValueRange());
    splitCopy(copy, shared);
  }
}

void LayoutInference::splitFragmentCopies() {
  SmallVector<CopyOp> copies;
  launch.walk([&](CopyOp copy) {
    if (isFragment(copy.getSourceType()) && isFragment(copy.getTargetType()))
      copies.push_back(copy);
  });
  for (CopyOp copy : copies) {
    FragmentLayout from = *getFragmentLayout(copy.getSourceType());
    FragmentLayout to =
        reshapeTo(*getFragmentLayout(copy.getTargetType()), copy.getSource());
    if (to.registersFrom(from))
      continue;
    // The narrower of the two element types travels.
    MemRefType narrow = getStoredBits(copy.getSourceType()) <
                                getStoredBits(copy.getTargetType())
                            ? copy.getSourceType()
                            : copy.getTargetType();
    OpBuilder builder(copy);
    auto type = MemRefType::get(
        copy.getSourceType().getShape(), narrow.getElementType(),
        MemRefLayoutAttrInterface(), SharedAttr::get(copy.getContext()));
    Value shared =
        AllocSharedOp::create(builder, copy.getLoc(), type, ValueRange());
    splitCopy(copy, shared);
  }
}
