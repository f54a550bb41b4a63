//===- Copy.cpp - Copies and fills of one thread ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy is divided by the layout of its fragment; between memories its
// elements are dealt out, 16 bytes at a time where both sides allow. Loads of
// several chunks are issued before their stores, so that their latencies
// overlap.
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;
using layout::FragmentLayout;

/// One side of a copy that lies in memory, against the tile without its extents
/// of one.
struct ThreadCode::Side {
  View view;
  SmallVector<OpFoldResult> offsets;
  /// For each dimension of the tile, that of the buffer.
  SmallVector<int64_t> dims;
  /// Elements of one access.
  int64_t chunk = 1;

  /// Offset of the thread's part of the tile, and its coordinate along each
  /// dimension of the buffer.
  Value common;
  Values commonIndices;
  /// Whether the dimensions of one index lie inside; may be null.
  Value commonPredicate;
};

/// The dimensions of a tile whose extent is not one.
static SmallVector<int64_t> getLongDims(ArrayRef<int64_t> tile) {
  SmallVector<int64_t> dims;
  for (auto [dim, extent] : llvm::enumerate(tile))
    if (extent != 1)
      dims.push_back(dim);
  return dims;
}

static int64_t getBytes(Type storage) {
  return storage.getIntOrFloatBitWidth() / 8;
}

/// The most elements up to `most` that one access to the side may take.
int64_t ThreadCode::getChunk(const Side &side, int64_t most) {
  constexpr int64_t widestAccess = 16;
  if (side.dims.empty())
    return 1;
  const View &view = side.view;
  int64_t bytes = getBytes(storageType(view.element));
  int64_t last = side.dims.back();
  if (getConstantIntValue(view.strides[last]) != 1)
    return 1;
  int64_t alignment = view.baseAlignment;
  for (auto [dim, stride] : llvm::enumerate(view.strides)) {
    if (int64_t(dim) == last) {
      alignment =
          std::min(alignment, getKnownDivisor(side.offsets[dim]) * bytes);
      continue;
    }
    alignment = std::min(alignment, getConstantIntValue(stride)
                                        ? getKnownDivisor(stride) * bytes
                                        : view.promisedAlignment);
  }
  // A chunk lies inside the buffer as a whole or not at all.
  bool isGuarded =
      view.space == Space::Global && launch.getBounds() != Bounds::Assume;
  if (isGuarded) {
    OpFoldResult size = view.sizes[last];
    bool isPromised = last == view.getRank() - 1 && view.lastSizeIsPromised;
    alignment = std::min(alignment, getConstantIntValue(size)
                                        ? getKnownDivisor(size) * bytes
                                    : isPromised ? view.promisedAlignment
                                                 : bytes);
  }
  int64_t chunk = most;
  while (chunk > 1 &&
         (chunk * bytes > widestAccess || alignment % (chunk * bytes)))
    chunk /= 2;
  return chunk;
}

void ThreadCode::prepareSide(Side &side, Slots &slots) {
  const View &view = side.view;
  for (OpFoldResult offset : side.offsets)
    side.commonIndices.push_back(mapped(offset));
  for (auto [at, dim] : llvm::enumerate(side.dims))
    side.commonIndices[dim] = add(side.commonIndices[dim], slots.thread()[at]);
  side.common = getOffset(view, side.commonIndices);
  if (view.space != Space::Global || launch.getBounds() == Bounds::Assume)
    return;
  for (int64_t dim = 0; dim < view.getRank(); ++dim) {
    if (llvm::is_contained(side.dims, dim))
      continue;
    View one = view;
    one.sizes = {view.sizes[dim]};
    side.commonPredicate =
        allOf(side.commonPredicate, isInside(one, side.commonIndices[dim]));
  }
}

/// The address of the slot's element, `extra` elements on.
Value ThreadCode::getSideAddress(const Side &side, Slots &slots, int64_t reg,
                                 int64_t extra) {
  const View &view = side.view;
  SmallVector<OpFoldResult> part = slots.slot(reg);
  Value delta = constant(extra);
  for (auto [at, dim] : llvm::enumerate(side.dims))
    delta =
        add(delta, mul(materialize(part[at]), materialize(view.strides[dim])));
  // The thread's address first: what is left is mostly a constant that becomes
  // part of the access.
  View thread = view;
  thread.base = getAddress(view, side.common);
  return getAddress(thread, delta);
}

/// Whether the slot's chunk is in the buffer; null where that needs no test.
Value ThreadCode::getSidePredicate(const Side &side, Slots &slots,
                                   int64_t reg) {
  const View &view = side.view;
  if (view.space != Space::Global || launch.getBounds() == Bounds::Assume)
    return nullptr;
  Value result = side.commonPredicate;
  SmallVector<OpFoldResult> part = slots.slot(reg);
  for (auto [at, dim] : llvm::enumerate(side.dims)) {
    View one = view;
    one.sizes = {view.sizes[dim]};
    Value index = add(side.commonIndices[dim], materialize(part[at]));
    result = allOf(result, isInside(one, index));
  }
  return result;
}

/// A copy of registers to registers of the same threads.
LogicalResult ThreadCode::emitRegisterCopy(CopyOp op) {
  FragmentLayout from = *getFragmentLayout(op.getSourceType());
  auto to = getFragmentLayout(op.getTargetType())
                ->reshape(getTileShape(op.getSourceType().getShape()));
  assert(to && "the verifier compared the tiles");
  std::optional<std::vector<int64_t>> registers = to->registersFrom(from);
  if (!registers)
    return op.emitOpError("copies between fragments of different layouts; "
                          "tile-infer-layouts puts shared memory between them");
  Values values;
  for (int64_t reg : *registers)
    values.push_back(loadRegister(op.getSource(), reg));
  values = convert(values, {op.getTargetType().getElementType(),
                            op.getSaturate(), op.getIsUnsigned()});
  for (auto [reg, value] : llvm::enumerate(values))
    storeRegister(op.getTarget(), reg, value);
  return success();
}

/// Each thread holds the whole tile.
static FragmentLayout getCopiedLayout(ArrayRef<int64_t> shape,
                                      int64_t threads) {
  layout::Coordinate tile = getTileShape(shape);
  layout::FragmentModes modes;
  modes.threads = {{threads, layout::Coordinate(tile.size(), 0)}};
  for (int64_t dim = int64_t(tile.size()) - 1; dim >= 0; --dim) {
    layout::Mode mode{tile[dim], layout::Coordinate(tile.size(), 0)};
    mode.strides[dim] = 1;
    modes.registers.push_back(std::move(mode));
  }
  auto result = FragmentLayout::strided(tile, threads, std::move(modes));
  assert(result && "every tile has a row-major order");
  return *result;
}

LogicalResult ThreadCode::emitCopy(CopyOp op) {
  bool fromRegisters = isFragment(op.getSourceType());
  bool toRegisters = isFragment(op.getTargetType());
  if (fromRegisters && toRegisters)
    return emitRegisterCopy(op);

  Side source, target;
  SmallVector<int64_t> sourceTile = *op.getSourceTile();
  SmallVector<int64_t> targetTile = *op.getTargetTile();
  source.offsets = op.getMixedSourceOffsets();
  target.offsets = op.getMixedTargetOffsets();
  source.dims = getLongDims(sourceTile);
  target.dims = getLongDims(targetTile);
  SmallVector<int64_t> tile;
  for (int64_t dim : source.dims)
    tile.push_back(sourceTile[dim]);
  if (!fromRegisters)
    source.view = getView(op.getSource());
  if (!toRegisters)
    target.view = getView(op.getTarget());

  std::optional<FragmentLayout> layout;
  int64_t group = 1;
  if (fromRegisters || toRegisters) {
    MemRefType type = fromRegisters ? op.getSourceType() : op.getTargetType();
    auto reshaped = getFragmentLayout(type)->reshape(getTileShape(tile));
    assert(reshaped && "dropping ones keeps the number of elements");
    layout = *reshaped;
    constexpr int64_t most = 16;
    group = std::min<int64_t>(most, layout->vectorWidth(layout->rank() - 1));
    while (group & (group - 1))
      --group;
    Side &side = fromRegisters ? target : source;
    side.chunk = getChunk(side, group);
  } else if (target.view.space == Space::Local) {
    // Every thread has its own buffer and fills all of it.
    layout = getCopiedLayout(tile, threads);
  } else {
    constexpr int64_t most = 16;
    source.chunk = getChunk(source, most);
    target.chunk = getChunk(target, most);
    layout =
        getDealtLayout(tile, threads, std::max(source.chunk, target.chunk));
    group = std::min<int64_t>(std::max(source.chunk, target.chunk),
                              layout->vectorWidth(layout->rank() - 1));
    while (layout->numRegisters() % group)
      group /= 2;
    source.chunk = std::min(source.chunk, group);
    target.chunk = std::min(target.chunk, group);
  }

  Slots slots(b, threadId, *layout);
  if (!fromRegisters)
    prepareSide(source, slots);
  if (!toRegisters)
    prepareSide(target, slots);

  bool padsWithZero = !op.getPad() || matchPattern(op.getPad(), m_Zero()) ||
                      matchPattern(op.getPad(), m_AnyZeroFloat());
  int64_t asyncBytes =
      std::min(source.chunk, target.chunk) *
      (fromRegisters ? 0 : getBytes(storageType(source.view.element)));
  bool isAsync = op.getIsAsync() && padsWithZero && asyncBytes >= 4;
  Value firstCopy = toRegisters || target.view.space == Space::Local
                        ? Value()
                        : slots.isFirstCopy();

  struct Pending {
    int64_t reg;
    Values values;
    Value isUsed;
  };
  SmallVector<Pending> pending;
  auto flush = [&] {
    for (Pending &chunk : pending) {
      Values values =
          convert(chunk.values, {op.getTargetType().getElementType(),
                                 op.getSaturate(), op.getIsUnsigned()});
      if (toRegisters) {
        for (auto [i, value] : llvm::enumerate(values))
          storeRegister(op.getTarget(), chunk.reg + i, value);
        continue;
      }
      for (int64_t i = 0; i < group; i += target.chunk) {
        Value inside = getSidePredicate(target, slots, chunk.reg + i);
        if (inside && launch.getBounds() == Bounds::Trap)
          trapUnless(chunk.isUsed, inside);
        storeChunk(target.view, getSideAddress(target, slots, chunk.reg + i, 0),
                   ValueRange(values).slice(i, target.chunk),
                   allOf(allOf(chunk.isUsed, firstCopy), inside));
      }
    }
    pending.clear();
  };

  for (int64_t reg = 0; reg < layout->numRegisters(); reg += group) {
    Value isUsed = slots.isUsed(reg);
    if (isAsync) {
      int64_t step = std::min(source.chunk, target.chunk);
      for (int64_t i = 0; i < group; i += step) {
        Value inside = getSidePredicate(source, slots, reg + i);
        if (inside && launch.getBounds() == Bounds::Trap)
          trapUnless(isUsed, inside);
        copyAsync(getSideAddress(target, slots, reg + i, 0),
                  getSideAddress(source, slots, reg + i, 0), asyncBytes, inside,
                  allOf(isUsed, firstCopy));
      }
      continue;
    }
    Pending chunk{reg, {}, isUsed};
    for (int64_t i = 0; i < group; ++i) {
      if (fromRegisters) {
        chunk.values.push_back(loadRegister(op.getSource(), reg + i));
        continue;
      }
      if (i % source.chunk)
        continue;
      Value inside = getSidePredicate(source, slots, reg + i);
      if (inside && launch.getBounds() == Bounds::Trap)
        trapUnless(isUsed, inside);
      Values loaded =
          loadChunk(source.view, getSideAddress(source, slots, reg + i, 0),
                    source.chunk, allOf(isUsed, inside));
      if (!padsWithZero && inside) {
        Value pad = map.lookup(op.getPad());
        for (Value &value : loaded)
          value = arith::SelectOp::create(b, inside, value, pad);
      }
      llvm::append_range(chunk.values, loaded);
    }
    pending.push_back(std::move(chunk));
    constexpr size_t inFlight = 8;
    if (toRegisters ? false : pending.size() == inFlight)
      flush();
  }
  flush();
  return success();
}

void ThreadCode::copyAsync(Value target, Value source, int64_t bytes,
                           Value inside, Value isUsed) {
  // What lies outside is filled with zeros: the source size is nothing then.
  Value size;
  if (inside)
    size = arith::SelectOp::create(b, inside, i32(bytes), i32(0));
  auto issue = [&](OpBuilder &builder, Location loc) {
    NVVM::CpAsyncOp::create(builder, loc, target, source,
                            builder.getI32IntegerAttr(bytes),
                            NVVM::LoadCacheModifierKindAttr::get(
                                builder.getContext(),
                                bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                                            : NVVM::LoadCacheModifierKind::CA),
                            size);
  };
  if (!isUsed) {
    issue(b, b.getLoc());
    return;
  }
  scf::IfOp::create(b, isUsed, [&](OpBuilder &builder, Location loc) {
    issue(builder, loc);
    scf::YieldOp::create(builder, loc);
  });
}

LogicalResult ThreadCode::emitFill(FillOp op) {
  Value value = map.lookup(op.getValue());
  auto type = cast<MemRefType>(op.getBuffer().getType());
  if (isFragment(type)) {
    for (int64_t reg = 0; reg < getFragmentLayout(type)->numRegisters(); ++reg)
      storeRegister(op.getBuffer(), reg, value);
    return success();
  }
  Side side;
  side.view = getView(op.getBuffer());
  side.offsets.assign(type.getRank(), b.getIndexAttr(0));
  side.dims = getLongDims(type.getShape());
  SmallVector<int64_t> tile;
  for (int64_t dim : side.dims)
    tile.push_back(type.getDimSize(dim));
  if (side.view.space == Space::Local) {
    // Every thread has its own.
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      LLVM::StoreOp::create(b, toStorage(value),
                            getAddress(side.view, constant(i)));
    return success();
  }
  side.chunk = getChunk(side, 16);
  FragmentLayout layout = getDealtLayout(tile, threads, side.chunk);
  side.chunk =
      std::min<int64_t>(side.chunk, layout.vectorWidth(layout.rank() - 1));
  while (layout.numRegisters() % side.chunk)
    side.chunk /= 2;
  Slots slots(b, threadId, layout);
  prepareSide(side, slots);
  Value firstCopy = slots.isFirstCopy();
  for (int64_t reg = 0; reg < layout.numRegisters(); reg += side.chunk)
    storeChunk(side.view, getSideAddress(side, slots, reg, 0),
               Values(side.chunk, value), allOf(firstCopy, slots.isUsed(reg)));
  return success();
}
