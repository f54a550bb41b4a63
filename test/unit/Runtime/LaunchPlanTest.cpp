//===- LaunchPlanTest.cpp - What a host function does, as data --*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/LaunchPlan.h"
#include "gtest/gtest.h"
#include <limits>

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

  auto call = plan.evaluate(makeArguments(300, 4096));
  ASSERT_TRUE(call) << call.message();
  ASSERT_EQ(call->launches.size(), 1u);
  const KernelLaunch &launch = call->launches[0];
  EXPECT_EQ(launch.kernel, "aligned");
  EXPECT_EQ(launch.grid[0], 3u);
  EXPECT_EQ(launch.block[0], 128u);
  EXPECT_EQ(launch.sharedBytes, 4096u);
  ASSERT_EQ(launch.parameters.size(), 2u);
  EXPECT_EQ(launch.parameters[0].bits, 4096u);
  EXPECT_EQ(launch.parameters[1].bits, 0x3c00u);
  EXPECT_EQ(launch.parameters[1].bytes, 2u);

  call = plan.evaluate(makeArguments(1, 4100));
  ASSERT_TRUE(call) << call.message();
  ASSERT_EQ(call->launches.size(), 1u);
  EXPECT_EQ(call->launches[0].kernel, "plain");
  EXPECT_EQ(call->launches[0].parameters[2].bits, 64u);

  // An empty grid launches nothing.
  call = plan.evaluate(makeArguments(0, 4096));
  ASSERT_TRUE(call) << call.message();
  EXPECT_TRUE(call->launches.empty());
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
        "value const 1\nlaunch k 0 0 0 0 0 0 0 i9:0", "value const 1\nif 0 1 0",
        "value reports 0", "report one\nvalue const 1\ncheck 0 1",
        "report one\ncheck 0 0"})
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
  Result<PlannedCall> call =
      plan->evaluate({x}, [&](uint64_t bytes) -> Result<uint64_t> {
        sizes.push_back(bytes);
        return uint64_t(4096);
      });
  ASSERT_TRUE(bool(call)) << call.message();
  EXPECT_EQ(sizes, std::vector<uint64_t>{40});
  ASSERT_EQ(call->launches.size(), 2u);
  for (const KernelLaunch &launch : call->launches)
    EXPECT_EQ(launch.parameters.at(0).bits, 4096u);

  // What cannot be had is an error of the call, not a launch without it.
  call = plan->evaluate({x}, [](uint64_t) -> Result<uint64_t> {
    return Error{"no memory is left"};
  });
  ASSERT_FALSE(bool(call));
  EXPECT_EQ(call.message(), "no memory is left");
  EXPECT_FALSE(bool(plan->evaluate({x})));
}

// What a call reports comes from the plan's own checks and from the words that
// its kernels leave.
TEST(LaunchPlan, TellsWhatACallReports) {
  LaunchPlan plan = parse("plan f\n"
                          "argument n scalar:i64\n"
                          "report f.mlir:1:2: assertion failed:  two  spaces\n"
                          "report f.mlir:3:4: n is odd\n"
                          "value reports\n"
                          "value const 1\n"
                          "value scalar 0\n"
                          "check 2 1\n"
                          "launch k 1 1 1 1 1 1 1 i8:0\n");
  ASSERT_EQ(plan.getReports().size(), 2u);
  PlanArgument n;
  n.integer = 1;
  Result<PlannedCall> call = plan.evaluate({n}, {}, /*words=*/4096);
  ASSERT_TRUE(bool(call)) << call.message();
  ASSERT_EQ(call->launches.size(), 1u);
  EXPECT_EQ(call->launches[0].parameters.at(0).bits, 4096u);
  uint32_t none[] = {0, 0}, first[] = {1, 0};
  EXPECT_TRUE(bool(plan.judge(*call, none)));
  EXPECT_EQ(plan.judge(*call, first).message(),
            "f.mlir:1:2: assertion failed:  two  spaces");
  n.integer = 2;
  call = plan.evaluate({n}, {}, /*words=*/4096);
  ASSERT_TRUE(bool(call)) << call.message();
  EXPECT_EQ(plan.judge(*call, none).message(), "f.mlir:3:4: n is odd");
  EXPECT_EQ(plan.judge(*call, first).message(),
            "f.mlir:1:2: assertion failed:  two  spaces\nf.mlir:3:4: n is odd");
}

// The results of docs/Dialect.md, also where the machine would trap.
TEST(LaunchPlan, DividesByAnything) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  struct {
    const char *operation;
    int64_t x, y, result;
  } cases[] = {{"divsi", 7, 0, 0},
               {"divui", 7, 0, 0},
               {"ceildivsi", 7, 0, 0},
               {"floordivsi", 7, 0, 0},
               {"ceildivui", 7, 0, 0},
               {"remsi", -7, 0, -7},
               {"remui", 7, 0, 7},
               {"divsi", least, -1, least},
               {"remsi", least, -1, 0},
               {"floordivsi", least, -1, least},
               {"ceildivsi", least, -1, least},
               {"ceildivsi", least, 2, least / 2},
               {"ceildivsi", -7, 2, -3},
               {"ceildivsi", 7, 2, 4},
               {"ceildivsi", -7, -2, 4},
               {"floordivsi", -7, 2, -4},
               {"divsi", -7, 2, -3},
               {"divsi", -7, -1, 7}};
  for (const auto &each : cases) {
    LaunchPlan plan = parse(
        ("plan f\nvalue const " + std::to_string(each.x) + "\nvalue const " +
         std::to_string(each.y) + "\nvalue " + each.operation +
         " 0 1\nvalue const 1\n" + "launch k 3 3 3 3 3 3 3 i8:2\n")
            .c_str());
    Result<PlannedCall> call = plan.evaluate({});
    ASSERT_TRUE(bool(call)) << call.message();
    EXPECT_EQ(int64_t(call->launches.at(0).parameters.at(0).bits), each.result)
        << each.operation << ' ' << each.x << ' ' << each.y;
  }
}
