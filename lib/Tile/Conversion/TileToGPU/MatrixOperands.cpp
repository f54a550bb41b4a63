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

/// Rows of a matrix and bytes of each row in ldmatrix.
static constexpr int64_t matrixRows = 8, matrixBytes = 16;

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
  operand.loadsMatrices = false;
  if (!operand.isInRegisters) {
    // Rows must start at multiples of 16 bytes, in views too.
    const View &view = getView(operand.buffer);
    int64_t bytes = plan.elementBits / 8;
    std::optional<int64_t> row = getConstantIntValue(view.strides[0]);
    operand.loadsMatrices =
        plan.elementBits <= 32 &&
        (operand.isInnerContiguous || plan.elementBits == 16) && row &&
        *row * bytes % matrixBytes == 0 &&
        view.baseAlignment % matrixBytes == 0 &&
        getConstantIntValue(view.strides[1]) == 1;
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

/// `count` matrices, whose rows this lane's address gives in groups of 8 lanes.
Values ThreadCode::loadMatrices(const Operand &operand, int64_t count,
                                Value outer, Value inner) {
  const View &view = getView(operand.buffer);
  Values indices = {outer, inner};
  if (!operand.isInnerContiguous)
    std::swap(indices[0], indices[1]);
  Value address = getAddress(view, getOffset(view, indices));
  Type word = b.getI32Type();
  Type type = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                               SmallVector<Type>(count, word));
  auto load = NVVM::LdMatrixOp::create(
      b, type, address, count,
      operand.isInnerContiguous ? NVVM::MMALayout::row : NVVM::MMALayout::col,
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  Values words;
  for (int64_t i = 0; i < count; ++i) {
    Value part = LLVM::ExtractValueOp::create(b, load.getRes(), i);
    if (operand.roundsToTF32) {
      Value value = arith::BitcastOp::create(b, b.getF32Type(), part);
      part = arith::BitcastOp::create(b, word, roundToTF32(value));
    }
    words.push_back(part);
  }
  return words;
}

/// Lane l gives the row l % 8 of matrix l / 8. Along K a matrix is 16 bytes
/// wide, so a step of K is two of them; along the outer dimension it is 8 long.
/// `outerFirst` says which of the two the first bit of the matrix number steps.
static std::pair<Value, Value> getRow(ImplicitLocOpBuilder &b, Value threadId,
                                      int64_t innerElements,
                                      bool isInnerContiguous, bool outerFirst) {
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, b.getI32Type(), value);
  };
  auto digit = [&](int64_t place, int64_t extent, int64_t step) -> Value {
    Value value = arith::DivUIOp::create(b, threadId, i32(place));
    value = arith::RemUIOp::create(b, value, i32(extent));
    return arith::MulIOp::create(b, value, i32(step));
  };
  int64_t outerPlace = outerFirst ? matrixRows : 2 * matrixRows;
  int64_t innerPlace = outerFirst ? 2 * matrixRows : matrixRows;
  Value outer = digit(outerPlace, 2, matrixRows);
  Value inner = digit(innerPlace, 2, innerElements);
  // The rows of a matrix run along what is not contiguous.
  Value row = digit(1, matrixRows, 1);
  if (isInnerContiguous)
    outer = arith::AddIOp::create(b, outer, row);
  else
    inner = arith::AddIOp::create(b, inner, row);
  Type index = b.getIndexType();
  return {arith::IndexCastUIOp::create(b, index, outer),
          arith::IndexCastUIOp::create(b, index, inner)};
}

Values ThreadCode::loadOperand(const Operand &operand, int64_t outer,
                               int64_t inner) {
  const GemmPlan &plan = *operand.plan;
  if (operand.isInRegisters) {
    int64_t count = plan.shape.m * plan.shape.k / layout::warpSize;
    int64_t base = (outer * plan.tilesK() + inner) * count;
    Values elements;
    for (int64_t i = 0; i < count; ++i) {
      Value value = loadRegister(operand.buffer, base + i);
      elements.push_back(operand.roundsToTF32 ? roundToTF32(value) : value);
    }
    return packRegisters(elements);
  }
  if (!operand.loadsMatrices)
    return loadElements(operand, outer, inner);
  // A is 16 rows by two matrices along K, rows first; B is 8 columns.
  int64_t innerElements = matrixBytes * 8 / plan.elementBits;
  auto [outerAt, innerAt] =
      getRow(b, threadId, innerElements, operand.isInnerContiguous,
             /*outerFirst=*/operand.isA);
  if (!operand.isA)
    outerAt = arith::RemUIOp::create(b, outerAt, constant(matrixRows));
  outerAt =
      add(add(operand.warpStart, outerAt), constant(outer * operand.outerStep));
  innerAt = add(innerAt, constant(inner * operand.innerStep));
  return loadMatrices(operand, operand.isA ? 4 : 2, outerAt, innerAt);
}

Values ThreadCode::loadOperandPair(const Operand &operand, int64_t outer,
                                   int64_t inner) {
  int64_t innerElements = matrixBytes * 8 / operand.plan->elementBits;
  auto [outerAt, innerAt] =
      getRow(b, threadId, innerElements, operand.isInnerContiguous,
             /*outerFirst=*/false);
  outerAt =
      add(add(operand.warpStart, outerAt), constant(outer * operand.outerStep));
  innerAt = add(innerAt, constant(inner * operand.innerStep));
  return loadMatrices(operand, 4, outerAt, innerAt);
}
