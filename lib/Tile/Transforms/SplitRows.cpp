//===- SplitRows.cpp - Run blocks a few rows at a time ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles are as high as it suits a machine with hundreds of lanes. One that
// works on a vector at a time walks over a high tile in many short pieces far
// apart, which its prefetchers do not follow, and comes back to what it has
// read when the cache has lost it.
//
// From one dimension of one buffer, the rows, follows which dimension of every
// other buffer and elementwise loop is that of the rows too. If every op then
// treats each row by itself, the whole body, loops and all, may run for the
// first rows before it runs for the next. What has no rows is computed again
// each time, to the same effect.
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/SplitRows.h"
#include "Tile/IR/EntryAttributes.h"
#include "Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

namespace tile {
#define GEN_PASS_DEF_SPLITROWS
#include "Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
/// A load or store of one element.
struct Access {
  Value buffer;
  Operation::operand_range indices;
  bool isStore;
};

/// An index that tells rows apart: the row's number plus `rest`, or the
/// quotient or remainder of that.
struct RowIndex {
  unsigned dim;
  Value rest;
  std::optional<OperationName> quotient;
  Value divisor;

  bool operator==(const RowIndex &other) const {
    return dim == other.dim && rest == other.rest &&
           quotient == other.quotient && divisor == other.divisor;
  }
};

/// How the rows of a global buffer are written.
struct RowWrite {
  Value buffer;
  SmallVector<RowIndex, 2> indices;
};

/// The buffers and loops that have rows, found from one of them.
class RowAnalysis {
public:
  explicit RowAnalysis(LaunchOp launch) : launch(launch) {}

  /// Whether the launch can be split along dimension `dim` of `buffer`.
  bool analyze(Value buffer, unsigned dim, int64_t rows);
  /// Does it.
  void split(int64_t rows);

  int64_t getExtent() const { return extent; }

private:
  bool add(Value buffer, unsigned dim);
  bool add(ParallelOp loop, unsigned dim);
  bool visit(Operation *user, Value buffer);
  bool visitCopy(CopyOp copy);
  bool checkOps();
  bool checkAccess(ParallelOp loop, Operation *op);
  bool checkWrites();
  bool addWrite(Value buffer, ArrayRef<RowIndex> indices);
  bool isCheap(int64_t rows);
  std::optional<unsigned> findTileDim(CopyOp copy, bool ofSource);

  bool isInvariant(Value value) {
    Region *region = value.getParentRegion();
    return region == &launch.getBody() || !launch.getBody().isAncestor(region);
  }

  LaunchOp launch;
  int64_t extent = 0;
  llvm::MapVector<Value, unsigned> buffers;
  llvm::MapVector<Operation *, unsigned> loops;
  llvm::SetVector<Operation *> copies;
  SmallVector<Value> pending;
  /// By the buffer behind all views.
  llvm::DenseMap<Value, RowWrite> written;
};
} // namespace

static std::optional<Access> getAccess(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return Access{load.getMemRef(), load.getIndices(), false};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return Access{store.getMemRef(), store.getIndices(), true};
  return std::nullopt;
}

/// A lane's own buffer.
static bool isLanes(Value buffer, ParallelOp loop) {
  return loop->isAncestor(buffer.getParentRegion()->getParentOp());
}

bool RowAnalysis::add(Value buffer, unsigned dim) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [it, isNew] = buffers.try_emplace(buffer, dim);
  if (!isNew)
    return it->second == dim;
  if (!isa_and_nonnull<AllocSharedOp, AllocFragmentOp>(
          buffer.getDefiningOp()) ||
      !type.hasStaticShape() || !type.getLayout().isIdentity() ||
      type.getDimSize(dim) != extent)
    return false;
  pending.push_back(buffer);
  return true;
}

bool RowAnalysis::add(ParallelOp loop, unsigned dim) {
  auto [it, isNew] = loops.try_emplace(loop, dim);
  if (!isNew)
    return it->second == dim;
  if (!loop.hasStaticExtents() || loop.getStaticExtents()[dim] != extent)
    return false;
  // Whatever the rows of the loop index is made of rows as well.
  Value row = loop.getInductionVars()[dim];
  return !loop.getBody()
              .walk([&](Operation *op) {
                std::optional<Access> access = getAccess(op);
                if (!access || !isOnChip(access->buffer.getType()) ||
                    isLanes(access->buffer, loop))
                  return WalkResult::advance();
                for (auto [dim, index] : llvm::enumerate(access->indices))
                  if (index == row && !add(access->buffer, dim))
                    return WalkResult::interrupt();
                return WalkResult::advance();
              })
              .wasInterrupted();
}

/// The dimension of one side of a copy that goes with the rows of the other.
std::optional<unsigned> RowAnalysis::findTileDim(CopyOp copy, bool ofSource) {
  Value other = ofSource ? copy.getTarget() : copy.getSource();
  auto it = buffers.find(other);
  FailureOr<SmallVector<int64_t>> from = copy.getSourceTile(),
                                  to = copy.getTargetTile();
  if (it == buffers.end() || failed(from) || failed(to))
    return std::nullopt;
  if (!ofSource)
    std::swap(from, to);
  // Extents of one have no counterpart.
  auto countLoops = [](ArrayRef<int64_t> tile) {
    return llvm::count_if(tile, [](int64_t size) { return size != 1; });
  };
  int64_t place = countLoops(ArrayRef(*to).take_front(it->second));
  if ((*to)[it->second] != extent)
    return std::nullopt;
  for (auto [dim, size] : llvm::enumerate(*from))
    if (size != 1 && place-- == 0)
      return size == extent ? std::optional<unsigned>(dim) : std::nullopt;
  return std::nullopt;
}

bool RowAnalysis::visitCopy(CopyOp copy) {
  copies.insert(copy);
  auto startsAtZero = [&](Value buffer, ArrayRef<OpFoldResult> offsets) {
    auto it = buffers.find(buffer);
    return it == buffers.end() || isConstantIntValue(offsets[it->second], 0);
  };
  for (bool ofSource : {true, false}) {
    Value buffer = ofSource ? copy.getSource() : copy.getTarget();
    if (!buffers.contains(ofSource ? copy.getTarget() : copy.getSource()))
      continue;
    std::optional<unsigned> dim = findTileDim(copy, ofSource);
    if (!dim || (isOnChip(buffer.getType()) && !add(buffer, *dim)))
      return false;
  }
  return startsAtZero(copy.getSource(), copy.getMixedSourceOffsets()) &&
         startsAtZero(copy.getTarget(), copy.getMixedTargetOffsets());
}

/// Finds what `user` says of the rows of its other buffers.
bool RowAnalysis::visit(Operation *user, Value buffer) {
  unsigned dim = buffers[buffer];
  if (isa<FillOp>(user))
    return true;
  if (auto copy = dyn_cast<CopyOp>(user))
    return visitCopy(copy);
  if (auto scan = dyn_cast<ScanOp>(user))
    return scan.getDim() != dim && add(scan.getSource(), dim) &&
           add(scan.getTarget(), dim);
  if (auto reduce = dyn_cast<ReduceOp>(user)) {
    unsigned along = reduce.getDim();
    bool drops = !reduce.keepsDim();
    bool isSource = buffer == reduce.getSource();
    unsigned inSource = isSource || !drops || dim < along ? dim : dim + 1;
    return inSource != along && add(reduce.getSource(), inSource) &&
           add(reduce.getTarget(),
               drops && inSource > along ? inSource - 1 : inSource);
  }
  auto loop = user->getParentOfType<ParallelOp>();
  std::optional<Access> access = getAccess(user);
  if (!loop || !access || access->buffer != buffer)
    return false;
  auto row = dyn_cast<BlockArgument>(access->indices[dim]);
  return row && row.getOwner() == &loop.getBody().front() &&
         add(loop, row.getArgNumber());
}

/// Whether different indices are those of different elements, as they are in
/// arguments and allocations. A view that chooses its strides freely may have
/// one element under several.
static bool isOneToOne(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) {
    if (isa<memref::ReinterpretCastOp>(view))
      return false;
    if (auto subview = dyn_cast<memref::SubViewOp>(view.getOperation()))
      for (OpFoldResult stride : subview.getMixedStrides())
        if (getConstantIntValue(stride).value_or(0) == 0)
          return false;
    buffer = view.getViewSource();
  }
  return true;
}

/// Rows of different numbers write different elements if all writes to a buffer
/// tell its rows apart alike.
bool RowAnalysis::addWrite(Value buffer, ArrayRef<RowIndex> indices) {
  if (!isOneToOne(buffer))
    return false;
  auto [it, isNew] =
      written.try_emplace(getRootBuffer(buffer),
                          RowWrite{buffer, SmallVector<RowIndex, 2>(indices)});
  return isNew || (it->second.buffer == buffer &&
                   indices == ArrayRef(it->second.indices));
}

bool RowAnalysis::checkAccess(ParallelOp loop, Operation *op) {
  std::optional<Access> access = getAccess(op);
  if (!access)
    return isa<AllocLocalOp, scf::IfOp, scf::ForOp, scf::WhileOp,
               scf::ConditionOp, scf::YieldOp, YieldOp>(op) ||
           (op->getNumRegions() == 0 && isMemoryEffectFree(op));
  if (!access->isStore || isLanes(access->buffer, loop))
    return true;
  auto it = loops.find(loop);
  // What has no rows is written again for all rows, and so must not be read
  // and changed; on the chip it starts anew each time.
  if (it == loops.end())
    return isOnChip(access->buffer.getType()) &&
           !buffers.contains(access->buffer);
  if (isOnChip(access->buffer.getType()))
    return buffers.contains(access->buffer);

  // The number of the row: the lane's plus what is the same for all of them.
  Value lane = loop.getInductionVars()[it->second];
  auto match = [&](Value index, RowIndex &row) {
    if (index == lane)
      return true;
    auto sum = index.getDefiningOp<arith::AddIOp>();
    if (!sum || (sum.getLhs() != lane && sum.getRhs() != lane))
      return false;
    row.rest = sum.getLhs() == lane ? sum.getRhs() : sum.getLhs();
    return isInvariant(row.rest);
  };
  SmallVector<RowIndex, 2> quotients;
  bool isSigned[2] = {false, false}, isUnsigned[2] = {false, false};
  for (auto [dim, index] : llvm::enumerate(access->indices)) {
    RowIndex row{unsigned(dim), {}, {}, {}};
    if (match(index, row))
      return addWrite(access->buffer, row);
    Operation *op = index.getDefiningOp();
    if (!isa_and_nonnull<arith::DivUIOp, arith::RemUIOp, arith::DivSIOp,
                         arith::RemSIOp>(op) ||
        !match(op->getOperand(0), row) || !isInvariant(op->getOperand(1)))
      continue;
    row.quotient = op->getName();
    row.divisor = op->getOperand(1);
    if (!quotients.empty() && (quotients.front().rest != row.rest ||
                               quotients.front().divisor != row.divisor))
      continue;
    quotients.push_back(row);
    bool isRemainder = isa<arith::RemUIOp, arith::RemSIOp>(op);
    (isa<arith::DivSIOp, arith::RemSIOp>(op) ? isSigned
                                             : isUnsigned)[isRemainder] = true;
  }
  // A quotient and a remainder together are as good as the number.
  return ((isSigned[0] && isSigned[1]) || (isUnsigned[0] && isUnsigned[1])) &&
         addWrite(access->buffer, quotients);
}

/// Whether every op of the launch is one that may be repeated or split.
bool RowAnalysis::checkOps() {
  WalkResult result = launch.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) -> WalkResult {
        if (auto loop = dyn_cast<ParallelOp>(op)) {
          WalkResult inner = loop.getBody().walk([&](Operation *nested) {
            return checkAccess(loop, nested) ? WalkResult::advance()
                                             : WalkResult::interrupt();
          });
          return inner.wasInterrupted() ? inner : WalkResult::skip();
        }
        if (auto copy = dyn_cast<CopyOp>(op)) {
          if (isOnChip(copy.getTargetType()))
            return WalkResult::advance();
          std::optional<unsigned> dim = findTileDim(copy, /*ofSource=*/false);
          if (!dim)
            return WalkResult::interrupt();
          OpFoldResult offset = copy.getMixedTargetOffsets()[*dim];
          RowIndex row{*dim, dyn_cast<Value>(offset), {}, {}};
          if (row.rest ? !isInvariant(row.rest)
                       : !isConstantIntValue(offset, 0))
            return WalkResult::interrupt();
          return addWrite(copy.getTarget(), row) ? WalkResult::advance()
                                                 : WalkResult::interrupt();
        }
        bool isKnown =
            isa<AllocSharedOp, AllocFragmentOp, FillOp, ReduceOp, ScanOp,
                PipelinedOp, StepOp, YieldOp, scf::ForOp, scf::IfOp,
                scf::WhileOp, scf::ConditionOp, scf::YieldOp, memref::LoadOp>(
                op) ||
            (op->getNumRegions() == 0 && isMemoryEffectFree(op));
        return isKnown ? WalkResult::advance() : WalkResult::interrupt();
      });
  return !result.wasInterrupted();
}

/// Nothing that is written is read.
bool RowAnalysis::checkWrites() {
  auto isRead = [&](Value buffer) {
    return !isOnChip(buffer.getType()) &&
           written.contains(getRootBuffer(buffer));
  };
  return !launch.getBody()
              .walk([&](Operation *op) {
                auto load = dyn_cast<memref::LoadOp>(op);
                auto copy = dyn_cast<CopyOp>(op);
                return (load && isRead(load.getMemRef())) ||
                               (copy && isRead(copy.getSource()))
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

/// Whether what is repeated for each group of `rows` is little beside what is
/// not.
bool RowAnalysis::isCheap(int64_t rows) {
  double once = 0, repeated = 0;
  launch.getBody().walk([&](Operation *op) {
    double elements = 1;
    bool hasRows = loops.contains(op);
    if (auto loop = dyn_cast<ParallelOp>(op)) {
      for (int64_t size : loop.getStaticExtents())
        elements *= size;
    } else if (isa<FillOp, CopyOp, ReduceOp, ScanOp>(op)) {
      for (Value operand : op->getOperands()) {
        auto type = dyn_cast<MemRefType>(operand.getType());
        if (!type || !isOnChip(type) || !type.hasStaticShape())
          continue;
        elements = std::max<double>(elements, type.getNumElements());
        hasRows |= buffers.contains(operand);
      }
    } else {
      return;
    }
    (hasRows ? once : repeated) += elements;
  });
  constexpr double share = 0.25;
  return repeated * double(extent / rows - 1) <= share * once;
}

bool RowAnalysis::analyze(Value buffer, unsigned dim, int64_t rows) {
  extent = cast<MemRefType>(buffer.getType()).getDimSize(dim);
  if (!add(buffer, dim))
    return false;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    for (Operation *user : next.getUsers())
      if (!visit(user, next))
        return false;
  }
  // Vectors lie along the last dimension.
  for (auto [loop, row] : loops)
    if (row + 1 == cast<ParallelOp>(loop).getRank() && row > 0)
      return false;
  return checkOps() && checkWrites() && isCheap(rows);
}

void RowAnalysis::split(int64_t rows) {
  OpBuilder b(launch.getContext());
  Location loc = launch.getLoc();
  Block &body = launch.getBody().front();
  b.setInsertionPointToStart(&body);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto strips =
      scf::ForOp::create(b, loc, constant(0), constant(extent), constant(rows));
  Operation *last = strips.getBody()->getTerminator();
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(
           std::next(strips->getIterator()), std::prev(body.end())))) {
    // Buffers stay those of the block.
    if (isa<AllocSharedOp, AllocFragmentOp>(op))
      op.moveBefore(strips);
    else
      op.moveBefore(last);
  }
  Value first = strips.getInductionVar();

  // Tiles are asked for their extents before those change.
  struct Side {
    CopyOp copy;
    bool isSource;
    unsigned dim;
  };
  SmallVector<Side> sides;
  for (Operation *op : copies) {
    auto copy = cast<CopyOp>(op);
    for (bool isSource : {true, false}) {
      auto it = buffers.find(isSource ? copy.getSource() : copy.getTarget());
      std::optional<unsigned> dim =
          it != buffers.end() ? it->second : findTileDim(copy, isSource);
      sides.push_back({copy, isSource, dim.value()});
    }
  }
  for (auto [copy, isSource, dim] : sides) {
    SmallVector<int64_t> sizes(isSource ? copy.getSourceSizes()
                                        : copy.getTargetSizes());
    if (!sizes.empty()) {
      sizes[dim] = rows;
      isSource ? copy.setSourceSizes(sizes) : copy.setTargetSizes(sizes);
    }
    if (isOnChip((isSource ? copy.getSource() : copy.getTarget()).getType()))
      continue;
    b.setInsertionPoint(copy);
    SmallVector<OpFoldResult> offsets =
        isSource ? copy.getMixedSourceOffsets() : copy.getMixedTargetOffsets();
    std::optional<int64_t> number = getConstantIntValue(offsets[dim]);
    offsets[dim] =
        number && *number == 0
            ? first
            : arith::AddIOp::create(b, copy.getLoc(),
                                    getValueOrCreateConstantIndexOp(
                                        b, copy.getLoc(), offsets[dim]),
                                    first)
                  .getResult();
    SmallVector<Value> values;
    SmallVector<int64_t> constants;
    dispatchIndexOpFoldResults(offsets, values, constants);
    (isSource ? copy.getSourceOffsetsMutable() : copy.getTargetOffsetsMutable())
        .assign(values);
    isSource ? copy.setStaticSourceOffsets(constants)
             : copy.setStaticTargetOffsets(constants);
  }
  for (auto [op, dim] : loops) {
    auto loop = cast<ParallelOp>(op);
    SmallVector<int64_t> extents(loop.getStaticExtents());
    extents[dim] = rows;
    loop.setStaticExtents(extents);
    Value lane = loop.getInductionVars()[dim];
    b.setInsertionPointToStart(&loop.getBody().front());
    Value row = arith::AddIOp::create(b, loop.getLoc(), first, lane);
    lane.replaceUsesWithIf(row, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (user == row.getDefiningOp())
        return false;
      std::optional<Access> access = getAccess(user);
      auto it = access ? buffers.find(access->buffer) : buffers.end();
      return it == buffers.end() ||
             use.getOperandNumber() !=
                 access->indices.getBeginOperandIndex() + it->second;
    });
  }
  for (auto [buffer, dim] : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = rows;
    buffer.setType(MemRefType::get(shape, type.getElementType(),
                                   type.getLayout(), type.getMemorySpace()));
  }
}

bool tile::splitRows(LaunchOp launch, int64_t rows) {
  // Reports tell what happened first.
  if (launch.getBounds() == Bounds::Trap)
    return false;
  auto function = launch->getParentOfType<FunctionOpInterface>();
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    for (unsigned j = i + 1; j < e; ++j)
      if (mayAlias(function, i, j))
        return false;
  for (Operation &op : launch.getBody().front()) {
    if (!isa<AllocSharedOp, AllocFragmentOp>(op))
      continue;
    auto type = cast<MemRefType>(op.getResult(0).getType());
    for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim) {
      int64_t extent = type.getDimSize(dim);
      if (ShapedType::isDynamic(extent) || extent <= rows || extent % rows != 0)
        continue;
      RowAnalysis analysis(launch);
      if (!analysis.analyze(op.getResult(0), dim, rows))
        continue;
      analysis.split(rows);
      return true;
    }
  }
  return false;
}

namespace {
struct SplitRowsPass : tile::impl::SplitRowsBase<SplitRowsPass> {
  using SplitRowsBase::SplitRowsBase;
  void runOnOperation() override {
    if (rows < 1) {
      getOperation().emitError("expects rows to be positive, got ")
          << rows.getValue();
      return signalPassFailure();
    }
    getOperation().walk(
        [&](LaunchOp launch) { numSplit += splitRows(launch, rows); });
  }
};
} // namespace
