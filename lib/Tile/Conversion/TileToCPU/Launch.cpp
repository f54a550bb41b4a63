//===- Launch.cpp - Launches on the CPU -------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch becomes an OpenMP loop over the blocks, numbered with the first grid
// dimension fastest and handed out a few at a time, since blocks may differ in
// cost.
// Every worker allocates the on-chip buffers once and uses them for each of its
// blocks: their contents start undefined anyway.
//
//===----------------------------------------------------------------------===//

#include "Prefetch.h"
#include "ShareCode.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

/// Buffers up to this size live on the worker's stack, where LLVM can promote
/// them to registers; larger ones come from the heap.
static constexpr int64_t kStackBufferBytes = 2048;
/// Scratch memory of one block, beyond which a tile program surely does not
/// mean what it says.
static constexpr int64_t kMaxScratchBytes = int64_t(256) << 20;

static SmallVector<Operation *> collectAllocations(Region &region) {
  SmallVector<Operation *> allocations;
  region.walk([&](Operation *op) {
    if (isa<AllocSharedOp, AllocFragmentOp, AllocLocalOp>(op))
      allocations.push_back(op);
  });
  return allocations;
}

/// What threads or warps do by themselves, and what they wait for.
static bool isThreadLevel(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return isa<AllocBarrierOp, BarrierArriveOp, BarrierExpectOp, BarrierWaitOp,
             CopyAsyncOp, GemmAsyncOp, GemmWaitOp, RolesOp>(op) ||
         llvm::is_contained({"gpu", "nvgpu", "nvvm"}, dialect);
}

/// What the lowering relies on; each message names the pass that provides it.
static LogicalResult checkLaunch(LaunchOp launch) {
  WalkResult result =
      launch->walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
        if (auto call = dyn_cast<func::CallOp>(op))
          return call.emitOpError(
              "cannot be called from a launch on the cpu; run "
              "tile-inline-calls first");
        if (!op->isRegistered())
          return op->emitOpError("is not registered, so that nothing is known "
                                 "of what it does in a launch; load the "
                                 "dialect that it belongs to");
        if (isThreadLevel(op))
          return op->emitOpError(
              "has no meaning on the cpu target, which runs a "
              "block on one thread; use --target=emulator or "
              "--target=cuda");
        for (Value value : op->getResults()) {
          auto type = dyn_cast<MemRefType>(value.getType());
          if (type && isOnChip(type) && !type.hasStaticShape())
            return op->emitOpError("names an on-chip buffer of dynamic shape, ")
                   << type << "; run tile-specialize first";
        }
        return WalkResult::advance();
      });
  if (result.wasInterrupted())
    return failure();
  int64_t total = 0;
  for (Operation *op : collectAllocations(launch.getBody())) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    if (__builtin_add_overflow(total, getSizeInBytes(type), &total) ||
        total > kMaxScratchBytes)
      return op->emitOpError(
                 "brings the on-chip buffers of a block to more than ")
             << kMaxScratchBytes << " bytes, the limit of the cpu target";
  }
  return success();
}

/// The launch's fast-math flags are the default of the ops inside.
static void spreadFastMath(LaunchOp launch) {
  arith::FastMathFlags flags = launch.getFastmath();
  if (flags == arith::FastMathFlags::none)
    return;
  launch.getBody().walk([&](arith::ArithFastMathInterface op) {
    // Conversions need not have the attribute.
    arith::FastMathFlagsAttr own = op.getFastMathFlagsAttr();
    if (!own || own.getValue() == arith::FastMathFlags::none)
      op->setAttr(op.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(launch.getContext(), flags));
  });
}

LogicalResult cpu::lowerPipelined(RewriterBase &rewriter, PipelinedOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value step = op.getStep() ? op.getStep() : constantIndex(rewriter, loc, 1);
  auto loop =
      scf::ForOp::create(rewriter, loc, op.getLower(), op.getUpper(), step);
  rewriter.eraseOp(op.getBody().front().getTerminator());
  rewriter.inlineBlockBefore(&op.getBody().front(),
                             loop.getBody()->getTerminator(),
                             loop.getInductionVar());
  rewriter.eraseOp(op);
  return success();
}

LogicalResult cpu::lowerStep(RewriterBase &rewriter, StepOp op) {
  rewriter.eraseOp(op.getBody().front().getTerminator());
  rewriter.inlineBlockBefore(&op.getBody().front(), op);
  rewriter.eraseOp(op);
  return success();
}

static LogicalResult lowerTileOp(RewriterBase &rewriter, LaunchContext &context,
                                 Operation *op, std::optional<unsigned> ahead) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](ParallelOp o) { return lowerParallel(rewriter, context, o); })
      .Case([&](CopyOp o) { return lowerCopy(rewriter, context, o, ahead); })
      .Case([&](FillOp o) { return lowerFill(rewriter, context, o); })
      .Case([&](GemmOp o) { return lowerGemm(rewriter, context, o); })
      .Case([&](ReduceOp o) { return lowerReduce(rewriter, context, o); })
      .Case([&](ScanOp o) { return lowerScan(rewriter, context, o); })
      .Case<AtomicAddOp, AtomicMaxOp, AtomicMinOp>(
          [&](auto o) { return lowerAtomic(rewriter, context, o); })
      .Case(
          [&](PersistentOp o) { return lowerPersistent(rewriter, context, o); })
      .Case([&](PipelinedOp o) { return lowerPipelined(rewriter, o); })
      .Case([&](StepOp o) { return lowerStep(rewriter, o); });
}

static LogicalResult lowerTileOps(RewriterBase &rewriter,
                                  LaunchContext &context, SharedCode &shared) {
  SmallVector<Operation *> ops, debugOps;
  context.launch.getBody().walk([&](Operation *op) {
    if (op->hasTrait<WholeTile>())
      ops.push_back(op);
  });
  spreadPrefetches(context);
  for (Operation *op : ops) {
    FailureOr<bool> isShared = shared.lower(rewriter, context, op, lowerTileOp);
    if (failed(isShared))
      return failure();
    if (*isShared)
      continue;
    std::optional<unsigned> ahead;
    if (auto copy = dyn_cast<CopyOp>(op))
      ahead = findNextTile(context.launch, copy);
    if (failed(lowerTileOp(rewriter, context, op, ahead)))
      return failure();
  }
  // Elementwise loops have copied theirs.
  context.launch.getBody().walk([&](Operation *op) {
    if (isa<AssertOp, PrintOp>(op))
      debugOps.push_back(op);
    context.prints |= isa<PrintOp>(op);
  });
  for (Operation *op : debugOps) {
    LogicalResult lowered =
        isa<AssertOp>(op)
            ? lowerAssert(rewriter, cast<AssertOp>(op))
            : lowerPrint(rewriter, context.launch, cast<PrintOp>(op));
    if (failed(lowered))
      return failure();
  }
  return success();
}

/// Moves the allocations to where the builder stands, once a worker.
static SmallVector<Value> hoistAllocations(RewriterBase &rewriter,
                                           Region &region) {
  SmallVector<Value> onHeap;
  for (Operation *op : collectAllocations(region)) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    auto alignment = rewriter.getI64IntegerAttr(kAlignment);
    Value buffer;
    if (getSizeInBytes(type) <= kStackBufferBytes) {
      buffer =
          memref::AllocaOp::create(rewriter, op->getLoc(), type, alignment);
    } else {
      buffer = memref::AllocOp::create(rewriter, op->getLoc(), type, alignment);
      onHeap.push_back(buffer);
    }
    rewriter.replaceOp(op, buffer);
  }
  return onHeap;
}

/// Everything below is plain memory from here on.
void cpu::stripMemorySpaces(Operation *root) {
  auto strip = [](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (type && isOnChip(type))
      value.setType(MemRefType::get(type.getShape(), type.getElementType(),
                                    type.getLayout(), Attribute()));
  };
  root->walk([&](Operation *op) {
    llvm::for_each(op->getResults(), strip);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), strip);
  });
}

/// Blocks that a worker takes at a time. Neighbours read neighbouring memory,
/// and each asks for what the next one reads; but near the end workers shall
/// not wait for each other.
static Value chooseChunk(OpBuilder &b, Location loc, Operation *op,
                         Value blocks) {
  constexpr int64_t kMaxChunk = 8, kChunksOfWorker = 32;
  Value workers = askRuntime(b, loc, op, "omp_get_num_threads", b.getI32Type());
  workers = arith::IndexCastOp::create(b, loc, b.getIndexType(), workers);
  Value chunks = arith::MulIOp::create(b, loc, workers,
                                       constantIndex(b, loc, kChunksOfWorker));
  Value chunk = arith::DivUIOp::create(b, loc, blocks, chunks);
  chunk =
      arith::MinUIOp::create(b, loc, chunk, constantIndex(b, loc, kMaxChunk));
  return arith::MaxUIOp::create(b, loc, chunk, constantIndex(b, loc, 1));
}

/// The parallel loop over `blocks` block numbers, left empty but for its yield.
static omp::LoopNestOp buildBlockLoop(OpBuilder &b, Location loc, Operation *op,
                                      Value blocks) {
  Value zero = constantIndex(b, loc, 0), one = constantIndex(b, loc, 1);
  omp::WsloopOperands schedule;
  schedule.scheduleKind = omp::ClauseScheduleKindAttr::get(
      b.getContext(), omp::ClauseScheduleKind::Dynamic);
  schedule.scheduleChunk = chooseChunk(b, loc, op, blocks);
  auto workshare = omp::WsloopOp::create(b, loc, schedule);
  b.createBlock(&workshare.getRegion());
  omp::LoopNestOperands bounds;
  bounds.collapseNumLoops = b.getI64IntegerAttr(1);
  bounds.loopLowerBounds = {zero};
  bounds.loopUpperBounds = {blocks};
  bounds.loopSteps = {one};
  auto loop = omp::LoopNestOp::create(b, loc, bounds);
  b.createBlock(&loop.getRegion(), {}, {b.getIndexType()}, {loc});
  omp::YieldOp::create(b, loc);
  return loop;
}

LogicalResult cpu::prepareLaunch(LaunchOp launch) {
  if (failed(checkLaunch(launch)))
    return failure();
  spreadFastMath(launch);
  widenGemmOperands(launch);
  return success();
}

LogicalResult cpu::lowerLaunch(RewriterBase &rewriter, LaunchContext &context,
                               SharedCode &shared) {
  LaunchOp launch = context.launch;
  guardAccesses(rewriter, context, launch);
  if (failed(lowerTileOps(rewriter, context, shared)) ||
      failed(lowerPackedAccesses(rewriter, launch)))
    return failure();
  lowerAtomicLoops(rewriter, launch);

  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = launch.getLoc();
  rewriter.setInsertionPoint(launch);
  Value zero = constantIndex(rewriter, loc, 0);
  SmallVector<Value> grid;
  for (Value extent : launch.getGrid())
    grid.push_back(rewriter.createOrFold<arith::MaxSIOp>(loc, extent, zero));
  Value blocks = countPoints(rewriter, launch, grid, "blocks");

  auto parallel = omp::ParallelOp::create(rewriter, loc);
  rewriter.createBlock(&parallel.getRegion());
  auto terminator = omp::TerminatorOp::create(rewriter, loc);
  rewriter.setInsertionPoint(terminator);
  SmallVector<Value> onHeap = hoistAllocations(rewriter, launch.getBody());
  omp::LoopNestOp loop = buildBlockLoop(rewriter, loc, launch, blocks);

  Block &body = loop.getRegion().front();
  rewriter.setInsertionPoint(body.getTerminator());
  // Blocks count columns first.
  SmallVector<Value> extents = llvm::to_vector(llvm::reverse(grid));
  SmallVector<Value> ids = unravel(rewriter, loc, body.getArgument(0), extents,
                                   launch.getRasterAttr());
  std::reverse(ids.begin(), ids.end());
  if (!onHeap.empty()) {
    // A worker without memory still has to take part in the loop.
    Value failed = isNull(rewriter, loc, onHeap.front());
    for (Value buffer : ArrayRef(onHeap).drop_front())
      failed = arith::OrIOp::create(rewriter, loc, failed,
                                    isNull(rewriter, loc, buffer));
    auto test = scf::IfOp::create(rewriter, loc, failed,
                                  /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(test.thenBlock());
    buildReport(rewriter, loc, launch,
                "there is no memory for the on-chip buffers of a block");
    rewriter.setInsertionPoint(test.elseBlock()->getTerminator());
  }
  rewriter.eraseOp(launch.getBody().front().getTerminator());
  rewriter.inlineBlockBefore(&launch.getBody().front(),
                             rewriter.getInsertionBlock(),
                             rewriter.getInsertionPoint(), ids);
  rewriter.eraseOp(launch);

  if (context.streams) {
    rewriter.setInsertionPoint(body.getTerminator());
    LLVM::FenceOp::create(rewriter, loc, LLVM::AtomicOrdering::seq_cst,
                          StringRef());
  }
  rewriter.setInsertionPoint(terminator);
  for (Value buffer : onHeap)
    memref::DeallocOp::create(rewriter, loc, buffer);
  stripMemorySpaces(parallel);
  rewriter.setInsertionPointAfter(parallel);
  if (context.prints)
    buildPrintFlush(rewriter, loc, parallel);
  return success();
}
