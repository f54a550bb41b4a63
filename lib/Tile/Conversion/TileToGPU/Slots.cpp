//===- Slots.cpp - Coordinates of register slots ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A strided layout gives each slot a coordinate that is a sum: digits of the
// thread number times strides, plus a constant of the slot. Where the strides
// step through another shape than the tile, the sum is taken there and turned
// into the tile's coordinates. A layout without strided form is looked up in a
// constant table.
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;
using layout::Coordinate;
using layout::FragmentLayout;

static Value constantIndex(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Slots::Slots(ImplicitLocOpBuilder &builder, Value threadId,
             const FragmentLayout &layout)
    : b(builder), threadId(threadId), layout(layout) {
  const layout::FragmentModes *modes = layout.modes();
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  };
  size_t boxRank = modes ? layout.box().size() : 0;
  largestBoxPart.assign(boxRank, 0);
  Values sums(boxRank);
  if (modes) {
    int64_t place = 1;
    for (const layout::Mode &mode : modes->threads) {
      Value digit = threadId;
      if (place > 1)
        digit = arith::DivUIOp::create(b, digit, i32(place));
      if (place * mode.extent < layout.numThreads())
        digit = arith::RemUIOp::create(b, digit, i32(mode.extent));
      for (size_t dim = 0; dim < boxRank; ++dim) {
        if (!mode.strides[dim])
          continue;
        Value part =
            b.createOrFold<arith::MulIOp>(digit, i32(mode.strides[dim]));
        sums[dim] =
            sums[dim] ? b.createOrFold<arith::AddIOp>(sums[dim], part) : part;
        largestBoxPart[dim] += (mode.extent - 1) * mode.strides[dim];
      }
      place *= mode.extent;
    }
  }
  for (Value sum : sums)
    boxPart.push_back(
        sum ? Value(arith::IndexCastUIOp::create(b, b.getIndexType(), sum))
            : constantIndex(b, 0));
  // Only a sum in the tile itself splits into thread and slot.
  if (modes && layout.isBoxTile())
    threadPart = boxPart;
  else
    threadPart.assign(layout.rank(), constantIndex(b, 0));
}

Values Slots::delinearize(Value element) {
  Values result(layout.rank());
  for (int64_t dim = layout.rank() - 1; dim >= 0; --dim) {
    Value extent = constantIndex(b, layout.tile()[dim]);
    result[dim] =
        dim ? b.createOrFold<arith::RemUIOp>(element, extent) : element;
    if (dim)
      element = b.createOrFold<arith::DivUIOp>(element, extent);
  }
  return result;
}

std::string Slots::makeTable(ArrayRef<int32_t> column) {
  // In global memory: of constant memory a module has 64 KiB.
  Operation *module = b.getInsertionBlock()->getParentOp();
  while (!isa<gpu::GPUModuleOp>(module))
    module = module->getParentOp();
  auto type = LLVM::LLVMArrayType::get(b.getI32Type(), layout.numThreads());
  auto values = DenseElementsAttr::get(
      RankedTensorType::get({layout.numThreads()}, b.getI32Type()), column);
  // Many buffers and loops have the same layout. Nobody else puts constants in
  // this module: equal values are a table's.
  for (auto table : cast<gpu::GPUModuleOp>(module).getOps<LLVM::GlobalOp>())
    if (table.getConstant() && table.getValueAttr() == values)
      return table.getSymName().str();
  LLVM::GlobalOp table;
  SymbolTable symbols(module);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&module->getRegion(0).front());
    table = LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                                   LLVM::Linkage::Internal, "tile_layout",
                                   values, /*alignment=*/4, /*addrSpace=*/1);
  }
  return symbols.insert(table).str();
}

Value Slots::lookUp(StringRef table) {
  Value base = LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), 1), table);
  Value index = arith::ExtUIOp::create(b, b.getI64Type(), threadId);
  Value address = LLVM::GEPOp::create(b, base.getType(), b.getI32Type(), base,
                                      ValueRange(index));
  return LLVM::LoadOp::create(b, b.getI32Type(), address);
}

Value Slots::elementFromTable(int64_t reg) {
  SmallVector<int32_t> column;
  for (int64_t thread = 0; thread < layout.numThreads(); ++thread)
    column.push_back(int32_t(layout.element(thread, reg)));
  return lookUp(makeTable(column));
}

SmallVector<OpFoldResult> Slots::slot(int64_t reg) {
  SmallVector<OpFoldResult> result;
  if (layout.modes() && layout.isBoxTile()) {
    for (int64_t part : layout.registerOffset(reg))
      result.push_back(b.getIndexAttr(part));
    return result;
  }
  for (Value coordinate : coordinates(reg))
    result.push_back(coordinate);
  return result;
}

Values Slots::coordinates(int64_t reg) {
  if (!layout.modes()) {
    Value element =
        arith::IndexCastOp::create(b, b.getIndexType(), elementFromTable(reg));
    // An idle slot is never used; any coordinate inside will do.
    Value inside = arith::MaxSIOp::create(b, element, constantIndex(b, 0));
    return delinearize(inside);
  }
  Coordinate offset = layout.registerOffset(reg);
  Values sums;
  for (auto [part, constant] : llvm::zip(boxPart, offset))
    sums.push_back(
        b.createOrFold<arith::AddIOp>(part, constantIndex(b, constant)));
  if (layout.isBoxTile())
    return sums;
  Value element = constantIndex(b, 0);
  for (auto [sum, extent] : llvm::zip(sums, layout.box()))
    element = b.createOrFold<arith::AddIOp>(
        b.createOrFold<arith::MulIOp>(element, constantIndex(b, extent)), sum);
  return delinearize(element);
}

int64_t Slots::threadBits(ArrayRef<int64_t> strides) const {
  // Otherwise slot() is the whole coordinate.
  if (!layout.modes() || !layout.isBoxTile())
    return 0;
  int64_t bits = 0;
  for (int64_t thread = 0; thread < layout.numThreads(); ++thread) {
    int64_t sum = 0;
    for (auto [part, stride] : llvm::zip(layout.threadBase(thread), strides))
      sum += part * stride;
    bits |= sum;
  }
  return bits;
}

Value Slots::isUsed(int64_t reg) {
  if (!layout.modes()) {
    Value element = elementFromTable(reg);
    Value zero = arith::ConstantIntOp::create(b, b.getI32Type(), 0);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, element, zero);
  }
  Value result;
  Coordinate offset = layout.registerOffset(reg);
  for (size_t dim = 0; dim < boxPart.size(); ++dim) {
    int64_t extent = layout.box()[dim];
    if (largestBoxPart[dim] + offset[dim] < extent)
      continue;
    Value coordinate = b.createOrFold<arith::AddIOp>(
        boxPart[dim], constantIndex(b, offset[dim]));
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                         coordinate, constantIndex(b, extent));
    result = result ? b.createOrFold<arith::AndIOp>(result, inside) : inside;
  }
  return result;
}

Value Slots::isFirstCopy() {
  const layout::FragmentModes *modes = layout.modes();
  if (!modes)
    return nullptr;
  Value result;
  int64_t place = 1;
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  };
  for (const layout::Mode &mode : modes->threads) {
    bool isReplica =
        llvm::all_of(mode.strides, [](int64_t stride) { return stride == 0; });
    if (isReplica && mode.extent > 1) {
      Value digit = arith::DivUIOp::create(b, threadId, i32(place));
      digit = arith::RemUIOp::create(b, digit, i32(mode.extent));
      Value isZero =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, digit, i32(0));
      result = result ? b.createOrFold<arith::AndIOp>(result, isZero) : isZero;
    }
    place *= mode.extent;
  }
  return result;
}

/// Whether the threads whose digits of replicas are zero hold each element
/// once.
static bool digitsTellOwners(const FragmentLayout &layout) {
  const layout::FragmentModes *modes = layout.modes();
  if (!modes)
    return false;
  std::vector<bool> isHeld(layout.numElements());
  for (int64_t thread = 0; thread < layout.numThreads(); ++thread) {
    int64_t rest = thread;
    bool isFirst = true;
    for (const layout::Mode &mode : modes->threads) {
      bool isReplica = llvm::all_of(mode.strides,
                                    [](int64_t stride) { return stride == 0; });
      isFirst &= !isReplica || rest % mode.extent == 0;
      rest /= mode.extent;
    }
    for (int64_t reg = 0; isFirst && reg < layout.numRegisters(); ++reg) {
      int64_t element = layout.element(thread, reg);
      if (element == FragmentLayout::idle)
        continue;
      if (isHeld[element])
        return false;
      isHeld[element] = true;
    }
  }
  return true;
}

void Slots::findOwnership() {
  if (ownership != Ownership::Unknown)
    return;
  if (!layout.coverage().isReplicated()) {
    ownership = Ownership::Single;
  } else if (digitsTellOwners(layout)) {
    ownership = Ownership::Digits;
    firstCopy = isFirstCopy();
  } else {
    ownership = Ownership::Table;
    owners = layout.inverse();
  }
}

bool Slots::owns(int64_t thread, int64_t reg) const {
  int64_t element = layout.element(thread, reg);
  return element != FragmentLayout::idle &&
         owners[element].front() == layout::Owner{thread, reg};
}

Value Slots::isOwner(int64_t reg) {
  findOwnership();
  if (ownership != Ownership::Table)
    return firstCopy;
  // A word holds a bit for each of 32 registers.
  constexpr int64_t bits = 32;
  std::string &table = ownerTables[reg / bits];
  if (table.empty()) {
    SmallVector<int32_t> column(layout.numThreads(), 0);
    int64_t first = reg / bits * bits;
    for (int64_t thread = 0; thread < layout.numThreads(); ++thread)
      for (int64_t bit = 0; bit < bits && first + bit < layout.numRegisters();
           ++bit)
        if (owns(thread, first + bit))
          column[thread] |= int32_t(uint32_t(1) << bit);
    table = makeTable(column);
  }
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  };
  Value mask = i32(int32_t(uint32_t(1) << reg % bits));
  Value bit = arith::AndIOp::create(b, lookUp(table), mask);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, i32(0));
}

int64_t Slots::getOwnedWidth(int64_t most) {
  findOwnership();
  if (ownership != Ownership::Table)
    return most;
  auto isTogether = [&](int64_t width) {
    for (int64_t thread = 0; thread < layout.numThreads(); ++thread)
      for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
        if (owns(thread, reg) != owns(thread, reg / width * width))
          return false;
    return true;
  };
  while (most > 1 && !isTogether(most))
    most /= 2;
  return most;
}
