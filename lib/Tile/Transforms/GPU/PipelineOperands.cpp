//===- PipelineOperands.cpp - Operands loaded a step ahead ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop whose work is one product waits at its barrier with nothing to
// multiply, and then again for its first matrix loads. Here the product is cut
// into the steps its instruction takes along K, and the operands of a step are
// loaded during the step before, those of the first step in the iteration
// before, behind the barrier that makes them visible:
//
//   wait; barrier; load step 0
//   for each iteration:
//     load step 1; multiply step 0
//     issue copies that run ahead
//     ...
//     wait; barrier; load step 0 of the next iteration
//     multiply the last step
//
// So matrix instructions are at work across the barrier. Two pairs of fragments
// take turns, which needs an even number of steps.
//
// The copies overwrite the version that the iteration before has read: all of
// it was loaded in front of that iteration's barrier. The last iteration loads
// its own first step again, which nobody uses.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/Layouts.h"
#include "Tile/Layout/MatrixTransfer.h"
#include "Tile/Transforms/GPUPasses.h"
#include "Tile/Transforms/GemmPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_TILEPIPELINEOPERANDS
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

namespace {

/// A or B of the product.
struct Operand {
  Value buffer;
  /// The dimension of the buffer along K.
  int64_t innerDim;
  /// What one step takes.
  MemRefType stepType;
  /// The fragments that take turns.
  std::array<Value, 2> fragments;
  /// The computation of the view inside the loop, in order.
  SetVector<Operation *> slice;
};

class OperandPipeliner {
public:
  OperandPipeliner(scf::ForOp loop, LaunchOp launch, const Chip &chip)
      : loop(loop), launch(launch), chip(chip), b(loop.getLoc(), loop) {}

  /// Why the loop stays as it is; empty where it can be rewritten.
  StringRef getObstacle();
  void run();

private:
  bool collectSlice(Value value, SetVector<Operation *> &slice);
  bool prepare(Operand &operand, const layout::FragmentLayout &layout,
               int64_t step);
  void load(Operand &operand, Value buffer, int64_t step);
  void multiply(int64_t step);
  void waitAndMeet();
  Value rebuild(Operand &operand, IRMapping &map);

  scf::ForOp loop;
  LaunchOp launch;
  const Chip &chip;
  ImplicitLocOpBuilder b;
  NVVM::CpAsyncWaitGroupOp wait;
  gpu::BarrierOp barrier;
  GemmOp gemm;
  int64_t steps = 0, stepExtent = 0;
  Operand a, bs;
};
} // namespace

bool OperandPipeliner::collectSlice(Value value,
                                    SetVector<Operation *> &slice) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return true;
  if (!isPure(op) || op->getNumRegions())
    return false;
  for (Value operand : op->getOperands())
    if (!collectSlice(operand, slice))
      return false;
  slice.insert(op);
  return true;
}

/// Whether ldmatrix can bring a step of the operand.
bool OperandPipeliner::prepare(Operand &operand,
                               const layout::FragmentLayout &layout,
                               int64_t step) {
  auto type = cast<MemRefType>(operand.buffer.getType());
  Type element = type.getElementType();
  int64_t bits = element.getIntOrFloatBitWidth();
  Value root = getRootBuffer(operand.buffer);
  if (!root.getDefiningOp<AllocSharedOp>())
    return false;
  SmallVector<int64_t> strides =
      getSharedStrides(cast<MemRefType>(root.getType()));
  constexpr int64_t rowBits = 128;
  for (int64_t stride : ArrayRef<int64_t>(strides).drop_back())
    if (stride * bits % rowBits)
      return false;
  if (strides.back() != 1 || bits > 32 || step * bits % rowBits)
    return false;
  SmallVector<int64_t> shape(type.getShape());
  shape[operand.innerDim] = step;
  layout::FragmentLayout held = operand.innerDim == (&operand == &a ? 1 : 0)
                                    ? layout
                                    : layout.permuteDims({1, 0});
  if (!layout::matrixTransfer(held, /*contiguousDim=*/1, bits))
    return false;
  operand.stepType = withFragmentLayout(
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(),
                      FragmentAttr::get(launch.getContext())),
      held);
  return collectSlice(operand.buffer, operand.slice);
}

StringRef OperandPipeliner::getObstacle() {
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto inner = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op)) {
      if (wait)
        return "it waits more than once";
      wait = inner;
    } else if (auto inner = dyn_cast<gpu::BarrierOp>(op)) {
      if (barrier || !wait)
        return "it has other barriers than that of its copies";
      barrier = inner;
    } else if (auto inner = dyn_cast<GemmOp>(op)) {
      if (gemm || !barrier)
        return "its work is more than one product";
      gemm = inner;
    } else if (auto condition = dyn_cast<scf::IfOp>(op)) {
      bool isOnlyCopies =
          condition.getNumResults() == 0 && condition.getElseRegion().empty() &&
          llvm::all_of(condition.thenBlock()->without_terminator(),
                       [](Operation &inner) {
                         auto copy = dyn_cast<CopyOp>(inner);
                         return copy ? copy.getIsAsync() : isPure(&inner);
                       });
      if (!isOnlyCopies)
        return "its work is more than one product";
    } else if (!isPure(&op) && !isa<NVVM::CpAsyncCommitGroupOp>(op)) {
      return "its work is more than one product";
    }
  }
  if (!gemm)
    return "it has no product";
  if (gemm.getClear())
    return "its product does not accumulate";
  int64_t threads = *launch.getStaticThreads();
  std::optional<GemmPlan> plan = planGemm(gemm, threads, chip);
  if (!plan || *getFragmentLayout(gemm.getCType()) != plan->layoutC())
    return "no matrix instruction does its product";
  a.buffer = gemm.getA();
  bs.buffer = gemm.getB();
  if (!isShared(a.buffer.getType()))
    return "its product takes A from registers";
  steps = plan->tilesK();
  stepExtent = plan->shape.k;
  if (steps % 2)
    return "the number of steps along K is odd";
  a.innerDim = gemm.getTransposeA() ? 0 : 1;
  bs.innerDim = gemm.getTransposeB() ? 1 : 0;
  GemmPlan one = *plan;
  one.k = stepExtent;
  layout::FragmentLayout layoutA = one.layoutA(), layoutB = one.layoutB();
  // Two steps of operands beside the accumulators; what is left is for
  // addresses.
  constexpr int64_t mostWords = 208;
  auto wordsOf = [](const layout::FragmentLayout &layout, MemRefType type) {
    return layout.numRegisters() *
           int64_t(type.getElementType().getIntOrFloatBitWidth()) / 32;
  };
  if (wordsOf(plan->layoutC(), gemm.getCType()) +
          2 * (wordsOf(layoutA, gemm.getAType()) +
               wordsOf(layoutB, gemm.getBType())) >
      mostWords)
    return "two steps of operands take too many registers";
  if (!prepare(a, layoutA, stepExtent) || !prepare(bs, layoutB, stepExtent))
    return "its operands do not come by ldmatrix";
  SetVector<Operation *> control;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    if (!collectSlice(value, control))
      return "its state depends on memory";
  return "";
}

void OperandPipeliner::load(Operand &operand, Value buffer, int64_t step) {
  SmallVector<OpFoldResult> offsets(2, b.getIndexAttr(0));
  offsets[operand.innerDim] = b.getIndexAttr(step * stepExtent);
  CopyOp::create(b, buffer, offsets, operand.fragments[step % 2],
                 ArrayRef<OpFoldResult>());
}

void OperandPipeliner::multiply(int64_t step) {
  auto product = cast<GemmOp>(b.clone(*gemm));
  product.getAMutable().assign(a.fragments[step % 2]);
  product.getBMutable().assign(bs.fragments[step % 2]);
}

void OperandPipeliner::waitAndMeet() {
  NVVM::CpAsyncWaitGroupOp::create(b, b.getI32IntegerAttr(wait.getN()));
  gpu::BarrierOp::create(b);
}

/// The operand's view with the values of `map` in place of the loop's.
Value OperandPipeliner::rebuild(Operand &operand, IRMapping &map) {
  for (Operation *op : operand.slice)
    if (!map.contains(op->getResult(0)))
      b.clone(*op, map);
  return map.lookupOrDefault(operand.buffer);
}

void OperandPipeliner::run() {
  b.setLoc(gemm.getLoc());
  for (Operand *operand : {&a, &bs})
    for (Value &fragment : operand->fragments)
      fragment = AllocFragmentOp::create(b, operand->stepType, ValueRange());

  // In front of the loop, if it runs at all.
  waitAndMeet();
  Value isEntered = arith::CmpIOp::create(
      b, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  auto entered = scf::IfOp::create(b, isEntered, /*withElseRegion=*/false);
  b.setInsertionPointToStart(entered.thenBlock());
  IRMapping first;
  first.map(loop.getInductionVar(), loop.getLowerBound());
  for (auto [argument, value] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    first.map(argument, value);
  Value firstA = rebuild(a, first), firstB = rebuild(bs, first);
  load(a, firstA, 0);
  load(bs, firstB, 0);

  // The first steps where the product was, the rest behind the copies.
  b.setInsertionPoint(gemm);
  load(a, a.buffer, 1);
  load(bs, bs.buffer, 1);
  multiply(0);
  Operation *end = loop.getBody()->getTerminator();
  b.setInsertionPoint(end);
  for (int64_t step = 1; step < steps - 1; ++step) {
    load(a, a.buffer, step + 1);
    load(bs, bs.buffer, step + 1);
    multiply(step);
  }
  waitAndMeet();
  Value next = arith::AddIOp::create(b, loop.getInductionVar(), loop.getStep());
  Value hasNext = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, next,
                                        loop.getUpperBound());
  IRMapping following;
  auto follow = [&](Value now, Value then) {
    following.map(now, arith::SelectOp::create(b, hasNext, then, now));
  };
  follow(loop.getInductionVar(), next);
  for (auto [argument, value] :
       llvm::zip(loop.getRegionIterArgs(), end->getOperands()))
    follow(argument, value);
  Value nextA = rebuild(a, following), nextB = rebuild(bs, following);
  load(a, nextA, 0);
  load(bs, nextB, 0);
  multiply(steps - 1);
  wait.erase();
  barrier.erase();
  gemm.erase();
}

namespace {
struct PipelineOperandsPass
    : tile::impl::TilePipelineOperandsBase<PipelineOperandsPass> {
  using TilePipelineOperandsBase::TilePipelineOperandsBase;

  void runOnOperation() override {
    std::optional<Chip> found = getChip(chip, getOperation());
    if (!found)
      return signalPassFailure();
    getOperation()->walk([&](LaunchOp launch) {
      SmallVector<scf::ForOp> loops;
      launch.walk([&](scf::ForOp loop) {
        // A role has fewer threads than its launch.
        if (!loop->getParentOfType<RolesOp>() &&
            !loop.getBody()->getOps<NVVM::CpAsyncWaitGroupOp>().empty() &&
            !loop.getBody()->getOps<GemmOp>().empty())
          loops.push_back(loop);
      });
      if (loops.empty())
        return;
      pinPolicies(launch);
      for (scf::ForOp loop : loops) {
        OperandPipeliner pipeliner(loop, launch, *found);
        StringRef obstacle = pipeliner.getObstacle();
        if (!obstacle.empty()) {
          loop.emitRemark("does not load operands an iteration ahead: ")
              << obstacle;
          continue;
        }
        pipeliner.run();
        ++numLoops;
      }
    });
  }
};
} // namespace
