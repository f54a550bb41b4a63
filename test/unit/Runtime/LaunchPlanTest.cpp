//===- LaunchPlanTest.cpp - What a host function does, as data --*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/LaunchPlan.h"
#include "gtest/gtest.h"

using namespace tile::runtime;

/// Rows of x in blocks of 128, by one of two kernels.
static constexpr const char *text = R"(plan f
argument x f32 ? 64
argument scale scalar:f16
value extent 0 0
value const 128
value ceildivsi 0 1
value const 1
value const 4096
value address 0
value scalar 1
value const 15
value andi 5 7
value const 0
value eq 8 9
value stride 0 0
value muli 0 1
if 10 1 1
launch aligned 2 3 3 1 3 3 4 i8:5 f2:6
launch plain 2 3 3 12 3 3 9 i8:5 f2:6 i4:11
)";

static LaunchPlan parse(const char *text) {
  Result<LaunchPlan> plan = LaunchPlan::parse(text);
  if (!plan) {
    ADD_FAILURE() << plan.message();
    std::abort();
  }
  return std::move(*plan);
}

static std::vector<PlanArgument> makeArguments(int64_t rows, uint64_t address) {
  PlanArgument x, scale;
  x.address = address;
  x.shape = {rows, 64};
  x.strides = {64, 1};
  scale.integer = 0x3c00;
  return {x, scale};
}

TEST(LaunchPlan, EvaluatesWhatDependsOnArguments) {
  LaunchPlan plan = parse(text);
  EXPECT_EQ(plan.getName(), "f");
  ASSERT_EQ(plan.getParameters().size(), 2u);
  EXPECT_TRUE(plan.getParameters()[1].isScalar);

  auto launches = plan.evaluate(makeArguments(300, 4096));
  ASSERT_TRUE(launches) << launches.message();
  ASSERT_EQ(launches->size(), 1u);
  const KernelLaunch &launch = (*launches)[0];
  EXPECT_EQ(launch.kernel, "aligned");
  EXPECT_EQ(launch.grid[0], 3u);
  EXPECT_EQ(launch.block[0], 128u);
  EXPECT_EQ(launch.sharedBytes, 4096u);
  ASSERT_EQ(launch.parameters.size(), 2u);
  EXPECT_EQ(launch.parameters[0].bits, 4096u);
  EXPECT_EQ(launch.parameters[1].bits, 0x3c00u);
  EXPECT_EQ(launch.parameters[1].bytes, 2u);

  launches = plan.evaluate(makeArguments(1, 4100));
  ASSERT_TRUE(launches) << launches.message();
  ASSERT_EQ(launches->size(), 1u);
  EXPECT_EQ((*launches)[0].kernel, "plain");
  EXPECT_EQ((*launches)[0].parameters[2].bits, 64u);

  // An empty grid launches nothing.
  launches = plan.evaluate(makeArguments(0, 4096));
  ASSERT_TRUE(launches) << launches.message();
  EXPECT_TRUE(launches->empty());
}

TEST(LaunchPlan, TellsWhatKernelsHaveInAnyLaunch) {
  std::vector<PlannedKernel> kernels = parse(text).getKernels();
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "aligned");
  EXPECT_EQ(kernels[0].threads, 128u);
  EXPECT_EQ(kernels[0].sharedBytes, 4096u);
  // The other's block depends on an extent.
  EXPECT_EQ(kernels[1].name, "plain");
  EXPECT_FALSE(kernels[1].threads);
  EXPECT_EQ(kernels[1].sharedBytes, 0u);
}

TEST(LaunchPlan, NamesTheWrongArgument) {
  LaunchPlan plan = parse(text);
  auto arguments = makeArguments(1, 0);
  arguments[0].shape = {1, 65};
  EXPECT_EQ(plan.evaluate(arguments).message(),
            "argument 'x' has extent 65 in dimension 1, expected 64");
  arguments[0].shape = {64};
  EXPECT_EQ(plan.evaluate(arguments).message(),
            "argument 'x' has rank 1, expected 2");
  arguments.pop_back();
  EXPECT_EQ(plan.evaluate(arguments).message(), "'f' takes 2 arguments, got 1");
}

TEST(LaunchPlan, RefusesWhatIsNoPlan) {
  for (const char *wrong :
       {"plan", "argument x f33 1", "value extent 0 0", "value addi 0 1",
        "launch k 0 0 0 0 0 0 0", "if 0 1 1", "what is this",
        "value const 1\nlaunch k 0 0 0 0 0 0 0 i9:0",
        "value const 1\nif 0 1 0"})
    EXPECT_FALSE(LaunchPlan::parse(wrong)) << wrong;
  Result<LaunchPlan> plan = LaunchPlan::parse("value const 1\nvalue conjure 0");
  EXPECT_NE(plan.message().find("unknown operation 'conjure'"),
            std::string::npos);
}

// A workspace is as large as the arguments ask for, and each launch that uses
// it gets the one address.
TEST(LaunchPlan, AllocatesWorkspaces) {
  Result<LaunchPlan> plan =
      LaunchPlan::parse("plan twice\n"
                        "argument x f32 ?\n"
                        "value extent 0 0\n"
                        "value const 4\n"
                        "value muli 0 1\n"
                        "value workspace 2\n"
                        "value const 1\n"
                        "launch first 0 4 4 4 4 4 4 i8:3\n"
                        "launch second 4 4 4 4 4 4 4 i8:3\n");
  ASSERT_TRUE(bool(plan)) << plan.message();
  PlanArgument x;
  x.shape = {10};
  x.strides = {1};
  std::vector<uint64_t> sizes;
  Result<std::vector<KernelLaunch>> launches =
      plan->evaluate({x}, [&](uint64_t bytes) -> Result<uint64_t> {
        sizes.push_back(bytes);
        return uint64_t(4096);
      });
  ASSERT_TRUE(bool(launches)) << launches.message();
  EXPECT_EQ(sizes, std::vector<uint64_t>{40});
  ASSERT_EQ(launches->size(), 2u);
  for (const KernelLaunch &launch : *launches)
    EXPECT_EQ(launch.parameters.at(0).bits, 4096u);

  // What cannot be had is an error of the call, not a launch without it.
  launches = plan->evaluate({x}, [](uint64_t) -> Result<uint64_t> {
    return Error{"no memory is left"};
  });
  ASSERT_FALSE(bool(launches));
  EXPECT_EQ(launches.message(), "no memory is left");
  EXPECT_FALSE(bool(plan->evaluate({x})));
}
