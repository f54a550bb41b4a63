//===- Memory.cpp - Loads and stores of one thread --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements and chunks of neighbouring elements, with the launch's rule for what
// lies outside a global buffer. A chunk access under a predicate is one
// predicated instruction, written in PTX: as a branch it would keep LLVM from
// putting several loads in flight.
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;

//===----------------------------------------------------------------------===//
// How elements are stored
//===----------------------------------------------------------------------===//

Type ThreadCode::storageType(Type element) {
  if (element.isIndex())
    return b.getI64Type();
  // Conditions take a byte; LLVM has no fp8 types.
  if (element.getIntOrFloatBitWidth() <= 8)
    return b.getI8Type();
  return element;
}

Value ThreadCode::toStorage(Value value) {
  Type element = value.getType(), storage = storageType(element);
  if (element == storage)
    return value;
  if (element.isIndex())
    return arith::IndexCastOp::create(b, storage, value);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, storage, value);
  if (element.isInteger(4))
    return arith::ExtSIOp::create(b, storage, value);
  return arith::BitcastOp::create(b, storage, value);
}

Value ThreadCode::fromStorage(Value value, Type element) {
  if (element == value.getType())
    return value;
  if (element.isIndex())
    return arith::IndexCastOp::create(b, element, value);
  if (element.isInteger(1)) {
    Value zero = arith::ConstantIntOp::create(b, value.getType(), 0);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
  }
  if (element.isInteger(4))
    return arith::TruncIOp::create(b, element, value);
  return arith::BitcastOp::create(b, element, value);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value ThreadCode::swizzle(const layout::Swizzle &swizzle, Value offset) {
  if (std::optional<int64_t> known = getConstantIntValue(offset))
    return constant(swizzle(*known));
  // Shared memory has no more elements than 32 bits count.
  Value word = arith::IndexCastOp::create(b, b.getI32Type(), offset);
  int64_t mask = ((int64_t(1) << swizzle.bits) - 1) << swizzle.base;
  Value flipped;
  if (swizzle.shift >= 0) {
    flipped = arith::ShRUIOp::create(b, word, i32(swizzle.shift));
    flipped = arith::AndIOp::create(b, flipped, i32(mask));
  } else {
    flipped = arith::AndIOp::create(b, word, i32(mask));
    flipped = arith::ShLIOp::create(b, flipped, i32(-swizzle.shift));
  }
  word = arith::XOrIOp::create(b, word, flipped);
  return arith::IndexCastUIOp::create(b, b.getIndexType(), word);
}

Value ThreadCode::getAddress(const View &view, Value offset) {
  if (view.swizzle.bits) {
    if (view.offset)
      offset = add(view.offset, offset);
    offset = swizzle(view.swizzle, offset);
  }
  if (isConstantIntValue(offset, 0))
    return view.base;
  Value index = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), offset);
  if (view.isPacked())
    return b.createOrFold<arith::AddIOp>(view.base, index);
  return LLVM::GEPOp::create(b, view.base.getType(), storageType(view.element),
                             view.base, ValueRange(index));
}

Value ThreadCode::getOffset(const View &view, ValueRange indices) {
  Value offset = constant(0);
  for (auto [index, stride] : llvm::zip(indices, view.strides))
    offset = add(offset, mul(index, materialize(stride)));
  return offset;
}

Value ThreadCode::isInside(const View &view, int64_t dim, Value index) {
  if (view.space != Space::Global || launch.getBounds() == Bounds::Assume)
    return nullptr;
  OpFoldResult end = view.getEnd(dim);
  Value start = view.getStart(dim);
  std::optional<int64_t> constantIndex = getConstantIntValue(index),
                         constantEnd = getConstantIntValue(end);
  if (!start && constantIndex && constantEnd && *constantIndex >= 0 &&
      *constantIndex < *constantEnd)
    return nullptr;
  // Unsigned, so that a negative index is outside too.
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index,
                                       materialize(end));
  if (start)
    inside = allOf(inside, arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                                 index, start));
  return inside;
}

Value ThreadCode::isInside(const View &view, ValueRange indices) {
  Value result;
  for (auto [dim, index] : llvm::enumerate(indices))
    result = allOf(result, isInside(view, int64_t(dim), index));
  return result;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

void ThreadCode::assertInside(Value when, Value inside, StringRef what) {
  if (!inside || launch.getBounds() != Bounds::Trap)
    return;
  Value isTrue = arith::ConstantIntOp::create(b, b.getI1Type(), 1);
  report(allOf(when, arith::XOrIOp::create(b, inside, isTrue)), what);
}

Value ThreadCode::loadElement(const View &view, ValueRange indices) {
  Value inside = isInside(view, indices);
  Type storage = storageType(view.element);
  assertInside(Value(), inside, "no load outside the buffer");
  Value address = getAddress(view, getOffset(view, indices));
  if (view.isPacked())
    return loadHalves(address, 1, inside).front();
  Value value;
  if (!inside) {
    value = LLVM::LoadOp::create(b, storage, address);
  } else {
    auto condition = scf::IfOp::create(
        b, inside,
        [&](OpBuilder &builder, Location loc) {
          Value loaded = LLVM::LoadOp::create(builder, loc, storage, address);
          scf::YieldOp::create(builder, loc, loaded);
        },
        [&](OpBuilder &builder, Location loc) {
          Value zero =
              arith::ConstantOp::create(builder, loc, b.getZeroAttr(storage));
          scf::YieldOp::create(builder, loc, zero);
        });
    value = condition.getResult(0);
  }
  return fromStorage(value, view.element);
}

void ThreadCode::storeElement(const View &view, ValueRange indices, Value value,
                              Value predicate) {
  Value inside = isInside(view, indices);
  assertInside(predicate, inside, "no store outside the buffer");
  Value address = getAddress(view, getOffset(view, indices));
  predicate = allOf(predicate, inside);
  if (view.isPacked())
    return storeHalves(address, value, predicate);
  Value stored = toStorage(value);
  if (!predicate) {
    LLVM::StoreOp::create(b, stored, address);
    return;
  }
  scf::IfOp::create(b, predicate, [&](OpBuilder &builder, Location loc) {
    LLVM::StoreOp::create(builder, loc, stored, address);
    scf::YieldOp::create(builder, loc);
  });
}

LogicalResult ThreadCode::emitLoad(Operation *op) {
  auto load = cast<memref::LoadOp>(op);
  Value result;
  if (isFragment(load.getMemRefType())) {
    result = loadRegister(load.getMemRef(), point.registers.at(op)[point.reg]);
  } else {
    Values indices;
    for (Value index : load.getIndices())
      indices.push_back(map.lookup(index));
    result = loadElement(getView(load.getMemRef()), indices);
  }
  map.map(load.getResult(), result);
  return success();
}

LogicalResult ThreadCode::emitStore(Operation *op) {
  auto store = cast<memref::StoreOp>(op);
  Value value = map.lookup(store.getValueToStore());
  if (isFragment(store.getMemRefType())) {
    storeRegister(store.getMemRef(), point.registers.at(op)[point.reg], value);
    return success();
  }
  Values indices;
  for (Value index : store.getIndices())
    indices.push_back(map.lookup(index));
  const View &view = getView(store.getMemRef());
  Value predicate;
  if (view.space != Space::Local) {
    predicate = point.isActive ? point.mayStore : getActingThread(op);
  }
  storeElement(view, indices, value, predicate);
  return success();
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

Value ThreadCode::loadRegister(Value buffer, int64_t reg) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  Value array = getFragment(buffer);
  Type storage = storageType(element);
  Value address = LLVM::GEPOp::create(b, array.getType(), storage, array,
                                      ArrayRef<LLVM::GEPArg>{int32_t(reg)});
  return fromStorage(LLVM::LoadOp::create(b, storage, address), element);
}

void ThreadCode::storeRegister(Value buffer, int64_t reg, Value value) {
  Value array = getFragment(buffer);
  Value stored = toStorage(value);
  Value address =
      LLVM::GEPOp::create(b, array.getType(), stored.getType(), array,
                          ArrayRef<LLVM::GEPArg>{int32_t(reg)});
  LLVM::StoreOp::create(b, stored, address);
}

static Type getWordType(Type storage) {
  int64_t bits = storage.getIntOrFloatBitWidth();
  return bits < 32 ? Type(VectorType::get({32 / bits}, storage)) : storage;
}

Values ThreadCode::loadWords(Value buffer, int64_t reg, int64_t count) {
  Type storage =
      storageType(cast<MemRefType>(buffer.getType()).getElementType());
  Type word = getWordType(storage);
  Value array = getFragment(buffer);
  Values words;
  for (int64_t i = 0; i < count; i += getRegistersOfWord(storage)) {
    Value address =
        LLVM::GEPOp::create(b, array.getType(), storage, array,
                            ArrayRef<LLVM::GEPArg>{int32_t(reg + i)});
    Value loaded = LLVM::LoadOp::create(b, word, address);
    if (storage.getIntOrFloatBitWidth() <= 32 && !storage.isInteger(32))
      loaded = LLVM::BitcastOp::create(b, b.getI32Type(), loaded);
    words.push_back(loaded);
  }
  return words;
}

void ThreadCode::storeWord(Value buffer, int64_t reg, Value word) {
  Type storage =
      storageType(cast<MemRefType>(buffer.getType()).getElementType());
  Value array = getFragment(buffer);
  Value address = LLVM::GEPOp::create(b, array.getType(), storage, array,
                                      ArrayRef<LLVM::GEPArg>{int32_t(reg)});
  if (!storage.isInteger(32))
    word = LLVM::BitcastOp::create(b, getWordType(storage), word);
  LLVM::StoreOp::create(b, word, address);
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

namespace {
/// The words a chunk of some bytes travels in: up to four of 32 bits, or one
/// that is narrower.
struct Words {
  int64_t count;
  int64_t bits;

  static Words of(int64_t bytes) {
    if (bytes >= 4)
      return {bytes / 4, 32};
    return {1, bytes * 8};
  }
  std::string suffix() const {
    std::string vector = count == 4   ? ".v4"
                         : count == 2 ? ".v2"
                                      : std::string();
    return vector + ".b" + std::to_string(bits);
  }
  /// PTX has no 8-bit registers.
  int64_t registerBits() const { return std::max<int64_t>(bits, 16); }
  StringRef constraint() const { return bits == 32 ? "r" : "h"; }
};
} // namespace

static StringRef getSpaceName(Space space) {
  switch (space) {
  case Space::Global:
    return ".global";
  case Space::Shared:
    return ".shared";
  default:
    return ".local";
  }
}

/// PTX: "Cache Eviction Priority Hints".
static StringRef getCacheHint(const View &view) {
  if (view.space != Space::Global || !view.cache)
    return "";
  switch (*view.cache) {
  case CachePolicy::EvictNormal:
    return "";
  case CachePolicy::EvictFirst:
    return ".L1::evict_first";
  case CachePolicy::EvictLast:
    return ".L1::evict_last";
  case CachePolicy::NoAllocate:
    return ".L1::no_allocate";
  }
  llvm_unreachable("every policy is handled");
}

/// `{$0, $1}`, or `$0` for a single one.
static std::string operandList(int64_t first, int64_t count) {
  std::string text = count > 1 ? "{" : "";
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + (count > 1 ? "}" : "");
}

/// `values` as words.
static Values packWords(ImplicitLocOpBuilder &b, ValueRange values,
                        Words words) {
  Type element = values.front().getType();
  Type word = b.getIntegerType(words.bits);
  auto vector = VectorType::get({int64_t(values.size())}, element);
  Value packed = LLVM::PoisonOp::create(b, vector);
  for (auto [i, value] : llvm::enumerate(values))
    packed = LLVM::InsertElementOp::create(
        b, packed, value,
        arith::ConstantIntOp::create(b, b.getI32Type(), int64_t(i)));
  Value cast =
      LLVM::BitcastOp::create(b, VectorType::get({words.count}, word), packed);
  Values result;
  for (int64_t i = 0; i < words.count; ++i)
    result.push_back(LLVM::ExtractElementOp::create(
        b, cast, arith::ConstantIntOp::create(b, b.getI32Type(), i)));
  return result;
}

static Values unpackWords(ImplicitLocOpBuilder &b, ValueRange words,
                          Type element, int64_t count) {
  auto vector =
      VectorType::get({int64_t(words.size())}, words.front().getType());
  Value packed = LLVM::PoisonOp::create(b, vector);
  for (auto [i, word] : llvm::enumerate(words))
    packed = LLVM::InsertElementOp::create(
        b, packed, word,
        arith::ConstantIntOp::create(b, b.getI32Type(), int64_t(i)));
  Value cast =
      LLVM::BitcastOp::create(b, VectorType::get({count}, element), packed);
  Values result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(LLVM::ExtractElementOp::create(
        b, cast, arith::ConstantIntOp::create(b, b.getI32Type(), i)));
  return result;
}

Values ThreadCode::loadChunk(const View &view, Value address, int64_t count,
                             Value predicate) {
  if (view.isPacked())
    return loadHalves(address, count, predicate);
  Type storage = storageType(view.element);
  int64_t bytes = count * storage.getIntOrFloatBitWidth() / 8;
  Values result;
  StringRef hint = getCacheHint(view);
  if (!predicate && hint.empty()) {
    if (count == 1) {
      result.push_back(LLVM::LoadOp::create(b, storage, address));
    } else {
      Value vector = LLVM::LoadOp::create(b, VectorType::get({count}, storage),
                                          address, /*alignment=*/bytes);
      for (int64_t i = 0; i < count; ++i)
        result.push_back(LLVM::ExtractElementOp::create(b, vector, i32(i)));
    }
  } else {
    Words words = Words::of(bytes);
    Type word = b.getIntegerType(words.registerBits());
    std::string text, constraints;
    Values operands = {address};
    for (int64_t i = 0; i < words.count; ++i) {
      if (predicate)
        text += "mov.b" + std::to_string(words.registerBits()) + " $" +
                std::to_string(i) + ", 0;\n";
      constraints += "=&" + words.constraint().str() + ",";
    }
    if (predicate) {
      text += "@$" + std::to_string(words.count + 1) + " ";
      operands.push_back(predicate);
    }
    text += "ld" + getSpaceName(view.space).str() + hint.str() +
            words.suffix() + " " + operandList(0, words.count) + ", [$" +
            std::to_string(words.count) + "];";
    constraints += view.space == Space::Shared ? "r" : "l";
    constraints += predicate ? ",b" : "";
    Type type = word;
    if (words.count > 1)
      type = LLVM::LLVMStructType::getLiteral(
          b.getContext(), SmallVector<Type>(words.count, word));
    auto load = LLVM::InlineAsmOp::create(
        b, type, operands, text, constraints,
        /*has_side_effects=*/true, /*is_align_stack=*/false,
        LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
        /*operand_attrs=*/nullptr);
    Values loaded;
    for (int64_t i = 0; i < words.count; ++i) {
      Value part = load.getRes();
      if (words.count > 1)
        part = LLVM::ExtractValueOp::create(b, part, i);
      if (words.bits < words.registerBits())
        part = arith::TruncIOp::create(b, b.getIntegerType(words.bits), part);
      loaded.push_back(part);
    }
    result = unpackWords(b, loaded, storage, count);
  }
  for (Value &value : result)
    value = fromStorage(value, view.element);
  return result;
}

void ThreadCode::storeChunk(const View &view, Value address, ValueRange values,
                            Value predicate) {
  if (view.isPacked())
    return storeHalves(address, values, predicate);
  Values stored;
  for (Value value : values)
    stored.push_back(toStorage(value));
  Type storage = stored.front().getType();
  int64_t count = stored.size();
  int64_t bytes = count * storage.getIntOrFloatBitWidth() / 8;
  StringRef hint = getCacheHint(view);
  if (!predicate && hint.empty()) {
    if (count == 1) {
      LLVM::StoreOp::create(b, stored.front(), address);
      return;
    }
    Value vector = LLVM::PoisonOp::create(b, VectorType::get({count}, storage));
    for (auto [i, value] : llvm::enumerate(stored))
      vector = LLVM::InsertElementOp::create(b, vector, value, i32(i));
    LLVM::StoreOp::create(b, vector, address, /*alignment=*/bytes);
    return;
  }
  Words words = Words::of(bytes);
  Values operands = packWords(b, stored, words);
  if (words.bits < words.registerBits())
    operands.front() = arith::ExtUIOp::create(
        b, b.getIntegerType(words.registerBits()), operands.front());
  operands.push_back(address);
  std::string text;
  if (predicate) {
    operands.push_back(predicate);
    text = "@$" + std::to_string(words.count + 1) + " ";
  }
  text += "st" + getSpaceName(view.space).str() + hint.str() + words.suffix() +
          " [$" + std::to_string(words.count) + "], " +
          operandList(0, words.count) + ";";
  std::string constraints;
  for (int64_t i = 0; i < words.count; ++i)
    constraints += words.constraint().str() + ",";
  constraints += view.space == Space::Shared ? "r" : "l";
  constraints += predicate ? ",b" : "";
  LLVM::InlineAsmOp::create(b, TypeRange(), operands, text, constraints,
                            /*has_side_effects=*/true,
                            /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            /*asm_dialect=*/nullptr,
                            /*operand_attrs=*/nullptr);
}
