//===- ThreadCode.cpp - Code of one thread of a launch ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over a launch's body: which op goes where, control flow, allocations
// and views. The op-by-op lowerings are in the files beside this one.
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "Tile/IR/Updates.h"
#include "Tile/Transforms/TileOrder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;

ThreadCode::ThreadCode(ImplicitLocOpBuilder &builder, LaunchOp launch,
                       const Chip &chip, int64_t bufferBytes, Value sharedBase)
    : b(builder), launch(launch), chip(chip), bufferBytes(bufferBytes),
      sharedBase(sharedBase), threads(*launch.getStaticThreads()) {
  threadId = arith::IndexCastOp::create(
      b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  static constexpr gpu::Dimension dims[] = {
      gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z};
  Values ids, extents;
  for (auto [argument, dim] : llvm::zip(launch.getBlockIds(), dims)) {
    ids.push_back(gpu::BlockIdOp::create(b, dim));
    extents.push_back(gpu::GridDimOp::create(b, dim));
  }
  if (launch.getRaster()) {
    // The hardware starts blocks by their number, the first dimension fastest.
    // That dimension counts columns, so it is the last of the tile's place.
    Value number = ids.back();
    for (size_t dim = ids.size() - 1; dim-- > 0;)
      number = add(mul(number, extents[dim]), ids[dim]);
    std::reverse(extents.begin(), extents.end());
    ids = locateTile(b, number, extents, launch.getRasterAttr());
    std::reverse(ids.begin(), ids.end());
  }
  for (auto [argument, id] : llvm::zip(launch.getBlockIds(), ids))
    map.map(argument, id);
}

//===----------------------------------------------------------------------===//
// Small arithmetic; the folding builder keeps constants constant.
//===----------------------------------------------------------------------===//

Value ThreadCode::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value ThreadCode::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), value);
}

Value ThreadCode::materialize(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return constant(cast<IntegerAttr>(attribute).getInt());
  return cast<Value>(value);
}

Value ThreadCode::mapped(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return constant(cast<IntegerAttr>(attribute).getInt());
  return map.lookupOrDefault(cast<Value>(value));
}

Value ThreadCode::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(x, y);
}

Value ThreadCode::mul(Value x, Value y) {
  return b.createOrFold<arith::MulIOp>(x, y);
}

Value ThreadCode::allOf(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return b.createOrFold<arith::AndIOp>(x, y);
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

LogicalResult ThreadCode::emitBody() {
  placeBarriers();
  if (failed(emitBlock(launch.getBody().front())))
    return failure();
  // Where rows are not aligned no copy may turn out to be asynchronous.
  if (!mayCopyAsync)
    for (Operation *op : copyGroups)
      op->erase();
  return success();
}

LogicalResult ThreadCode::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emit(&op)))
      return failure();
  return success();
}

LogicalResult ThreadCode::emit(Operation *op) {
  b.setLoc(op->getLoc());
  if (isa<AllocSharedOp, AllocFragmentOp, AllocLocalOp>(op)) {
    emitAlloc(op);
    return success();
  }
  if (auto copy = dyn_cast<CopyOp>(op))
    return emitCopy(copy);
  if (auto fill = dyn_cast<FillOp>(op))
    return emitFill(fill);
  if (auto gemm = dyn_cast<GemmOp>(op))
    return emitGemm(gemm);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return emitReduce(reduce);
  if (auto scan = dyn_cast<ScanOp>(op))
    return emitScan(scan);
  if (auto atomic = dyn_cast<AtomicAddOp>(op))
    return emitAtomic(atomic);
  if (auto atomic = dyn_cast<AtomicMaxOp>(op))
    return emitAtomic(atomic);
  if (auto atomic = dyn_cast<AtomicMinOp>(op))
    return emitAtomic(atomic);
  if (auto roles = dyn_cast<RolesOp>(op))
    return emitRoles(roles);
  if (isa<AllocBarrierOp, BarrierArriveOp, BarrierExpectOp, BarrierWaitOp>(op))
    return emitBarrierOp(op);
  if (auto copy = dyn_cast<CopyAsyncOp>(op))
    return emitCopyAsync(copy);
  if (isa<gpu::BarrierOp>(op)) {
    barrier();
    return success();
  }
  if (isa<memref::DeallocOp>(op))
    // Said to tile-plan-shared-memory and tile-insert-sync.
    return success();
  if (getUpdatedBuffer(op))
    return emitAtomicElement(op);
  if (auto report = dyn_cast<AssertOp>(op))
    return emitAssert(report);
  if (auto print = dyn_cast<PrintOp>(op))
    return emitPrint(print);
  if (auto loop = dyn_cast<ParallelOp>(op))
    return emitParallel(loop);
  if (auto loop = dyn_cast<PipelinedOp>(op))
    return emitPipelined(loop);
  if (isa<memref::LoadOp>(op))
    return emitLoad(op);
  if (isa<memref::StoreOp>(op))
    return emitStore(op);
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = dyn_cast<MemRefType>(dim.getSource().getType());
    if (!index || !type)
      return dim.emitOpError("needs a constant dimension on the cuda target");
    map.map(dim.getResult(),
            type.isDynamicDim(*index)
                ? materialize(getView(dim.getSource()).sizes[*index])
                : constant(type.getDimSize(*index)));
    return success();
  }
  bool touchesBuffers = llvm::any_of(op->getOperandTypes(), [](Type type) {
    return isa<BaseMemRefType>(type);
  });
  if (touchesBuffers || llvm::any_of(op->getResultTypes(), [](Type type) {
        return isa<BaseMemRefType>(type);
      }))
    return emitView(op);
  if (op->getNumRegions())
    return emitRegionOp(op);
  Operation *clone = b.clone(*op, map);
  if (isa<NVVM::CpAsyncCommitGroupOp, NVVM::CpAsyncWaitGroupOp>(op))
    copyGroups.push_back(clone);
  else if (isa<NVVM::CpAsyncOp, NVVM::InlinePtxOp, LLVM::InlineAsmOp>(op))
    mayCopyAsync = true;
  // The launch's flags are the default of every op inside.
  auto floating = dyn_cast<arith::ArithFastMathInterface>(clone);
  if (floating && launch.getFastmath() != arith::FastMathFlags::none) {
    arith::FastMathFlags flags = launch.getFastmath();
    if (auto own = floating.getFastMathFlagsAttr())
      flags = flags | own.getValue();
    clone->setAttr(floating.getFastMathAttrName(),
                   arith::FastMathFlagsAttr::get(b.getContext(), flags));
  }
  return success();
}

/// Whether a condition guards nothing but copies that run ahead.
static bool isOnlyCopiesAhead(scf::IfOp op) {
  return op.getNumResults() == 0 && op.getElseRegion().empty() &&
         llvm::all_of(op.thenBlock()->without_terminator(), [](Operation &op) {
           auto copy = dyn_cast<CopyOp>(&op);
           return copy ? copy.getIsAsync() : isPure(&op);
         });
}

static LogicalResult refuse(Operation *op) {
  return op->emitOpError("has no lowering to the cuda target, which takes the "
                         "ops of tile, arith and math, loads, stores, updates "
                         "and views of memref, for, if and while of scf");
}

LogicalResult ThreadCode::emitRegionOp(Operation *op) {
  if (auto condition = dyn_cast<scf::IfOp>(op);
      condition && !copyCondition && isOnlyCopiesAhead(condition)) {
    copyCondition = map.lookup(condition.getCondition());
    LogicalResult status = emitBlock(*condition.thenBlock());
    copyCondition = Value();
    return status;
  }
  if (!isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp,
           scf::ExecuteRegionOp>(op))
    return refuse(op);
  Operation *clone = op->cloneWithoutRegions(map);
  b.insert(clone);
  for (auto [from, to] : llvm::zip(op->getRegions(), clone->getRegions())) {
    if (!llvm::hasNItemsOrLess(from, 1))
      return op->emitOpError(
          "needs structured control flow on the cuda target");
    for (Block &block : from) {
      OpBuilder::InsertionGuard guard(b);
      Block *inner = b.createBlock(&to);
      for (BlockArgument argument : block.getArguments())
        map.map(argument,
                inner->addArgument(argument.getType(), argument.getLoc()));
      if (failed(emitBlock(block)))
        return failure();
      b.clone(*block.getTerminator(), map);
    }
  }
  map.map(op->getResults(), clone->getResults());
  return success();
}

/// What is left of pipelined loops runs as written.
LogicalResult ThreadCode::emitPipelined(PipelinedOp op) {
  Value step = op.getStep() ? map.lookup(op.getStep()) : constant(1);
  auto loop = scf::ForOp::create(b, map.lookup(op.getLower()),
                                 map.lookup(op.getUpper()), step);
  map.map(op.getInductionVar(), loop.getInductionVar());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  return emitBlock(op.getBody().front());
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

void ThreadCode::emitAlloc(Operation *op) {
  Value buffer = op->getResult(0);
  auto type = cast<MemRefType>(buffer.getType());
  View view;
  view.element = type.getElementType();
  view.space = getSpace(type);
  view.sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape());
  view.baseAlignment = view.promisedAlignment = 16;

  if (view.space == Space::Shared) {
    view.strides =
        getAsIndexOpFoldResult(b.getContext(), getSharedStrides(type));
    view.swizzle = getSharedSwizzle(type);
    view.base = LLVM::GEPOp::create(
        b, sharedBase.getType(), b.getI8Type(), sharedBase,
        ArrayRef<LLVM::GEPArg>{int32_t(*cast<AllocSharedOp>(op).getPlace())});
    views[buffer] = std::move(view);
    return;
  }

  // Arrays of the whole kernel: a stack slot inside a loop would never become a
  // register.
  int64_t count = type.getNumElements();
  if (view.space == Space::Fragment)
    count = getFragmentLayout(type)->numRegisters();
  OpBuilder::InsertionGuard guard(b);
  Operation *kernel = b.getInsertionBlock()->getParentOp();
  while (!isa<gpu::GPUFuncOp>(kernel))
    kernel = kernel->getParentOp();
  b.setInsertionPointToStart(&cast<gpu::GPUFuncOp>(kernel).getBody().front());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value array = LLVM::AllocaOp::create(
      b, pointer, LLVM::LLVMArrayType::get(storageType(view.element), count),
      arith::ConstantIntOp::create(b, b.getI32Type(), 1), /*alignment=*/16);
  if (view.space == Space::Fragment) {
    stackArrays[buffer] = array;
    return;
  }
  SmallVector<int64_t> strides(type.getRank());
  int64_t next = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    strides[dim] = next;
    next *= type.getDimSize(dim);
  }
  view.strides = getAsIndexOpFoldResult(b.getContext(), strides);
  view.base = array;
  views[buffer] = std::move(view);
}

const View &ThreadCode::getView(Value buffer) const {
  auto at = views.find(buffer);
  assert(at != views.end() && "buffers are named before they are used");
  return at->second;
}

LogicalResult ThreadCode::emitView(Operation *op) {
  auto result = op->getNumResults() == 1
                    ? dyn_cast<MemRefType>(op->getResult(0).getType())
                    : MemRefType();
  if (!result || op->getNumOperands() == 0 ||
      !views.contains(op->getOperand(0)))
    return refuse(op);
  View view = getView(op->getOperand(0));

  if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
    emitSubView(subview, view);
  } else if (auto reinterpret = dyn_cast<memref::ReinterpretCastOp>(op)) {
    if (failed(emitReinterpretCast(reinterpret, view)))
      return failure();
  } else if (auto cast = dyn_cast<memref::CastOp>(op)) {
    // What exists is the source's affair.
    if (view.space == Space::Global && view.ranges.empty())
      view.ranges = getRanges(view);
    for (auto [size, extent] : llvm::zip(view.sizes, result.getShape()))
      if (!ShapedType::isDynamic(extent))
        size = b.getIndexAttr(extent);
  } else if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
    View old = view;
    for (auto [to, from] :
         llvm::enumerate(transpose.getPermutation().getResults())) {
      unsigned dim = llvm::cast<AffineDimExpr>(from).getPosition();
      view.sizes[to] = old.sizes[dim];
      view.strides[to] = old.strides[dim];
      if (!old.ranges.empty())
        view.ranges[to] = old.ranges[dim];
      if (!old.endDivisors.empty())
        view.endDivisors[to] = old.endDivisors[dim];
    }
    // The promise about strides was for all but the last one.
    view.promisedAlignment = view.toBytes(1);
  } else if (isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(op)) {
    if (failed(checkPlain(op, op->getOperand(0))))
      return failure();
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!result.hasStaticShape() ||
        failed(result.getStridesAndOffset(strides, offset)) ||
        llvm::is_contained(strides, ShapedType::kDynamic))
      return op->emitOpError(
          "needs a static shape and strides on the cuda target");
    Value exists;
    if (!view.ranges.empty()) {
      Values sizes;
      for (OpFoldResult size : view.sizes)
        sizes.push_back(materialize(size));
      exists = existsWhole(b, b.getLoc(), view.ranges, sizes);
    }
    view.sizes = getAsIndexOpFoldResult(b.getContext(), result.getShape());
    // A padded shared buffer is reshaped within its rows only where that keeps
    // its strides; layout inference leaves such buffers dense.
    view.strides = getAsIndexOpFoldResult(b.getContext(), strides);
    restrict(view, exists);
  } else {
    return refuse(op);
  }
  views[op->getResult(0)] = std::move(view);
  return success();
}

SmallVector<ViewRange> ThreadCode::getRanges(const View &view) {
  if (!view.ranges.empty())
    return view.ranges;
  SmallVector<ViewRange> ranges;
  for (OpFoldResult size : view.sizes)
    ranges.push_back({Value(), materialize(size)});
  return ranges;
}

/// Views with strides of their own need a buffer that lies as its type says.
LogicalResult ThreadCode::checkPlain(Operation *op, Value buffer) {
  const View &view = getView(buffer);
  SmallVector<int64_t> strides;
  int64_t offset;
  bool isPlain = succeeded(cast<MemRefType>(buffer.getType())
                               .getStridesAndOffset(strides, offset)) &&
                 !view.swizzle.bits;
  for (auto [stride, has] : llvm::zip(strides, view.strides))
    isPlain &= ShapedType::isDynamic(stride) || isConstantIntValue(has, stride);
  if (isPlain)
    return success();
  InFlightDiagnostic diag =
      op->emitOpError("needs the elements of its source in their order, but "
                      "the buffer has another layout");
  diag.attachNote(getRootBuffer(buffer).getLoc())
      << "leave the layout of this buffer to the compiler";
  return diag;
}

/// All of the view's sizes exist, or nothing does where `condition`, which may
/// be null, does not hold.
void ThreadCode::restrict(View &view, Value condition) {
  view.ranges.clear();
  if (condition)
    view.ranges = existOnlyIf(b, b.getLoc(), condition, getRanges(view));
  view.endDivisors.clear();
  for (OpFoldResult size : view.sizes)
    view.endDivisors.push_back(getConstantIntValue(size) ? getKnownDivisor(size)
                                                         : 1);
}

/// Constants as such, which the kernel's values do not all show.
SmallVector<OpFoldResult> ThreadCode::mapped(ArrayRef<OpFoldResult> values) {
  SmallVector<OpFoldResult> result;
  for (OpFoldResult value : values) {
    std::optional<int64_t> known = getConstantIntValue(value);
    result.push_back(known ? OpFoldResult(b.getIndexAttr(*known))
                           : OpFoldResult(mapped(value)));
  }
  return result;
}

void ThreadCode::emitSubView(memref::SubViewOp op, View &view) {
  SmallVector<OpFoldResult> offsets = mapped(op.getMixedOffsets());
  SmallVector<OpFoldResult> sizes = mapped(op.getMixedSizes());
  SmallVector<OpFoldResult> steps = mapped(op.getMixedStrides());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  bool isGuarded =
      view.space == Space::Global && launch.getBounds() != Bounds::Assume;
  if (isGuarded)
    view.ranges = getSubviewRanges(b, b.getLoc(), getRanges(view), offsets,
                                   sizes, steps, dropped);

  Value offset = constant(0);
  SmallVector<OpFoldResult> newSizes, newStrides;
  SmallVector<int64_t> newDivisors;
  int64_t alignment = view.baseAlignment;
  int64_t divisor = getKnownDivisor(b.getIndexAttr(0));
  for (auto [dim, start, size, step] :
       llvm::enumerate(op.getMixedOffsets(), sizes, steps)) {
    Value stride = materialize(view.strides[dim]);
    offset = add(offset, mul(materialize(offsets[dim]), stride));
    int64_t known = getKnownDivisor(start);
    alignment =
        std::min(alignment,
                 getConstantIntValue(view.strides[dim])
                     ? view.toBytes(known * getKnownDivisor(view.strides[dim]))
                     : known * view.promisedAlignment);
    divisor = std::min(divisor, known * getKnownDivisor(view.strides[dim]));
    if (dropped.test(dim))
      continue;
    newSizes.push_back(size);
    bool isUnit = isConstantIntValue(step, 1);
    newStrides.push_back(
        isUnit ? view.strides[dim]
               : getAsOpFoldResult(mul(materialize(step), stride)));
    // What is left of the buffer behind the start, or the view's own size.
    int64_t ends = getConstantIntValue(size) ? getKnownDivisor(size) : 1;
    if (isGuarded)
      ends = isUnit ? std::min({ends, known, view.endDivisors[dim]}) : 1;
    newDivisors.push_back(ends);
  }
  if (view.swizzle.bits) {
    view.offset = view.offset ? add(view.offset, offset) : offset;
    view.isOffsetPeriodic &= divisor % view.swizzle.period() == 0;
  } else {
    view.base = getAddress(view, offset);
  }
  view.sizes = std::move(newSizes);
  view.strides = std::move(newStrides);
  view.endDivisors = std::move(newDivisors);
  view.baseAlignment = alignment;
}

/// Offset, sizes and strides count from where the buffer at the root begins.
LogicalResult ThreadCode::emitReinterpretCast(memref::ReinterpretCastOp op,
                                              View &view) {
  Value root = getRootBuffer(op.getSource());
  auto type = cast<MemRefType>(root.getType());
  SmallVector<int64_t> rootStrides;
  int64_t rootOffset;
  if (!views.contains(root) ||
      failed(type.getStridesAndOffset(rootStrides, rootOffset)))
    return op.emitOpError("views memory that has no strides, which the cuda "
                          "target cannot");
  if (failed(checkPlain(op, root)))
    return failure();
  view = getView(root);
  if (view.isPacked() && ShapedType::isDynamic(rootOffset))
    return op.emitOpError("needs the offset of a buffer of packed elements in "
                          "its type on the cuda target, got ")
           << type;
  // A launch takes buffers from their first element on. An offset that the type
  // leaves open counts from there.
  int64_t begin = ShapedType::isDynamic(rootOffset) ? 0 : rootOffset;
  StridedPlaces wants{mapped(op.getConstifiedMixedOffset()),
                      mapped(op.getConstifiedMixedSizes()),
                      mapped(op.getConstifiedMixedStrides())};
  Value isInside;
  if (view.space == Space::Global && launch.getBounds() != Bounds::Assume)
    isInside = liesWithin(b, b.getLoc(), wants,
                          {b.getIndexAttr(begin), view.sizes, view.strides});
  Value offset =
      b.createOrFold<arith::SubIOp>(materialize(wants.offset), constant(begin));
  int64_t divisor = std::min(getKnownDivisor(op.getConstifiedMixedOffset()),
                             getKnownDivisor(b.getIndexAttr(begin)));
  view.base = getAddress(view, offset);
  view.baseAlignment = std::min(view.baseAlignment, view.toBytes(divisor));
  view.promisedAlignment = view.toBytes(1);
  view.sizes = wants.sizes;
  view.strides = wants.strides;
  restrict(view, isInside);
  return success();
}

Value ThreadCode::getScratch(int64_t bytes) {
  scratchBytes = std::max(scratchBytes, bytes);
  return LLVM::GEPOp::create(
      b, sharedBase.getType(), b.getI8Type(), sharedBase,
      ArrayRef<LLVM::GEPArg>{int32_t(bufferBytes + team.scratchStart)});
}
