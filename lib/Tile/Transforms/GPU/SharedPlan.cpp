//===- SharedPlan.cpp - Where each shared buffer lies -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedPlan.h"
#include "Tile/IR/Layouts.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

SharedPlan::SharedPlan(LaunchOp launch) : launch(launch) {
  number(launch);
  launch.walk([&](AllocSharedOp alloc) {
    auto type = cast<MemRefType>(alloc.getBuffer().getType());
    buffers.push_back({alloc, getLife(alloc), getSharedBytes(type),
                       getSharedAlignment(type)});
  });
  place();
}

int64_t SharedPlan::getBytes() const {
  int64_t bytes = 0;
  for (const Buffer &buffer : buffers)
    bytes = std::max(bytes, buffer.end());
  return bytes;
}

int64_t SharedPlan::getSaved() const {
  int64_t sum = 0;
  for (const Buffer &buffer : buffers)
    sum = llvm::alignTo(sum, buffer.alignment) + buffer.bytes;
  return std::max<int64_t>(0, sum - getBytes());
}

void SharedPlan::number(Operation *op) {
  Range &range = ranges[op];
  range.first = range.last = next++;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        number(&inner);
  // The map may have grown since.
  ranges[op].last = next++;
}

/// The part of the program in which a use of something that is named in
/// `home` counts.
SharedPlan::Range SharedPlan::getUseRange(Operation *user, Block *home) {
  Range range = ranges.lookup(user);
  for (Operation *at = user; at->getBlock() != home;) {
    at = at->getParentOp();
    if (isa<LoopLikeOpInterface, ParallelOp, PipelinedOp>(at))
      range = ranges.lookup(at);
  }
  return range;
}

void SharedPlan::extendTo(Range &life, Operation *op) {
  Range range = ranges.lookup(op);
  life.first = std::min(life.first, range.first);
  life.last = std::max(life.last, range.last);
}

SharedPlan::Range SharedPlan::getLife(AllocSharedOp alloc) {
  Range life{ranges.lookup(alloc).last, ranges.lookup(alloc).last};
  bool isInFlight = false, isUsed = false, isEnded = false;
  SmallVector<Value> names = {alloc.getBuffer()};
  while (!names.empty()) {
    Value name = names.pop_back_val();
    for (Operation *user : name.getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        llvm::append_range(names, user->getResults());
        continue;
      }
      Range range = getUseRange(user, alloc->getBlock());
      if (!isUsed)
        life = range;
      isUsed = true;
      if (auto roles = user->getParentOfType<RolesOp>())
        extendTo(life, roles);
      life.first = std::min(life.first, range.first);
      life.last = std::max(life.last, range.last);
      isEnded |= isa<memref::DeallocOp>(user);
      if (auto copy = dyn_cast<CopyOp>(user))
        isInFlight |= copy.getIsAsync() && copy.getTarget() == name;
      // Whoever waits for these cannot be told from here.
      if (isa<CopyAsyncOp, GemmAsyncOp>(user))
        life.last = ranges.lookup(launch).last;
    }
  }
  // Roles run at the same time.
  if (auto roles = alloc->getParentOfType<RolesOp>())
    extendTo(life, roles);
  if (isInFlight && !isEnded)
    life.last = std::max(life.last, getWaitBehind(life.last, alloc));
  return life;
}

/// The first point behind `position` at which no copy is in flight whatever
/// way the program took.
int64_t SharedPlan::getWaitBehind(int64_t position, AllocSharedOp alloc) {
  int64_t result = ranges.lookup(launch).last;
  launch.walk([&](NVVM::CpAsyncWaitGroupOp wait) {
    int64_t at = ranges.lookup(wait).last;
    bool isOnEveryPath =
        wait->getBlock()->findAncestorOpInBlock(*alloc.getOperation());
    if (wait.getN() == 0 && at > position && isOnEveryPath)
      result = std::min(result, at);
  });
  return result;
}

/// Largest first, each at the lowest place that is free all its life.
void SharedPlan::place() {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  // Those of one size in the order of the program, as they lie in `buffers`.
  llvm::sort(order, [](const Buffer *a, const Buffer *b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  SmallVector<Buffer *> placed;
  for (Buffer *buffer : order) {
    SmallVector<Buffer *> neighbours;
    for (Buffer *other : placed)
      if (other->life.meets(buffer->life))
        neighbours.push_back(other);
    llvm::sort(neighbours, [](const Buffer *a, const Buffer *b) {
      return a->place < b->place;
    });
    int64_t place = 0;
    for (Buffer *other : neighbours) {
      if (place + buffer->bytes <= other->place)
        break;
      place = std::max(place,
                       int64_t(llvm::alignTo(other->end(), buffer->alignment)));
    }
    buffer->place = place;
    placed.push_back(buffer);
  }
}
