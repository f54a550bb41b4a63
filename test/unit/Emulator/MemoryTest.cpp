//===- MemoryTest.cpp - Loads, stores, atomics and their faults -*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each fault is planted once, beside a twin without it.
//===----------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tile::emulator;
using namespace tile::emulator::test;

/// Registers and the out pointer every kernel here has.
static std::string withOut(const std::string &body,
                           const std::string &scope = "") {
  return kernel(".param .u64 out",
                ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<19>;\n"
                ".reg .b64 %rd<9>; .reg .f32 %f<9>;\n"
                ".shared .align 16 .b8 tile[256];\n"
                "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
                "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1;\n"
                "mov.u32 %r2, %ctaid.x; mov.u32 %r3, tile;\n"
                "mad.lo.u32 %r4, %r1, 4, %r3;\n" +
                    body,
                scope);
}

static void expectFault(const std::string &faulty, const std::string &clean,
                        ReportKind kind, unsigned threads = 32,
                        unsigned blocks = 1, bool isInitialized = true) {
  for (bool isFaulty : {true, false}) {
    Array<uint32_t> out(256);
    Harness h(withOut(isFaulty ? faulty : clean));
    h.pointer(out, "out", isInitialized);
    h.config.block = {threads, 1, 1};
    h.config.grid = {blocks, 1, 1};
    if (isFaulty)
      h.runFaulty(kind);
    else
      h.runClean();
  }
}

TEST(Memory, OutOfBoundsShared) {
  expectFault("st.shared.b32 [%r4+256], %r1;", "st.shared.b32 [%r4], %r1;",
              ReportKind::OutOfBounds);
}

TEST(Memory, OutOfBoundsGlobal) {
  expectFault("st.global.b32 [%rd2+1000], %r1;", "st.global.b32 [%rd2], %r1;",
              ReportKind::OutOfBounds);
  expectFault("ld.b32 %r5, [%rd2+-4]; st.global.b32 [%rd2], %r5;",
              "ld.b32 %r5, [%rd2+4]; bar.warp.sync -1;"
              "st.global.b32 [%rd2], %r5;",
              ReportKind::OutOfBounds);
}

TEST(Memory, WildPointersAreReportsNotCrashes) {
  Array<uint32_t> out(4);
  Harness h(withOut("mov.b64 %rd3, 12345678912; st.b32 [%rd3], 1;\n"
                    "mov.b64 %rd3, 0; ld.global.b64 %rd4, [%rd3];\n"
                    "st.global.b64 [%rd1], %rd4;"));
  h.pointer(out, "out");
  ASSERT_TRUE(h.run());
  EXPECT_EQ(h.result.reports.size(), 2u);
  EXPECT_TRUE(h.result.completed);
}

TEST(Memory, LocalArraysAreKeptIn) {
  std::string depot = ".local .align 4 .b8 depot[64]; mov.b64 %rd5, depot;\n";
  expectFault(depot + "st.local.b32 [%rd5+8192], 1;",
              depot + "st.local.b32 [%rd5+60], 1;", ReportKind::OutOfBounds);
  expectFault(depot + "st.b32 [%rd5+-4], 1;", depot + "st.b32 [%rd5], 1;",
              ReportKind::OutOfBounds);
}

TEST(Memory, Misaligned) {
  expectFault("st.shared.b32 [%r4+2], %r1;", "st.shared.b16 [%r4+2], 1;",
              ReportKind::Misaligned);
  expectFault("ld.global.v4.b32 {%r5,%r6,%r7,%r8}, [%rd1+8];",
              "ld.global.v4.b32 {%r5,%r6,%r7,%r8}, [%rd1+16];",
              ReportKind::Misaligned);
}

TEST(Memory, SharedReadBeforeWrite) {
  expectFault("ld.shared.b32 %r5, [%r4]; st.global.b32 [%rd2], %r5;",
              "st.shared.b32 [%r4], 1; ld.shared.b32 %r5, [%r4];"
              "st.global.b32 [%rd2], %r5;",
              ReportKind::Uninitialized);
  // Half of a word is not the whole word.
  expectFault("st.shared.b16 [%r4], 1; ld.shared.b32 %r5, [%r4];",
              "st.shared.b16 [%r4], 1; st.shared.b16 [%r4+2], 1;"
              "ld.shared.b32 %r5, [%r4];",
              ReportKind::Uninitialized);
}

TEST(Memory, BytesThatNobodyWantsAreNotRead) {
  expectFault("st.shared.b16 [%r4], 1;"
              ".pragma \"used_bytes_mask 0x7\"; ld.shared.b32 %r5, [%r4];",
              "st.shared.b16 [%r4], 1;"
              ".pragma \"used_bytes_mask 0x3\"; ld.shared.b32 %r5, [%r4];",
              ReportKind::Uninitialized);
  // Of the next instruction only.
  expectFault("st.shared.b16 [%r4], 1;"
              ".pragma \"used_bytes_mask 0x3\"; ld.shared.b32 %r5, [%r4];"
              "ld.shared.b32 %r5, [%r4];",
              "st.shared.b32 [%r4], 1;"
              ".pragma \"used_bytes_mask 0x3\"; ld.shared.b32 %r5, [%r4];"
              "ld.shared.b32 %r5, [%r4];",
              ReportKind::Uninitialized);
}

TEST(Memory, BytesThatNoInstructionTakesAreNotRead) {
  // What LLVM makes of loads of three words, and of three halves.
  std::string three = "st.shared.v2.b32 [%r4], {%r1, %r1};"
                      "st.shared.b32 [%r4+8], 1;"
                      "ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%r4];"
                      "add.u32 %r5, %r5, %r7; st.global.b32 [%rd2], %r5;";
  expectFault(three + "st.global.b32 [%rd2], %r8;", three,
              ReportKind::Uninitialized, /*threads=*/1);
  std::string half = "st.shared.b32 [%r4], 1; st.shared.b16 [%r4+4], 1;"
                     "ld.shared.v2.b32 {%r5, %r6}, [%r4];"
                     "st.global.b32 [%rd2], %r5;";
  expectFault(half + "mov.b32 {%h1, %h2}, %r6; st.global.b16 [%rd2], %h2;",
              half + "mov.b32 {%h1, %h2}, %r6; st.global.b16 [%rd2], %h1;"
                     "cvt.u16.u32 %h3, %r6; st.global.b16 [%rd2], %h3;",
              ReportKind::Uninitialized, /*threads=*/1);
  std::string bytes = "st.shared.b16 [%r4], 1; st.shared.b8 [%r4+2], 1;"
                      "ld.shared.b32 %r5, [%r4];";
  expectFault(bytes + "prmt.b32 %r6, 0, %r5, 0x3374;"
                      "st.global.b32 [%rd2], %r6;",
              bytes + "prmt.b32 %r6, 0, %r5, 0x3364; prmt.b32 %r7, %r5, 0, "
                      "0x7771; st.global.v2.b32 [%rd1], {%r6, %r7};",
              ReportKind::Uninitialized, /*threads=*/1);
  // And of what is computed byte by byte before it is cut down.
  std::string any = bytes + "prmt.b32 %r6, %r5, 0, 0x7772;"
                            "or.b32 %r7, %r6, %r5; cvt.u16.u32 %h1, %r7;";
  expectFault(any + "st.global.b32 [%rd2], %r7;",
              any + "and.b16 %h2, %h1, 255; st.global.b16 [%rd2], %h2;",
              ReportKind::Uninitialized, /*threads=*/1);
}

TEST(Memory, GapsOfALoadAreNotRead) {
  // The neighbour writes its word without a barrier in between.
  std::string gap = "setp.eq.u32 %p1, %r1, 0; @!%p1 st.shared.b32 [%r3+4], 1;"
                    "@!%p1 bra E; st.shared.b32 [%r3], 1;"
                    "st.shared.b32 [%r3+8], 1;"
                    "ld.shared.v4.b32 {%r5, %r6, %r7, %r8}, [%r3];"
                    "st.global.b32 [%rd1], %r5; st.global.b32 [%rd1+4], %r7;";
  expectFault(gap + "st.global.b32 [%rd1+8], %r6; E:", gap + "E:",
              ReportKind::Race, /*threads=*/2);
}

TEST(Memory, GlobalReadBeforeWrite) {
  expectFault("ld.global.b32 %r5, [%rd2]; st.global.b32 [%rd2], %r5;",
              "st.global.b32 [%rd2], 1; ld.global.b32 %r5, [%rd2];",
              ReportKind::Uninitialized, 32, 1, false);
}

TEST(Memory, RegisterReadBeforeWrite) {
  expectFault("setp.lt.u32 %p1, %r1, 16; @%p1 mov.b32 %r5, 7;\n"
              "add.u32 %r6, %r5, 1; st.global.b32 [%rd2], %r6;",
              "setp.lt.u32 %p1, %r1, 16; @%p1 mov.b32 %r5, 7;\n"
              "@!%p1 mov.b32 %r5, 8; mov.b32 %r7, %r5;\n"
              "add.u32 %r6, %r7, 1; st.global.b32 [%rd2], %r6;",
              ReportKind::UninitializedRegister);
}

TEST(Memory, BytesThatNobodyTakesNeedNoValue) {
  expectFault("prmt.b32 %r6, %r1, %r5, 0x4321; st.global.b32 [%rd2], %r6;",
              "prmt.b32 %r6, %r1, %r5, 0x3321; st.global.b32 [%rd2], %r6;",
              ReportKind::UninitializedRegister);
  expectFault("prmt.b32 %r6, %r5, %r1, 0x7650; st.global.b32 [%rd2], %r6;",
              "prmt.b32 %r6, %r5, %r1, 0x7654; st.global.b32 [%rd2], %r6;",
              ReportKind::UninitializedRegister);
}

/// What has no value may be computed with, as long as nobody looks at it.
TEST(Memory, OnlyUsesOfAbsentBitsAreFaults) {
  struct Row {
    const char *absent, *present;
  };
  // %r5, %h5 and %p5 are never written; %r6 goes to memory.
  const Row rows[] = {
      {"mov.b32 %r7, %r5; add.u32 %r6, %r7, 1;",
       "mov.b32 %r7, %r5; add.u32 %r8, %r7, 1; mov.b32 %r6, %r1;"},
      {"mov.b32 %r7, {%h1, %h5}; mov.b32 {%h2, %h3}, %r7; cvt.u32.u16 %r6, "
       "%h3;",
       "mov.b32 %r7, {%h1, %h5}; mov.b32 {%h2, %h3}, %r7; cvt.u32.u16 %r6, "
       "%h2;"},
      {"and.b32 %r6, %r5, 1;", "and.b32 %r6, %r5, 0;"},
      {"or.b32 %r6, %r5, 1;", "or.b32 %r6, %r5, -1;"},
      {"mov.b32 %r7, {%h1, %h5}; shr.u32 %r6, %r7, 15;",
       "mov.b32 %r7, {%h5, %h1}; shr.u32 %r6, %r7, 16;"},
      {"mov.b32 %r7, {%h1, %h5}; shl.b32 %r6, %r7, 15;",
       "mov.b32 %r7, {%h1, %h5}; shl.b32 %r6, %r7, 16;"},
      {"setp.lt.u32 %p1, %r1, 1; selp.b32 %r6, %r5, 2, %p1;",
       "setp.lt.u32 %p1, %r1, 99; selp.b32 %r6, 2, %r5, %p1;"},
      {"selp.b32 %r6, 1, 2, %p5;", "selp.b32 %r7, 1, 2, %p5; mov.b32 %r6, 1;"},
      {"setp.lt.u32 %p1, %r5, 1; selp.b32 %r6, 1, 2, %p1;",
       "setp.lt.u32 %p1, %r5, 1; mov.b32 %r6, 1;"},
      {"mov.b32 %r7, {%h1, %h5}; prmt.b32 %r6, %r7, 0, 0x4420;",
       "mov.b32 %r7, {%h1, %h5}; prmt.b32 %r6, %r7, 0, 0x4410;"},
      {"mov.b32 %r6, 1; setp.lt.u32 %p1, %r5, 1; @%p1 mov.b32 %r6, 2;",
       "mov.b32 %r6, 1; setp.lt.u32 %p1, %r1, 1; @%p1 mov.b32 %r6, 2;"},
      {"mov.b32 %r6, 1; ld.global.b32 %r7, [%rd5];",
       "mov.b32 %r6, 1; add.s64 %rd6, %rd5, 4; ld.global.b32 %r7, [%rd2];"},
  };
  for (const Row &row : rows) {
    SCOPED_TRACE(row.absent);
    std::string head = "cvt.u16.u32 %h1, %r1; ";
    std::string tail = " st.global.b32 [%rd2], %r6;";
    expectFault(head + row.absent + tail, head + row.present + tail,
                ReportKind::UninitializedRegister);
  }
}

TEST(Memory, SharedRaceAndBarrier) {
  std::string exchange = "xor.b32 %r5, %r1, 32; mad.lo.u32 %r6, %r5, 4, %r3;\n"
                         "ld.shared.b32 %r7, [%r6];\n"
                         "st.global.b32 [%rd2], %r7;";
  expectFault("st.shared.b32 [%r4], %r1;" + exchange,
              "st.shared.b32 [%r4], %r1; bar.sync 0;" + exchange,
              ReportKind::Race, 64);
  // Neighbouring halves of one word do not conflict.
  expectFault("mad.lo.u32 %r5, %r1, 2, %r3; st.shared.b32 [%r3], %r1;",
              "mad.lo.u32 %r5, %r1, 2, %r3; mov.b16 %h1, 1;"
              "st.shared.b16 [%r5], %h1;",
              ReportKind::Race);
}

TEST(Memory, LanesOfAWarpNeedSyncwarp) {
  std::string exchange = "xor.b32 %r5, %r1, 1; mad.lo.u32 %r6, %r5, 4, %r3;\n"
                         "ld.shared.b32 %r7, [%r6];";
  expectFault("st.shared.b32 [%r4], %r1;" + exchange,
              "st.shared.b32 [%r4], %r1; bar.warp.sync 0xffffffff;" + exchange,
              ReportKind::Race);
}

TEST(Memory, SameValueWritesAreAClassOfTheirOwn) {
  Array<uint32_t> out(4);
  Harness h(withOut("st.global.b32 [%rd1], 5;"));
  h.pointer(out, "out");
  h.config.block = {64, 1, 1};
  ASSERT_TRUE(h.run());
  EXPECT_TRUE(h.has(ReportKind::SameValueWrites));
  EXPECT_EQ(h.result.reports.size(), 1u); // the first write is no conflict
}

TEST(Memory, GlobalRaceBetweenBlocks) {
  expectFault("st.global.b32 [%rd1], %r2;",
              "setp.eq.u32 %p1, %r2, 0; @%p1 st.global.b32 [%rd1], %r2;",
              ReportKind::Race, 1, 4);
  expectFault("red.global.add.u32 [%rd1], 1; ld.global.b32 %r5, [%rd1];",
              "red.global.add.u32 [%rd1], 1;"
              "ld.relaxed.gpu.global.b32 %r5, [%rd1];",
              ReportKind::Race, 1, 4);
  // Atomics of one block's scope do not exclude another block's.
  expectFault("red.relaxed.cta.global.add.u32 [%rd1], 1;",
              "red.relaxed.gpu.global.add.u32 [%rd1], 1;", ReportKind::Race, 1,
              4);
}

/// Block 0 writes data and raises a flag; the others wait for it. There are
/// more blocks than host threads, so waiting must not keep block 0 away.
static std::string message(const std::string &store, const std::string &load,
                           const std::string &after) {
  return "sub.u32 %r5, 15, %r2; setp.ne.u32 %p1, %r5, 0; @%p1 bra READER;\n"
         "st.global.b32 [%rd1+64], 42;\n" +
         store + " [%rd1], 1; ret;\nREADER: " + load +
         " %r6, [%rd1]; setp.eq.u32 %p2, %r6, 0; @%p2 bra READER;\n" + after +
         "ld.global.b32 %r7, [%rd1+64];";
}

TEST(Memory, FlagsOrderBlocks) {
  expectFault(
      message("st.relaxed.gpu.global.b32", "ld.acquire.gpu.global.b32", ""),
      message("st.release.gpu.global.b32", "ld.acquire.gpu.global.b32", ""),
      ReportKind::Race, 1, 16);
  expectFault(
      message("st.release.gpu.global.b32", "ld.relaxed.gpu.global.b32", ""),
      message("membar.gl; st.volatile.global.b32", "ld.volatile.global.b32",
              "fence.acq_rel.gpu;"),
      ReportKind::Race, 1, 16);
}

TEST(Memory, EndlessWaitingIsADeadlock) {
  Array<uint32_t> out(4);
  Harness h(withOut("LOOP: ld.volatile.global.b32 %r5, [%rd1];\n"
                    "setp.eq.u32 %p1, %r5, 0; @%p1 bra LOOP;"));
  h.pointer(out, "out");
  h.config.hangSeconds = 0.2;
  ASSERT_TRUE(h.run());
  EXPECT_TRUE(h.has(ReportKind::Deadlock));
  EXPECT_FALSE(h.result.completed);
}

TEST(Memory, EndlessWorkMeetsTheTimeLimit) {
  for (const char *work : {"st.global.b32 [%rd2], %r1;", "bar.sync 0;"}) {
    Array<uint32_t> out(64);
    Harness h(withOut(std::string("LOOP: ") + work + " bra LOOP;"));
    h.pointer(out, "out");
    h.config.block = {64, 1, 1};
    h.config.timeLimitSeconds = 0.2;
    ASSERT_TRUE(h.run());
    const Report *report = h.find(ReportKind::Deadlock);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->message.find("the launch is over its time limit"), 0u);
  }
}

TEST(Memory, ConstantsAreReadOnly) {
  Array<uint32_t> out(4);
  Harness h(withOut("mov.u64 %rd3, table; st.b32 [%rd3], 1;",
                    ".const .u32 table[2] = {1, 2};"));
  h.pointer(out, "out").runFaulty(ReportKind::OutOfBounds);
}

TEST(Memory, GenericAddresses) {
  Array<uint32_t> out(8);
  Harness h(withOut(R"(
    .local .align 8 .b8 depot[16];
    mov.u64 %rd3, tile; cvta.shared.u64 %rd4, %rd3;
    st.b32 [%rd4+4], 11; ld.shared.b32 %r5, [tile+4];
    isspacep.shared %p1, %rd4; selp.u32 %r6, 1, 0, %p1;
    isspacep.global %p2, %rd1; selp.u32 %r7, 1, 0, %p2;
    cvta.to.shared.u64 %rd5, %rd4; sub.u64 %rd5, %rd5, %rd3;
    cvt.u32.u64 %r8, %rd5;
    mov.u64 %rd6, depot; cvta.local.u64 %rd7, %rd6;
    st.local.u32 [%rd6+8], 99; ld.u32 %r9, [%rd7+8];
    isspacep.local %p3, %rd7; selp.u32 %r10, 1, 0, %p3;
    st.global.v4.b32 [%rd1], {%r5, %r6, %r7, %r8};
    st.global.v2.b32 [%rd1+16], {%r9, %r10};)"));
  h.pointer(out, "out").runClean();
  const uint32_t expected[] = {11, 1, 1, 0, 99, 1};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(out[i], expected[i]) << i;
}

TEST(Memory, AtomicsOf128Bits) {
  // Threads take tickets: whoever finds the low half as it was adds one to
  // both.
  Array<uint64_t> out(4);
  Harness h(withOut(".reg .b128 %q<5>;\n"
                    "ld.relaxed.gpu.global.v2.b64 {%rd3, %rd4}, [%rd1];\n"
                    "L: add.u64 %rd5, %rd3, 1; add.u64 %rd6, %rd4, 3;\n"
                    "mov.b128 %q1, {%rd3, %rd4}; mov.b128 %q2, {%rd5, %rd6};\n"
                    "atom.global.relaxed.gpu.cas.b128 %q3, [%rd1], %q1, %q2;\n"
                    "mov.b128 {%rd7, %rd8}, %q3;\n"
                    "setp.ne.u64 %p1, %rd7, %rd3; mov.b64 %rd3, %rd7;\n"
                    "mov.b64 %rd4, %rd8; @%p1 bra L;\n"
                    "setp.ne.u32 %p2, %r1, 0; @%p2 bra E;\n"
                    "mov.b128 %q1, {5, 6};\n"
                    "atom.global.exch.b128 %q3, [%rd1+16], %q1;\n"
                    "E:"));
  h.pointer(out, "out");
  h.config.block = {32, 1, 1};
  h.config.grid = {2, 1, 1};
  h.runClean();
  EXPECT_EQ(out[0], 64u);
  EXPECT_EQ(out[1], 3 * 64u);
  EXPECT_EQ(out[2], 5u);
  EXPECT_EQ(out[3], 6u);
  Harness sum(
      withOut(".reg .b128 %q<2>; atom.global.add.b128 %q1, [%rd1], %q1;"));
  sum.pointer(out, "out");
  EXPECT_FALSE(sum.module->launch("k", sum.config, sum.problems));
  EXPECT_NE(sum.firstProblem().find("type .b128 is for .exch and .cas"),
            std::string::npos);
}

TEST(Memory, AtomicOperations) {
  struct Row {
    const char *text;
    uint32_t before, after, returned;
  };
  const Row rows[] = {
      {"atom.global.add.u32 %r5, [%rd3], 3;", 5, 8, 5},
      {"atom.global.min.s32 %r5, [%rd3], -1;", 5, 0xffffffff, 5},
      {"atom.global.max.u32 %r5, [%rd3], -1;", 5, 0xffffffff, 5},
      {"atom.global.inc.u32 %r5, [%rd3], 5;", 5, 0, 5},
      {"atom.global.dec.u32 %r5, [%rd3], 7;", 0, 7, 0},
      {"atom.global.and.b32 %r5, [%rd3], 6;", 5, 4, 5},
      {"atom.global.or.b32 %r5, [%rd3], 6;", 5, 7, 5},
      {"atom.global.xor.b32 %r5, [%rd3], 6;", 5, 3, 5},
      {"atom.global.exch.b32 %r5, [%rd3], 6;", 5, 6, 5},
      {"atom.global.cas.b32 %r5, [%rd3], 5, 9;", 5, 9, 5},
      {"atom.global.cas.b32 %r5, [%rd3], 4, 9;", 5, 5, 5},
      {"atom.acq_rel.sys.global.add.f32 %r5, [%rd3], 0f3F800000;", 0x3f800000,
       0x40000000, 0x3f800000},
      {"atom.global.add.noftz.f16x2 %r5, [%rd3], %r6;", 0x3c003c00, 0x40004000,
       0x3c003c00},
      {"atom.global.add.noftz.bf16x2 %r5, [%rd3], %r7;", 0x3f803f80, 0x40004000,
       0x3f803f80},
  };
  std::string body = "mov.b32 %r6, 0x3c003c00; mov.b32 %r7, 0x3f803f80;\n";
  Array<uint32_t> out(64);
  int i = 0;
  for (const Row &row : rows) {
    out[2 * i] = row.before;
    body += "add.s64 %rd3, %rd1, " + std::to_string(8 * i) + ";\n" + row.text +
            "st.global.b32 [%rd3+4], %r5;\n";
    ++i;
  }
  Harness h(withOut(body));
  h.pointer(out, "out").runClean();
  i = 0;
  for (const Row &row : rows) {
    EXPECT_EQ(out[2 * i], row.after) << row.text;
    EXPECT_EQ(out[2 * i + 1], row.returned) << row.text;
    ++i;
  }
}

TEST(Memory, LaunchArgumentsAreChecked) {
  auto problem = [](auto change) {
    Array<uint32_t> out(4);
    Harness h(withOut(""));
    h.pointer(out, "out");
    change(h.config);
    Diagnostics problems;
    EXPECT_FALSE(h.module->launch("k", h.config, problems));
    return problems.empty() ? "" : problems.front().message;
  };
  EXPECT_EQ(problem([](LaunchConfig &c) { c.block = {2048, 1, 1}; }),
            "a block has at most 1024 threads, got 2048");
  EXPECT_EQ(problem([](LaunchConfig &c) { c.arguments.clear(); }),
            "the kernel has 1 parameters, the launch gives 0");
  EXPECT_EQ(problem([](LaunchConfig &c) { c.dynamicSharedBytes = 1 << 20; }),
            "the block needs 1048832 bytes of shared memory, there are 232448");
  EXPECT_EQ(problem([](LaunchConfig &c) { c.cluster = Dim3{2, 1, 1}; }),
            "the grid must be a multiple of the cluster in each dimension");
}
