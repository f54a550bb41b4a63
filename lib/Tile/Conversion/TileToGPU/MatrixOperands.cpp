//===- MatrixOperands.cpp - Operands of matrix instructions -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A and B in the registers that mma.sync takes. An ldmatrix brings 8 rows of 16
// bytes for each matrix, and its rows must lie along memory: with K along
// memory that is the instruction's own order for every element width; with K
// across it the transposing form does it for 16-bit elements. All else is
// loaded element by element where the fragment's layout says, and packed.
//
//===----------------------------------------------------------------------===//

#include "MatrixOperands.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;
using layout::FragmentLayout;

/// Bits of a row of a matrix in ldmatrix.
static constexpr int64_t matrixBits = 128;

Value ThreadCode::roundToTF32(Value value) {
  auto round = LLVM::InlineAsmOp::create(
      b, b.getI32Type(), ValueRange(value), "cvt.rna.tf32.f32 $0, $1;", "=r,f",
      /*has_side_effects=*/false, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
      /*operand_attrs=*/nullptr);
  return arith::BitcastOp::create(b, b.getF32Type(), round.getRes());
}

ThreadCode::Operand ThreadCode::getOperand(GemmOp op, const GemmPlan &plan,
                                           bool isA) {
  Operand operand;
  operand.plan = &plan;
  operand.buffer = isA ? op.getA() : op.getB();
  operand.isA = isA;
  operand.isInnerContiguous =
      isA ? !op.getTransposeA() : bool(op.getTransposeB());
  operand.isInRegisters = isFragment(operand.buffer.getType());
  operand.roundsToTF32 = plan.elementBits == 32;
  operand.outerStep = isA ? plan.shape.m : plan.shape.n;
  operand.innerStep = plan.shape.k;
  if (!operand.isInRegisters) {
    Side &side = operand.side;
    side.view = getView(operand.buffer);
    side.offsets.assign(2, b.getIndexAttr(0));
    side.dims = {0, 1};
    int64_t row = matrixBits / plan.elementBits;
    // Rows must start at multiples of 16 bytes, in views too.
    if (plan.elementBits <= 32 && getChunk(side, row) == row) {
      FragmentLayout layout = isA ? plan.layoutA() : plan.layoutB();
      if (isA ? op.getTransposeA() : op.getTransposeB())
        layout = layout.permuteDims({1, 0});
      auto transfer =
          layout::matrixTransfer(layout, /*contiguousDim=*/1, plan.elementBits);
      if (transfer)
        operand.transfer = std::make_unique<layout::MatrixTransfer>(*transfer);
    }
    if (operand.transfer) {
      operand.slots =
          std::make_unique<Slots>(b, threadId, operand.transfer->addresses);
      prepareSide(side, *operand.slots);
      return operand;
    }
  }
  Value warp = arith::DivUIOp::create(b, threadId, i32(layout::warpSize));
  Value position =
      isA ? b.createOrFold<arith::RemUIOp>(warp, i32(plan.warpsM))
          : b.createOrFold<arith::RemUIOp>(
                b.createOrFold<arith::DivUIOp>(warp, i32(plan.warpsM)),
                i32(plan.warpsN));
  operand.warpStart =
      mul(arith::IndexCastUIOp::create(b, b.getIndexType(), position),
          constant(isA ? plan.warpRows() : plan.warpColumns()));
  return operand;
}

Values ThreadCode::packRegisters(ValueRange elements) {
  Values stored;
  for (Value value : elements)
    stored.push_back(toStorage(value));
  Type type = stored.front().getType();
  int64_t bits = type.getIntOrFloatBitWidth();
  if (bits == 64)
    return stored;
  int64_t pack = 32 / bits;
  Values result;
  for (size_t i = 0; i < stored.size(); i += pack) {
    if (pack == 1) {
      result.push_back(arith::BitcastOp::create(b, b.getI32Type(), stored[i]));
      continue;
    }
    Value vector = LLVM::PoisonOp::create(b, VectorType::get({pack}, type));
    for (int64_t part = 0; part < pack; ++part)
      vector =
          LLVM::InsertElementOp::create(b, vector, stored[i + part], i32(part));
    result.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), vector));
  }
  return result;
}

/// Element by element, where the instruction's fragment says.
Values ThreadCode::loadElements(const Operand &operand, int64_t outer,
                                int64_t inner) {
  const GemmPlan &plan = *operand.plan;
  auto fragment = layout::mmaFragment(
      plan.shape, operand.isA ? layout::Operand::A : layout::Operand::B,
      plan.elementBits);
  assert(fragment && "the plan chose an instruction that exists");
  Value lane = arith::RemUIOp::create(b, threadId, i32(layout::warpSize));
  Slots slots(b, lane, *fragment);
  const View &view = getView(operand.buffer);
  int outerDim = operand.isA ? 0 : 1;
  Values elements;
  for (int64_t reg = 0; reg < fragment->numRegisters(); ++reg) {
    Values at = slots.coordinates(reg);
    Value outerAt = add(add(operand.warpStart, at[outerDim]),
                        constant(outer * operand.outerStep));
    Value innerAt = add(at[1 - outerDim], constant(inner * operand.innerStep));
    Values indices = {outerAt, innerAt};
    if (!operand.isInnerContiguous)
      std::swap(indices[0], indices[1]);
    Value value = loadElement(view, indices);
    elements.push_back(operand.roundsToTF32 ? roundToTF32(value) : value);
  }
  return packRegisters(elements);
}

Values ThreadCode::loadMatrices(Value address, int64_t count,
                                layout::Transposed transposed) {
  Type word = b.getI32Type();
  Type type = count == 1 ? word
                         : Type(LLVM::LLVMStructType::getLiteral(
                               b.getContext(), SmallVector<Type>(count, word)));
  auto load = NVVM::LdMatrixOp::create(
      b, type, address, count,
      transposed == layout::Transposed::No ? NVVM::MMALayout::row
                                           : NVVM::MMALayout::col,
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  if (count == 1)
    return {load.getRes()};
  Values words;
  for (int64_t i = 0; i < count; ++i)
    words.push_back(LLVM::ExtractValueOp::create(b, load.getRes(), i));
  return words;
}

Values ThreadCode::loadOperand(Operand &operand, int64_t outer, int64_t inner) {
  const GemmPlan &plan = *operand.plan;
  if (!operand.isInRegisters && !operand.transfer)
    return loadElements(operand, outer, inner);
  int64_t count = operand.outerStep * operand.innerStep / layout::warpSize;
  int64_t base = count * (operand.isA ? outer * plan.tilesK() + inner
                                      : inner * plan.tilesN() + outer);
  if (operand.isInRegisters) {
    if (!operand.roundsToTF32)
      return loadWords(operand.buffer, base, count);
    Values elements;
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(roundToTF32(loadRegister(operand.buffer, base + i)));
    return packRegisters(elements);
  }
  // An ldmatrix may bring more than one instruction takes.
  const layout::MatrixTransfer &transfer = *operand.transfer;
  int64_t pack = std::max<int64_t>(1, 32 / plan.elementBits);
  Values words;
  for (int64_t word = base / pack; word < (base + count) / pack; ++word) {
    int64_t instruction = word / transfer.matrices;
    Values &loaded = operand.loaded[instruction];
    if (loaded.empty()) {
      loaded = loadMatrices(getSideAddress(operand.side, *operand.slots,
                                           instruction * transfer.rowElements,
                                           /*extra=*/0),
                            transfer.matrices, transfer.transposed);
      if (operand.roundsToTF32)
        for (Value &value : loaded)
          value = arith::BitcastOp::create(
              b, b.getI32Type(),
              roundToTF32(arith::BitcastOp::create(b, b.getF32Type(), value)));
    }
    words.push_back(loaded[word % transfer.matrices]);
  }
  return words;
}
