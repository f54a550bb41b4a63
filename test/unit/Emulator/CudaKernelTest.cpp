//===- CudaKernelTest.cpp - PTX of a CUDA compiler -------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of test/Emulator/*.cu, as nvcc compiled them.
//===----------------------------------------------------------------------===//
#include "EmulatorTest.h"
#include <cmath>

using namespace tile::emulator;
using namespace tile::emulator::test;

TEST(CudaKernels, VectorAdd) {
  Array<float> a(200), b(200), c(200);
  for (int i = 0; i < 200; ++i) {
    a[i] = float(i);
    b[i] = 0.5f;
  }
  Harness h(readTestFile("vector.ptx"));
  h.pointer(a, "a").pointer(b, "b").pointer(c, "c", false).value(200);
  h.config.grid = {4, 1, 1};
  h.config.block = {64, 1, 1};
  h.runClean("vector_add");
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(c[i], i + 0.5f);
}

TEST(CudaKernels, OutOfBoundsNamesTheElement) {
  Array<float> a(200), b(200), c(100);
  Harness h(readTestFile("vector.ptx"));
  h.pointer(a, "a").pointer(b, "b").pointer(c, "c").value(200);
  h.config.grid = {4, 1, 1};
  h.config.block = {64, 1, 1};
  ASSERT_TRUE(h.run("vector_add"));
  const Report *report = h.find(ReportKind::OutOfBounds);
  ASSERT_TRUE(report);
  EXPECT_NE(report->message.find("'c', which has 400 bytes"), std::string::npos)
      << report->message;
  EXPECT_EQ(report->first.sourceFile, "vector.cu");
  EXPECT_EQ(report->first.sourceLine, 9u);
  EXPECT_TRUE(h.result.completed);
}

TEST(CudaKernels, BlockSumAndItsRace) {
  Array<float> x(4 * 96, 1.0f), sums(4);
  Harness h(readTestFile("vector.ptx"));
  h.pointer(x, "x").pointer(sums, "sums", false).value(96);
  h.config.grid = {4, 1, 1};
  h.config.block = {64, 1, 1};
  h.runClean("block_sum");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(sums[i], 96.0f);
  h.runFaulty(ReportKind::Race, "block_sum_racy");
  const Report *race = h.find(ReportKind::Race);
  ASSERT_TRUE(race);
  EXPECT_EQ(race->first.sourceFile, "vector.cu");
  EXPECT_TRUE(race->second.isKnown);
  EXPECT_NE(race->place.find("partial["), std::string::npos);
}

TEST(CudaKernels, AtomicsAndCallsAndPrintf) {
  Array<int32_t> keys(128), counts(4), fibonacci(16);
  for (int i = 0; i < 128; ++i)
    keys[i] = i % 4;
  Harness h(readTestFile("vector.ptx"));
  h.pointer(keys, "keys").pointer(counts, "counts").value(128);
  h.config.grid = {4, 1, 1};
  h.config.block = {32, 1, 1};
  h.runClean("histogram");
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(counts[i], 32);

  Harness calls(readTestFile("vector.ptx"));
  calls.pointer(fibonacci, "out", false);
  calls.config.block = {16, 1, 1};
  calls.runClean("calls");
  EXPECT_EQ(fibonacci[15], 610);

  Harness prints(readTestFile("vector.ptx"));
  prints.value(7);
  prints.config.block = {32, 1, 1};
  prints.runClean("prints");
  EXPECT_EQ(prints.result.output, "x=7 half=3.50 name=tile\n");
}

TEST(CudaKernels, FencesAndAtomicsOrderBlocks) {
  Array<float> x(8 * 32, 1.0f), partial(8), total(1);
  Harness h(readTestFile("vector.ptx"));
  h.pointer(x, "x").pointer(partial, "partial", false);
  h.pointer(total, "total", false);
  h.config.grid = {8, 1, 1};
  h.config.block = {32, 1, 1};
  for (unsigned seed = 0; seed < 8; ++seed) {
    h.config.seed = seed;
    h.runClean("grid_sum");
    EXPECT_EQ(total[0], 256.0f);
  }
}

TEST(CudaKernels, MathFunctions) {
  Array<float> x(32), y(8 * 32);
  for (int i = 0; i < 32; ++i)
    x[i] = 0.37f * float(i - 15);
  Harness h(readTestFile("vector.ptx"));
  h.pointer(x, "x").pointer(y, "y", false).value(32);
  h.config.block = {32, 1, 1};
  h.runClean("math");
  for (int i = 0; i < 32; ++i) {
    double v = x[i];
    auto near = [&](int row, double expected) {
      EXPECT_NEAR(y[row * 32 + i], expected, 4e-6 * (1 + std::fabs(expected)))
          << "row " << row << " of " << v;
    };
    near(0, std::sin(v));
    near(1, std::exp(v));
    if (v != 0)
      near(2, 1 / std::sqrt(std::fabs(v)));
    EXPECT_EQ(y[3 * 32 + i], x[i] / 3.0f);
    EXPECT_EQ(y[4 * 32 + i], float(int(x[i] * 100)));
    near(5, std::tanh(v));
    EXPECT_EQ(y[6 * 32 + i], float(v / 7.0));
    EXPECT_EQ(y[7 * 32 + i], float(unsigned(i * 977) / 13u % 7u));
  }
}

static void runGemm(const char *entry, bool isClean) {
  const int m = 128, n = 64, k = 96;
  Array<uint16_t> a(m * k), b(k * n);
  Array<float> c(m * n);
  fillNormal(a, 1);
  fillNormal(b, 2);
  Harness h(readTestFile("gemm.ptx"));
  h.pointer(a, "a").pointer(b, "b").pointer(c, "c", false);
  h.value(m).value(n).value(k);
  h.config.grid = {n / 64, m / 64, 1};
  h.config.block = {128, 1, 1};
  if (!isClean)
    return h.runFaulty(ReportKind::Race, entry);
  for (unsigned seed = 0; seed < 3; ++seed) {
    h.config.seed = seed;
    h.runClean(entry);
  }
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0, bound = 0;
      for (int p = 0; p < k; ++p) {
        double term = double(fromHalf(a[i * k + p])) * fromHalf(b[p * n + j]);
        sum += term;
        bound += std::fabs(term);
      }
      ASSERT_NEAR(c[i * n + j], sum, 1e-6 * bound) << i << "," << j;
    }
}

TEST(CudaKernels, PipelinedGemm) { runGemm("gemm_f16", true); }
TEST(CudaKernels, StageReusedBeforeItsReadersFinished) {
  runGemm("gemm_f16_reused", false);
}
