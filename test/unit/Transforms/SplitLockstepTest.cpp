//===- SplitLockstepTest.cpp - Splitting keeps the meaning ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random elementwise loops are evaluated in lockstep as written, and after the
// pass lane by lane: forwards, backwards, shuffled, and in lockstep again. All
// must agree. So a wrong proof of independence shows as well as a wrong split.
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/SplitLockstep.h"
#include "LaneMachine.h"
#include "RandomBody.h"
#include "Tile/Transforms/LaneAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mlir;
using namespace tile;
using namespace tile::test;

static std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op;
  return text;
}

static LaunchOp getLaunch(ModuleOp module) {
  LaunchOp launch;
  module.walk([&](LaunchOp op) { launch = op; });
  return launch;
}

namespace {
class SplitLockstepTest : public ::testing::Test {
protected:
  SplitLockstepTest() {
    context.loadDialect<TileDialect, affine::AffineDialect, func::FuncDialect,
                        memref::MemRefDialect, scf::SCFDialect>();
  }

  MLIRContext context;
};
} // namespace

TEST_F(SplitLockstepTest, RandomLoopsKeepTheirMeaning) {
  // TILE_TEST_SEED starts elsewhere, TILE_TEST_COUNT runs more.
  const char *seedText = std::getenv("TILE_TEST_SEED");
  const char *countText = std::getenv("TILE_TEST_COUNT");
  unsigned first = seedText ? std::atoi(seedText) : 1;
  unsigned count = countText ? std::atoi(countText) : 1500;
  unsigned evaluated = 0, split = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    std::string program = makeRandomProgram(seed);
    SCOPED_TRACE("TILE_TEST_SEED=" + std::to_string(seed) + "\n" + program);
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(program, &context);
    ASSERT_TRUE(module);
    LaneMachine expected(LaneOrder::Lockstep, seed);
    expected.run(getLaunch(*module), kNumBuffers);
    if (!expected.fault.empty())
      continue;
    ++evaluated;

    auto function = *module->getOps<func::FuncOp>().begin();
    FailureOr<SplitCounts> counts = splitLockstep(function);
    ASSERT_TRUE(succeeded(counts));
    ASSERT_TRUE(succeeded(verify(*module)));
    split += counts->loops;
    module->walk([&](ParallelOp loop) {
      EXPECT_TRUE(isIndependent(loop)) << print(*module);
    });
    for (LaneOrder order : {LaneOrder::Forward, LaneOrder::Reverse,
                            LaneOrder::Shuffled, LaneOrder::Lockstep}) {
      LaneMachine actual(order, seed);
      actual.run(getLaunch(*module), kNumBuffers);
      ASSERT_EQ(actual.fault, "") << print(*module);
      ASSERT_EQ(actual.buffers, expected.buffers)
          << "order " << static_cast<int>(order) << "\n"
          << print(*module);
    }
  }
  // Most programs must have a meaning, and both kinds of loops must occur.
  if (count >= 100) {
    EXPECT_GT(evaluated, count / 3);
    EXPECT_GT(split, evaluated / 4);
    EXPECT_LT(split, evaluated);
  }
  RecordProperty("evaluated", static_cast<int>(evaluated));
  RecordProperty("split", static_cast<int>(split));
}
