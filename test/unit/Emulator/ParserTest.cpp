//===- ParserTest.cpp - Any text gives a module or diagnostics -*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tile::emulator;
using namespace tile::emulator::test;

TEST(Parser, SaysWhatAndWhere) {
  EXPECT_EQ(firstDiagnostic(""),
            "line 1: expected a .version directive: this is not a PTX module");
  EXPECT_EQ(firstDiagnostic(kernel("", ".reg .b32 %r<4>;\nadd.s32 %r1, %r2;")),
            "line 8: 'add.s32': expected at least 3 operands, got 2");
  EXPECT_EQ(firstDiagnostic(kernel("", ".reg .b32 %r<4>;\nmov.b32 %r9, 0;")),
            "line 8: register '%r9' is not declared and no special register");
  EXPECT_EQ(firstDiagnostic(kernel("", "bra NOWHERE;")),
            "line 7: 'NOWHERE' is not declared");
  EXPECT_EQ(firstDiagnostic(kernel("", "L: L: ret;")),
            "line 7: label 'L' is defined a second time");
}

TEST(Parser, NamesWhatIsNotModelled) {
  EXPECT_EQ(firstDiagnostic(kernel("", ".reg .b32 %r<4>;\ntcgen05.alloc %r1;")),
            "line 8: 'tcgen05.alloc': opcode 'tcgen05' is not modelled");
  EXPECT_EQ(firstDiagnostic(
                kernel("", ".reg .b32 %r<4>;\nadd.funny.s32 %r1, %r2, %r3;")),
            "line 8: 'add.funny.s32': modifier '.funny' is not modelled here");
}

TEST(Parser, InlineAssemblyHasItsOwnScope) {
  // Two copies of one inline assembly: registers and labels repeat.
  std::string wait = "{ .reg .pred p; .reg .b32 q; mov.b32 q, %r1;\n"
                     "LOOP: sub.s32 q, q, 1; setp.gt.s32 p, q, 0;\n"
                     "@p bra LOOP; bra DONE; DONE: add.s32 %r1, %r1, q; }\n";
  Array<uint32_t> out(1);
  Harness h(kernel(".param .u64 out",
                   ".reg .b32 %r<2>; .reg .b64 %rd1;\n"
                   "ld.param.u64 %rd1, [out]; mov.b32 %r1, 5;\n" +
                       wait + wait + "st.global.b32 [%rd1], %r1;"));
  h.pointer(out, "out").runClean();
  EXPECT_EQ(out[0], 5u);
}

TEST(Parser, BranchTables) {
  Array<uint32_t> out(3);
  Harness h(kernel(".param .u64 out", R"(
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    TABLE: .branchtargets A, B, C;
    brx.idx %r1, TABLE;
    A: st.global.u32 [%rd3], 10; ret;
    B: st.global.u32 [%rd3], 20; ret;
    C: st.global.u32 [%rd3], 30;)"));
  h.config.block = {3, 1, 1};
  h.pointer(out, "out").runClean();
  EXPECT_EQ(out[0], 10u);
  EXPECT_EQ(out[1], 20u);
  EXPECT_EQ(out[2], 30u);
}

TEST(Parser, GlobalAndConstantInitialisers) {
  Array<uint32_t> out(4);
  Harness h(kernel(".param .u64 out", R"(
    .reg .b32 %r<5>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.const.u32 %r1, [table+4];
    ld.global.u32 %r2, [table2];
    ld.global.u64 %rd2, [link];
    ld.global.u32 %r3, [%rd2+4];
    ld.const.f32 %r4, [one];
    st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};)",
                   ".const .align 4 .u32 table[3] = {1, 0x2, 3};\n"
                   ".global .u32 table2[2] = {7, -1};\n"
                   ".global .u64 link = generic(table2);\n"
                   ".const .f32 one = 0f3F800000;\n"));
  h.pointer(out, "out").runClean();
  EXPECT_EQ(out[0], 2u);
  EXPECT_EQ(out[1], 7u);
  EXPECT_EQ(out[2], 0xffffffffu);
  EXPECT_EQ(out[3], 0x3f800000u);
}

/// Cut anywhere, and with characters changed: diagnostics or a module, never
/// a crash. Lowering is exercised too where a mutant still parses.
TEST(Parser, SurvivesDamagedText) {
  std::string text = kernel(
      ".param .u64 out, .param .align 64 .b8 map[128]",
      ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<4>;\n"
      ".shared .align 16 .b8 tile[64];\n"
      "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
      "LOOP: setp.lt.s32 %p1|%p2, %r1, 8; @!%p1 bra DONE;\n"
      "{ .reg .b16 h; cvt.u16.u32 h, %r1; } add.s32 %r1, %r1, 1;\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},\n"
      "{%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f0,%f1,%f2,%f3};\n"
      "fma.rn.f32 %f1, %f1, 0f3F800000, 1.5; bra.uni LOOP;\n"
      "DONE: st.global.v2.b32 [%rd1+-8], {%r1, %r2};\n"
      "cp.async.bulk.tensor.2d.shared::cta.global.tile"
      ".mbarrier::complete_tx::bytes [tile], [%rd1, {%r1, %r2}], [%r3];\n");
  for (size_t cut = 0; cut < text.size(); cut += 3) {
    Diagnostics problems;
    auto module = Module::parse(text.substr(0, cut), problems);
    EXPECT_TRUE(module || !problems.empty());
  }
  std::mt19937 random(1);
  const std::string alphabet = "{}[]();,.:%@!<>=-+|_ 0123456789abrx\"\n/*";
  for (int i = 0; i < 1500; ++i) {
    std::string mutant = text;
    for (int j = 0; j < 1 + i % 4; ++j) {
      size_t at = random() % mutant.size();
      if (random() % 3 == 0)
        mutant.erase(at, 1 + random() % 8);
      else
        mutant[at] = alphabet[random() % alphabet.size()];
    }
    Diagnostics problems;
    auto module = Module::parse(mutant, problems);
    EXPECT_TRUE(module || !problems.empty());
    if (module && i % 10 == 0)
      module->check("k", checks::All, problems);
  }
}
