//===- Gemm.cpp - Products of one thread ------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gemm is unrolled into matrix instructions: for each step along K, the
// warp's operands are loaded, then multiplied with all accumulators; ptxas
// overlaps the loads of a step with the products of the one before. Where no
// instruction fits, each thread computes the elements it holds by scalar
// products.
//
//===----------------------------------------------------------------------===//

#include "MatrixOperands.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;
using layout::FragmentLayout;

LogicalResult ThreadCode::emitGemm(GemmOp op) {
  std::optional<GemmPlan> plan = planGemm(op, threads, chip);
  if (plan && *getFragmentLayout(op.getCType()) == plan->layoutC())
    emitMatrixGemm(op, *plan);
  else
    emitScalarGemm(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

/// One mma.sync. Written in PTX since the dialect of intrinsics has no fp8, and
/// so that one table serves all types.
Values ThreadCode::multiply(const GemmPlan &plan, ValueRange a, ValueRange bs,
                            ValueRange c) {
  std::string text = "mma.sync.aligned.m" + std::to_string(plan.shape.m) + "n" +
                     std::to_string(plan.shape.n) + "k" +
                     std::to_string(plan.shape.k) + ".row.col." +
                     plan.cType.str() + "." + plan.aType.str() + "." +
                     plan.bType.str() + "." + plan.cType.str() + " ";
  int64_t next = 0;
  auto list = [&](size_t count) {
    std::string group = "{";
    for (size_t i = 0; i < count; ++i)
      group += (i ? ", $" : "$") + std::to_string(next++);
    return group + "}";
  };
  text += list(c.size()) + ", " + list(a.size()) + ", " + list(bs.size()) +
          ", " + list(c.size()) + ";";
  auto constraint = [](Type type) -> StringRef {
    if (type.isF64())
      return "d";
    return type.isF32() ? "f" : "r";
  };
  std::string constraints;
  for (Value value : c)
    constraints += "=" + constraint(value.getType()).str() + ",";
  Values operands;
  for (ValueRange group : {a, bs, c})
    for (Value value : group) {
      constraints += constraint(value.getType()).str() + ",";
      operands.push_back(value);
    }
  constraints.pop_back();
  Type type = c.front().getType();
  auto result = LLVM::InlineAsmOp::create(
      b,
      LLVM::LLVMStructType::getLiteral(b.getContext(),
                                       SmallVector<Type>(c.size(), type)),
      operands, text, constraints, /*has_side_effects=*/false,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
  Values sums;
  for (size_t i = 0; i < c.size(); ++i)
    sums.push_back(LLVM::ExtractValueOp::create(b, result.getRes(), i));
  return sums;
}

void ThreadCode::emitMatrixGemm(GemmOp op, const GemmPlan &plan) {
  Type element = op.getCType().getElementType();
  // Two f16 accumulators share a register.
  bool isPacked = element.isF16();
  int64_t tileRegisters = plan.shape.m * plan.shape.n / layout::warpSize;
  auto baseOf = [&](int64_t m, int64_t n) {
    return (m * plan.tilesN() + n) * tileRegisters;
  };
  auto loadSums = [&](int64_t base) {
    Values sums;
    for (int64_t i = 0; i < tileRegisters; ++i)
      sums.push_back(op.getClear() ? Value(arith::ConstantOp::create(
                                         b, b.getZeroAttr(element)))
                                   : loadRegister(op.getC(), base + i));
    return isPacked ? packRegisters(sums) : sums;
  };
  // All accumulators live in values between the steps.
  SmallVector<Values> sums;
  for (int64_t m = 0; m < plan.tilesM(); ++m)
    for (int64_t n = 0; n < plan.tilesN(); ++n)
      sums.push_back(loadSums(baseOf(m, n)));

  Operand a = getOperand(op, plan, /*isA=*/true);
  Operand bs = getOperand(op, plan, /*isA=*/false);
  for (int64_t k = 0; k < plan.tilesK(); ++k) {
    SmallVector<Values> rows, columns;
    for (int64_t m = 0; m < plan.tilesM(); ++m)
      rows.push_back(loadOperand(a, m, k));
    for (int64_t n = 0; n < plan.tilesN(); ++n)
      columns.push_back(loadOperand(bs, n, k));
    for (int64_t m = 0; m < plan.tilesM(); ++m)
      for (int64_t n = 0; n < plan.tilesN(); ++n) {
        Values &sum = sums[m * plan.tilesN() + n];
        sum = multiply(plan, rows[m], columns[n], sum);
      }
  }

  for (int64_t m = 0; m < plan.tilesM(); ++m)
    for (int64_t n = 0; n < plan.tilesN(); ++n) {
      Values &sum = sums[m * plan.tilesN() + n];
      int64_t base = baseOf(m, n);
      if (!isPacked) {
        for (auto [i, value] : llvm::enumerate(sum))
          storeRegister(op.getC(), base + i, value);
        continue;
      }
      for (auto [i, word] : llvm::enumerate(sum)) {
        Value pair =
            LLVM::BitcastOp::create(b, VectorType::get({2}, element), word);
        for (int64_t half : {0, 1})
          storeRegister(op.getC(), base + 2 * i + half,
                        LLVM::ExtractElementOp::create(b, pair, i32(half)));
      }
    }
}

//===----------------------------------------------------------------------===//
// Scalar products
//===----------------------------------------------------------------------===//

/// Fused multiply-add in the type of C.
static Value multiplyAdd(ImplicitLocOpBuilder &b, Value x, Value y, Value sum) {
  if (isa<FloatType>(sum.getType()))
    return math::FmaOp::create(b, x, y, sum);
  return arith::AddIOp::create(b, arith::MulIOp::create(b, x, y), sum);
}

void ThreadCode::emitScalarGemm(GemmOp op) {
  FragmentLayout layout = *getFragmentLayout(op.getCType());
  Type element = op.getCType().getElementType();
  // f16 sums are rounded at each step, as the op says.
  Slots slots(b, threadId, layout);

  // Slots of one row of C share an element of A, those of one column one of B:
  // each is loaded once a step.
  struct Line {
    Value index;
    Value element;
  };
  llvm::MapVector<int64_t, Line> rows, columns;
  SmallVector<std::pair<int64_t, int64_t>> linesOf;
  bool isStrided = layout.modes() && layout.isBoxTile();
  auto clamp = [&](Value index, int64_t extent) -> Value {
    // An idle slot computes something that nobody reads, from inside.
    return arith::MinUIOp::create(b, index, constant(extent - 1));
  };
  bool mayBeIdle = layout.coverage().idleSlots != 0;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
    int64_t row = reg, column = reg;
    if (isStrided) {
      layout::Coordinate offset = layout.registerOffset(reg);
      row = offset[0];
      column = offset[1];
    }
    linesOf.emplace_back(row, column);
    if (rows.contains(row) && columns.contains(column))
      continue;
    Values at = slots.coordinates(reg);
    if (mayBeIdle) {
      at[0] = clamp(at[0], op.getM());
      at[1] = clamp(at[1], op.getN());
    }
    rows.try_emplace(row, Line{at[0], Value()});
    columns.try_emplace(column, Line{at[1], Value()});
  }

  Values start;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg)
    start.push_back(op.getClear() ? Value(arith::ConstantOp::create(
                                        b, b.getZeroAttr(element)))
                                  : loadRegister(op.getC(), reg));
  auto loop = scf::ForOp::create(b, constant(0), constant(op.getK()),
                                 constant(1), start);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    auto load = [&](Value buffer, bool isTransposed, Value outer,
                    bool isUnsigned) {
      Values indices = {outer, k};
      if (isTransposed)
        std::swap(indices[0], indices[1]);
      return convert(loadElement(getView(buffer), indices),
                     {element, false, isUnsigned});
    };
    for (auto &[key, line] : rows)
      line.element =
          load(op.getA(), op.getTransposeA(), line.index, op.getUnsignedA());
    // B is K x N, so that its outer index comes second unless transposed.
    for (auto &[key, line] : columns)
      line.element =
          load(op.getB(), !op.getTransposeB(), line.index, op.getUnsignedB());
    bool roundsToTF32 = op.getPrecision() == Precision::TF32;
    if (roundsToTF32)
      for (auto *lines : {&rows, &columns})
        for (auto &[key, line] : *lines)
          line.element = roundToTF32(line.element);
    Values sums;
    for (auto [reg, lines] : llvm::enumerate(linesOf))
      sums.push_back(multiplyAdd(b, rows.find(lines.first)->second.element,
                                 columns.find(lines.second)->second.element,
                                 loop.getRegionIterArgs()[reg]));
    scf::YieldOp::create(b, sums);
  }
  for (auto [reg, sum] : llvm::enumerate(loop.getResults()))
    storeRegister(op.getC(), reg, sum);
}
