//===- InferLayouts.cpp - Give every on-chip buffer a layout ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver of inference: number of threads, normal form, seeds, spreading,
// defaults, and the types at the end. What registers cannot hold is moved out
// first (NormalizeFragments.cpp), so that from then on every fragment can be
// given some layout; where two do not agree, ResolveLayouts.cpp puts a copy.
//
//===----------------------------------------------------------------------===//

#include "LayoutInference.h"
#include "Tile/IR/Layouts.h"
#include "Tile/Transforms/GPUPasses.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tile;
using layout::FragmentLayout;

namespace tile {
#define GEN_PASS_DEF_TILEINFERLAYOUTS
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

//===----------------------------------------------------------------------===//
// The number of threads
//===----------------------------------------------------------------------===//

/// One warp for each 64 x 64 part of the largest product, which keeps operand
/// traffic low against the accumulators' registers; four warps at least.
static int64_t chooseThreads(LaunchOp launch) {
  int64_t threads = 128, pinned = 0;
  // A layout that the program gives is for so many.
  launch.walk([&](AllocFragmentOp alloc) {
    if (auto layout =
            getFragmentLayout(cast<MemRefType>(alloc.getBuffer().getType())))
      pinned = layout->numThreads();
  });
  if (pinned >= layout::warpSize && pinned <= 1024 &&
      pinned % layout::warpSize == 0)
    return pinned;
  launch.walk([&](GemmOp gemm) {
    int64_t warps = gemm.getM() * gemm.getN() / (64 * 64);
    threads = std::max(threads, std::min<int64_t>(warps, 8) * layout::warpSize);
  });
  return threads / layout::warpSize * layout::warpSize;
}

//===----------------------------------------------------------------------===//
// Spreading
//===----------------------------------------------------------------------===//

void LayoutInference::assign(Value fragment, const FragmentLayout &layout) {
  known.try_emplace(fragment, layout);
}

void LayoutInference::seedFromGemms() {
  launch.walk([&](GemmOp gemm) {
    choosePolicy(gemm);
    if (isKnown(gemm.getC()))
      return;
    std::optional<GemmPlan> plan = planGemm(gemm, threads, chip);
    assign(gemm.getC(),
           plan ? plan->layoutC()
                : getScalarGemmLayout(gemm.getM(), gemm.getN(), threads));
  });
  launch.walk([&](GemmOp gemm) {
    if (isFragment(gemm.getA().getType()) && !isKnown(gemm.getA()))
      assign(gemm.getA(), planGemm(gemm, threads, chip)->layoutA());
  });
}

bool LayoutInference::spreadOnce() {
  size_t before = known.size();
  launch.walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op)) {
      if (!isFragment(copy.getSourceType()) ||
          !isFragment(copy.getTargetType()))
        return;
      for (auto [from, to] : {std::pair(copy.getSource(), copy.getTarget()),
                              std::pair(copy.getTarget(), copy.getSource())})
        if (isKnown(from) && !isKnown(to))
          assign(to, reshapeTo(known.at(from), to));
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (isKnown(reduce.getSource()) && !isKnown(reduce.getTarget()))
        assign(reduce.getTarget(), getReducedLayout(reduce));
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      // It goes through shared memory, so this is for what stands around it.
      for (auto [from, to] : {std::pair(scan.getSource(), scan.getTarget()),
                              std::pair(scan.getTarget(), scan.getSource())})
        if (isKnown(from) && !isKnown(to))
          assign(to, known.at(from));
    } else if (auto loop = dyn_cast<ParallelOp>(op)) {
      spreadThroughLoop(loop);
    }
  });
  return known.size() != before;
}

void LayoutInference::spreadThroughLoop(ParallelOp loop) {
  std::optional<FragmentLayout> layout = suggest(loop);
  if (!layout)
    return;
  forEachFragmentAccess(loop, [&](Operation *, OpOperand &buffer,
                                  ValueRange indices) {
    if (isKnown(buffer.get()))
      return;
    ArrayRef<int64_t> shape =
        cast<MemRefType>(buffer.get().getType()).getShape();
    assign(buffer.get(),
           getAccessLayout(*layout, *getLoopAccess(loop, buffer.get(), indices),
                           shape)
               .layout);
  });
}

//===----------------------------------------------------------------------===//
// Defaults
//===----------------------------------------------------------------------===//

/// `fragment` and the others of its shape that elementwise loops read and write
/// along with it: they will share its layout.
static SetVector<Value> getLinked(Value fragment) {
  SetVector<Value> linked;
  linked.insert(fragment);
  ArrayRef<int64_t> shape = cast<MemRefType>(fragment.getType()).getShape();
  for (size_t i = 0; i < linked.size(); ++i)
    for (Operation *user : linked[i].getUsers()) {
      auto loop = user->getParentOfType<ParallelOp>();
      if (!loop)
        continue;
      auto link = [&](Value other) {
        if (isFragment(other.getType()) &&
            cast<MemRefType>(other.getType()).getShape() == shape)
          linked.insert(other);
      };
      loop.walk([&](Operation *op) {
        if (auto load = dyn_cast<memref::LoadOp>(op))
          link(load.getMemRef());
        else if (auto store = dyn_cast<memref::StoreOp>(op))
          link(store.getMemRef());
      });
    }
  return linked;
}

/// Neighbours that a 16-byte access to the memory the fragments are copied from
/// or to would bring.
static int64_t getPreferredVector(ArrayRef<Value> fragments) {
  auto widthOf = [](Type element) -> int64_t {
    return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  };
  int64_t bits = 0;
  auto consider = [&](MemRefType type) {
    int64_t width = std::max<int64_t>(8, widthOf(type.getElementType()));
    bits = bits ? std::min(bits, width) : width;
  };
  for (Value fragment : fragments)
    for (Operation *user : fragment.getUsers())
      if (auto copy = dyn_cast<CopyOp>(user)) {
        if (!isFragment(copy.getSourceType()))
          consider(copy.getSourceType());
        if (!isFragment(copy.getTargetType()))
          consider(copy.getTargetType());
      }
  if (!bits)
    consider(cast<MemRefType>(fragments.front().getType()));
  return 128 / bits;
}

FragmentLayout LayoutInference::getDefaultLayout(Value fragment) {
  auto type = cast<MemRefType>(fragment.getType());
  ArrayRef<int64_t> shape = type.getShape();
  SetVector<Value> linked = getLinked(fragment);
  int64_t vector = getPreferredVector(linked.getArrayRef());
  // A reduction along rows stays within a warp where each warp has whole rows.
  bool reducesRows = llvm::any_of(linked, [&](Value other) {
    return llvm::any_of(other.getUsers(), [&](Operation *user) {
      auto reduce = dyn_cast<ReduceOp>(user);
      return reduce && reduce.getSource() == other &&
             int64_t(reduce.getDim()) == type.getRank() - 1;
    });
  });
  int64_t warps = threads / layout::warpSize;
  if (reducesRows && shape.size() == 2 && shape[0] % warps == 0) {
    while (vector > 1 && shape[1] % (vector * layout::warpSize))
      vector /= 2;
    if (shape[1] % (vector * layout::warpSize) == 0) {
      layout::FragmentModes modes;
      modes.threads = {{layout::warpSize, {0, vector}}, {warps, {1, 0}}};
      modes.registers = {{vector, {0, 1}},
                         {shape[1] / (vector * layout::warpSize),
                          {0, vector * layout::warpSize}},
                         {shape[0] / warps, {warps, 0}}};
      auto result = FragmentLayout::strided(getTileShape(shape), threads,
                                            std::move(modes));
      assert(result && "warps and lanes divide the tile");
      return *result;
    }
  }
  return getDealtLayout(shape, threads, vector);
}

void LayoutInference::assignDefault() {
  // The largest buffer first: smaller ones follow it.
  Value largest;
  int64_t most = 0;
  launch.walk([&](AllocFragmentOp alloc) {
    int64_t elements =
        cast<MemRefType>(alloc.getBuffer().getType()).getNumElements();
    if (!isKnown(alloc.getBuffer()) && elements > most) {
      largest = alloc.getBuffer();
      most = elements;
    }
  });
  if (largest)
    assign(largest, getDefaultLayout(largest));
}

bool LayoutInference::hasUnknown() {
  return launch
      .walk([&](AllocFragmentOp alloc) {
        return isKnown(alloc.getBuffer()) ? WalkResult::advance()
                                          : WalkResult::interrupt();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult LayoutInference::run() {
  if (failed(checkStatic()) || failed(checkPinned()))
    return failure();
  normalizeFragments();
  seedFromPinned();
  seedFromGemms();
  do {
    while (spreadOnce())
      ;
    if (!hasUnknown())
      break;
    assignDefault();
  } while (true);
  if (failed(resolveConflicts()) || failed(checkCoverage()))
    return failure();
  for (auto &[fragment, layout] : known)
    fragment.setType(
        withFragmentLayout(cast<MemRefType>(fragment.getType()), layout));
  splitFragmentCopies();
  stageNarrowStores();
  launch.walk([&](AllocSharedOp alloc) { layOut(alloc); });
  return success();
}

/// Before its elements are enumerated: no block can hold a buffer that fits
/// neither its registers nor its shared memory.
static LogicalResult checkSize(Operation *alloc, MemRefType type,
                               const Chip &chip) {
  // The registers of a multiprocessor, of which a block may have all.
  constexpr int64_t registerBytes = 256 << 10;
  Type element = type.getElementType();
  int64_t bytes = element.isIndex()
                      ? 8
                      : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (int64_t extent : type.getShape())
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      bytes = INT64_MAX;
  int64_t limit = std::max(registerBytes, chip.sharedBytes);
  if (bytes <= limit)
    return success();
  return alloc->emitOpError("is a buffer of more than ")
         << limit << " bytes, which a block has neither registers nor shared "
         << "memory for on " << chip.name << "; use smaller tiles, got "
         << type;
}

LogicalResult LayoutInference::checkStatic() {
  if (launch.getThreads())
    return launch.emitOpError("needs 'threads' as a constant here; run "
                              "tile-specialize to fix the tunables");
  if (!launch.getStaticThreads())
    launch.setStaticThreads(chooseThreads(launch));
  threads = *launch.getStaticThreads();
  WalkResult result = launch.walk([&](Operation *op) -> WalkResult {
    if (isa<AllocSharedOp, AllocFragmentOp, AllocLocalOp>(op)) {
      auto type = cast<MemRefType>(op->getResult(0).getType());
      if (!type.hasStaticShape())
        return op->emitOpError("needs static extents here; run tile-specialize "
                               "to fix the tunables, got ")
               << type;
      if (failed(checkSize(op, type, chip)))
        return WalkResult::interrupt();
    }
    if (auto loop = dyn_cast<ParallelOp>(op)) {
      if (!loop.hasStaticExtents())
        return loop.emitOpError("needs static extents here; run "
                                "tile-specialize to fix the tunables");
      // The points that a thread runs are enumerated, too.
      constexpr int64_t limit = 1 << 24;
      int64_t points = 1;
      for (int64_t extent : loop.getStaticExtents())
        if (__builtin_mul_overflow(points, extent, &points))
          points = INT64_MAX;
      if (points > limit)
        return loop.emitOpError("has a box of more than ")
               << limit << " points, the limit of a block on a GPU; divide it "
               << "among more blocks or put a loop around it";
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
/// As far as layouts go a role is a launch with the role's threads: while this
/// lives, the bodies of a launch's roles stand in launches of their own.
class RolesApart {
public:
  explicit RolesApart(LaunchOp launch) : launch(launch) {}
  ~RolesApart() {
    for (auto [role, apart] : llvm::zip(roles, launches)) {
      // What other launches hold does not concern the products inside.
      pinPolicies(apart);
      move(apart.getBody().front(), role.getBody().front());
      apart.erase();
    }
  }
  RolesApart(const RolesApart &) = delete;
  RolesApart &operator=(const RolesApart &) = delete;

  LogicalResult takeOut() {
    int64_t threads = 0;
    launch.walk([&](RolesOp op) {
      int64_t warps = 0;
      for (RoleOp role : op.getBody().front().getOps<RoleOp>()) {
        roles.push_back(role);
        warps += role.getWarps();
      }
      threads = std::max(threads, warps * layout::warpSize);
    });
    if (roles.empty())
      return success();
    launch.setStaticThreads(threads);
    launch.getThreadsMutable().clear();
    OpBuilder builder(launch);
    for (RoleOp role : roles) {
      auto apart =
          LaunchOp::create(builder, role.getLoc(), launch.getGrid(),
                           int64_t(role.getWarps()) * layout::warpSize);
      move(role.getBody().front(), apart.getBody().front());
      launches.push_back(apart);
    }
    return success();
  }
  ArrayRef<LaunchOp> get() const { return launches; }

private:
  /// All but the terminators.
  static void move(Block &from, Block &to) {
    to.getOperations().splice(to.without_terminator().end(),
                              from.getOperations(), from.begin(),
                              from.without_terminator().end());
  }

  LaunchOp launch;
  SmallVector<RoleOp> roles;
  SmallVector<LaunchOp> launches;
};

struct InferLayoutsPass : tile::impl::TileInferLayoutsBase<InferLayoutsPass> {
  using TileInferLayoutsBase::TileInferLayoutsBase;
  void runOnOperation() override {
    std::optional<Chip> found = getChip(chip, getOperation());
    if (!found)
      return signalPassFailure();
    SmallVector<LaunchOp> launches;
    getOperation()->walk([&](LaunchOp launch) { launches.push_back(launch); });
    for (LaunchOp launch : launches)
      if (failed(inferWithRoles(launch, *found)))
        return signalPassFailure();
  }

  LogicalResult inferWithRoles(LaunchOp launch, const Chip &found) {
    SmallVector<LayoutInference::Padded> padded;
    {
      RolesApart roles(launch);
      if (failed(roles.takeOut()))
        return failure();
      // How roles access what they share says how it is laid out.
      for (LaunchOp role : roles.get())
        if (failed(infer(role, found, padded)))
          return failure();
      if (failed(infer(launch, found, padded)))
        return failure();
    }
    LayoutInference::fitSharedMemory(launch, padded, found);
    return success();
  }

  LogicalResult infer(LaunchOp launch, const Chip &found,
                      SmallVectorImpl<LayoutInference::Padded> &padded) {
    LayoutInference inference(launch, found);
    if (failed(inference.run()))
      return failure();
    llvm::append_range(padded, inference.getPadded());
    numDemoted += inference.numDemoted;
    numConversions += inference.numConversions;
    return success();
  }
};
} // namespace
