//===- MaterializePipeline.cpp - Copies that run ahead ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With S stages, iteration i computes on version i mod S of each buffer while
// the copies of iterations i+1 ... i+S-1 are in flight:
//
//   issue copies of the first S-1 iterations, a group each
//   for each iteration:
//     wait until at most S-2 groups are in flight; barrier
//     compute up to the first product
//     issue the copies of iteration i+S-1 as a group
//     compute the rest
//   end the buffers' lives: the last S-1 groups are empty
//
// Copies are issued behind the first product, whose matrix instructions are
// then still at work: in front of it they would hold up its loads, which may
// not pass them. A loop without products issues first.
//
// The one barrier does both duties: the copies of iteration i are visible, and
// everyone is done with the version that the next copies overwrite.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/Layouts.h"
#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/GPUPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_TILEMATERIALIZEPIPELINE
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

/// Iterations in flight where the program leaves the choice.
static constexpr int64_t defaultStages = 3;

namespace {
class Pipeliner {
public:
  explicit Pipeliner(PipelinedOp loop) : loop(loop), b(loop.getLoc(), loop) {}

  /// Replaces the loop; gives the number of copies that run ahead.
  int64_t run();

private:
  /// Why a copy cannot run ahead; empty where it can.
  StringRef getObstacle(CopyOp copy);
  /// The computation of `value` inside the loop's body, in order; fails where
  /// it is not free of effects.
  bool collectSlice(Value value, SetVector<Operation *> &slice);
  void makeRing(CopyOp copy);
  bool isRepeated();
  Value getVersion(Value ring, Value slot);
  void issue(Value variable, Value iteration, Value slot);
  Value step(Value slot);

  PipelinedOp loop;
  ImplicitLocOpBuilder b;
  int64_t stages = 1;
  SmallVector<CopyOp> copies;
  SmallVector<Value> rings;
  SetVector<Operation *> slice;
};
} // namespace

bool Pipeliner::collectSlice(Value value, SetVector<Operation *> &result) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &loop.getBody().front())
    // An argument, or defined outside; not in a nested region, since the copy
    // stands in the body itself.
    return true;
  if (op->getNumRegions() || !isPure(op))
    return false;
  for (Value operand : op->getOperands())
    if (!collectSlice(operand, result))
      return false;
  result.insert(op);
  return true;
}

/// Whether all the op does to the buffer is to read it.
static bool onlyReads(Operation *op, Value buffer) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  SmallVector<MemoryEffects::EffectInstance> list;
  if (effects)
    effects.getEffectsOnValue(buffer, list);
  return !list.empty() &&
         llvm::all_of(list, [](const MemoryEffects::EffectInstance &effect) {
           return isa<MemoryEffects::Read>(effect.getEffect());
         });
}

StringRef Pipeliner::getObstacle(CopyOp copy) {
  if (copy.getEngine() == CopyEngine::Vector)
    return "its engine is pinned to the threads' loads and stores";
  if (!isGlobal(copy.getSourceType()) || !isShared(copy.getTargetType()))
    return "it is not from global to shared memory";
  if (copy.getSourceType().getElementType() !=
      copy.getTargetType().getElementType())
    return "it converts elements";
  if (copy.getPad() && !matchPattern(copy.getPad(), m_AnyZeroFloat()) &&
      !matchPattern(copy.getPad(), m_Zero()))
    return "it pads with another value than zero";
  auto alloc = copy.getTarget().getDefiningOp<AllocSharedOp>();
  FailureOr<SmallVector<int64_t>> tile = copy.getTargetTile();
  if (!alloc || failed(tile) ||
      ArrayRef<int64_t>(*tile) != copy.getTargetType().getShape() ||
      llvm::any_of(copy.getMixedTargetOffsets(), [](OpFoldResult offset) {
        return !isConstantIntValue(offset, 0);
      }))
    return "it does not fill a whole buffer";
  Block *body = &loop.getBody().front();
  for (Operation *user : alloc.getBuffer().getUsers()) {
    if (user == copy)
      continue;
    Operation *inBody = body->findAncestorOpInBlock(*user);
    if (!inBody || inBody->isBeforeInBlock(copy))
      return "its buffer is used outside the loop or before the copy";
    if (!onlyReads(user, alloc.getBuffer()))
      return "its buffer is written by another op or viewed";
  }
  Value source = getRootBuffer(copy.getSource());
  bool isWritten = false;
  loop.walk([&](MemoryEffectOpInterface op) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    op.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects)
      isWritten |= isa<MemoryEffects::Write>(effect.getEffect()) &&
                   effect.getValue() &&
                   isa<MemRefType>(effect.getValue().getType()) &&
                   getRootBuffer(effect.getValue()) == source;
  });
  if (isWritten)
    return "the loop writes its source";
  SetVector<Operation *> needed;
  for (Value operand : copy->getOperands())
    if (operand != copy.getTarget() && !collectSlice(operand, needed))
      return "its offsets depend on memory";
  return "";
}

void Pipeliner::makeRing(CopyOp copy) {
  MemRefType type = copy.getTargetType();
  SmallVector<int64_t> shape = {stages};
  llvm::append_range(shape, type.getShape());
  // A layout that the program gave is that of each version.
  auto space = cast<SharedAttr>(type.getMemorySpace());
  if (!space.getStrides().empty()) {
    SmallVector<int64_t> strides = {getSharedSpan(type)};
    llvm::append_range(strides, space.getStrides());
    space = SharedAttr::get(b.getContext(), strides, space.getSwizzle());
  }
  rings.push_back(
      AllocSharedOp::create(b,
                            MemRefType::get(shape, type.getElementType(),
                                            MemRefLayoutAttrInterface(), space),
                            ValueRange()));
}

bool Pipeliner::isRepeated() {
  for (Operation *op = loop->getParentOp(); op && !isa<LaunchOp>(op);
       op = op->getParentOp())
    if (!isa<scf::IfOp>(op))
      return true;
  return false;
}

Value Pipeliner::getVersion(Value ring, Value slot) {
  auto type = cast<MemRefType>(ring.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(b.getContext(), type.getShape());
  SmallVector<OpFoldResult> strides(rank, b.getIndexAttr(1));
  offsets[0] = slot;
  sizes[0] = b.getIndexAttr(1);
  MemRefType result = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, result, ring, offsets, sizes, strides);
}

/// The copies with `iteration` in place of the induction variable, where there
/// is such an iteration, as one group.
void Pipeliner::issue(Value variable, Value iteration, Value slot) {
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, iteration,
                                       loop.getUpper());
  auto condition = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&condition.getThenRegion().front());
    IRMapping map;
    map.map(variable, iteration);
    for (Operation *op : slice)
      b.clone(*op, map);
    for (auto [copy, ring] : llvm::zip(copies, rings)) {
      map.map(copy.getTarget(), getVersion(ring, slot));
      auto ahead = cast<CopyOp>(b.clone(*copy, map));
      ahead.setIsAsync(true);
    }
  }
  NVVM::CpAsyncCommitGroupOp::create(b);
}

Value Pipeliner::step(Value slot) {
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value count = arith::ConstantIndexOp::create(b, stages);
  Value next = arith::AddIOp::create(b, slot, one);
  Value wraps = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next, count);
  return arith::SelectOp::create(b, wraps, zero, next);
}

int64_t Pipeliner::run() {
  stages = loop.getStaticStages().value_or(defaultStages);
  for (CopyOp copy : loop.getBody().front().getOps<CopyOp>()) {
    if (stages == 1)
      break;
    StringRef obstacle = getObstacle(copy);
    if (obstacle.empty()) {
      copies.push_back(copy);
      continue;
    }
    if (isGlobal(copy.getSourceType()))
      copy.emitRemark("does not run ahead of its loop: ") << obstacle;
  }
  for (CopyOp copy : copies) {
    makeRing(copy);
    for (Value operand : copy->getOperands())
      if (operand != copy.getTarget())
        collectSlice(operand, slice);
  }

  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value stride = loop.getStep()
                     ? loop.getStep()
                     : arith::ConstantIndexOp::create(b, 1).getResult();
  // Iterations that the copies run ahead of the computation.
  int64_t ahead = stages - 1;
  auto after = [&](Value iteration, int64_t count) -> Value {
    Value distance = b.createOrFold<arith::MulIOp>(
        stride, arith::ConstantIndexOp::create(b, count));
    return b.createOrFold<arith::AddIOp>(iteration, distance);
  };
  SmallVector<Value> slots;
  if (!copies.empty()) {
    // Where the loop stands in another one, threads may still read the ring for
    // the last time. Whoever was in its place before is tile-insert-sync's
    // affair.
    if (isRepeated())
      gpu::BarrierOp::create(b);
    for (int64_t i = 0; i < ahead; ++i)
      issue(loop.getInductionVar(), after(loop.getLower(), i),
            arith::ConstantIndexOp::create(b, i));
    slots = {zero, arith::ConstantIndexOp::create(b, ahead)};
  }
  auto serial =
      scf::ForOp::create(b, loop.getLower(), loop.getUpper(), stride, slots);
  if (copies.empty() && !serial.getBody()->empty())
    serial.getBody()->getTerminator()->erase();
  b.setInsertionPointToEnd(serial.getBody());
  if (!copies.empty()) {
    Value current = serial.getRegionIterArgs()[0];
    NVVM::CpAsyncWaitGroupOp::create(b, b.getI32IntegerAttr(ahead - 1));
    gpu::BarrierOp::create(b);
    for (auto [copy, ring] : llvm::zip(copies, rings))
      copy.getTarget().replaceAllUsesExcept(getVersion(ring, current), copy);
  }
  Block &body = loop.getBody().front();
  body.getTerminator()->erase();
  loop.getInductionVar().replaceAllUsesWith(serial.getInductionVar());
  serial.getBody()->getOperations().splice(serial.getBody()->end(),
                                           body.getOperations());
  if (!copies.empty()) {
    // Behind the views of the versions, at the latest.
    Operation *place = nullptr;
    for (Operation &op : *serial.getBody())
      if (isa<gpu::BarrierOp>(op) && !place)
        place = &op;
    auto products = serial.getBody()->getOps<GemmOp>();
    if (!products.empty())
      place = *products.begin();
    b.setInsertionPointAfter(place);
    issue(serial.getInductionVar(), after(serial.getInductionVar(), ahead),
          serial.getRegionIterArgs()[1]);
  }
  for (CopyOp copy : copies) {
    Operation *alloc = copy.getTarget().getDefiningOp();
    copy.erase();
    alloc->erase();
  }
  b.setInsertionPointToEnd(serial.getBody());
  SmallVector<Value> stepped;
  for (Value slot : serial.getRegionIterArgs())
    stepped.push_back(step(slot));
  scf::YieldOp::create(b, stepped);
  // The last groups are empty and what was in the others has been waited for:
  // nothing is in flight any more. This says so to what follows.
  b.setInsertionPointAfter(serial);
  for (Value ring : rings)
    memref::DeallocOp::create(b, ring);
  loop.erase();
  return copies.size();
}

/// A copy that nothing overlaps with, by the engine the program asks for.
static void waitAtOnce(CopyOp copy) {
  copy.setIsAsync(true);
  ImplicitLocOpBuilder b(copy.getLoc(), copy);
  b.setInsertionPointAfter(copy);
  NVVM::CpAsyncCommitGroupOp::create(b);
  NVVM::CpAsyncWaitGroupOp::create(b, b.getI32IntegerAttr(0));
}

/// The steps of a loop run one after another here, as written, which is what
/// they mean; of their schedule what remains is that copies run ahead.
static void inlineStep(StepOp step) {
  if (step.getRole() || step.getOrder())
    step.emitRemark("runs in the order written and on all warps; of the "
                    "schedule, only copies that run ahead are followed");
  IRRewriter rewriter(step.getContext());
  Block &body = step.getBody().front();
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, step);
  rewriter.eraseOp(step);
}

namespace {
struct MaterializePipelinePass
    : tile::impl::TileMaterializePipelineBase<MaterializePipelinePass> {
  void runOnOperation() override {
    SmallVector<StepOp> steps;
    getOperation()->walk([&](StepOp step) { steps.push_back(step); });
    for (StepOp step : steps)
      inlineStep(step);
    SmallVector<PipelinedOp> loops;
    WalkResult result = getOperation()->walk([&](PipelinedOp loop) {
      if (loop.getStages()) {
        loop.emitOpError("needs 'stages' as a constant here; run "
                         "tile-specialize to fix the tunables");
        return WalkResult::interrupt();
      }
      loops.push_back(loop);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (PipelinedOp loop : loops) {
      int64_t ahead = Pipeliner(loop).run();
      numAhead += ahead;
      numPipelined += ahead != 0;
    }
    getOperation()->walk([](CopyOp copy) {
      if (copy.getEngine() == CopyEngine::CpAsync && !copy.getIsAsync())
        waitAtOnce(copy);
    });
  }
};
} // namespace
