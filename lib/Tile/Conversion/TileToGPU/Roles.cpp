//===- Roles.cpp - Warps that run different code ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside a role its warps are the block: threads are numbered from its first
// one, barriers are named ones of its own, scratch lies apart from that of the
// other roles, which run at the same time.
//
// A barrier of the program is a word of 64 bits in shared memory, the same on
// every chip: mbarriers count bytes from sm_90 on only.
//
//   bit 63          how many phases are complete, modulo two
//   bits 32 to 51   arrivals that the phase still waits for
//   bits 0 to 31    bytes that it still waits for; may be below zero for a
//   while
//
// Who completes a phase starts the next one in the same step. Copies that
// signal a barrier are done by the role that begins them, before it goes on:
// what a program may rely on is only when they have landed.
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

void ThreadCode::barrier() {
  if (team.barrierId == 0)
    gpu::BarrierOp::create(b);
  else
    NVVM::BarrierOp::create(b, TypeRange(), i32(team.barrierId), i32(threads),
                            NVVM::BarrierReductionAttr(), Value());
}

LogicalResult ThreadCode::emitRoles(RolesOp op) {
  // Numbers of named barriers; 0 is the block's.
  constexpr int64_t mostBarriers = 16;
  // What stands in front is done, for all roles.
  barrier();
  Value blockThread = threadId;
  Team outer = team;
  int64_t outerThreads = threads, outerScratch = scratchBytes;
  int64_t firstWarp = 0;
  // Scratch of the block is not in use meanwhile.
  int64_t nextScratch = outer.scratchStart, end = 0;
  for (RoleOp role : op.getBody().front().getOps<RoleOp>()) {
    if (nextBarrierId == mostBarriers)
      return role.emitOpError("is one role too many: a block has ")
             << mostBarriers - 1 << " barriers for them";
    b.setLoc(role.getLoc());
    int64_t warps = role.getWarps();
    Value first = i32(firstWarp * layout::warpSize);
    Value last = i32((firstWarp + warps) * layout::warpSize);
    Value isPast =
        arith::CmpIOp::create(b, arith::CmpIPredicate::uge, blockThread, first);
    Value isBefore =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, blockThread, last);
    auto condition = scf::IfOp::create(b, allOf(isPast, isBefore),
                                       /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&condition.getThenRegion().front());
    threadId = arith::SubIOp::create(b, blockThread, first);
    threads = warps * layout::warpSize;
    team = {nextBarrierId++, nextScratch};
    scratchBytes = 0;
    if (failed(emitBlock(role.getBody().front())))
      return failure();
    nextScratch += llvm::alignTo(scratchBytes, 16);
    firstWarp += warps;
  }
  end = nextScratch - outer.scratchStart;
  threadId = blockThread;
  threads = outerThreads;
  team = outer;
  scratchBytes = std::max(outerScratch, end);
  b.setLoc(op.getLoc());
  barrier();
  return success();
}

Value ThreadCode::getActingThread(Operation *op) {
  if (threadLevel.runsOnEveryThread(op))
    return nullptr;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threadId, i32(0));
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void ThreadCode::placeBarriers() {
  launch.walk([&](AllocBarrierOp op) {
    barrierPlaces[op.getBarrier()] = bufferBytes + team.scratchStart;
    team.scratchStart +=
        llvm::alignTo(8 * op.getBarrier().getType().getCount(), 16);
  });
  barrierBytes = team.scratchStart;
}

Value ThreadCode::getBarrierWord(Value barrier, Value index) {
  Value base = LLVM::GEPOp::create(
      b, sharedBase.getType(), b.getI8Type(), sharedBase,
      ArrayRef<LLVM::GEPArg>{int32_t(barrierPlaces.lookup(barrier))});
  Value at = arith::IndexCastOp::create(b, b.getI64Type(), index);
  return LLVM::GEPOp::create(b, sharedBase.getType(), b.getI64Type(), base,
                             ValueRange(at));
}

static Value constantWord(ImplicitLocOpBuilder &b, uint64_t value) {
  return arith::ConstantIntOp::create(b, b.getI64Type(), int64_t(value));
}

static constexpr int64_t arrivalShift = 32, phaseShift = 63;

LogicalResult ThreadCode::emitAllocBarrier(AllocBarrierOp op) {
  constexpr int64_t mostArrivals = (1 << 20) - 1;
  if (op.getArrivals() > mostArrivals)
    return op.emitOpError("counts at most ")
           << mostArrivals << " arrivals, got " << op.getArrivals();
  // Inside a loop the barriers of the iteration before are done with.
  barrier();
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threadId, i32(0));
  auto condition = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&condition.getThenRegion().front());
    for (int64_t i = 0; i < op.getBarrier().getType().getCount(); ++i)
      LLVM::StoreOp::create(
          b, constantWord(b, uint64_t(op.getArrivals()) << arrivalShift),
          getBarrierWord(op.getBarrier(), constant(i)));
  }
  barrier();
  return success();
}

/// One thread changes what the phase waits for, once all of the role are here.
void ThreadCode::signalBarrier(Value barrierValue, Value index,
                               int64_t arrivals, Value bytes) {
  barrier();
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threadId, i32(0));
  auto condition = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&condition.getThenRegion().front());
  Type word = b.getI64Type(), half = b.getI32Type();
  Value address = getBarrierWord(barrierValue, index);
  auto alloc = barrierValue.getDefiningOp<AllocBarrierOp>();
  Value start = LLVM::LoadOp::create(
      b, word, address, /*alignment=*/8, /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariant=*/false,
      /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, "block");
  auto loop = scf::WhileOp::create(b, TypeRange{word}, ValueRange(start));
  Location loc = b.getLoc();
  b.createBlock(&loop.getBefore(), {}, {word}, {loc});
  Value old = loop.getBefore().front().getArgument(0);
  Value left = arith::TruncIOp::create(b, half, old);
  if (bytes)
    left = arith::AddIOp::create(b, left, bytes);
  Value upper = arith::ShRUIOp::create(b, old, constantWord(b, arrivalShift));
  Value pending = arith::AndIOp::create(b, upper, constantWord(b, 0xfffff));
  pending = arith::SubIOp::create(b, pending, constantWord(b, arrivals));
  Value phase = arith::ShRUIOp::create(b, old, constantWord(b, phaseShift));
  Value leftWide = arith::ExtUIOp::create(b, word, left);
  Value waits = arith::OrIOp::create(
      b, arith::ShLIOp::create(b, pending, constantWord(b, arrivalShift)),
      leftWide);
  Value isComplete = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, waits,
                                           constantWord(b, 0));
  Value fresh = constantWord(b, uint64_t(alloc.getArrivals()) << arrivalShift);
  Value flipped = arith::XOrIOp::create(b, phase, constantWord(b, 1));
  Value next = arith::OrIOp::create(
      b, arith::SelectOp::create(b, isComplete, fresh, waits),
      arith::ShLIOp::create(
          b, arith::SelectOp::create(b, isComplete, flipped, phase),
          constantWord(b, phaseShift)));
  Value swap = LLVM::AtomicCmpXchgOp::create(
      b, address, old, next, LLVM::AtomicOrdering::acq_rel,
      LLVM::AtomicOrdering::monotonic, "block", /*alignment=*/8);
  Value found = LLVM::ExtractValueOp::create(b, swap, 0);
  scf::ConditionOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, found, old),
      ValueRange(found));
  b.createBlock(&loop.getAfter(), {}, {word}, {loc});
  scf::YieldOp::create(b, loop.getAfter().front().getArguments());
}

void ThreadCode::emitBarrierWait(BarrierWaitOp op) {
  Value address = getBarrierWord(op.getBarrier(), map.lookup(op.getIndex()));
  Type word = b.getI64Type();
  Value phase = arith::IndexCastOp::create(b, word, map.lookup(op.getPhase()));
  phase = arith::AndIOp::create(b, phase, constantWord(b, 1));
  auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  Value found = LLVM::LoadOp::create(
      b, word, address, /*alignment=*/8, /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariant=*/false,
      /*isInvariantGroup=*/false, LLVM::AtomicOrdering::acquire, "block");
  Value current = arith::ShRUIOp::create(b, found, constantWord(b, phaseShift));
  // The phase in progress is not the one waited for once that is complete.
  scf::ConditionOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, current, phase),
      ValueRange());
  b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b);
}

LogicalResult ThreadCode::emitBarrierOp(Operation *op) {
  if (auto alloc = dyn_cast<AllocBarrierOp>(op))
    return emitAllocBarrier(alloc);
  if (auto arrive = dyn_cast<BarrierArriveOp>(op)) {
    signalBarrier(arrive.getBarrier(), map.lookup(arrive.getIndex()),
                  /*arrivals=*/1, Value());
  } else if (auto expect = dyn_cast<BarrierExpectOp>(op)) {
    Value bytes = arith::IndexCastOp::create(b, b.getI32Type(),
                                             map.lookup(expect.getBytes()));
    signalBarrier(expect.getBarrier(), map.lookup(expect.getIndex()),
                  /*arrivals=*/1, bytes);
  } else {
    emitBarrierWait(cast<BarrierWaitOp>(op));
  }
  return success();
}

LogicalResult ThreadCode::emitCopyAsync(CopyAsyncOp op) {
  SmallVector<int64_t> tile = *op.getTargetTile();
  OpBuilder beside(op);
  auto copy = CopyOp::create(
      beside, op.getLoc(), op.getSource(), op.getMixedSourceOffsets(),
      op.getTarget(), op.getMixedTargetOffsets(), *op.getSourceTile(), tile);
  copy.setCacheAttr(op.getCacheAttr());
  LogicalResult status = emitCopy(copy);
  copy.erase();
  if (failed(status))
    return failure();
  int64_t bytes =
      storageType(op.getTargetType().getElementType()).getIntOrFloatBitWidth() /
      8;
  for (int64_t extent : tile)
    bytes *= extent;
  signalBarrier(op.getBarrier(), map.lookup(op.getIndex()), /*arrivals=*/0,
                i32(-bytes));
  return success();
}
