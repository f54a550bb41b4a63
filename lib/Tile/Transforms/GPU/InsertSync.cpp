//===- InsertSync.cpp - Barriers between dependent accesses -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the launch in program order with the set of shared and global buffers
// accessed since the last barrier, and places a barrier where an access would
// meet one of them: threads divide a global tile in one op otherwise than in
// the next, too. All control flow between tile ops is uniform in a block, so
// every thread reaches every barrier.
//
// Inside one op no barrier is needed: threads divide its elements, and the
// lanes of an elementwise loop do not depend on one another. An op whose
// threads meet through scratch (a reduction across warps) brings the barrier
// between its writes and reads there, which is one for everything else too; in
// front of it nobody may be reading scratch any more.
//
// An asynchronous copy may be read only after a wait, whatever lies between; so
// it counts as a write at the wait. That it overwrites nothing that is read
// since the last barrier is the promise of whoever made it asynchronous:
// readers and copies in flight use different versions of a buffer. It promises
// nothing about other buffers in the same place.
//
// The barrier behind a pipeline's wait goes where another one follows in time:
// nothing in between needs it.
//
// Rounds of a loop that each touch a part of their own of a global buffer
// (tiles at the loop's variable, no longer than its step) do not meet there.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/EntryAttributes.h"
#include "Tile/IR/Layouts.h"
#include "Tile/IR/Updates.h"
#include "Tile/Transforms/GPUPasses.h"
#include "Tile/Transforms/Scratch.h"
#include "Tile/Transforms/ThreadLevel.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_TILEINSERTSYNC
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

namespace {

using Buffers = SmallPtrSet<Value, 8>;

/// What threads may still be doing to shared memory.
class State {
public:
  Buffers reads, writes;
  /// Buffers that asynchronous copies are filling.
  Buffers inFlight;
  /// Ops in which threads may still be reading scratch.
  SmallPtrSet<Operation *, 4> scratch;

  void clear() {
    reads.clear();
    writes.clear();
    scratch.clear();
  }
  void forget(const Buffers &buffers) {
    for (Value buffer : buffers) {
      reads.erase(buffer);
      writes.erase(buffer);
    }
  }
  bool join(const State &other) {
    size_t before = size();
    reads.insert(other.reads.begin(), other.reads.end());
    writes.insert(other.writes.begin(), other.writes.end());
    inFlight.insert(other.inFlight.begin(), other.inFlight.end());
    scratch.insert(other.scratch.begin(), other.scratch.end());
    return size() != before;
  }

private:
  size_t size() const {
    return reads.size() + writes.size() + inFlight.size() + scratch.size();
  }
};

/// Whether two buffers have bytes in common: the same one, or shared ones with
/// a place in common.
bool overlap(Value x, Value y) {
  if (x == y)
    return true;
  auto first = x.getDefiningOp<AllocSharedOp>();
  auto second = y.getDefiningOp<AllocSharedOp>();
  if (!first || !second || !first.getPlace() || !second.getPlace())
    return false;
  auto endOf = [](AllocSharedOp alloc) {
    return int64_t(*alloc.getPlace()) +
           getSharedBytes(cast<MemRefType>(alloc.getBuffer().getType()));
  };
  return int64_t(*first.getPlace()) < endOf(second) &&
         int64_t(*second.getPlace()) < endOf(first);
}

bool meets(const Buffers &a, const Buffers &b) {
  return llvm::any_of(a, [&](Value x) {
    return llvm::any_of(b, [&](Value y) { return overlap(x, y); });
  });
}

/// The same for different buffers only.
bool meetsOther(const Buffers &a, const Buffers &b) {
  return llvm::any_of(a, [&](Value x) {
    return llvm::any_of(b, [&](Value y) { return x != y && overlap(x, y); });
  });
}

class Inserter {
public:
  int64_t numBarriers = 0, numRedundant = 0;

  void run(LaunchOp launch) {
    State state;
    visit(launch.getBody().front(), state);
    bool hasHidden = launch
                         .walk([](Operation *op) {
                           return isa<RolesOp>(op) || hidesAccesses(op)
                                      ? WalkResult::interrupt()
                                      : WalkResult::advance();
                         })
                         .wasInterrupted();
    if (hasHidden)
      return;
    for (auto &[barrier, before] : waiting)
      if (isFollowedInTime(barrier, before)) {
        barrier->erase();
        ++numRedundant;
      }
  }

private:
  void visit(Block &block, State &state) {
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(&op, state);
  }

  /// Whether an op may read or write what nobody can tell from here.
  static bool hidesAccesses(Operation *op) {
    if (auto interface = dyn_cast<MemoryEffectOpInterface>(op)) {
      SmallVector<MemoryEffects::EffectInstance> effects;
      interface.getEffects(effects);
      return llvm::any_of(
          effects, [](const MemoryEffects::EffectInstance &effect) {
            return isa<MemoryEffects::Read, MemoryEffects::Write>(
                       effect.getEffect()) &&
                   (!effect.getValue() ||
                    !isa<MemRefType>(effect.getValue().getType()));
          });
    }
    return !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
           !op->hasTrait<OpTrait::IsTerminator>() &&
           !isa<LaunchOp, gpu::BarrierOp, NVVM::CpAsyncCommitGroupOp,
                NVVM::CpAsyncWaitGroupOp>(op);
  }

  /// Whether all that comes between the barrier and the next one may stand in
  /// front of it as well.
  bool isFollowedInTime(gpu::BarrierOp barrier, const State &before) {
    for (Operation *op = barrier->getNextNode(); op; op = op->getNextNode()) {
      if (auto next = dyn_cast<gpu::BarrierOp>(op))
        return !waiting.contains(next);
      if (isPure(op))
        continue;
      ScratchUse scratch = getScratchUse(op);
      bool isPlain = isa<CopyOp, FillOp, GemmOp, ReduceOp, ScanOp, ParallelOp,
                         AllocFragmentOp>(op);
      auto copy = dyn_cast<CopyOp>(op);
      Buffers reads, writes;
      collect(op, reads, writes);
      if (!isPlain || (copy && copy.getIsAsync()) ||
          (scratch != ScratchUse::None && !before.scratch.empty()) ||
          meets(reads, before.writes) || meets(writes, before.writes) ||
          meets(writes, before.reads))
        return false;
      if (scratch == ScratchUse::Certain)
        return true;
    }
    return false;
  }

  /// The buffer whose memory a view is of; of arguments that may overlap the
  /// first.
  static Value getMemory(Value view) {
    Value root = getRootBuffer(view);
    auto argument = dyn_cast<BlockArgument>(root);
    auto function =
        argument
            ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
            : FunctionOpInterface();
    for (unsigned i = 0; function && i < argument.getArgNumber(); ++i)
      if (mayAlias(function, i, argument.getArgNumber()))
        return function.getArgument(i);
    return root;
  }

  /// The buffers an op and its regions share with other threads.
  static void collect(Operation *op, Buffers &reads, Buffers &writes) {
    op->walk([&](MemoryEffectOpInterface inner) {
      SmallVector<MemoryEffects::EffectInstance> effects;
      inner.getEffects(effects);
      for (const MemoryEffects::EffectInstance &effect : effects) {
        Value value = effect.getValue();
        if (!value || !(isShared(value.getType()) || isGlobal(value.getType())))
          continue;
        if (isa<MemoryEffects::Read>(effect.getEffect()))
          reads.insert(getMemory(value));
        else if (isa<MemoryEffects::Write>(effect.getEffect()))
          writes.insert(getMemory(value));
      }
    });
  }

  /// The dimensions of a global buffer in which an access of the loop keeps to
  /// the part of its round; none for accesses other than of tiles.
  static SmallVector<int64_t> getDividedDims(scf::ForOp loop, Operation *access,
                                             Value buffer) {
    auto copy = dyn_cast<CopyOp>(access);
    std::optional<APInt> step = loop.getConstantStep();
    SmallVector<int64_t> dims;
    if (!copy || !step)
      return dims;
    bool isSource = copy.getSource() == buffer;
    // Not through a view, nor both ways.
    if (isSource == (copy.getTarget() == buffer))
      return dims;
    FailureOr<SmallVector<int64_t>> tile =
        isSource ? copy.getSourceTile() : copy.getTargetTile();
    if (failed(tile))
      return dims;
    for (auto [dim, offset] :
         llvm::enumerate(isSource ? copy.getMixedSourceOffsets()
                                  : copy.getMixedTargetOffsets()))
      if (offset == OpFoldResult(loop.getInductionVar()) &&
          !ShapedType::isDynamic((*tile)[dim]) &&
          (*tile)[dim] <= step->getSExtValue())
        dims.push_back(dim);
    return dims;
  }

  /// The global buffers of which each round of the loop has a part of its own.
  static Buffers findDivided(scf::ForOp loop) {
    DenseMap<Value, SmallVector<int64_t>> divided;
    loop.walk([&](MemoryEffectOpInterface op) {
      SmallVector<MemoryEffects::EffectInstance> effects;
      op.getEffects(effects);
      for (const MemoryEffects::EffectInstance &effect : effects) {
        Value value = effect.getValue();
        if (!value || !isGlobal(value.getType()))
          continue;
        Value memory = getMemory(value);
        SmallVector<int64_t> dims;
        if (value == memory)
          dims = getDividedDims(loop, op, memory);
        auto [it, isNew] = divided.try_emplace(memory, dims);
        if (!isNew)
          llvm::erase_if(it->second, [&](int64_t dim) {
            return !llvm::is_contained(dims, dim);
          });
      }
    });
    Buffers buffers;
    for (auto &[memory, dims] : divided)
      if (!dims.empty())
        buffers.insert(memory);
    return buffers;
  }

  void insertBarrier(Operation *op, State &state) {
    OpBuilder builder(op);
    gpu::BarrierOp::create(builder, op->getLoc());
    ++numBarriers;
    state.clear();
  }

  void visit(Operation *op, State &state) {
    if (auto barrier = dyn_cast<gpu::BarrierOp>(op)) {
      // Around a loop, the last time counts, when nothing is added any more.
      if (isa_and_nonnull<NVVM::CpAsyncWaitGroupOp>(op->getPrevNode()))
        waiting[barrier] = state;
      state.clear();
      return;
    }
    if (auto wait = dyn_cast<NVVM::CpAsyncWaitGroupOp>(op)) {
      state.writes.insert(state.inFlight.begin(), state.inFlight.end());
      if (wait.getN() == 0)
        state.inFlight.clear();
      return;
    }
    if (auto end = dyn_cast<memref::DeallocOp>(op)) {
      // No copy into it is left, and each was seen landing.
      state.inFlight.erase(end.getMemref());
      return;
    }
    if (auto roles = dyn_cast<RolesOp>(op)) {
      // All threads of the block meet at either end. Inside, roles meet on the
      // program's barriers.
      for (RoleOp role : roles.getBody().front().getOps<RoleOp>()) {
        State inner;
        visit(role.getBody().front(), inner);
      }
      state = State();
      return;
    }
    // Where threads part they cannot meet.
    if (op->getNumRegions() && !isa<ParallelOp>(op) && !getUpdatedBuffer(op) &&
        !threadLevel.parts(op)) {
      visitRegions(op, state);
      return;
    }
    // Where they part in form only, ops in there still meet in scratch.
    if (op->getNumRegions() && !isa<ParallelOp>(op))
      op->walk([&](Operation *inner) {
        if (getScratchUse(inner) == ScratchUse::None || inner == op ||
            inner->getParentOfType<ParallelOp>())
          return;
        if (!isa_and_nonnull<gpu::BarrierOp>(inner->getPrevNode())) {
          OpBuilder builder(inner);
          gpu::BarrierOp::create(builder, inner->getLoc());
          ++numBarriers;
        }
        state.scratch.insert(inner);
      });
    Buffers reads, writes;
    collect(op, reads, writes);
    auto copy = dyn_cast<CopyOp>(op);
    if (copy && copy.getIsAsync()) {
      if (meets(reads, state.writes) || meets(writes, state.writes) ||
          meetsOther(writes, state.reads))
        insertBarrier(op, state);
      state.inFlight.insert(writes.begin(), writes.end());
      return;
    }
    ScratchUse scratch = getScratchUse(op);
    if (meets(reads, state.writes) || meets(writes, state.writes) ||
        meets(writes, state.reads) ||
        (scratch != ScratchUse::None &&
         llvm::any_of(state.scratch, [&](Operation *before) {
           return !keepsScratchApart(before, op);
         })))
      insertBarrier(op, state);
    if (scratch == ScratchUse::Certain)
      state.clear();
    if (scratch != ScratchUse::None)
      state.scratch.insert(op);
    // The program's barriers make a role's threads meet first.
    if (isa<AllocBarrierOp, BarrierArriveOp, BarrierExpectOp, CopyAsyncOp>(
            op)) {
      state.clear();
      return;
    }
    state.reads.insert(reads.begin(), reads.end());
    state.writes.insert(writes.begin(), writes.end());
  }

  ThreadLevel threadLevel;
  /// What threads may be doing at the barriers behind waits.
  llvm::MapVector<gpu::BarrierOp, State> waiting;

  void visitRegions(Operation *op, State &state) {
    // Around a loop the state at the end meets that at the start, until
    // nothing is added.
    bool repeats = isa<LoopLikeOpInterface>(op);
    Buffers divided;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      divided = findDivided(loop);
    State entry = state, exit = state;
    bool changed = true;
    while (changed) {
      exit = entry;
      bool isFirst = true;
      State current = entry;
      for (Region &region : op->getRegions()) {
        // The regions of a loop (`before` and `after` of scf.while) follow one
        // another; those of a condition exclude one another.
        if (!repeats)
          current = entry;
        for (Block &block : region)
          visit(block, current);
        if (isFirst)
          exit = current;
        else
          exit.join(current);
        isFirst = false;
      }
      State next = exit;
      next.forget(divided);
      changed = repeats && entry.join(next);
    }
    // A loop may not run at all, a condition may have no else.
    exit.join(entry);
    state = exit;
  }
};

struct InsertSyncPass : tile::impl::TileInsertSyncBase<InsertSyncPass> {
  void runOnOperation() override {
    getOperation()->walk([&](LaunchOp launch) {
      Inserter inserter;
      inserter.run(launch);
      numBarriers += inserter.numBarriers;
      numRedundant += inserter.numRedundant;
    });
  }
};
} // namespace
