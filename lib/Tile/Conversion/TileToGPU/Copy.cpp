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

#include "CopySide.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;
using layout::FragmentLayout;

static int64_t getBytes(Type storage) {
  return storage.getIntOrFloatBitWidth() / 8;
}

int64_t ThreadCode::getVectorWidth(const FragmentLayout &layout, int64_t most) {
  int64_t width = layout.vectorWidth(layout.rank() - 1);
  // Its largest power of two: five registers in a row are five vectors of one.
  return std::min(most, width & -width);
}

/// The most elements up to `most` that one access to the side may take.
int64_t ThreadCode::getChunk(const Side &side, int64_t most) {
  constexpr int64_t widestBits = 128;
  if (side.dims.empty())
    return 1;
  const View &view = side.view;
  int64_t bits = view.getBits();
  int64_t last = side.dims.back();
  if (getConstantIntValue(view.strides[last]) != 1)
    return 1;
  int64_t alignment = view.baseAlignment * 8;
  for (auto [dim, stride] : llvm::enumerate(view.strides)) {
    if (int64_t(dim) == last) {
      alignment =
          std::min(alignment, getKnownDivisor(side.offsets[dim]) * bits);
      continue;
    }
    alignment = std::min(alignment, getConstantIntValue(stride)
                                        ? getKnownDivisor(stride) * bits
                                        : view.promisedAlignment * 8);
  }
  if (view.swizzle.bits)
    alignment = std::min(alignment, bits << view.swizzle.base);
  // A chunk lies inside the buffer as a whole or not at all.
  bool isGuarded =
      view.space == Space::Global && launch.getBounds() != Bounds::Assume;
  if (isGuarded) {
    OpFoldResult end = view.getEnd(last);
    bool isConstant = getConstantIntValue(end) && !view.getStart(last);
    alignment =
        std::min(alignment, bits * (isConstant ? getKnownDivisor(end)
                                               : view.endDivisors[last]));
  }
  // In the middle of a byte.
  if (alignment == 0)
    return 1;
  int64_t chunk = most;
  while (chunk > 1 && (chunk * bits > widestBits || alignment % (chunk * bits)))
    chunk /= 2;
  return chunk;
}

void ThreadCode::prepareSide(Side &side, Slots &slots) {
  const View &view = side.view;
  bool isSwizzled = view.swizzle.bits != 0;
  side.constantOffset = 0;
  for (auto [offset, stride] : llvm::zip(side.offsets, view.strides)) {
    std::optional<int64_t> known = getConstantIntValue(offset);
    if (isSwizzled && known)
      side.constantOffset += *known * *getConstantIntValue(stride);
    side.commonIndices.push_back(isSwizzled && known ? constant(0)
                                                     : mapped(offset));
  }
  for (auto [at, dim] : llvm::enumerate(side.dims))
    side.commonIndices[dim] = add(side.commonIndices[dim], slots.thread()[at]);
  side.common = getOffset(view, side.commonIndices);
  if (isSwizzled) {
    side.commonBits = getCommonBits(side, slots);
    side.swizzledCommon = swizzle(view.swizzle, side.common);
    // In front of the exclusive or with a constant, and in bytes, so that what
    // is left for each access takes one instruction and no register of its own.
    if (view.offset && view.isOffsetPeriodic)
      side.swizzledCommon = add(view.offset, side.swizzledCommon);
    side.swizzledCommon =
        mul(side.swizzledCommon, constant(getBytes(storageType(view.element))));
  }
  if (view.space != Space::Global || launch.getBounds() == Bounds::Assume)
    return;
  for (int64_t dim : side.dims)
    side.rest.push_back(isKnownNonNegative(side.offsets[dim]) &&
                                !view.getStart(dim)
                            ? getRest(view.getEnd(dim), side.commonIndices[dim])
                            : Value());
  for (int64_t dim = 0; dim < view.getRank(); ++dim)
    if (!llvm::is_contained(side.dims, dim))
      side.commonPredicate = allOf(
          side.commonPredicate, isInside(view, dim, side.commonIndices[dim]));
}

/// How far a buffer reaches beyond `index`, which is not negative; no more than
/// fits 32 bits, in which a test of many elements is cheaper.
Value ThreadCode::getRest(OpFoldResult size, Value index) {
  Value rest = b.createOrFold<arith::SubIOp>(materialize(size), index);
  rest = b.createOrFold<arith::MaxSIOp>(rest, constant(0));
  rest = b.createOrFold<arith::MinSIOp>(
      rest, constant(std::numeric_limits<int32_t>::max()));
  return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), rest);
}

/// Null where it is always so.
Value ThreadCode::isLess(int64_t element, Value rest) {
  std::optional<int64_t> known = getConstantIntValue(rest);
  if (known && element < *known)
    return nullptr;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, rest,
                               i32(element));
}

/// The bits that may be set in the common part of a swizzled side's offset.
int64_t ThreadCode::getCommonBits(const Side &side, Slots &slots) {
  SmallVector<int64_t> strides;
  for (int64_t dim : side.dims)
    strides.push_back(*getConstantIntValue(side.view.strides[dim]));
  int64_t bits = slots.threadBits(strides);
  for (auto [offset, stride] : llvm::zip(side.offsets, side.view.strides))
    if (!getConstantIntValue(offset))
      bits |= -(getKnownDivisor(offset) * getKnownDivisor(stride));
  return bits;
}

/// The address of the slot's element, `extra` elements on.
Value ThreadCode::getSideAddress(const Side &side, Slots &slots, int64_t reg,
                                 int64_t extra) {
  const View &view = side.view;
  SmallVector<OpFoldResult> part = slots.slot(reg);
  Value delta = constant(extra + side.constantOffset);
  for (auto [at, dim] : llvm::enumerate(side.dims))
    delta =
        add(delta, mul(materialize(part[at]), materialize(view.strides[dim])));
  View plain = view;
  plain.swizzle = {};
  if (!view.swizzle.bits) {
    // The thread's address first: what is left is mostly a constant that
    // becomes part of the access.
    plain.base = getAddress(plain, side.common);
    return getAddress(plain, delta);
  }
  std::optional<int64_t> known = getConstantIntValue(delta);
  if (!known || !view.isOffsetPeriodic)
    return getAddress(view, add(side.common, delta));
  // Whole periods stay a constant part of the access; so do bits that the
  // swizzle neither flips nor looks at, where they do not meet those of the
  // thread's part. Of the rest a swizzle is linear: where the bits of two
  // numbers do not meet, their sum is their exclusive or, and so is that of
  // their swizzles.
  int64_t low = *known % view.swizzle.period();
  int64_t apart = low & ~view.swizzle.involvedBits();
  if ((low & side.commonBits) == 0)
    low -= apart;
  int64_t high = *known - low;
  if (low & side.commonBits) {
    plain.base = getAddress(view, add(side.common, constant(low)));
  } else {
    int64_t bytes = getBytes(storageType(view.element));
    Value offset = b.createOrFold<arith::XOrIOp>(
        side.swizzledCommon, constant(view.swizzle(low) * bytes));
    offset = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), offset);
    plain.base = LLVM::GEPOp::create(b, view.base.getType(), b.getI8Type(),
                                     view.base, ValueRange(offset));
  }
  return getAddress(plain, constant(high));
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
    std::optional<int64_t> known = getConstantIntValue(part[at]);
    if (known && side.rest[at]) {
      if (Value inside = isLess(*known, side.rest[at]))
        result = allOf(result, inside);
      continue;
    }
    Value index = add(side.commonIndices[dim], materialize(part[at]));
    result = allOf(result, isInside(view, dim, index));
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
  if (op.getEngine() == CopyEngine::TMA) {
    if (!chip.hasTMA)
      return op.emitOpError("pins the engine tma, which ")
             << chip.name
             << " does not have; leave the choice to the "
                "compiler, or compile for sm_90 or later";
    op.emitRemark("moves by the threads' loads and stores, not by tma");
  }
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
  source.view.cache = target.view.cache = op.getCache();

  std::optional<FragmentLayout> layout;
  int64_t group = 1;
  if (fromRegisters || toRegisters) {
    MemRefType type = fromRegisters ? op.getSourceType() : op.getTargetType();
    auto reshaped = getFragmentLayout(type)->reshape(getTileShape(tile));
    assert(reshaped && "dropping ones keeps the number of elements");
    layout = *reshaped;
    constexpr int64_t most = 16;
    group = getVectorWidth(*layout, most);
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
    group = getVectorWidth(*layout, std::max(source.chunk, target.chunk));
    source.chunk = std::min(source.chunk, group);
    target.chunk = std::min(target.chunk, group);
  }

  if (toRegisters)
    if (auto transfer = getMatrixLoad(op, source, *layout)) {
      emitMatrixLoad(op, source, *transfer);
      return success();
    }

  if (fromRegisters)
    if (auto transfer = getMatrixStore(target, *layout)) {
      emitMatrixStore(op, target, *transfer);
      return success();
    }

  Slots slots(b, threadId, *layout);
  if (!fromRegisters)
    prepareSide(source, slots);
  if (!toRegisters)
    prepareSide(target, slots);

  // Of several threads that hold an element one writes it.
  bool dividesCopies = !toRegisters && target.view.space != Space::Local;
  if (dividesCopies)
    target.chunk = slots.getOwnedWidth(target.chunk);
  auto isOwner = [&](int64_t reg) {
    return dividesCopies ? slots.isOwner(reg) : Value();
  };

  bool padsWithZero = !op.getPad() || matchPattern(op.getPad(), m_Zero()) ||
                      matchPattern(op.getPad(), m_AnyZeroFloat());
  int64_t asyncBytes =
      std::min(source.chunk, target.chunk) *
      (fromRegisters ? 0 : getBytes(storageType(source.view.element)));
  bool isAsync = op.getIsAsync() && padsWithZero && asyncBytes >= 4 &&
                 !source.view.isPacked();
  OpBuilder::InsertionGuard guard(b);
  if (copyCondition && !isAsync) {
    auto condition = scf::IfOp::create(b, copyCondition,
                                       /*withElseRegion=*/false);
    b.setInsertionPointToStart(&condition.getThenRegion().front());
  }

  StringRef outside = "no copy of elements outside the buffer";
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
        assertInside(chunk.isUsed, inside, outside);
        storeChunk(target.view, getSideAddress(target, slots, chunk.reg + i, 0),
                   ValueRange(values).slice(i, target.chunk),
                   allOf(allOf(chunk.isUsed, isOwner(chunk.reg + i)), inside));
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
        assertInside(allOf(isUsed, copyCondition), inside, outside);
        copyAsync(getSideAddress(target, slots, reg + i, 0),
                  getSideAddress(source, slots, reg + i, 0), asyncBytes, inside,
                  allOf(allOf(isUsed, isOwner(reg + i)), copyCondition));
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
      assertInside(isUsed, inside, outside);
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
    if (!toRegisters && pending.size() == inFlight)
      flush();
  }
  flush();
  return success();
}

/// How ldmatrix or stmatrix moves elements between the fragment and the shared
/// buffer of `side`, where rows of matrices lie in one piece there and vectors
/// are narrower than they.
std::optional<layout::MatrixTransfer>
ThreadCode::getMatrixTransfer(const Side &side, const FragmentLayout &layout) {
  int64_t bits = storageType(side.view.element).getIntOrFloatBitWidth();
  constexpr int64_t rowBits = 128;
  if (side.view.space != Space::Shared || layout.rank() < 2 || bits > 32 ||
      side.chunk * bits >= rowBits ||
      getChunk(side, rowBits / bits) * bits != rowBits)
    return std::nullopt;
  layout::Expected<layout::MatrixTransfer> transfer =
      layout::matrixTransfer(layout, layout.rank() - 1, bits);
  if (!transfer)
    return std::nullopt;
  return *transfer;
}

/// How ldmatrix does the copy, where it can and does better than accesses of
/// vectors.
std::optional<layout::MatrixTransfer>
ThreadCode::getMatrixLoad(CopyOp op, const Side &source,
                          const FragmentLayout &layout) {
  if (source.view.element != op.getTargetType().getElementType())
    return std::nullopt;
  return getMatrixTransfer(source, layout);
}

void ThreadCode::emitMatrixLoad(CopyOp op, Side &source,
                                const layout::MatrixTransfer &transfer) {
  Slots slots(b, threadId, transfer.addresses);
  prepareSide(source, slots);
  int64_t pack = getRegistersOfWord(storageType(source.view.element));
  for (int64_t i = 0; i < transfer.instructions(); ++i) {
    Value address =
        getSideAddress(source, slots, i * transfer.rowElements, /*extra=*/0);
    Values words =
        loadMatrices(address, transfer.matrices, transfer.transposed);
    for (auto [matrix, word] : llvm::enumerate(words))
      storeWord(op.getTarget(), (i * transfer.matrices + matrix) * pack, word);
  }
}

/// How stmatrix does the copy, where the chip has it.
std::optional<layout::MatrixTransfer>
ThreadCode::getMatrixStore(const Side &target, const FragmentLayout &layout) {
  if (!chip.hasStMatrix || layout.coverage().isReplicated())
    return std::nullopt;
  return getMatrixTransfer(target, layout);
}

void ThreadCode::emitMatrixStore(CopyOp op, Side &target,
                                 const layout::MatrixTransfer &transfer) {
  Slots slots(b, threadId, transfer.addresses);
  prepareSide(target, slots);
  int64_t pack = getRegistersOfWord(storageType(target.view.element));
  int64_t count = transfer.matrices * pack;
  for (int64_t i = 0; i < transfer.instructions(); ++i) {
    Values values;
    for (int64_t reg = i * count; reg < (i + 1) * count; ++reg)
      values.push_back(loadRegister(op.getSource(), reg));
    values = convert(values, {op.getTargetType().getElementType(),
                              op.getSaturate(), op.getIsUnsigned()});
    NVVM::StMatrixOp::create(
        b, getSideAddress(target, slots, i * transfer.rowElements, /*extra=*/0),
        packRegisters(values),
        transfer.transposed == layout::Transposed::No ? NVVM::MMALayout::row
                                                      : NVVM::MMALayout::col,
        NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
  }
}

void ThreadCode::copyAsync(Value target, Value source, int64_t bytes,
                           Value inside, Value isUsed) {
  mayCopyAsync = true;
  Values operands = {target, source};
  // Written in PTX, which has predicates (a branch would part the loads and
  // products around the copy) and fetches whole lines into the L2 cache.
  std::string text, constraints = "r,l";
  auto take = [&](Value predicate) {
    operands.push_back(predicate);
    constraints += ",b";
    return "$" + std::to_string(operands.size() - 1);
  };
  if (isUsed)
    text = "@" + take(isUsed) + " ";
  text += "cp.async.";
  text += bytes == 16 ? "cg" : "ca";
  text += ".shared.global.L2::128B [$0], [$1], " + std::to_string(bytes);
  // What lies outside is not read; zeros come in its place.
  if (inside)
    text +=
        ", " + take(b.createOrFold<arith::XOrIOp>(
                   inside, arith::ConstantIntOp::create(b, b.getI1Type(), 1)));
  text += ";";
  LLVM::InlineAsmOp::create(b, TypeRange(), operands, text, constraints,
                            /*has_side_effects=*/true,
                            /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            /*asm_dialect=*/nullptr,
                            /*operand_attrs=*/nullptr);
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
  side.chunk = getVectorWidth(layout, side.chunk);
  Slots slots(b, threadId, layout);
  prepareSide(side, slots);
  Value firstCopy = slots.isFirstCopy();
  for (int64_t reg = 0; reg < layout.numRegisters(); reg += side.chunk)
    storeChunk(side.view, getSideAddress(side, slots, reg, 0),
               Values(side.chunk, value), allOf(firstCopy, slots.isUsed(reg)));
  return success();
}
