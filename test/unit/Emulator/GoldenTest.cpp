//===- GoldenTest.cpp - Hand-built Hopper kernels --------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warp-specialised wgmma and TMA kernels at the level the compiler aims for,
// unmodified: no report, and right against a double-precision reference.
//===----------------------------------------------------------------------===//
#include "EmulatorTest.h"
#include <cmath>

using namespace tile::emulator;
using namespace tile::emulator::test;

namespace {
struct GemmCase {
  const char *file;
  int m, n, k;
  int tileM, tileN; // of a cluster
  unsigned blocks, threads, shared;
  uint32_t boxA;
  bool hasWorkspace;
};

TensorMap mapOf(Array<uint16_t> &array, uint64_t rows, uint64_t columns,
                uint32_t boxRows) {
  TensorMap map;
  map.base = reinterpret_cast<uintptr_t>(array.data());
  map.extents = {columns, rows, 1, 1, 1};
  map.strides = {columns * 2, 0, 0, 0};
  map.box = {64, boxRows, 1, 1, 1};
  map.swizzle = TensorSwizzle::B128;
  return map;
}

void runGemm(const GemmCase &c, unsigned seed) {
  Array<uint16_t> a(c.m * c.k), b(c.k * c.n), out(c.m * c.n, 0xffff);
  fillNormal(a, seed);
  fillNormal(b, seed + 1);
  Array<float> workspace(1 << 16);
  Array<int32_t> flags(16);
  Harness h(readTestFile(c.file));
  h.buffer(a, "A").buffer(b, "B").buffer(out, "C", false);
  h.map(mapOf(a, c.m, c.k, c.boxA)).map(mapOf(b, c.k, c.n, 64));
  h.map(mapOf(out, c.m, c.n, 64));
  h.value((c.m + c.tileM - 1) / c.tileM);
  h.value((c.n + c.tileN - 1) / c.tileN);
  h.value((c.k + 63) / 64);
  if (c.hasWorkspace)
    h.pointer(workspace, "workspace", false).pointer(flags, "flags");
  h.config.grid = {c.blocks, 1, 1};
  h.config.block = {c.threads, 1, 1};
  h.config.dynamicSharedBytes = c.shared;
  h.config.seed = seed;
  h.runClean("gemm");
  for (int i = 0; i < c.m; ++i)
    for (int j = 0; j < c.n; ++j) {
      double sum = 0, bound = 0;
      for (int p = 0; p < c.k; ++p) {
        double term =
            double(fromHalf(a[i * c.k + p])) * fromHalf(b[p * c.n + j]);
        sum += term;
        bound += std::fabs(term);
      }
      ASSERT_NEAR(fromHalf(out[i * c.n + j]), sum,
                  1e-6 * bound + 5e-4 * std::fabs(sum))
          << c.file << " at " << i << "," << j;
    }
}
} // namespace

TEST(Golden, GemmOneConsumer) {
  for (unsigned seed = 0; seed < 3; ++seed)
    runGemm({"golden_gemm_small.ptx", 120, 128, 200, 64, 128, 2, 256, 213136,
             64, false},
            seed);
}

/// Without any one of its synchronising instructions the kernel is reported.
TEST(Golden, MutantsAreFound) {
  const std::string text = readTestFile("golden_gemm_small.ptx");
  // The instruction, which occurrence, and what stands in its place.
  struct Mutant {
    const char *text;
    unsigned occurrence;
    const char *replacement;
  };
  const Mutant mutants[] = {
      {"bar.sync \t0;", 0, ""},
      {"bar.sync \t%r2, 128;", 0, ""},
      {"bar.sync \t%r2, 128;", 1, ""},
      {"fence.proxy.async.shared::cta;", 0, ""},
      {"fence.proxy.async.shared::cta;", 1, ""},
      {"wgmma.fence.sync.aligned;", 0, ""},
      {"wgmma.wait_group.sync.aligned \t1;", 0, ""},
      {"wgmma.wait_group.sync.aligned \t0;", 0, ""},
      {"mbarrier.arrive.shared.b64 ", 0, "// "},
      {"mbarrier.arrive.expect_tx.shared.b64 ", 0, "// "},
      {"mbarrier.try_wait.parity.shared.b64 P1,", 0,
       "setp.eq.u32 P1, 0, 0; //"},
      {"mbarrier.try_wait.parity.shared.b64 P1,", 1,
       "setp.eq.u32 P1, 0, 0; //"},
      {"cp.async.bulk.wait_group.read \t0;", 0, ""},
  };
  for (const Mutant &mutant : mutants) {
    std::string changed = text;
    size_t at = changed.find(mutant.text);
    for (unsigned i = 0; i < mutant.occurrence && at != std::string::npos; ++i)
      at = changed.find(mutant.text, at + 1);
    ASSERT_NE(at, std::string::npos) << mutant.text;
    changed.replace(at, std::strlen(mutant.text), mutant.replacement);
    Array<uint16_t> a(64 * 640), b(640 * 128), out(64 * 128);
    Harness h(changed);
    h.buffer(a, "A").buffer(b, "B").buffer(out, "C", false);
    h.map(mapOf(a, 64, 640, 64)).map(mapOf(b, 640, 128, 64));
    h.map(mapOf(out, 64, 128, 64)).value(1).value(1).value(10);
    h.config.block = {256, 1, 1};
    h.config.dynamicSharedBytes = 213136;
    ASSERT_TRUE(h.run("gemm"));
    EXPECT_FALSE(h.result.reports.empty()) << "without " << mutant.text;
  }
}

TEST(Golden, GemmPingPong) {
  for (unsigned seed = 0; seed < 3; ++seed)
    runGemm({"golden_gemm_pingpong.ptx", 256, 256, 136, 128, 128, 2, 384,
             229488, 128, false},
            seed);
}

TEST(Golden, GemmClusterMulticast) {
  for (unsigned seed = 0; seed < 2; ++seed)
    runGemm({"golden_gemm_cluster2.ptx", 256, 256, 192, 256, 256, 2, 384,
             229456, 128, false},
            seed);
}

TEST(Golden, GemmSplitKThroughGlobalMemory) {
  for (unsigned seed = 0; seed < 2; ++seed)
    runGemm({"golden_gemm_split.ptx", 256, 128, 256, 256, 128, 4, 384, 229488,
             128, true},
            seed);
}

static void runAttention(int heads, int length, unsigned seed) {
  const int d = 64, tile = 192;
  size_t count = size_t(heads) * length * d;
  Array<uint16_t> q(count), k(count), v(count), o(count, 0xffff);
  Array<float> lse(heads * length);
  Array<int32_t> counter(2);
  fillNormal(q, seed);
  fillNormal(k, seed + 1);
  fillNormal(v, seed + 2);
  Harness h(readTestFile("golden_attention_d64.ptx"));
  h.buffer(q, "Q").buffer(k, "K").buffer(v, "V").buffer(o, "O", false);
  auto map = [&](Array<uint16_t> &array, uint32_t rows) {
    TensorMap m;
    m.base = reinterpret_cast<uintptr_t>(array.data());
    m.rank = 4;
    m.extents = {64, uint64_t(length), 1, uint64_t(heads), 1};
    m.strides = {d * 2, 128, uint64_t(length) * d * 2, 0};
    m.box = {64, rows, 1, 1, 1};
    m.swizzle = TensorSwizzle::B128;
    return m;
  };
  h.map(map(q, 64)).map(map(k, 128)).map(map(v, 128)).map(map(o, 64));
  h.pointer(lse, "lse", false).pointer(counter, "counter");
  h.value(float(1 / std::sqrt(double(d)) * std::log2(std::exp(1.0))));
  int blocks = (length + tile - 1) / tile;
  h.value(length).value(length).value(heads).value(blocks).value(1);
  h.config.grid = {uint32_t(heads * blocks), 1, 1};
  h.config.block = {512, 1, 1};
  h.config.dynamicSharedBytes = 114840;
  h.config.seed = seed;
  h.runClean("attn");
  std::vector<double> p(length);
  for (int head = 0; head < heads; ++head)
    for (int i = 0; i < length; i += 37) {
      size_t base = size_t(head) * length * d;
      double most = -1e30, sum = 0;
      for (int j = 0; j < length; ++j) {
        p[j] = 0;
        for (int e = 0; e < d; ++e)
          p[j] += double(fromHalf(q[base + i * d + e])) *
                  fromHalf(k[base + j * d + e]);
        p[j] /= std::sqrt(double(d));
        most = std::max(most, p[j]);
      }
      for (int j = 0; j < length; ++j)
        sum += p[j] = std::exp(p[j] - most);
      ASSERT_NEAR(lse[head * length + i], most + std::log(sum), 1e-4);
      for (int e = 0; e < d; ++e) {
        double expected = 0;
        for (int j = 0; j < length; ++j)
          expected += p[j] / sum * fromHalf(v[base + j * d + e]);
        ASSERT_NEAR(fromHalf(o[base + i * d + e]), expected, 2e-3)
            << head << "," << i << "," << e;
      }
    }
}

TEST(Golden, AttentionForward) {
  runAttention(1, 200, 0);
  runAttention(2, 256, 1);
}
