//===- LaneMachine.cpp - What an elementwise loop means ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneMachine.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <algorithm>
#include <map>
#include <numeric>

using namespace mlir;
using namespace tile;
using namespace tile::test;

static bool any(const std::vector<bool> &mask) {
  return std::find(mask.begin(), mask.end(), true) != mask.end();
}

void LaneMachine::run(LaunchOp launch, unsigned count) {
  numBuffers = count;
  Frame frame(nullptr, 1);
  for (Value id : launch.getBlockIds())
    frame.values[id] = {0};
  runBlock(launch.getBody().front(), frame, {true});
  for (Value buffer : named)
    buffers.push_back(memory[buffer].data);
}

int64_t LaneMachine::get(Frame &frame, Value value, size_t lane) {
  auto it = frame.values.find(value);
  if (it != frame.values.end())
    return it->second[lane];
  // Outside the loop there is one lane.
  return frame.parent ? get(*frame.parent, value, 0) : 0;
}

void LaneMachine::assign(Frame &frame, ValueRange to, ValueRange from,
                         const Mask &mask) {
  // All are read before any is written: a loop may swap what it carries.
  std::vector<Numbers> numbers;
  for (Value value : from) {
    numbers.emplace_back(frame.lanes);
    for (size_t lane = 0; lane < frame.lanes; ++lane)
      if (mask[lane])
        numbers.back()[lane] = get(frame, value, lane);
  }
  for (auto [value, source] : llvm::zip(to, numbers)) {
    Numbers &target = frame.values[value];
    target.resize(frame.lanes);
    for (size_t lane = 0; lane < frame.lanes; ++lane)
      if (mask[lane])
        target[lane] = source[lane];
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void LaneMachine::allocate(Operation *op, Frame &frame) {
  Value result = op->getResult(0);
  size_t size = cast<MemRefType>(result.getType()).getNumElements();
  Buffer fresh{Numbers(size, 0), std::vector<bool>(size, false)};
  if (isa<AllocLocalOp>(op) && op->getParentOfType<ParallelOp>()) {
    frame.locals[result].assign(frame.lanes, fresh);
    return;
  }
  if (named.size() < numBuffers) {
    for (size_t i = 0; i < size; ++i)
      fresh.data[i] = static_cast<int64_t>(named.size() * 1000 + i * 7 + 3);
    fresh.written.assign(size, true);
    named.push_back(result);
  }
  memory[result] = fresh;
}

LaneMachine::Buffer &LaneMachine::getBuffer(Frame &frame, Value memref,
                                            size_t lane) {
  auto it = frame.locals.find(memref);
  return it != frame.locals.end() ? it->second[lane] : memory[memref];
}

int64_t &LaneMachine::access(Frame &frame, Value memref, ValueRange indices,
                             size_t lane, bool write) {
  static int64_t nowhere;
  Buffer &buffer = getBuffer(frame, memref, lane);
  int64_t offset = 0;
  for (auto [index, extent] :
       llvm::zip(indices, cast<MemRefType>(memref.getType()).getShape())) {
    int64_t number = get(frame, index, lane);
    if (number < 0 || number >= extent) {
      fault = "access outside a buffer";
      return nowhere;
    }
    offset = offset * extent + number;
  }
  if (write)
    buffer.written[offset] = true;
  else if (!buffer.written[offset])
    fault = "read of an element that was never written";
  return buffer.data[offset];
}

void LaneMachine::runStore(Operation *op, Frame &frame, const Mask &mask) {
  auto store = cast<memref::StoreOp>(op);
  std::map<int64_t *, int64_t> writes;
  for (size_t lane = 0; lane < frame.lanes; ++lane) {
    if (!mask[lane])
      continue;
    int64_t &element = access(frame, store.getMemRef(), store.getIndices(),
                              lane, /*write=*/true);
    int64_t value = get(frame, store.getValueToStore(), lane);
    auto [it, isNew] = writes.try_emplace(&element, value);
    if (!isNew && it->second != value)
      fault = "two lanes write different values to one element";
  }
  for (auto [element, value] : writes)
    *element = value;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void LaneMachine::runBlock(Block &block, Frame &frame, const Mask &mask) {
  for (Operation &op : block.without_terminator())
    runOp(&op, frame, mask);
}

void LaneMachine::runScalar(Operation *op, Frame &frame, const Mask &mask) {
  Numbers results(frame.lanes);
  for (size_t lane = 0; lane < frame.lanes; ++lane) {
    if (!mask[lane])
      continue;
    auto in = [&](unsigned i) { return get(frame, op->getOperand(i), lane); };
    auto bits = [&](unsigned i) { return static_cast<uint64_t>(in(i)); };
    llvm::APInt constant;
    if (matchPattern(op, m_ConstantInt(&constant)))
      results[lane] = constant.getBitWidth() == 1 ? constant.getZExtValue()
                                                  : constant.getSExtValue();
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      results[lane] = access(frame, load.getMemRef(), load.getIndices(), lane,
                             /*write=*/false);
    else if (isa<arith::AddIOp>(op))
      results[lane] = static_cast<int64_t>(bits(0) + bits(1));
    else if (isa<arith::SubIOp>(op))
      results[lane] = static_cast<int64_t>(bits(0) - bits(1));
    else if (isa<arith::MulIOp>(op))
      results[lane] = static_cast<int64_t>(bits(0) * bits(1));
    else if (isa<arith::DivUIOp>(op))
      results[lane] = static_cast<int64_t>(bits(0) / bits(1));
    else if (isa<arith::RemUIOp>(op))
      results[lane] = static_cast<int64_t>(bits(0) % bits(1));
    else if (isa<arith::XOrIOp>(op))
      results[lane] = in(0) ^ in(1);
    else if (auto compare = dyn_cast<arith::CmpIOp>(op))
      results[lane] =
          applyCmpPredicate(compare.getPredicate(), llvm::APInt(64, bits(0)),
                            llvm::APInt(64, bits(1)));
    else
      fault = "no meaning given to " + op->getName().getStringRef().str();
  }
  Numbers &values = frame.values[op->getResult(0)];
  values.resize(frame.lanes);
  for (size_t lane = 0; lane < frame.lanes; ++lane)
    if (mask[lane])
      values[lane] = results[lane];
}

void LaneMachine::runIf(Operation *op, Frame &frame, const Mask &mask) {
  auto ifOp = cast<scf::IfOp>(op);
  Mask taken(frame.lanes), other(frame.lanes);
  for (size_t lane = 0; lane < frame.lanes; ++lane) {
    bool holds = mask[lane] && get(frame, ifOp.getCondition(), lane);
    taken[lane] = holds;
    other[lane] = mask[lane] && !holds;
  }
  for (auto [region, own] : {std::pair(&ifOp.getThenRegion(), &taken),
                             std::pair(&ifOp.getElseRegion(), &other)}) {
    if (region->empty() || !any(*own))
      continue;
    runBlock(region->front(), frame, *own);
    assign(frame, ifOp.getResults(),
           region->front().getTerminator()->getOperands(), *own);
  }
}

void LaneMachine::runFor(Operation *op, Frame &frame, Mask mask) {
  auto loop = cast<scf::ForOp>(op);
  Mask all = mask;
  assign(frame, loop.getInductionVar(), loop.getLowerBound(), mask);
  assign(frame, loop.getRegionIterArgs(), loop.getInitArgs(), mask);
  while (true) {
    for (size_t lane = 0; lane < frame.lanes; ++lane)
      mask[lane] = mask[lane] && get(frame, loop.getInductionVar(), lane) <
                                     get(frame, loop.getUpperBound(), lane);
    if (!any(mask))
      break;
    runBlock(*loop.getBody(), frame, mask);
    assign(frame, loop.getRegionIterArgs(),
           loop.getBody()->getTerminator()->getOperands(), mask);
    for (size_t lane = 0; lane < frame.lanes; ++lane)
      if (mask[lane])
        frame.values[loop.getInductionVar()][lane] +=
            get(frame, loop.getStep(), lane);
  }
  assign(frame, loop.getResults(), loop.getRegionIterArgs(), all);
}

void LaneMachine::runWhile(Operation *op, Frame &frame, Mask mask) {
  auto loop = cast<scf::WhileOp>(op);
  // Programs that do not end are no test of anything.
  constexpr unsigned limit = 1000;
  assign(frame, loop.getBeforeArguments(), loop.getInits(), mask);
  for (unsigned round = 0; any(mask); ++round) {
    if (round == limit) {
      fault = "a loop that does not end";
      return;
    }
    scf::ConditionOp condition = loop.getConditionOp();
    runBlock(*loop.getBeforeBody(), frame, mask);
    assign(frame, loop.getResults(), condition.getArgs(), mask);
    assign(frame, loop.getAfterArguments(), condition.getArgs(), mask);
    for (size_t lane = 0; lane < frame.lanes; ++lane)
      mask[lane] =
          mask[lane] && get(frame, condition.getCondition(), lane) != 0;
    if (!any(mask))
      break;
    runBlock(*loop.getAfterBody(), frame, mask);
    assign(frame, loop.getBeforeArguments(), loop.getYieldOp().getOperands(),
           mask);
  }
}

void LaneMachine::runParallel(ParallelOp op, Frame &frame) {
  size_t lanes = 1;
  for (int64_t extent : op.getStaticExtents())
    lanes *= extent;
  std::vector<size_t> sequence(lanes);
  std::iota(sequence.begin(), sequence.end(), 0);
  if (order == LaneOrder::Reverse)
    std::reverse(sequence.begin(), sequence.end());
  if (order == LaneOrder::Shuffled)
    std::shuffle(sequence.begin(), sequence.end(), random);

  auto runLanes = [&](ArrayRef<size_t> which) {
    Frame own(&frame, which.size());
    for (Value iv : op.getInductionVars())
      own.values[iv].resize(which.size());
    for (auto [position, lane] : llvm::enumerate(which)) {
      size_t rest = lane;
      for (size_t dim = op.getInductionVars().size(); dim-- > 0;) {
        size_t extent = op.getStaticExtents()[dim];
        own.values[op.getInductionVars()[dim]][position] = rest % extent;
        rest /= extent;
      }
    }
    runBlock(op.getBody().front(), own, Mask(which.size(), true));
  };
  if (order == LaneOrder::Lockstep)
    return runLanes(sequence);
  for (size_t lane : sequence)
    runLanes(lane);
}

void LaneMachine::runReduce(ReduceOp op, Frame &frame) {
  // The passes make masks: `or` along the first dimension.
  if (op.getKind() != ReduceKind::Or || op.getDim() != 0 || op.getAccumulate())
    fault = "no meaning given to this reduction";
  Buffer &source = getBuffer(frame, op.getSource(), 0);
  Buffer &target = getBuffer(frame, op.getTarget(), 0);
  target.data.assign(target.data.size(), 0);
  target.written.assign(target.data.size(), true);
  for (size_t i = 0; i < source.data.size(); ++i) {
    if (!source.written[i])
      fault = "a mask that was never written";
    target.data[i % target.data.size()] |= source.data[i];
  }
}

void LaneMachine::runOp(Operation *op, Frame &frame, const Mask &mask) {
  if (!fault.empty())
    return;
  if (isa<AllocSharedOp, AllocFragmentOp, AllocLocalOp>(op))
    return allocate(op, frame);
  if (auto parallel = dyn_cast<ParallelOp>(op))
    return runParallel(parallel, frame);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return runReduce(reduce, frame);
  if (auto fill = dyn_cast<FillOp>(op)) {
    Buffer &buffer = getBuffer(frame, fill.getBuffer(), 0);
    buffer.data.assign(buffer.data.size(), get(frame, fill.getValue(), 0));
    buffer.written.assign(buffer.data.size(), true);
    return;
  }
  if (isa<memref::StoreOp>(op))
    return runStore(op, frame, mask);
  if (isa<scf::IfOp>(op))
    return runIf(op, frame, mask);
  if (isa<scf::ForOp>(op))
    return runFor(op, frame, mask);
  if (isa<scf::WhileOp>(op))
    return runWhile(op, frame, mask);
  runScalar(op, frame, mask);
}
