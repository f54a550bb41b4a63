//===- ConvergenceTest.cpp - Loops that may part a warp --------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every kernel here runs without a fault of a thread: the shape is the fault.
//===----------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tile::emulator;
using namespace tile::emulator::test;

/// What is said of a kernel with three rounds counted in %r2, in which %p1 is
/// true of the first 20 threads and %p2 of the first warp; "" where nothing is.
static std::string check(const std::string &body,
                         uint32_t checks = checks::All) {
  Array<uint32_t> out(256);
  Harness h(kernel(".param .u64 out",
                   ".reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;\n"
                   "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
                   "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1;\n"
                   "setp.lt.u32 %p1, %r1, 20; setp.lt.u32 %p2, %r1, 32;\n"
                   "mov.b32 %r2, 0;\n" +
                       body));
  h.pointer(out, "out");
  h.config.block = {64, 1, 1};
  h.config.checks = checks;
  if (!h.run())
    return "did not run";
  EXPECT_TRUE(h.result.completed);
  const Report *report = h.find(ReportKind::NoConvergence);
  EXPECT_EQ(h.result.reports.size(), report ? 1u : 0u);
  return report ? report->str() : "";
}

static const std::string count = "add.s32 %r2, %r2, 1;\n"
                                 "setp.lt.s32 %p4, %r2, 3;\n";

// A loop that starts with a barrier and ends with a condition on the thread,
// whose join was merged with the back edge.
static std::string twoEdges(const std::string &condition,
                            const std::string &aligned) {
  return "START: " + aligned + "\n" + count + "@!%p4 bra END;\n" + condition +
         "@!%p3 bra START;\n"
         "st.global.b32 [%rd2], %r2;\n"
         "bra START;\n"
         "END:\n";
}

TEST(Convergence, TwoBackEdges) {
  std::string thread = "mov.pred %p3, %p1;\n";
  std::string text = check(twoEdges(thread, "bar.sync 0;"));
  EXPECT_NE(text.find("warp that may come apart: a warp must come here as one, "
                      "in a loop that goes back to line"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("by:    any thread, `bar.sync` at PTX line"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("and:   any thread, `bra` at PTX line"),
            std::string::npos)
      << text;
  EXPECT_EQ(check(twoEdges(thread, "bar.sync 0;"), checks::Race), "");
  // A shuffle waits for the lanes it names, together or not.
  EXPECT_EQ(check(twoEdges(thread, "shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;")),
            "");
  EXPECT_NE(check(twoEdges(thread, "redux.sync.add.s32 %r3, %r1, -1;\n"
                                   "barrier.sync.aligned 0;")),
            "");
  EXPECT_EQ(check(twoEdges(thread, "barrier.sync 0;")), "");
}

// The sides meet before the loop goes back, at a block of its own.
TEST(Convergence, OneBackEdge) {
  EXPECT_EQ(check("START: bar.sync 0;\n" + count +
                  "@!%p4 bra END;\n"
                  "@!%p1 bra NEXT;\n"
                  "st.global.b32 [%rd2], %r2;\n"
                  "NEXT: bra START;\n"
                  "END:\n"),
            "");
}

TEST(Convergence, WhatDependsOnTheThread) {
  auto isFault = [](const std::string &condition) {
    return !check(twoEdges(condition, "bar.sync 0;")).empty();
  };
  // The same for a warp.
  EXPECT_FALSE(isFault("mov.pred %p3, %p2;\n"));
  EXPECT_FALSE(isFault("shr.u32 %r3, %r1, 5; setp.eq.s32 %p3, %r3, 1;\n"));
  EXPECT_FALSE(isFault("add.s32 %r3, %r1, -32; setp.gt.u32 %p3, %r3, 31;\n"));
  EXPECT_FALSE(isFault("setp.eq.s32 %p3, %r2, 2;\n"));
  EXPECT_FALSE(
      isFault("ld.global.b32 %r3, [%rd1]; setp.eq.s32 %p3, %r3, 9;\n"));
  EXPECT_FALSE(isFault("vote.sync.any.pred %p3, %p1, -1;\n"));
  EXPECT_FALSE(isFault("shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\n"
                       "setp.eq.s32 %p3, %r3, 32;\n"));
  // Not the same.
  EXPECT_TRUE(isFault("and.b32 %r3, %r1, 1; setp.eq.s32 %p3, %r3, 0;\n"));
  EXPECT_TRUE(isFault("shr.u32 %r3, %r1, 4; setp.eq.s32 %p3, %r3, 0;\n"));
  EXPECT_TRUE(isFault("add.s32 %r3, %r1, 7; setp.lt.u32 %p3, %r3, 32;\n"));
  EXPECT_TRUE(isFault("ld.global.b32 %r3, [%rd2]; setp.eq.s32 %p3, %r3, 9;\n"));
  EXPECT_TRUE(isFault("mov.u32 %r3, %laneid; setp.eq.s32 %p3, %r3, 9;\n"));
  // By the way that led to it, and by the round in which a loop was left.
  EXPECT_TRUE(isFault("mov.b32 %r3, 0; @!%p1 bra JOIN; mov.b32 %r3, 1;\n"
                      "JOIN: setp.eq.s32 %p3, %r3, 0;\n"));
  EXPECT_TRUE(isFault("mov.b32 %r3, 0; @%p1 mov.b32 %r3, 1;\n"
                      "setp.eq.s32 %p3, %r3, 0;\n"));
  EXPECT_TRUE(isFault("mov.b32 %r3, 0;\n"
                      "INNER: add.s32 %r3, %r3, 1; setp.lt.s32 %p5, %r3, %r1;\n"
                      "@%p5 bra INNER; setp.lt.s32 %p3, %r3, 9;\n"));
  EXPECT_FALSE(isFault("mov.b32 %r3, 0; @!%p2 bra JOIN; mov.b32 %r3, 1;\n"
                       "JOIN: setp.eq.s32 %p3, %r3, 0;\n"));
  // What comes after the join is one again.
  EXPECT_FALSE(isFault("@!%p1 bra JOIN; st.global.b32 [%rd2], %r2;\n"
                       "JOIN: mov.b32 %r3, 1; setp.eq.s32 %p3, %r3, 0;\n"));
}

// They meet at a label, if at nothing else.
TEST(Convergence, MeetAtALabel) {
  auto loop = [](const std::string &back) {
    return check("bra START;\nNEXT:\nSTART: bar.sync 0;\n" + count +
                 "@!%p4 bra END;\n@!%p1 bra " + back +
                 ";\n"
                 "st.global.b32 [%rd2], %r2;\n"
                 "bra " +
                 back + ";\nEND:\n");
  };
  EXPECT_EQ(loop("NEXT"), "");
  EXPECT_NE(loop("START"), "");
}

// Entered where it starts and in its middle.
TEST(Convergence, TwoEntries) {
  auto text = [](const std::string &guard) {
    return check("@" + guard +
                 " bra MIDDLE;\n"
                 "START: st.global.b32 [%rd2], %r2;\n"
                 "MIDDLE: barrier.cta.sync.aligned 0;\n" +
                 count + "@%p4 bra START;\n");
  };
  EXPECT_NE(text("%p1").find("in a loop that is entered at lines"),
            std::string::npos)
      << text("%p1");
  EXPECT_EQ(text("%p2"), "");
}
