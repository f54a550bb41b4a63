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
  return suggestLoopLayout(
      loop, [&](Value fragment) -> std::optional<FragmentLayout> {
        auto at = known.find(fragment);
        if (at == known.end())
          return std::nullopt;
        return at->second;
      });
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

void LayoutInference::resolveConflicts() {
  SmallVector<Operation *> ops;
  launch.walk([&](Operation *op) {
    if (isa<ParallelOp, ReduceOp, GemmOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (auto loop = dyn_cast<ParallelOp>(op))
      resolveLoop(loop);
    else if (auto reduce = dyn_cast<ReduceOp>(op))
      resolveReduce(reduce);
    else
      resolveGemm(cast<GemmOp>(op));
  }
}

void LayoutInference::resolveLoop(ParallelOp loop) {
  std::optional<FragmentLayout> suggested = suggest(loop);
  FragmentLayout layout =
      suggested ? *suggested
                : getDealtLayout(loop.getStaticExtents(), threads, 1);
  // By buffer: what the loop needs of it and does to it.
  struct Need {
    FragmentLayout layout;
    bool reads, writes, fits;
  };
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
                           false, true});
    at->second.reads |= !isStore;
    at->second.writes |= isStore;
    at->second.fits &= fits;
  });
  for (auto &[fragment, need] : needs) {
    if (need.fits)
      continue;
    // A loop may write only part of the buffer, so it is read in any case.
    Value inner =
        convertAround(loop, fragment, need.layout, /*reads=*/true, need.writes);
    forEachFragmentAccess(
        loop,
        [&, fragment = fragment](Operation *, OpOperand &buffer, ValueRange) {
          if (buffer.get() == fragment)
            buffer.set(inner);
        });
  }
}

void LayoutInference::resolveReduce(ReduceOp reduce) {
  FragmentLayout wanted = getReducedLayout(reduce);
  if (known.find(reduce.getTarget())->second == wanted)
    return;
  reduce.getTargetMutable().assign(convertAround(reduce, reduce.getTarget(),
                                                 wanted, reduce.getAccumulate(),
                                                 /*writes=*/true));
}

void LayoutInference::resolveGemm(GemmOp gemm) {
  std::optional<GemmPlan> plan = planGemm(gemm, threads, chip);
  if (!plan)
    return;
  if (FragmentLayout wanted = plan->layoutC();
      known.find(gemm.getC())->second != wanted)
    gemm.getCMutable().assign(convertAround(gemm, gemm.getC(), wanted,
                                            !gemm.getClear(),
                                            /*writes=*/true));
  if (!isFragment(gemm.getA().getType()))
    return;
  if (FragmentLayout wanted = plan->layoutA();
      known.find(gemm.getA())->second != wanted)
    gemm.getAMutable().assign(convertAround(gemm, gemm.getA(), wanted,
                                            /*reads=*/true,
                                            /*writes=*/false));
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
    auto bitsOf = [](MemRefType type) {
      return type.getElementType().isIndex()
                 ? 64u
                 : type.getElementType().getIntOrFloatBitWidth();
    };
    MemRefType narrow =
        bitsOf(copy.getSourceType()) < bitsOf(copy.getTargetType())
            ? copy.getSourceType()
            : copy.getTargetType();
    OpBuilder builder(copy);
    auto type = MemRefType::get(
        copy.getSourceType().getShape(), narrow.getElementType(),
        MemRefLayoutAttrInterface(), SharedAttr::get(copy.getContext()));
    Value shared =
        AllocSharedOp::create(builder, copy.getLoc(), type, ValueRange());
    auto half = [&](Value source, Value target) {
      auto part = CopyOp::create(builder, copy.getLoc(), source,
                                 ArrayRef<OpFoldResult>(), target,
                                 ArrayRef<OpFoldResult>());
      if (cast<MemRefType>(source.getType()).getElementType() !=
          cast<MemRefType>(target.getType()).getElementType()) {
        part.setSaturate(copy.getSaturate());
        part.setIsUnsigned(copy.getIsUnsigned());
      }
    };
    half(copy.getSource(), shared);
    half(shared, copy.getTarget());
    copy.erase();
  }
}
