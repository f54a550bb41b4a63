//===- GemmPlan.cpp - The matrix instruction of a gemm ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/GemmPlan.h"

using namespace mlir;
using namespace tile;
using namespace tile::layout;

namespace {
struct Instruction {
  MmaShape shape;
  int64_t elementBits;
  StringRef aType, bType, cType;
};
} // namespace

static StringRef getPTXName(Type type, bool isUnsigned) {
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (type.isF64())
    return "f64";
  if (type.isF32())
    return "tf32";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return isUnsigned ? "u8" : "s8";
}

/// The largest instruction for the op's types. PTX: "Warp-level matrix
/// instructions: mma".
static std::optional<Instruction> selectInstruction(GemmOp op,
                                                    const Chip &chip) {
  Type a = op.getAType().getElementType(), b = op.getBType().getElementType(),
       c = op.getCType().getElementType();
  StringRef aName = getPTXName(a, op.getUnsignedA());
  StringRef bName = getPTXName(b, op.getUnsignedB());
  StringRef cName = c.isF32()   ? "f32"
                    : c.isF16() ? "f16"
                    : c.isF64() ? "f64"
                                : "s32";
  if (a.isF16() || a.isBF16())
    return Instruction{{16, 8, 16}, 16, aName, bName, cName};
  if (a.isF64())
    return Instruction{{8, 8, 4}, 64, aName, bName, cName};
  if (a.isF32()) {
    if (op.getPrecision() != Precision::TF32)
      return std::nullopt;
    return Instruction{{16, 8, 8}, 32, aName, bName, cName};
  }
  // An f16 accumulator of fp8 products came later than the instruction.
  if (isa<FloatType>(a) && (!chip.hasFP8 || !c.isF32()))
    return std::nullopt;
  return Instruction{{16, 8, 32}, 8, aName, bName, cName};
}

/// The policy the op states, or the one that suits its launch: where a gemm
/// takes A from registers, all rows of a warp stay with it, so that no product
/// has to change its layout to feed the next.
static std::optional<GemmPolicy> getEffectivePolicy(GemmOp op) {
  if (op.getPolicy())
    return op.getPolicy();
  bool feedsRegisters = false;
  if (auto launch = op->getParentOfType<LaunchOp>())
    launch.walk([&](GemmOp other) {
      feedsRegisters |= isFragment(other.getA().getType());
    });
  if (feedsRegisters)
    return GemmPolicy::FullRow;
  return std::nullopt;
}

void tile::pinPolicies(LaunchOp launch) {
  SmallVector<std::pair<GemmOp, GemmPolicy>> policies;
  launch.walk([&](GemmOp gemm) {
    policies.emplace_back(
        gemm, getEffectivePolicy(gemm).value_or(GemmPolicy::Square));
  });
  for (auto [gemm, policy] : policies)
    gemm.setPolicy(policy);
}

std::optional<GemmPlan> tile::planGemm(GemmOp op, int64_t threads,
                                       const Chip &chip) {
  std::optional<Instruction> instruction = selectInstruction(op, chip);
  if (!instruction)
    return std::nullopt;
  GemmPlan plan{instruction->shape,
                instruction->elementBits,
                instruction->aType,
                instruction->bType,
                instruction->cType,
                op.getM(),
                op.getN(),
                op.getK(),
                1,
                1,
                1};
  if (plan.m % plan.shape.m || plan.n % plan.shape.n || plan.k % plan.shape.k)
    return std::nullopt;

  std::optional<GemmPolicy> policy = getEffectivePolicy(op);
  int64_t warps = threads / warpSize;
  std::optional<std::array<int64_t, 3>> best;
  for (int64_t rows = 1; rows <= warps; ++rows)
    for (int64_t columns = 1; rows * columns <= warps; ++columns) {
      if (warps % (rows * columns) || plan.m % (plan.shape.m * rows) ||
          plan.n % (plan.shape.n * columns))
        continue;
      // Work done twice counts first, then what the policy wants, then the
      // operands that a warp has to read for its part of C.
      int64_t against = 0;
      if (policy == GemmPolicy::FullRow)
        against = -rows;
      else if (policy == GemmPolicy::FullCol)
        against = -columns;
      std::array<int64_t, 3> cost = {warps / (rows * columns), against,
                                     plan.m / rows + plan.n / columns};
      // Under full_row a warp keeps whole rows even if that leaves others
      // idle: what follows relies on it.
      if (policy == GemmPolicy::FullRow)
        std::swap(cost[0], cost[1]), cost[0] = columns - 1;
      else if (policy == GemmPolicy::FullCol)
        std::swap(cost[0], cost[1]), cost[0] = rows - 1;
      if (best && *best <= cost)
        continue;
      best = cost;
      plan.warpsM = rows;
      plan.warpsN = columns;
      plan.replicas = warps / (rows * columns);
    }
  return plan;
}

/// An atom repeated by warps and registers; `warpSteps` and `repeats` come with
/// the fastest digit first.
static FragmentLayout repeatAtom(MmaShape shape, Operand operand, int64_t bits,
                                 Coordinate tile, int64_t warps,
                                 std::vector<Mode> warpSteps,
                                 std::vector<Mode> repeats) {
  Expected<FragmentLayout> atom = mmaFragment(shape, operand, bits);
  assert(atom && atom->modes() && "mma fragments are strided");
  FragmentModes modes = *atom->modes();
  modes.box = tile;
  for (Mode &mode : warpSteps)
    modes.threads.push_back(std::move(mode));
  for (Mode &mode : repeats)
    modes.registers.push_back(std::move(mode));
  Expected<FragmentLayout> result = FragmentLayout::strided(
      std::move(tile), warps * warpSize, std::move(modes));
  assert(result && "the plan divides the tile");
  return *result;
}

FragmentLayout GemmPlan::layoutC() const {
  return repeatAtom(shape, Operand::C, elementBits, {m, n},
                    warpsM * warpsN * replicas,
                    {{warpsM, {warpRows(), 0}},
                     {warpsN, {0, warpColumns()}},
                     {replicas, {0, 0}}},
                    {{tilesN(), {0, shape.n}}, {tilesM(), {shape.m, 0}}});
}

FragmentLayout GemmPlan::layoutA() const {
  return repeatAtom(shape, Operand::A, elementBits, {m, k},
                    warpsM * warpsN * replicas,
                    {{warpsM, {warpRows(), 0}}, {warpsN * replicas, {0, 0}}},
                    {{tilesK(), {0, shape.k}}, {tilesM(), {shape.m, 0}}});
}

FragmentLayout GemmPlan::layoutB() const {
  return repeatAtom(
      shape, Operand::B, elementBits, {k, n}, warpsM * warpsN * replicas,
      {{warpsM, {0, 0}}, {warpsN, {0, warpColumns()}}, {replicas, {0, 0}}},
      {{tilesN(), {0, shape.n}}, {tilesK(), {shape.k, 0}}});
}

FragmentLayout tile::getScalarGemmLayout(int64_t m, int64_t n,
                                         int64_t threads) {
  // Threads form a grid as square as the extents allow; each holds groups of
  // four columns, so that rows of B come as vectors.
  int64_t vector = n % 4 == 0 ? 4 : 1;
  int64_t bestRows = 0, bestCost = 0;
  for (int64_t rows = 1; rows <= threads; rows *= 2) {
    int64_t columns = threads / rows;
    if (threads % rows || m % rows || n % (columns * vector))
      continue;
    int64_t cost = m / rows + n / columns;
    if (!bestRows || cost < bestCost)
      bestRows = rows, bestCost = cost;
  }
  if (!bestRows) {
    Expected<FragmentLayout> blocked = blockedFragment({m, n}, threads, 1);
    assert(blocked && "every tile can be dealt out");
    return *blocked;
  }
  int64_t columns = threads / bestRows;
  FragmentModes modes;
  modes.threads = {{columns, {0, vector}}, {bestRows, {1, 0}}};
  modes.registers = {{vector, {0, 1}},
                     {n / (columns * vector), {0, columns * vector}},
                     {m / bestRows, {bestRows, 0}}};
  Expected<FragmentLayout> result =
      FragmentLayout::strided({m, n}, threads, std::move(modes));
  assert(result && "the grid divides the tile");
  return *result;
}
