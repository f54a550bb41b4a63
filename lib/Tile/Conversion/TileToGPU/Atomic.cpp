//===- Atomic.cpp - Indivisible updates of one thread -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the hardware updates in one instruction is LLVM's atomicrmw; every other
// combination of operation and type is a loop of compare-and-swap on the
// element's bits. Sums of neighbours whose old contents nobody asks for go to
// global memory several at a time: by pairs of 16-bit floats everywhere, in
// vectors of up to 16 bytes where the chip has them.
//
// Ordering is relaxed: launches and barriers order memory, atomics only meet.
//
//===----------------------------------------------------------------------===//

#include "CopySide.h"
#include "Tile/IR/Integers.h"
#include "Tile/IR/Updates.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;
using arith::AtomicRMWKind;
using layout::FragmentLayout;

/// Blocks of one device meet.
static constexpr llvm::StringLiteral scope = "device";

static std::optional<LLVM::AtomicBinOp>
getInstruction(AtomicRMWKind kind, Type element, const Chip &chip) {
  bool isWord = element.isInteger(32) || element.isInteger(64);
  switch (kind) {
  case AtomicRMWKind::addf:
    if (element.isF32() || element.isF64() || element.isF16() ||
        (element.isBF16() && chip.hasBF16Arithmetic))
      return LLVM::AtomicBinOp::fadd;
    return std::nullopt;
  case AtomicRMWKind::addi:
    return isWord ? std::optional(LLVM::AtomicBinOp::add) : std::nullopt;
  case AtomicRMWKind::maxs:
    return isWord ? std::optional(LLVM::AtomicBinOp::max) : std::nullopt;
  case AtomicRMWKind::maxu:
    return isWord ? std::optional(LLVM::AtomicBinOp::umax) : std::nullopt;
  case AtomicRMWKind::mins:
    return isWord ? std::optional(LLVM::AtomicBinOp::min) : std::nullopt;
  case AtomicRMWKind::minu:
    return isWord ? std::optional(LLVM::AtomicBinOp::umin) : std::nullopt;
  case AtomicRMWKind::andi:
    return isWord ? std::optional(LLVM::AtomicBinOp::_and) : std::nullopt;
  case AtomicRMWKind::ori:
    return isWord ? std::optional(LLVM::AtomicBinOp::_or) : std::nullopt;
  case AtomicRMWKind::xori:
    return isWord ? std::optional(LLVM::AtomicBinOp::_xor) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// The new element, computed as the op says: narrow floats in f32, rounded
/// once.
static Value combineElements(ImplicitLocOpBuilder &b, AtomicRMWKind kind,
                             Value old, Value value) {
  if (kind == AtomicRMWKind::assign)
    return value;
  Type element = old.getType();
  Type wide = element;
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    wide = b.getF32Type();
  if (wide != element) {
    old = arith::ExtFOp::create(b, wide, old);
    value = arith::ExtFOp::create(b, wide, value);
  }
  Value result = arith::getReductionOp(kind, b, b.getLoc(), old, value);
  if (wide != element)
    result = arith::TruncFOp::create(b, element, result);
  return result;
}

/// A word of 16, 32 or 64 bits that holds an element, and how far up in it the
/// element lies: narrower words cannot be swapped.
namespace {
struct Word {
  Value address;
  Type type;
  /// Null where the element fills the word.
  Value shift;
};
} // namespace

static Word getWord(ImplicitLocOpBuilder &b, Value address, int64_t bits) {
  if (bits >= 16)
    return {address, b.getIntegerType(bits), Value()};
  // An allocation holds an even number of bytes.
  bool isShared =
      cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() == 3;
  Type number = isShared ? b.getI32Type() : b.getI64Type();
  Value place = LLVM::PtrToIntOp::create(b, number, address);
  Value one = arith::ConstantOp::create(b, b.getIntegerAttr(number, 1));
  Value odd = arith::AndIOp::create(b, place, one);
  Value even = arith::SubIOp::create(b, place, odd);
  Type word = b.getI16Type();
  Value eight = arith::ConstantOp::create(b, b.getIntegerAttr(word, 8));
  Value narrow = arith::TruncIOp::create(b, word, odd);
  return {LLVM::IntToPtrOp::create(b, address.getType(), even), word,
          arith::MulIOp::create(b, narrow, eight)};
}

Value ThreadCode::updateElement(AtomicRMWKind kind, const View &view,
                                Value address, Value value, Value predicate,
                                bool returnsOld) {
  auto next = [&](Value old) { return combineElements(b, kind, old, value); };
  Update update{getInstruction(kind, storageType(view.element), chip), value,
                next};
  return updateElement(update, view, address, predicate, returnsOld);
}

Value ThreadCode::updateElement(const Update &update, const View &view,
                                Value address, Value predicate,
                                bool returnsOld) {
  if (predicate) {
    SmallVector<Type> types;
    if (returnsOld)
      types.push_back(view.element);
    auto condition =
        scf::IfOp::create(b, types, predicate, /*withElseRegion=*/returnsOld);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&condition.getThenRegion().front());
    Value old = updateElement(update, view, address, Value(), returnsOld);
    if (!returnsOld)
      return Value();
    scf::YieldOp::create(b, old);
    b.setInsertionPointToStart(&condition.getElseRegion().front());
    Value none =
        view.element.isIndex()
            ? constant(0)
            : Value(arith::ConstantOp::create(b, b.getZeroAttr(view.element)));
    scf::YieldOp::create(b, none);
    return condition.getResult(0);
  }

  Type storage = storageType(view.element);
  int64_t bits = storage.getIntOrFloatBitWidth();
  if (update.instruction) {
    Value old = LLVM::AtomicRMWOp::create(
        b, *update.instruction, address, toStorage(update.operand),
        LLVM::AtomicOrdering::monotonic, scope, /*alignment=*/bits / 8);
    return returnsOld ? fromStorage(old, view.element) : Value();
  }

  Type raw = b.getIntegerType(bits);
  auto fromBits = [&](Value contents) -> Value {
    if (raw != storage)
      contents = arith::BitcastOp::create(b, storage, contents);
    return fromStorage(contents, view.element);
  };
  Value old = updateBits(address, raw, Value(), [&](Value contents) -> Value {
    Value next = toStorage(update.next(fromBits(contents)));
    return next.getType() == raw
               ? next
               : Value(arith::BitcastOp::create(b, raw, next));
  });
  return returnsOld ? fromBits(old) : Value();
}

/// What was at `address`, which `next` replaces where it is `expected`. LLVM
/// takes 16 bits for part of a 32-bit word, which may reach out of the buffer.
static Value compareAndSwap(ImplicitLocOpBuilder &b, Value address,
                            Value expected, Value next) {
  Type type = expected.getType();
  if (!type.isInteger(16)) {
    Value swap = LLVM::AtomicCmpXchgOp::create(
        b, address, expected, next, LLVM::AtomicOrdering::monotonic,
        LLVM::AtomicOrdering::monotonic, scope,
        /*alignment=*/type.getIntOrFloatBitWidth() / 8);
    return LLVM::ExtractValueOp::create(b, swap, 0);
  }
  bool isShared =
      cast<LLVM::LLVMPointerType>(address.getType()).getAddressSpace() == 3;
  std::string text = "atom.relaxed.gpu." +
                     std::string(isShared ? "shared" : "global") +
                     ".cas.b16 $0, [$1], $2, $3;";
  return LLVM::InlineAsmOp::create(
             b, type, ValueRange{address, expected, next}, text,
             isShared ? "=h,r,h,h" : "=h,l,h,h", /*has_side_effects=*/true,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getRes();
}

Value ThreadCode::updateBits(Value address, Type raw, Value guess,
                             function_ref<Value(Value)> next) {
  Word word = getWord(b, address, raw.getIntOrFloatBitWidth());
  int64_t bytes = word.type.getIntOrFloatBitWidth() / 8;
  auto extract = [&](Value contents) -> Value {
    if (!word.shift)
      return contents;
    return arith::TruncIOp::create(
        b, raw, arith::ShRUIOp::create(b, contents, word.shift));
  };
  auto insert = [&](Value contents, Value part) -> Value {
    if (!word.shift)
      return part;
    Value mask = arith::ConstantIntOp::create(b, word.type, 255);
    mask = arith::ShLIOp::create(b, mask, word.shift);
    Value ones = arith::ConstantIntOp::create(b, word.type, -1);
    Value rest = arith::AndIOp::create(b, contents,
                                       arith::XOrIOp::create(b, mask, ones));
    part = arith::ExtUIOp::create(b, word.type, part);
    return arith::OrIOp::create(b, rest,
                                arith::ShLIOp::create(b, part, word.shift));
  };

  Value start = guess;
  if (!guess)
    start = LLVM::LoadOp::create(
        b, word.type, word.address, /*alignment=*/bytes, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, scope);
  else if (word.shift)
    start = arith::ExtUIOp::create(b, word.type, guess);
  auto loop = scf::WhileOp::create(b, TypeRange{word.type}, ValueRange(start));
  OpBuilder::InsertionGuard guard(b);
  Location loc = b.getLoc();
  b.createBlock(&loop.getBefore(), {}, {word.type}, {loc});
  Value expected = loop.getBefore().front().getArgument(0);
  Value found = compareAndSwap(b, word.address, expected,
                               insert(expected, next(extract(expected))));
  Value isBusy =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, found, expected);
  scf::ConditionOp::create(b, isBusy, ValueRange(found));
  b.createBlock(&loop.getAfter(), {}, {word.type}, {loc});
  scf::YieldOp::create(b, loop.getAfter().front().getArguments());
  b.setInsertionPointAfter(loop);
  return extract(loop.getResult(0));
}

//===----------------------------------------------------------------------===//
// Whole tiles
//===----------------------------------------------------------------------===//

/// How many neighbours one instruction adds to global memory.
int64_t ThreadCode::getAtomicChunk(const Side &target, int64_t most) {
  Type element = target.view.element;
  bool isHalf = element.isF16() || element.isBF16();
  int64_t widest = 1;
  if (chip.hasVectorAtomics && (element.isF32() || isHalf))
    widest = 128 / element.getIntOrFloatBitWidth();
  else if (element.isF16() || (element.isBF16() && chip.hasBF16Arithmetic))
    widest = 2;
  return getChunk(target, std::min(most, widest));
}

/// Words of 32 bits, added element by element. PTX: "Parallel Synchronization
/// and Communication Instructions: red".
void ThreadCode::addChunk(const View &view, Value address, ValueRange values,
                          Value predicate) {
  Type element = view.element;
  bool isHalf = !element.isF32();
  int64_t pack = isHalf ? 2 : 1;
  int64_t count = int64_t(values.size()) / pack;
  Values operands;
  for (int64_t i = 0; i < count; ++i) {
    if (!isHalf) {
      operands.push_back(values[i]);
      continue;
    }
    Value pair = LLVM::PoisonOp::create(b, VectorType::get({2}, element));
    for (int64_t half : {0, 1})
      pair = LLVM::InsertElementOp::create(b, pair, values[2 * i + half],
                                           i32(half));
    operands.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), pair));
  }
  std::string type = !isHalf           ? ".f32"
                     : element.isF16() ? ".noftz.f16x2"
                                       : ".noftz.bf16x2";
  std::string vector = count > 1 ? ".v" + std::to_string(count) : "";
  std::string list, constraints;
  for (int64_t i = 0; i < count; ++i) {
    list += (i ? ", $" : "$") + std::to_string(i);
    constraints += isHalf ? "r," : "f,";
  }
  if (count > 1)
    list = "{" + list + "}";
  // The vector stands in front of the type, behind the rounding.
  std::string text = "red.relaxed.gpu.global.add";
  if (isHalf) {
    text += ".noftz" + vector + (element.isF16() ? ".f16x2" : ".bf16x2");
  } else {
    text += vector + type;
  }
  text += " [$" + std::to_string(count) + "], " + list + ";";
  constraints += "l";
  operands.push_back(address);
  if (predicate) {
    text = "@$" + std::to_string(count + 1) + " " + text;
    constraints += ",b";
    operands.push_back(predicate);
  }
  LLVM::InlineAsmOp::create(b, TypeRange(), operands, text, constraints,
                            /*has_side_effects=*/true,
                            /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            /*asm_dialect=*/nullptr,
                            /*operand_attrs=*/nullptr);
}

static AtomicRMWKind getKind(ReduceKind kind, Type element, bool isUnsigned) {
  bool isFloat = isa<FloatType>(element);
  isUnsigned = isTakenUnsigned(element, isUnsigned);
  switch (kind) {
  case ReduceKind::Sum:
    return isFloat ? AtomicRMWKind::addf : AtomicRMWKind::addi;
  case ReduceKind::Max:
    return isFloat      ? AtomicRMWKind::maximumf
           : isUnsigned ? AtomicRMWKind::maxu
                        : AtomicRMWKind::maxs;
  case ReduceKind::Min:
    return isFloat      ? AtomicRMWKind::minimumf
           : isUnsigned ? AtomicRMWKind::minu
                        : AtomicRMWKind::mins;
  default:
    llvm_unreachable("there are three atomic ops on tiles");
  }
}

template <typename OpTy> LogicalResult ThreadCode::emitAtomic(OpTy op) {
  bool fromRegisters = isFragment(op.getSourceType());
  SmallVector<int64_t> sourceTile = *op.getSourceTile();
  SmallVector<int64_t> targetTile = *op.getTargetTile();
  Side source, target;
  source.dims = getLongDims(sourceTile);
  target.dims = getLongDims(targetTile);
  target.offsets = op.getMixedTargetOffsets();
  target.view = getView(op.getTarget());
  SmallVector<int64_t> tile;
  for (int64_t dim : source.dims)
    tile.push_back(sourceTile[dim]);
  constexpr int64_t most = 8;
  std::optional<FragmentLayout> layout;
  if (fromRegisters) {
    auto reshaped =
        getFragmentLayout(op.getSourceType())->reshape(getTileShape(tile));
    assert(reshaped && "dropping ones keeps the number of elements");
    layout = *reshaped;
  } else {
    source.offsets = op.getMixedSourceOffsets();
    source.view = getView(op.getSource());
    layout = getDealtLayout(tile, threads, getAtomicChunk(target, most));
  }
  AtomicRMWKind kind =
      getKind(OpTy::getKind(), target.view.element, op.getIsUnsigned());
  int64_t chunk = 1;
  if (kind == AtomicRMWKind::addf) {
    chunk = getAtomicChunk(target, getVectorWidth(*layout, most));
  }

  Slots slots(b, threadId, *layout);
  prepareSide(target, slots);
  if (!fromRegisters)
    prepareSide(source, slots);
  for (int64_t reg = 0; reg < layout->numRegisters(); reg += chunk) {
    Values values;
    for (int64_t i = reg; i < reg + chunk; ++i)
      values.push_back(fromRegisters
                           ? loadRegister(op.getSource(), i)
                           : loadChunk(source.view,
                                       getSideAddress(source, slots, i, 0), 1,
                                       slots.isUsed(i))
                                 .front());
    values = convert(
        values, {target.view.element, /*saturate=*/false, op.getIsUnsigned()});
    Value inside = getSidePredicate(target, slots, reg);
    Value acts = allOf(slots.isUsed(reg), slots.isOwner(reg));
    assertInside(acts, inside,
                 "no atomic update of elements outside the buffer");
    acts = allOf(acts, inside);
    Value address = getSideAddress(target, slots, reg, 0);
    if (chunk > 1)
      addChunk(target.view, address, values, acts);
    else
      updateElement(kind, target.view, address, values.front(), acts,
                    /*returnsOld=*/false);
  }
  return success();
}

namespace tile::gpu_code {
template LogicalResult ThreadCode::emitAtomic(AtomicAddOp);
template LogicalResult ThreadCode::emitAtomic(AtomicMaxOp);
template LogicalResult ThreadCode::emitAtomic(AtomicMinOp);
} // namespace tile::gpu_code

//===----------------------------------------------------------------------===//
// Single elements
//===----------------------------------------------------------------------===//

Value ThreadCode::broadcast(Value value, Value isHolder) {
  Type storage = storageType(value.getType());
  View scratch;
  scratch.base = getScratch(storage.getIntOrFloatBitWidth() / 8);
  scratch.element = value.getType();
  scratch.space = Space::Shared;
  storeElement(scratch, {}, value, isHolder);
  barrier();
  return loadElement(scratch, {});
}

LogicalResult ThreadCode::emitAtomicElement(Operation *op) {
  auto simple = dyn_cast<memref::AtomicRMWOp>(op);
  auto general = dyn_cast<memref::GenericAtomicRMWOp>(op);
  const View &view = getView(getUpdatedBuffer(op));
  if (view.space == Space::Local)
    return op->emitOpError(
        "updates a buffer that no other lane sees; load and store it");
  if (view.isPacked())
    return op->emitOpError("updates an element of four bits, which the cuda "
                           "target cannot; use i8");
  Values indices;
  for (Value index : simple ? simple.getIndices() : general.getIndices())
    indices.push_back(map.lookup(index));
  Value inside = isInside(view, indices);
  Value acts = point.isActive ? point.mayStore : getActingThread(op);
  Value isHolder = acts;
  assertInside(acts, inside, "no atomic update outside the buffer");
  bool returnsOld = !op->use_empty();
  Value address = getAddress(view, getOffset(view, indices));
  LogicalResult status = success();
  // What the op's own region makes of the old element.
  auto next = [&](Value old) -> Value {
    Block &body = general.getRegion().front();
    map.map(body.getArgument(0), old);
    status = emitBlock(body);
    b.setLoc(op->getLoc());
    // Without the element where that failed: nobody will look at the code.
    return failed(status) ? old
                          : map.lookup(body.getTerminator()->getOperand(0));
  };
  Value old = simple ? updateElement(simple.getKind(), view, address,
                                     map.lookup(simple.getValue()),
                                     allOf(acts, inside), returnsOld)
                     : updateElement({std::nullopt, Value(), next}, view,
                                     address, allOf(acts, inside), returnsOld);
  if (failed(status) || !returnsOld)
    return status;
  if (!point.isActive && isHolder)
    old = broadcast(old, isHolder);
  else if (point.mayStore)
    return op->emitOpError("gives its old element to lanes that several "
                           "threads hold; run tile-infer-layouts first");
  map.map(op->getResult(0), old);
  return success();
}
