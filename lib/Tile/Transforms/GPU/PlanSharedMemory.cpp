//===- PlanSharedMemory.cpp - Where each shared buffer lies -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer is live from the first to the last op that touches it or a view of
// it, in program order; all of a loop long where it is touched inside a loop
// and named outside, since an iteration may read what the one before wrote.
// Copies in flight keep their buffer alive until all of them are waited for.
//
// Buffers whose lives do not meet may lie in the same place. The barrier
// between them is tile-insert-sync's affair: to it, such buffers are one.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/Layouts.h"
#include "Tile/Transforms/GPUPasses.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_TILEPLANSHAREDMEMORY
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

namespace {

/// Positions in program order, both ends included.
struct Range {
  int64_t first, last;

  bool meets(const Range &other) const {
    return first <= other.last && other.first <= last;
  }
};

struct Buffer {
  AllocSharedOp alloc;
  Range life;
  int64_t bytes, alignment, place = 0;

  int64_t end() const { return place + bytes; }
};

class Planner {
public:
  Planner(LaunchOp launch, const Chip &chip) : launch(launch), chip(chip) {}

  LogicalResult run() {
    number(launch);
    launch.walk([&](AllocSharedOp alloc) {
      auto type = cast<MemRefType>(alloc.getBuffer().getType());
      buffers.push_back({alloc, getLife(alloc), getSharedBytes(type),
                         getSharedAlignment(type)});
    });
    place();
    int64_t bytes = 0;
    for (const Buffer &buffer : buffers)
      bytes = std::max(bytes, buffer.end());
    if (bytes > chip.sharedBytes)
      return reportTable(bytes);
    Builder builder(launch.getContext());
    for (Buffer &buffer : buffers)
      buffer.alloc.setPlaceAttr(builder.getI64IntegerAttr(buffer.place));
    return success();
  }

  /// Bytes that would be needed without reuse, less what is.
  int64_t getSaved() const {
    int64_t sum = 0, end = 0;
    for (const Buffer &buffer : buffers) {
      sum = llvm::alignTo(sum, buffer.alignment) + buffer.bytes;
      end = std::max(end, buffer.end());
    }
    return std::max<int64_t>(0, sum - end);
  }

private:
  void number(Operation *op) {
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
  Range getUseRange(Operation *user, Block *home) {
    Range range = ranges.lookup(user);
    for (Operation *at = user; at->getBlock() != home;) {
      at = at->getParentOp();
      if (isa<LoopLikeOpInterface, ParallelOp, PipelinedOp>(at))
        range = ranges.lookup(at);
    }
    return range;
  }

  void extendTo(Range &life, Operation *op) {
    Range range = ranges.lookup(op);
    life.first = std::min(life.first, range.first);
    life.last = std::max(life.last, range.last);
  }

  Range getLife(AllocSharedOp alloc) {
    Range life{ranges.lookup(alloc).last, ranges.lookup(alloc).last};
    bool isInFlight = false, isUsed = false;
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
    if (isInFlight)
      life.last = std::max(life.last, getWaitBehind(life.last, alloc));
    return life;
  }

  /// The first point behind `position` at which no copy is in flight whatever
  /// way the program took.
  int64_t getWaitBehind(int64_t position, AllocSharedOp alloc) {
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
  void place() {
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
        place = std::max(
            place, int64_t(llvm::alignTo(other->end(), buffer->alignment)));
      }
      buffer->place = place;
      placed.push_back(buffer);
    }
  }

  LogicalResult reportTable(int64_t bytes) {
    InFlightDiagnostic diag = launch.emitOpError("needs ")
                              << bytes
                              << " bytes of shared memory, but a block of "
                              << chip.name << " has " << chip.sharedBytes;
    // What is in use where most is.
    const Buffer *top = nullptr;
    for (const Buffer &buffer : buffers)
      if (!top || buffer.end() > top->end())
        top = &buffer;
    for (Buffer &buffer : buffers) {
      diag.attachNote(buffer.alloc.getLoc())
          << buffer.bytes << " bytes at " << buffer.place << " for "
          << buffer.alloc.getBuffer().getType()
          << (buffer.life.meets(top->life) ? ""
                                           : ", at another time than the last");
    }
    return diag;
  }

  LaunchOp launch;
  const Chip &chip;
  int64_t next = 0;
  DenseMap<Operation *, Range> ranges;
  SmallVector<Buffer> buffers;
};

struct PlanSharedMemoryPass
    : tile::impl::TilePlanSharedMemoryBase<PlanSharedMemoryPass> {
  using TilePlanSharedMemoryBase::TilePlanSharedMemoryBase;

  void runOnOperation() override {
    std::optional<Chip> found = getChip(chip, getOperation());
    if (!found)
      return signalPassFailure();
    WalkResult result = getOperation()->walk([&](LaunchOp launch) {
      Planner planner(launch, *found);
      if (failed(planner.run()))
        return WalkResult::interrupt();
      numBytesSaved += planner.getSaved();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
