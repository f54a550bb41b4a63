//===- NormalizeFragments.cpp - What registers can hold ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fragment stays in registers where each access names its element by the
// induction variables of an elementwise loop, or takes the whole tile. All
// others become shared buffers, which is always right.
//
//===----------------------------------------------------------------------===//

#include "LayoutInference.h"
#include "Tile/IR/Layouts.h"
#include "Tile/IR/Updates.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tile;

/// True where a side of a copy is its whole buffer.
static bool isWhole(MemRefType type, ArrayRef<OpFoldResult> offsets,
                    FailureOr<SmallVector<int64_t>> tile) {
  return succeeded(tile) && ArrayRef<int64_t>(*tile) == type.getShape() &&
         llvm::all_of(offsets, [](OpFoldResult offset) {
           return isConstantIntValue(offset, 0);
         });
}

template <typename OpTy> static bool takesWholeSource(OpTy op) {
  return isWhole(op.getSourceType(), op.getMixedSourceOffsets(),
                 op.getSourceTile());
}

/// True for a loop that uses what an indivisible update found. It runs on one
/// thread for each lane, so it cannot follow the layout of a fragment that
/// several threads hold.
static bool readsOldElements(ParallelOp loop) {
  return loop
      .walk([](Operation *op) {
        return getUpdatedBuffer(op) && !op->use_empty()
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a store reaches every copy of its element. Where lanes share an
/// element, the threads of all of them hold a copy, and those whose lanes skip
/// the store would keep an old one.
static bool reachesAllCopies(memref::StoreOp store, ParallelOp loop,
                             const LoopAccess &access) {
  if (store->getParentOp() == loop)
    return true;
  for (auto [dim, extent] : llvm::enumerate(loop.getStaticExtents()))
    if (extent != 1 && !llvm::is_contained(access.dims, int64_t(dim)))
      return false;
  return true;
}

static bool staysInRegisters(OpOperand &use) {
  Operation *op = use.getOwner();
  // Another role, whose threads hold no part of it.
  if (op->getParentOfType<LaunchOp>() !=
      use.get().getDefiningOp()->getParentOfType<LaunchOp>())
    return false;
  if (auto copy = dyn_cast<CopyOp>(op)) {
    bool isSource = &use == &copy.getSourceMutable();
    return isSource
               ? isWhole(copy.getSourceType(), copy.getMixedSourceOffsets(),
                         copy.getSourceTile())
               : isWhole(copy.getTargetType(), copy.getMixedTargetOffsets(),
                         copy.getTargetTile());
  }
  if (isa<FillOp, GemmOp, ReduceOp, ScanOp, PrintOp, memref::DimOp>(op))
    return true;
  if (auto add = dyn_cast<AtomicAddOp>(op))
    return takesWholeSource(add);
  if (auto most = dyn_cast<AtomicMaxOp>(op))
    return takesWholeSource(most);
  if (auto least = dyn_cast<AtomicMinOp>(op))
    return takesWholeSource(least);
  auto loop = op->getParentOfType<ParallelOp>();
  if (!loop || readsOldElements(loop))
    return false;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return getLoopAccess(loop, use.get(), load.getIndices()).has_value();
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    std::optional<LoopAccess> access =
        getLoopAccess(loop, use.get(), store.getIndices());
    return access && reachesAllCopies(store, loop, *access);
  }
  return false;
}

/// True where all accesses of each loop reach one register on one thread: a
/// fragment read at (i, j) and at (j, i) has no layout that serves both.
static bool hasConsistentAccesses(Value fragment) {
  DenseMap<Operation *, SmallVector<int64_t>> seen;
  for (Operation *user : fragment.getUsers()) {
    auto loop = user->getParentOfType<ParallelOp>();
    if (!loop)
      continue;
    ValueRange indices;
    if (auto load = dyn_cast<memref::LoadOp>(user))
      indices = load.getIndices();
    else if (auto store = dyn_cast<memref::StoreOp>(user))
      indices = store.getIndices();
    else
      continue;
    LoopAccess access = *getLoopAccess(loop, fragment, indices);
    auto [at, isNew] = seen.try_emplace(loop, access.dims);
    if (at->second != access.dims)
      return false;
  }
  return true;
}

void LayoutInference::normalizeFragments() {
  SmallVector<AllocFragmentOp> demoted;
  launch.walk([&](AllocFragmentOp alloc) {
    if (!llvm::all_of(alloc.getBuffer().getUses(), staysInRegisters) ||
        !hasConsistentAccesses(alloc.getBuffer()) ||
        !fitsRegisters(cast<MemRefType>(alloc.getBuffer().getType()), threads))
      demoted.push_back(alloc);
  });
  for (AllocFragmentOp alloc : demoted) {
    if (getFragmentLayout(cast<MemRefType>(alloc.getBuffer().getType())))
      alloc.emitRemark("is in shared memory instead of the registers that its "
                       "layout names: it is viewed, accessed in a way that "
                       "registers cannot express, or too large for them");
    demote(alloc);
  }
  SmallVector<GemmOp> gemms;
  launch.walk([&](GemmOp gemm) { gemms.push_back(gemm); });
  for (GemmOp gemm : gemms)
    normalizeGemm(gemm);
  SmallVector<ReduceOp> reductions;
  launch.walk([&](ReduceOp reduce) { reductions.push_back(reduce); });
  for (ReduceOp reduce : reductions)
    normalizeReduce(reduce);
  SmallVector<ScanOp> scans;
  launch.walk([&](ScanOp scan) { scans.push_back(scan); });
  for (ScanOp scan : scans)
    normalizeScan(scan);
  SmallVector<PrintOp> prints;
  launch.walk([&](PrintOp print) { prints.push_back(print); });
  for (PrintOp print : prints)
    for (OpOperand &value : print.getValuesMutable())
      if (isFragment(value.get().getType()))
        value.set(copyBefore(print, value.get(),
                             SharedAttr::get(print.getContext())));
}

void LayoutInference::setSpace(Value buffer, Attribute space) {
  auto type = cast<MemRefType>(buffer.getType());
  buffer.setType(MemRefType::get(type.getShape(), type.getElementType(),
                                 type.getLayout(), space));
  for (Operation *user : buffer.getUsers())
    if (isa<ViewLikeOpInterface>(user) || isa<memref::ReshapeOp>(user))
      for (Value view : user->getResults())
        if (isa<MemRefType>(view.getType()))
          setSpace(view, space);
}

void LayoutInference::demote(AllocFragmentOp alloc) {
  ++numDemoted;
  Value old = alloc.getBuffer();
  auto type = cast<MemRefType>(old.getType());
  Attribute space = SharedAttr::get(type.getContext());

  // The accumulator of a gemm has to be a fragment; it visits shared memory
  // around the op.
  SmallVector<GemmOp> gemms;
  std::function<void(Value)> collect = [&](Value buffer) {
    for (Operation *user : buffer.getUsers()) {
      if (auto gemm = dyn_cast<GemmOp>(user); gemm && gemm.getC() == buffer)
        gemms.push_back(gemm);
      if (isa<ViewLikeOpInterface>(user))
        for (Value view : user->getResults())
          collect(view);
    }
  };
  collect(old);
  for (GemmOp gemm : gemms) {
    OpBuilder builder(gemm);
    Value outer = gemm.getC();
    auto outerType = cast<MemRefType>(outer.getType());
    Value inner = AllocFragmentOp::create(
        builder, gemm.getLoc(),
        MemRefType::get(outerType.getShape(), outerType.getElementType(),
                        MemRefLayoutAttrInterface(),
                        FragmentAttr::get(type.getContext())),
        ValueRange());
    if (!gemm.getClear())
      CopyOp::create(builder, gemm.getLoc(), outer, ArrayRef<OpFoldResult>(),
                     inner, ArrayRef<OpFoldResult>());
    gemm.getCMutable().assign(inner);
    builder.setInsertionPointAfter(gemm);
    CopyOp::create(builder, gemm.getLoc(), inner, ArrayRef<OpFoldResult>(),
                   outer, ArrayRef<OpFoldResult>());
  }

  OpBuilder builder(alloc);
  Value shared = AllocSharedOp::create(builder, alloc.getLoc(),
                                       MemRefType::get(type.getShape(),
                                                       type.getElementType(),
                                                       type.getLayout(), space),
                                       ValueRange());
  old.replaceAllUsesWith(shared);
  alloc.erase();
  setSpace(shared, space);
}

Value LayoutInference::copyBefore(Operation *op, Value buffer, Attribute space,
                                  Type element) {
  OpBuilder builder(op);
  auto type = cast<MemRefType>(buffer.getType());
  auto to = MemRefType::get(type.getShape(),
                            element ? element : type.getElementType(),
                            MemRefLayoutAttrInterface(), space);
  Value result =
      isa<SharedAttr>(space)
          ? AllocSharedOp::create(builder, op->getLoc(), to, ValueRange())
                .getBuffer()
          : AllocFragmentOp::create(builder, op->getLoc(), to, ValueRange())
                .getBuffer();
  CopyOp::create(builder, op->getLoc(), buffer, ArrayRef<OpFoldResult>(),
                 result, ArrayRef<OpFoldResult>());
  return result;
}

void LayoutInference::normalizeGemm(GemmOp gemm) {
  Attribute shared = SharedAttr::get(gemm.getContext());
  std::optional<GemmPlan> plan = planGemm(gemm, threads, chip);
  if (!plan && isa<FloatType>(gemm.getAType().getElementType()) &&
      gemm.getAType().getElementTypeBitWidth() == 8) {
    // f16 holds every fp8 number, and has an instruction everywhere.
    Type half = Float16Type::get(gemm.getContext());
    gemm.getAMutable().assign(copyBefore(gemm, gemm.getA(), shared, half));
    gemm.getBMutable().assign(copyBefore(gemm, gemm.getB(), shared, half));
    return;
  }
  // Only A of a matrix instruction may come from registers: its layout is the
  // accumulator's of the product before.
  bool registersA =
      plan && !gemm.getTransposeA() && isFragment(gemm.getA().getType());
  if (!registersA && !isShared(gemm.getA().getType()))
    gemm.getAMutable().assign(copyBefore(gemm, gemm.getA(), shared));
  if (!isShared(gemm.getB().getType()))
    gemm.getBMutable().assign(copyBefore(gemm, gemm.getB(), shared));
}

void LayoutInference::normalizeReduce(ReduceOp reduce) {
  Attribute fragment = FragmentAttr::get(reduce.getContext());
  if (!isFragment(reduce.getSource().getType()))
    reduce.getSourceMutable().assign(
        copyBefore(reduce, reduce.getSource(), fragment));
  writeBehind(reduce, reduce.getTargetMutable(), reduce.getAccumulate());
}

void LayoutInference::normalizeScan(ScanOp scan) {
  Attribute fragment = FragmentAttr::get(scan.getContext());
  if (!isFragment(scan.getSource().getType()))
    scan.getSourceMutable().assign(
        copyBefore(scan, scan.getSource(), fragment));
  writeBehind(scan, scan.getTargetMutable(), /*reads=*/false);
}

void LayoutInference::writeBehind(Operation *op, OpOperand &target,
                                  bool reads) {
  Value outer = target.get();
  if (isFragment(outer.getType()))
    return;
  auto type = cast<MemRefType>(outer.getType());
  OpBuilder builder(op);
  Value inner = AllocFragmentOp::create(
      builder, op->getLoc(),
      MemRefType::get(type.getShape(), type.getElementType(),
                      MemRefLayoutAttrInterface(),
                      FragmentAttr::get(op->getContext())),
      ValueRange());
  if (reads)
    CopyOp::create(builder, op->getLoc(), outer, ArrayRef<OpFoldResult>(),
                   inner, ArrayRef<OpFoldResult>());
  target.set(inner);
  builder.setInsertionPointAfter(op);
  CopyOp::create(builder, op->getLoc(), inner, ArrayRef<OpFoldResult>(), outer,
                 ArrayRef<OpFoldResult>());
}
