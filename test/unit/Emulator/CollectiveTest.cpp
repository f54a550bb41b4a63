//===- CollectiveTest.cpp - Warps acting together --------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tile::emulator;
using namespace tile::emulator::test;

/// `body` computes %r9 from the lane in %r1.
static std::string perLane(const std::string &body) {
  return kernel(".param .u64 out",
                ".reg .pred %p<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>;\n"
                "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
                "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1;\n"
                "mov.b32 %r9, 0;\n" +
                    body + "\nst.global.b32 [%rd2], %r9;");
}

template <typename Expected>
static void checkLanes(const std::string &body, Expected expected) {
  Array<uint32_t> out(32);
  Harness h(perLane(body));
  h.pointer(out, "out", false);
  h.config.block = {32, 1, 1};
  for (unsigned seed = 0; seed < 2; ++seed) {
    h.config.seed = seed;
    h.runClean();
    for (uint32_t lane = 0; lane < 32; ++lane)
      EXPECT_EQ(out[lane], uint32_t(expected(lane))) << body << lane;
  }
}

TEST(Collective, Shuffles) {
  checkLanes("shfl.sync.idx.b32 %r9, %r1, 5, 31, -1;", [](int) { return 5; });
  checkLanes("shfl.sync.up.b32 %r9, %r1, 1, 0, -1;",
             [](int l) { return l ? l - 1 : 0; });
  checkLanes("shfl.sync.down.b32 %r9|%p1, %r1, 4, 0x1807, -1;"
             "@!%p1 add.u32 %r9, %r9, 100;",
             [](int l) { return l % 8 < 4 ? l + 4 : l + 100; });
  checkLanes("shfl.sync.bfly.b32 %r9, %r1, 16, 31, -1;",
             [](int l) { return l ^ 16; });
}

TEST(Collective, VotesAndMatches) {
  checkLanes("setp.lt.u32 %p1, %r1, 4; vote.sync.ballot.b32 %r9, %p1, -1;",
             [](int) { return 15; });
  checkLanes("setp.lt.u32 %p1, %r1, 4; vote.sync.any.pred %p2, %p1, -1;"
             "selp.u32 %r9, 1, 0, %p2;",
             [](int) { return 1; });
  checkLanes("setp.lt.u32 %p1, %r1, 4; vote.sync.all.pred %p2, !%p1, -1;"
             "selp.u32 %r9, 1, 0, %p2;",
             [](int) { return 0; });
  checkLanes("and.b32 %r2, %r1, 1; match.any.sync.b32 %r9, %r2, -1;",
             [](int l) { return l % 2 ? 0xaaaaaaaa : 0x55555555; });
  checkLanes("match.all.sync.b32 %r9|%p1, 7, -1;",
             [](int) { return 0xffffffff; });
}

TEST(Collective, ReductionsAndElection) {
  checkLanes("redux.sync.add.s32 %r9, %r1, -1;", [](int) { return 496; });
  checkLanes("sub.s32 %r2, 3, %r1; redux.sync.min.s32 %r9, %r2, -1;",
             [](int) { return -28; });
  checkLanes("redux.sync.or.b32 %r9, %r1, -1;", [](int) { return 31; });
}

TEST(Collective, PartialMasks) {
  checkLanes("setp.lt.u32 %p1, %r1, 16; @!%p1 bra HIGH;\n"
             "redux.sync.add.u32 %r9, %r1, 0xffff; bra DONE;\n"
             "HIGH: redux.sync.max.u32 %r9, %r1, 0xffff0000;\nDONE:",
             [](int l) { return l < 16 ? 120 : 31; });
  checkLanes("elect.sync %r2|%p1, -1; selp.u32 %r9, 1, 0, %p1;",
             [](int l) { return l == 0; });
  checkLanes("elect.sync %r9|%p1, -1;", [](int) { return 0; });
}

TEST(Collective, DivergentIsReported) {
  const std::string faults[] = {
      // Two instructions, one mask.
      std::string("setp.lt.u32 %p1, %r1, 16; @!%p1 bra HIGH;\n"
                  "shfl.sync.idx.b32 %r9, %r1, 0, 31, -1; bra DONE;\n"
                  "HIGH: redux.sync.add.u32 %r9, %r1, -1;\nDONE:"),
      // A lane outside its own mask.
      std::string("shfl.sync.idx.b32 %r9, %r1, 0, 31, 0xffff;"),
      // Lanes that have left.
      std::string("setp.lt.u32 %p1, %r1, 16; @%p1 exit;\n"
                  "shfl.sync.idx.b32 %r9, %r1, 0, 31, -1;"),
  };
  for (const std::string &fault : faults) {
    Array<uint32_t> out(32);
    Harness h(perLane(fault));
    h.pointer(out, "out", false);
    h.config.block = {32, 1, 1};
    h.runFaulty(ReportKind::DivergentCollective);
  }
}

TEST(Collective, SpecialRegisters) {
  checkLanes("mov.u32 %r9, %lanemask_lt;", [](int l) { return (1u << l) - 1; });
  checkLanes("mov.u32 %r9, %laneid;", [](int l) { return l; });
  checkLanes("mov.u32 %r9, %ntid.x;", [](int) { return 32; });
  checkLanes("mov.u32 %r2, %nctaid.x; mov.u32 %r3, %warpid;"
             "add.u32 %r9, %r2, %r3;",
             [](int) { return 1; });
}

TEST(Collective, TrapEndsTheLaunch) {
  Array<uint32_t> out(32);
  Harness h(perLane("trap;"));
  h.pointer(out, "out");
  ASSERT_TRUE(h.run());
  EXPECT_TRUE(h.has(ReportKind::Trap));
  EXPECT_FALSE(h.result.completed);
}
