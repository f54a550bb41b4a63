//===- AsyncTest.cpp - Asynchronous operations and their faults -*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each fault is planted once, beside a twin without it.
//===----------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tile::emulator;
using namespace tile::emulator::test;

/// %rd1: 1 KB of input, %rd2: output; %r3: 2 KB of shared memory, %r5: two
/// mbarriers, initialised with count 1; %p1: thread 0.
static std::string program(const std::string &body) {
  return kernel(
      ".param .u64 in, .param .u64 out",
      ".reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n"
      ".shared .align 1024 .b8 t[4096]; .shared .align 8 .b64 bars[2];\n"
      "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r3, t; mad.lo.u32 %r4, %r1, 4, %r3;\n"
      "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd3, %rd2;\n"
      "mul.wide.u32 %rd5, %r1, 16; add.s64 %rd5, %rd5, %rd1;\n"
      "mad.lo.u32 %r6, %r1, 16, %r3; mov.u32 %r5, bars;\n"
      "setp.eq.u32 %p1, %r1, 0;\n"
      "@%p1 mbarrier.init.shared.b64 [%r5], 1;\n"
      "@%p1 mbarrier.init.shared.b64 [%r5+8], 1;\nbar.sync 0;\n" +
          body);
}

static void expectFault(const std::string &faulty, const std::string &clean,
                        ReportKind kind, unsigned threads = 32) {
  for (bool isFaulty : {true, false}) {
    Array<uint32_t> in(256), out(256);
    for (uint32_t i = 0; i < 256; ++i)
      in[i] = i + 1;
    Harness h(program(isFaulty ? faulty : clean));
    h.pointer(in, "in").pointer(out, "out");
    h.config.block = {threads, 1, 1};
    if (isFaulty) {
      h.runFaulty(kind, "k", 8);
      continue;
    }
    for (unsigned seed = 0; seed < 6; ++seed) {
      h.config.seed = seed;
      h.runClean();
    }
  }
}

static const std::string waitFull =
    "W: mbarrier.try_wait.parity.shared.b64 %p8, [%r5], 0; @!%p8 bra W;\n";
/// The second phase of the first barrier, or the first of the second.
static const std::string waitFullAgain =
    "V: mbarrier.try_wait.parity.shared.b64 %p8, [%r5], 1; @!%p8 bra V;\n";
static const std::string waitSecond =
    "U: mbarrier.try_wait.parity.shared.b64 %p8, [%r5+8], 0; @!%p8 bra U;\n";
static const std::string readBack =
    "ld.shared.b32 %r7, [%r4]; st.global.b32 [%rd4], %r7;\n";

TEST(CopyAsync, WaitsForItsGroup) {
  std::string copy = "cp.async.cg.shared.global [%r6], [%rd5], 16;\n"
                     "cp.async.commit_group;\n";
  expectFault(copy + "bar.sync 0;" + readBack,
              copy + "cp.async.wait_group 0; bar.sync 0;" + readBack,
              ReportKind::Race);
  expectFault(copy + copy + "cp.async.wait_group 1; bar.sync 0;" + readBack,
              copy + "cp.async.wait_all; bar.sync 0;" + readBack,
              ReportKind::Race);
  // The wait covers the own copies only: others' need a barrier.
  expectFault(copy + "cp.async.wait_all;" + readBack,
              copy + "cp.async.wait_all; bar.sync 0;" + readBack,
              ReportKind::Race, 64);
}

TEST(CopyAsync, CopiesInFlightComeInAnyOrder) {
  std::string copy = "cp.async.cg.shared.global [%r6], [%rd5], 16;\n"
                     "cp.async.commit_group;\n";
  std::string next = "add.s64 %rd5, %rd5, 16;\n";
  std::string end = "cp.async.wait_group 0; bar.sync 0;" + readBack;
  expectFault(copy + next + copy + end,
              copy + next + "cp.async.wait_group 0;" + copy + end,
              ReportKind::Race);
}

TEST(CopyAsync, FillsWithZeros) {
  Array<uint32_t> in(256), out(256);
  for (uint32_t i = 0; i < 256; ++i)
    in[i] = i + 1;
  Harness h(program("cp.async.ca.shared.global [%r6], [%rd5], 16, 8;\n"
                    "cp.async.wait_all; bar.sync 0;" +
                    readBack));
  h.pointer(in, "in").pointer(out, "out");
  h.config.block = {32, 1, 1};
  h.runClean();
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i % 4 < 2 ? i + 1 : 0);
}

TEST(CopyAsync, ArrivesOnABarrier) {
  std::string copy = "@%p1 cp.async.cg.shared.global [%r6], [%rd5], 16;\n"
                     "@%p1 cp.async.mbarrier.arrive.noinc.shared.b64 [%r5];\n";
  std::string read = "ld.shared.b32 %r7, [%r3]; st.global.b32 [%rd4], %r7;";
  expectFault(copy + read, copy + waitFull + read, ReportKind::Race);
}

static const std::string load =
    "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 512;\n"
    "@%p1 cp.async.bulk.shared::cluster.global"
    ".mbarrier::complete_tx::bytes [%r3], [%rd1], 512, [%r5];\n";

TEST(Bulk, LoadIsWaitedFor) {
  expectFault(load + readBack, load + waitFull + readBack, ReportKind::Race);
}

TEST(Bulk, ExpectedBytes) {
  std::string few = load;
  few.replace(few.find("512"), 3, "256");
  expectFault(few + waitFull, load + waitFull, ReportKind::Deadlock);
  expectFault("@%p1 mbarrier.arrive.shared.b64 _, [%r5];" +
                  load.substr(load.find('\n') + 1) + waitFull + readBack,
              load + waitFull + readBack, ReportKind::Race);
}

TEST(Bulk, TwoLoadsIntoOneBuffer) {
  std::string second =
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5+8], 512;\n"
      "@%p1 cp.async.bulk.shared::cluster.global"
      ".mbarrier::complete_tx::bytes [%r3], [%rd1+512], 512, [%r5+8];\n";
  expectFault(load + second + waitFull + waitSecond,
              load + waitFull + "bar.sync 0;" + second + waitSecond,
              ReportKind::Race);
}

TEST(Bulk, BlockEndsWhileALoadComesIn) {
  expectFault(load, load + waitFull, ReportKind::Race);
  // Whoever waits must be of the block, and have waited for this phase.
  std::string again = load;
  again.replace(again.find("[%r3]"), 5, "[%r3+1024]");
  expectFault(load + waitFull + "bar.sync 0;" + again,
              load + waitFull + "bar.sync 0;" + again + waitFullAgain,
              ReportKind::Race);
}

TEST(Bulk, BufferReusedBeforeItsReadersFinished) {
  std::string second =
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 512;\n"
      "@%p1 cp.async.bulk.shared::cluster.global"
      ".mbarrier::complete_tx::bytes [%r3], [%rd1+512], 512, [%r5];\n";
  expectFault(load + waitFull + readBack + second + waitFullAgain,
              load + waitFull + readBack + "bar.sync 0;" + second +
                  waitFullAgain,
              ReportKind::Race, 64);
}

static const std::string storeOnly =
    "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 128;\n"
    "@%p1 cp.async.bulk.commit_group;\n";
static const std::string store =
    storeOnly + "cp.async.bulk.wait_group.read 0;\n";

TEST(Bulk, StoreNeedsAProxyFence) {
  std::string fill = "st.shared.b32 [%r4], %r1;\n";
  std::string fence = "fence.proxy.async.shared::cta;\n";
  expectFault(fill + "bar.sync 0;" + store,
              fill + fence + "bar.sync 0;" + store,
              ReportKind::MissingProxyFence);
  // The fence must come after the write and be ordered before the copy.
  expectFault(fence + fill + "bar.sync 0;" + store,
              fill + fence + "bar.sync 0;" + store,
              ReportKind::MissingProxyFence);
  expectFault(fill + fence + store, fill + fence + "bar.sync 0;" + store,
              ReportKind::Race, 64);
}

TEST(Bulk, SourceReusedBeforeItWasRead) {
  std::string fill = "st.shared.b32 [%r4], %r1; fence.proxy.async;"
                     "bar.sync 0;\n";
  std::string again = "@%p1 st.shared.b32 [%r3], 7;";
  expectFault(fill + storeOnly + again, fill + store + again, ReportKind::Race);
  // Reading is not yet writing.
  std::string look = "@%p1 ld.global.b32 %r7, [%rd2];";
  expectFault(fill + store + look,
              fill + storeOnly + "cp.async.bulk.wait_group 0;" + look,
              ReportKind::Race);
}

TEST(Bulk, BlockEndsWhileACopyReadsItsSharedMemory) {
  std::string fill = "st.shared.b32 [%r4], %r1; fence.proxy.async;"
                     "bar.sync 0;\n";
  expectFault(fill + storeOnly, fill + store, ReportKind::Race);
  std::string uncommitted = storeOnly.substr(0, storeOnly.find('\n') + 1);
  expectFault(fill + uncommitted + "cp.async.bulk.wait_group.read 0;",
              fill + store, ReportKind::Race);
}

TEST(Bulk, ReductionAddsUp) {
  Array<uint32_t> in(256), out(256, 10);
  Harness h(program(
      "st.shared.b32 [%r4], %r1; fence.proxy.async; bar.sync 0;\n"
      "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2],"
      "[%r3], 128;\n@%p1 cp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group 0;"));
  h.pointer(in, "in").pointer(out, "out");
  h.config.block = {32, 1, 1};
  h.config.grid = {3, 1, 1};
  h.runClean();
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 10 + 3 * i);
}

/// Every thread of two blocks sends its number plus one to a place in the first
/// block, which expects `bytes`.
static std::string sendToFirst(const std::string &instruction,
                               const std::string &place, unsigned bytes,
                               const std::string &wait) {
  return "st.shared.b32 [%r4], 0; mov.u32 %r10, %cluster_ctarank;\n"
         "setp.eq.u32 %p2, %r10, 0; and.pred %p3, %p1, %p2;\n"
         "@%p3 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], " +
         std::to_string(bytes) +
         ";\nbarrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
         "mapa.shared::cluster.u32 %r11, " +
         place +
         ", 0; mapa.shared::cluster.u32 %r12, %r5, 0; add.u32 %r13, %r1, 1;\n" +
         instruction + " [%r11], %r13, [%r12];\n@!%p2 bra E;\n" + wait +
         readBack +
         "E: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
}

static void expectSent(const std::string &instruction, const std::string &place,
                       unsigned bytes, const std::vector<uint32_t> &expected) {
  for (bool isFaulty : {true, false}) {
    Array<uint32_t> in(256), out(256);
    Harness h(program(
        sendToFirst(instruction, place, bytes, isFaulty ? "" : waitFull)));
    h.pointer(in, "in").pointer(out, "out");
    h.config.block = {32, 1, 1};
    h.config.grid = {2, 1, 1};
    h.config.cluster = Dim3{2, 1, 1};
    if (isFaulty) {
      h.runFaulty(ReportKind::Race, "k", 8);
      continue;
    }
    for (unsigned seed = 0; seed < 6; ++seed) {
      h.config.seed = seed;
      h.runClean();
    }
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(out[i], expected[i]);
  }
}

TEST(Remote, ReductionsComeTogether) {
  std::string red = "red.async.relaxed.cluster.shared::cluster"
                    ".mbarrier::complete_tx::bytes";
  // All threads of both blocks into one word: no race among them.
  expectSent(red + ".add.u32", "%r3", 256, {2 * 32 * 33 / 2, 0});
  expectSent(red + ".max.s32", "%r3", 256, {32, 0});
  expectSent(red + ".or.b32", "%r3", 256, {63, 0});
  expectSent(red + ".inc.u32", "%r4", 256, {0, 2, 2, 2});
}

TEST(Remote, StoresHaveAPlaceEach) {
  std::string store = "@!%p2 st.async.weak.shared::cluster"
                      ".mbarrier::complete_tx::bytes.b32";
  expectSent(store, "%r4", 128, {1, 2, 3});
  // Two blocks' into one place.
  Array<uint32_t> in(256), out(256);
  std::string both = sendToFirst(store.substr(6), "%r4", 256, waitFull);
  both.replace(both.find("%r1, 1;"), 7, "%r1, %r10;");
  Harness h(program(both));
  h.pointer(in, "in").pointer(out, "out");
  h.config.block = {32, 1, 1};
  h.config.grid = {2, 1, 1};
  h.config.cluster = Dim3{2, 1, 1};
  h.runFaulty(ReportKind::Race, "k", 8);
}

TEST(Bulk, SizesAndAlignments) {
  std::string odd = load;
  odd.replace(odd.rfind("512"), 3, "500");
  expectFault(odd, load + waitFull, ReportKind::InvalidOperand);
  std::string shifted = load;
  shifted.replace(shifted.find("[%r3]"), 5, "[%r3+8]");
  expectFault(shifted, load + waitFull, ReportKind::Misaligned);
  std::string far = load;
  far.replace(far.find("[%rd1]"), 6, "[%rd1+768]");
  expectFault(far, load + waitFull, ReportKind::OutOfBounds);
}

/// A 64x8x16 product of what the input leaves in shared memory.
static std::string product(const std::string &before,
                           const std::string &between,
                           const std::string &after) {
  std::string fill;
  for (int i = 0; i < 2; ++i)
    fill += "ld.global.v4.b32 {%r8,%r9,%r10,%r11}, [%rd1];"
            "st.shared.v4.b32 [%r6+" +
            std::to_string(2048 * i) + "], {%r8,%r9,%r10,%r11};\n";
  return fill + "fence.proxy.async; bar.sync 0;\n" +
         "shr.u32 %r12, %r3, 4; cvt.u64.u32 %rd6, %r12;\n"
         "or.b64 %rd6, %rd6, 0x1000080000;\n" + // leading 128, stride 256
         "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0;"
         "mov.f32 %f3, %f0;\n" +
         before +
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
         "{%f0,%f1,%f2,%f3}, %rd6, %rd6, 1, 1, 1, 0, 0;\n"
         "wgmma.commit_group.sync.aligned;\n" +
         between + "st.global.f32 [%rd4], %f0;\n" + after;
}

TEST(Wgmma, FenceAndWait) {
  std::string fence = "wgmma.fence.sync.aligned;\n";
  std::string wait0 = "wgmma.wait_group.sync.aligned 0;\n";
  expectFault(product(fence, "", wait0), product(fence, wait0, ""),
              ReportKind::RegisterInFlight, 128);
  expectFault(product(fence, "wgmma.wait_group.sync.aligned 1;\n", wait0),
              product(fence, wait0, ""), ReportKind::RegisterInFlight, 128);
  expectFault(product("", wait0, ""), product(fence, wait0, ""),
              ReportKind::RegisterInFlight, 128);
}

TEST(Wgmma, DescriptorsStartWhereASwizzleDoes) {
  std::string fence = "wgmma.fence.sync.aligned;\n";
  std::string wait0 = "wgmma.wait_group.sync.aligned 0;\n";
  std::string swizzled = "or.b64 %rd6, %rd6, 0xC000000000000000;\n" + fence;
  expectFault(product("add.s64 %rd6, %rd6, 8;" + swizzled, wait0, ""),
              product(swizzled, wait0, ""), ReportKind::Misaligned, 128);
}

TEST(Wgmma, AddsToWhatHasAValue) {
  std::string fence = "wgmma.fence.sync.aligned;\n";
  std::string wait0 = "wgmma.wait_group.sync.aligned 0;\n";
  std::string clean = product(fence, wait0, "");
  std::string faulty = clean;
  faulty.erase(faulty.find("mov.f32 %f3, %f0;"), 17);
  std::string overwrites = faulty;
  overwrites.replace(overwrites.find("%rd6, %rd6, 1,"), 14, "%rd6, %rd6, 0,");
  expectFault(faulty, clean, ReportKind::UninitializedRegister, 128);
  expectFault(faulty, overwrites, ReportKind::UninitializedRegister, 128);
}

TEST(Wgmma, WrittenRegistersNeedAnotherFence) {
  std::string fence = "wgmma.fence.sync.aligned;\n";
  std::string wait0 = "wgmma.wait_group.sync.aligned 0;\n";
  std::string first = fence +
                      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                      "{%f0,%f1,%f2,%f3}, %rd6, %rd6, 1, 1, 1, 0, 0;\n"
                      "wgmma.commit_group.sync.aligned;\n";
  std::string change = wait0 + "add.f32 %f0, %f0, %f1;\n";
  expectFault(product(first + change, wait0, ""),
              product(first + change + fence, wait0, ""),
              ReportKind::RegisterInFlight, 128);
  std::string look = wait0 + "mov.f32 %f5, %f1;\n";
  expectFault(product(first + look, wait0, ""),
              product(first + look + fence, wait0, ""),
              ReportKind::RegisterInFlight, 128);
  // Accumulators handed from one wgmma to the next need none.
  expectFault(product(first, "", wait0), product(first, wait0, ""),
              ReportKind::RegisterInFlight, 128);
}

TEST(Wgmma, OperandsAreReadUntilTheWait) {
  std::string fence = "wgmma.fence.sync.aligned;\n";
  std::string wait0 = "wgmma.wait_group.sync.aligned 0;\n";
  std::string overwrite = "@%p1 st.shared.b32 [%r3], 7;\n";
  expectFault(product(fence, overwrite + wait0, ""),
              product(fence, wait0 + "bar.sync 0;" + overwrite, ""),
              ReportKind::Race, 128);
}

TEST(Wgmma, NeedsTheProxyFence) {
  std::string fence = "wgmma.fence.sync.aligned;\n";
  std::string wait0 = "wgmma.wait_group.sync.aligned 0;\n";
  std::string clean = product(fence, wait0, "");
  std::string faulty = clean;
  faulty.erase(faulty.find("fence.proxy.async;"), 18);
  expectFault(faulty, clean, ReportKind::MissingProxyFence, 128);
}
