//===- BarrierTest.cpp - Barriers, mbarriers, deadlocks --------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tile::emulator;
using namespace tile::emulator::test;

static std::string program(const std::string &body) {
  return kernel(".param .u64 out",
                ".reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;\n"
                ".shared .align 8 .b64 bars[4]; .shared .align 16 .b8 t[512];\n"
                "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
                "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1;\n"
                "mov.u32 %r3, t; mad.lo.u32 %r4, %r1, 4, %r3;\n"
                "mov.u32 %r5, bars; setp.eq.u32 %p1, %r1, 0;\n"
                "shr.u32 %r2, %r1, 5; setp.eq.u32 %p2, %r2, 0;\n" +
                    body);
}

static void expectFault(const std::string &faulty, const std::string &clean,
                        ReportKind kind, unsigned threads = 64,
                        unsigned cluster = 1) {
  for (bool isFaulty : {true, false}) {
    Array<uint32_t> out(256);
    Harness h(program(isFaulty ? faulty : clean));
    h.pointer(out, "out");
    h.config.block = {threads, 1, 1};
    h.config.grid = {cluster, 1, 1};
    if (cluster > 1)
      h.config.cluster = Dim3{cluster, 1, 1};
    if (isFaulty) {
      h.runFaulty(kind);
      continue;
    }
    for (unsigned seed = 0; seed < 3; ++seed) {
      h.config.seed = seed;
      h.runClean();
    }
  }
}

/// Waits for a parity of the barrier at [%r5 + offset].
static std::string wait(int offset, int parity, const std::string &label) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p8, [%r5+" +
         std::to_string(offset) + "], " + std::to_string(parity) +
         "; @!%p8 bra " + label + ";\n";
}

TEST(Barrier, DeadlockNamesEveryWarp) {
  Array<uint32_t> out(256);
  Harness h(program("@%p2 bra FIRST; bar.sync 1, 64; ret;\n"
                    "FIRST: bar.sync 2, 64;"));
  h.pointer(out, "out");
  h.config.block = {64, 1, 1};
  ASSERT_TRUE(h.run());
  const Report *report = h.find(ReportKind::Deadlock);
  ASSERT_TRUE(report);
  EXPECT_NE(report->message.find("warp 0 lanes 0-31 wait at PTX line"),
            std::string::npos)
      << report->message;
  EXPECT_NE(report->message.find("`bar.sync` at barrier 1, 32 of 64 threads"),
            std::string::npos)
      << report->message;
}

TEST(Barrier, CountsAndNumbers) {
  expectFault("bar.sync 0, 33;", "bar.sync 0, 64;", ReportKind::BarrierMisuse);
  expectFault("bar.sync 16;", "bar.sync 15;", ReportKind::BarrierMisuse);
  expectFault("@%p2 bar.sync 1, 96; @!%p2 bar.sync 1, 64;",
              "@%p2 bar.sync 1, 32; @!%p2 bar.sync 2, 32;",
              ReportKind::BarrierMisuse, 96 - 32);
}

TEST(Barrier, ArriveReleasesSyncAcquires) {
  std::string handOver = "@!%p2 bra WAITER; st.shared.b32 [%r4], %r1;\n";
  std::string rest = " ret;\nWAITER: bar.sync 3, 64;\n"
                     "ld.shared.b32 %r6, [%r4+-128];\n"
                     "st.global.b32 [%rd2], %r6;";
  expectFault("@!%p2 bra WAITER; bar.arrive 3, 64;"
              "st.shared.b32 [%r4], %r1;" +
                  rest,
              handOver + "bar.arrive 3, 64;" + rest, ReportKind::Race);
}

TEST(Barrier, Reductions) {
  Array<uint32_t> out(64);
  Harness h(program("setp.lt.u32 %p3, %r1, 40;\n"
                    "bar.red.popc.u32 %r6, 0, %p3;\n"
                    "bar.red.and.pred %p4, 0, %p3;\n"
                    "bar.red.or.pred %p5, 0, %p3;\n"
                    "@%p4 add.u32 %r6, %r6, 1000;\n"
                    "@%p5 add.u32 %r6, %r6, 100;\n"
                    "st.global.b32 [%rd2], %r6;"));
  h.pointer(out, "out");
  h.config.block = {64, 1, 1};
  h.runClean();
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], 140u);
}

static const char *const initBoth =
    "@%p1 mbarrier.init.shared.b64 [%r5], 32;\n"
    "@%p1 mbarrier.init.shared.b64 [%r5+8], 32;\nbar.sync 0;\n";

/// Warp 0 fills, warp 1 reads, twice through one buffer.
static std::string ring(bool waitsFull, bool waitsEmpty) {
  std::string text = initBoth;
  text += "@!%p2 bra CONSUMER;\nmov.b32 %r7, 0;\n";
  text += "PRODUCE: xor.b32 %r8, %r7, 1; and.b32 %r8, %r8, 1;\n";
  if (waitsEmpty)
    text += "PE: mbarrier.try_wait.parity.shared.b64 %p8, [%r5+8], %r8;"
            "@!%p8 bra PE;\n";
  text += "st.shared.b32 [%r4], %r7; mbarrier.arrive.shared.b64 _, [%r5];\n"
          "add.u32 %r7, %r7, 1; setp.lt.u32 %p7, %r7, 2; @%p7 bra PRODUCE;\n"
          "ret;\nCONSUMER: mov.b32 %r7, 0; mov.b32 %r9, 0;\n"
          "CONSUME: and.b32 %r8, %r7, 1;\n";
  if (waitsFull)
    text += "CF: mbarrier.try_wait.parity.shared.b64 %p8, [%r5], %r8;"
            "@!%p8 bra CF;\n";
  text += "ld.shared.b32 %r6, [%r4+-128]; add.u32 %r9, %r9, %r6;\n"
          "mbarrier.arrive.shared.b64 %rd3, [%r5+8];\n"
          "add.u32 %r7, %r7, 1; setp.lt.u32 %p7, %r7, 2; @%p7 bra CONSUME;\n"
          "st.global.b32 [%rd2], %r9;";
  return text;
}

TEST(MBarrier, RingOfOneStage) {
  expectFault(ring(false, true), ring(true, true), ReportKind::Race);
  // A producer that runs ahead overwrites what is being read, or completes two
  // phases at once, which a wait by parity cannot see.
  for (unsigned seed = 0; seed < 4; ++seed) {
    Array<uint32_t> out(256);
    Harness h(program(ring(true, false)));
    h.pointer(out, "out");
    h.config.block = {64, 1, 1};
    h.config.seed = seed;
    ASSERT_TRUE(h.run());
    EXPECT_TRUE(h.has(ReportKind::Race) || h.has(ReportKind::Deadlock));
  }
}

TEST(MBarrier, WrongParityNeverEnds) {
  expectFault(std::string(initBoth) +
                  "@!%p2 bra W; mbarrier.arrive.shared.b64 _, [%r5]; ret;\n" +
                  "W: " + wait(0, 0, "A") + wait(0, 1, "B"),
              std::string(initBoth) +
                  "@!%p2 bra W; mbarrier.arrive.shared.b64 _, [%r5]; ret;\n" +
                  "W: " + wait(0, 0, "A"),
              ReportKind::Deadlock);
}

TEST(MBarrier, TooManyArrivals) {
  expectFault(std::string("@%p1 mbarrier.init.shared.b64 [%r5], 32;") +
                  "@%p1 mbarrier.expect_tx.relaxed.cta.shared.b64 [%r5], 16;"
                  "bar.sync 0; mbarrier.arrive.shared.b64 _, [%r5];",
              std::string(initBoth) + "mbarrier.arrive.shared.b64 _, [%r5];",
              ReportKind::BarrierMisuse);
}

TEST(MBarrier, WrongCountDeadlocks) {
  expectFault("@%p1 mbarrier.init.shared.b64 [%r5], 33; bar.sync 0;\n"
              "@%p2 mbarrier.arrive.shared.b64 _, [%r5];\n" +
                  wait(0, 0, "A"),
              "@%p1 mbarrier.init.shared.b64 [%r5], 32; bar.sync 0;\n"
              "@%p2 mbarrier.arrive.shared.b64 _, [%r5];\n" +
                  wait(0, 0, "A"),
              ReportKind::Deadlock);
}

TEST(MBarrier, UsedBeforeItIsInitialised) {
  expectFault("@%p1 mbarrier.init.shared.b64 [%r5], 64;\n"
              "mbarrier.arrive.shared.b64 _, [%r5];",
              "@%p1 mbarrier.init.shared.b64 [%r5], 64; bar.sync 0;\n"
              "mbarrier.arrive.shared.b64 _, [%r5];",
              ReportKind::BarrierMisuse);
}

TEST(MBarrier, OverwrittenByAStore) {
  std::string init = "@%p1 mbarrier.init.shared.b64 [%r5], 64; bar.sync 0;\n";
  expectFault(init + "@%p1 st.shared.b32 [%r5+4], 1;",
              init + "@%p1 mbarrier.inval.shared.b64 [%r5];"
                     "@%p1 st.shared.b32 [%r5+4], 1;",
              ReportKind::BarrierMisuse);
}

TEST(MBarrier, StatesAndPolling) {
  expectFault(std::string(initBoth) +
                  "@!%p2 ret; mbarrier.arrive.shared.b64 %rd3, [%r5];\n"
                  "mbarrier.arrive.shared.b64 %rd4, [%r5+8];\n"
                  "L: mbarrier.test_wait.shared.b64 %p8, [%r5], %rd4;\n"
                  "@!%p8 bra L; mbarrier.arrive.shared.b64 %rd3, [%r5+8];\n"
                  "mbarrier.arrive.shared.b64 %rd3, [%r5];\n"
                  "mov.b64 %rd5, 1; M: mbarrier.test_wait.shared.b64 %p8,"
                  "[%r5], %rd5; @!%p8 bra M; mov.b64 %rd5, 2;\n"
                  "N: mbarrier.test_wait.shared.b64 %p8, [%r5], %rd5;\n"
                  "@!%p8 bra N;",
              std::string(initBoth) +
                  "@!%p2 ret; mbarrier.arrive.shared.b64 %rd3, [%r5];\n"
                  "L: mbarrier.test_wait.shared.b64 %p8, [%r5], %rd3;\n"
                  "@!%p8 bra L;",
              ReportKind::Deadlock);
}

TEST(Cluster, DistributedSharedMemory) {
  // Each block writes into the next one's shared memory.
  std::string exchange =
      "mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1;\n"
      "mapa.shared::cluster.u32 %r12, %r4, %r11;\n"
      "st.shared::cluster.b32 [%r12], %r10;\n";
  std::string meet = "barrier.cluster.arrive.aligned;\n"
                     "barrier.cluster.wait.aligned;\n";
  std::string meetRelaxed = "barrier.cluster.arrive.relaxed.aligned;\n"
                            "barrier.cluster.wait.aligned;\n";
  std::string read = "ld.shared.b32 %r13, [%r4];";
  expectFault(exchange + meetRelaxed + read, exchange + meet + read,
              ReportKind::Race, 32, 2);
}

TEST(Cluster, RemoteArrivalNeedsAVisibleBarrier) {
  std::string init = "@%p1 mbarrier.init.shared.b64 [%r5], 32;\n";
  std::string use =
      "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n"
      "mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1;\n"
      "mapa.shared::cluster.u32 %r12, %r5, %r11;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12];\n" +
      wait(0, 0, "A");
  expectFault(init + use, init + "fence.mbarrier_init.release.cluster;\n" + use,
              ReportKind::BarrierMisuse, 32, 2);
}

TEST(Cluster, OutsideTheCluster) {
  expectFault("mapa.shared::cluster.u32 %r12, %r4, 2;\n"
              "st.shared::cluster.b32 [%r12], %r1;",
              "mapa.shared::cluster.u32 %r12, %r4, 0;\n"
              "mov.u32 %r10, %cluster_ctarank; setp.eq.u32 %p3, %r10, 0;\n"
              "@%p3 st.shared::cluster.b32 [%r12], %r1;",
              ReportKind::OutOfBounds, 32, 2);
}

TEST(Registers, Setmaxnreg) {
  // 128 threads may have 255 registers from the start: an increase must wait
  // for others, a decrease must not rise.
  std::string head = "shr.u32 %r6, %r1, 7; setp.eq.u32 %p3, %r6, 0;\n";
  expectFault(head + "@!%p3 setmaxnreg.inc.sync.aligned.u32 240;",
              head + "@%p3 setmaxnreg.dec.sync.aligned.u32 24;\n"
                     "@!%p3 setmaxnreg.inc.sync.aligned.u32 232;",
              ReportKind::Deadlock, 512 - 128);
  expectFault(head + "setmaxnreg.dec.sync.aligned.u32 240;",
              head + "setmaxnreg.dec.sync.aligned.u32 120;",
              ReportKind::InvalidOperand, 384);
}
