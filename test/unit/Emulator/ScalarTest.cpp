//===- ScalarTest.cpp - Arithmetic bit for bit -----------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row an instruction: its text over %rd1 to %rd3 (and narrower registers
// with the same bits), the inputs, the bits it must leave in d.
//===----------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tile::emulator;
using namespace tile::emulator::test;

namespace {
struct Row {
  const char *text; // of: b16 h, h1..h3; b32 r, r1..r3; b64 d, d1..d3; p
  uint64_t a, b, c, expected;
};

/// Runs all rows in one kernel; the result is what is left in d, where the
/// narrower destinations h, r and the predicate p are widened into d if the
/// row does not write d itself.
void check(const std::vector<Row> &rows) {
  std::string body =
      ".reg .pred p, q; .reg .b16 h, h1, h2, h3; .reg .b32 r, r1, r2, r3, s;\n"
      ".reg .b64 d, d1, d2, d3, out; .reg .b8 c1;\n"
      "ld.param.u64 out, [out_param];\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    auto literal = [](uint64_t v) { return std::to_string(v) + "U"; };
    const Row &row = rows[i];
    std::string text = row.text;
    body += "mov.b64 d1, " + literal(row.a) + "; mov.b64 d2, " +
            literal(row.b) + "; mov.b64 d3, " + literal(row.c) + ";\n";
    for (std::string n : {"1", "2", "3"})
      body += "cvt.u32.u64 r" + n + ", d" + n + "; cvt.u16.u64 h" + n + ", d" +
              n + ";\n";
    body += "mov.b64 d, 0; mov.b32 r, 0; mov.b16 h, 0; setp.ne.u32 p, 0, 0;\n";
    body += text + "\n";
    auto writes = [&](const std::string &name) {
      return text.find(" " + name + ",") != std::string::npos ||
             text.find(" " + name + "|") != std::string::npos;
    };
    if (writes("r"))
      body += "cvt.u64.u32 d, r;\n";
    else if (writes("h"))
      body += "cvt.u64.u16 d, h;\n";
    else if (writes("p"))
      body += "selp.u64 d, 1, 0, p;\n";
    body += "st.global.u64 [out+" + std::to_string(8 * i) + "], d;\n";
  }
  Array<uint64_t> out(rows.size());
  Harness h(kernel(".param .u64 out_param", body));
  h.pointer(out, "out", false).runClean();
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(out[i], rows[i].expected)
        << rows[i].text << std::hex << " of " << rows[i].a << ", " << rows[i].b
        << ", " << rows[i].c << ": got " << out[i] << ", expected "
        << rows[i].expected;
}
constexpr uint64_t one = 0x3f800000, two = 0x40000000, qnan = 0x7fffffff,
                   inf = 0x7f800000;
} // namespace

TEST(Scalar, Integers) {
  check({
      {"add.s32 r, r1, r2;", 0xffffffff, 2, 0, 1},
      {"add.sat.s32 r, r1, r2;", 0x7fffffff, 2, 0, 0x7fffffff},
      {"sub.s64 d, d1, d2;", 1, 2, 0, ~0ull},
      {"mul.lo.s32 r, r1, r2;", 0x10001, 0x10001, 0, 0x20001},
      {"mul.hi.u32 r, r1, r2;", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
      {"mul.hi.s32 r, r1, r2;", 0xffffffff, 0xffffffff, 0, 0},
      {"mul.hi.u64 d, d1, d2;", ~0ull, ~0ull, 0, ~1ull},
      {"mul.wide.s32 d, r1, r2;", 0xffffffff, 3, 0, uint64_t(-3)},
      {"mul.wide.u16 r, h1, h2;", 0xffff, 0xffff, 0, 0xfffe0001},
      {"mad.lo.s32 r, r1, r2, r3;", 3, 4, 5, 17},
      {"mad.wide.u32 d, r1, r2, d3;", 0xffffffff, 2, 1, 0x1ffffffff},
      {"mul24.lo.u32 r, r1, r2;", 0xff000002, 3, 0, 6},
      {"mad24.lo.s32 r, r1, r2, r3;", 0xffffff, 3, 5, 2},
      {"sad.s32 r, r1, r2, r3;", 0xffffffff, 4, 10, 15},
      {"div.s32 r, r1, r2;", uint32_t(-7), 2, 0, uint32_t(-3)},
      {"div.u32 r, r1, r2;", 7, 0, 0, 0xffffffff},
      {"div.s32 r, r1, r2;", 0x80000000, 0xffffffff, 0, 0x80000000},
      {"rem.s32 r, r1, r2;", uint32_t(-7), 2, 0, 0xffffffff},
      {"rem.u64 d, d1, d2;", 100, 7, 0, 2},
      {"abs.s32 r, r1;", uint32_t(-5), 0, 0, 5},
      {"min.s32 r, r1, r2;", uint32_t(-5), 3, 0, uint32_t(-5)},
      {"max.u32 r, r1, r2;", uint32_t(-5), 3, 0, uint32_t(-5)},
      {"min.s16x2 r, r1, r2;", 0x0001ffff, 0xffff0001, 0, 0xffffffff},
      {"add.u16x2 r, r1, r2;", 0x0001ffff, 0x00010001, 0, 0x00020000},
      {"add.cc.u32 s, r1, r2; addc.u32 r, r3, 0;", 0xffffffff, 1, 5, 6},
      {"sub.cc.u32 s, r1, r2; subc.u32 r, r3, 0;", 0, 1, 5, 4},
      {"mad.lo.cc.u32 s, r1, r2, r3; madc.hi.u32 r, r1, r2, 0;", 0xffffffff,
       0xffffffff, 0xffffffff, 0xffffffff},
      {"popc.b32 r, r1;", 0xf0f0, 0, 0, 8},
      {"popc.b64 r, d1;", ~0ull, 0, 0, 64},
      {"clz.b32 r, r1;", 0x00010000, 0, 0, 15},
      {"clz.b64 r, d1;", 0, 0, 0, 64},
      {"bfind.u32 r, r1;", 0x00010000, 0, 0, 16},
      {"bfind.s32 r, r1;", 0xffffffff, 0, 0, 0xffffffff},
      {"bfind.shiftamt.u32 r, r1;", 1, 0, 0, 31},
      {"brev.b32 r, r1;", 1, 0, 0, 0x80000000},
      {"bfe.u32 r, r1, 4, 8;", 0xabcd, 0, 0, 0xbc},
      {"bfe.s32 r, r1, 4, 8;", 0xabcd, 0, 0, 0xffffffbc},
      {"bfe.s32 r, r1, 28, 8;", 0xf0000000, 0, 0, 0xffffffff},
      {"bfi.b32 r, r1, r2, 8, 4;", 0xff, 0, 0, 0xf00},
      {"bfi.b64 d, d1, d2, 60, 8;", 0xff, 0, 0, 0xf000000000000000},
      {"bmsk.clamp.b32 r, 28, 8;", 0, 0, 0, 0xf0000000},
      {"szext.clamp.s32 r, r1, 8;", 0x80, 0, 0, 0xffffff80},
      {"fns.b32 r, r1, 0, 2;", 0x90, 0, 0, 7},
      {"dp4a.s32.u32 r, r1, r2, r3;", 0xff010203, 0x01020304, 10, 29},
      {"dp2a.lo.s32.s32 r, r1, r2, r3;", 0xffff0002, 0x0304, 1, 6},
  });
}

TEST(Scalar, LogicAndShifts) {
  check({
      {"and.b32 r, r1, r2;", 0xff00, 0x0ff0, 0, 0x0f00},
      {"or.b64 d, d1, d2;", 1ull << 40, 1, 0, (1ull << 40) + 1},
      {"xor.b32 r, r1, r2;", 0xff00, 0x0ff0, 0, 0xf0f0},
      {"not.b32 r, r1;", 0, 0, 0, 0xffffffff},
      {"cnot.b32 r, r1;", 0, 0, 0, 1},
      {"lop3.b32 r, r1, r2, r3, 0xE8;", 0xc, 0xa, 0x9, 0x8},
      {"lop3.b32 r, r1, r2, r3, 0x96;", 0xc, 0xa, 0x9, 0xf},
      {"shl.b32 r, r1, r2;", 1, 40, 0, 0},
      {"shr.u32 r, r1, r2;", 0x80000000, 31, 0, 1},
      {"shr.s32 r, r1, r2;", 0x80000000, 100, 0, 0xffffffff},
      {"shl.b64 d, d1, 63;", 1, 0, 0, 1ull << 63},
      {"shf.l.wrap.b32 r, r1, r2, 8;", 0xab000000, 0x11, 0, 0x11ab},
      {"shf.r.clamp.b32 r, r1, r2, r3;", 5, 0x1234, 40, 0x1234},
      {"prmt.b32 r, r1, r2, 0x7531;", 0x33221100, 0x77665544, 0, 0x77553311},
      {"prmt.b32 r, r1, r2, 0x8888;", 0x80, 0, 0, 0xffffffff},
      {"prmt.b32.rc16 r, r1, r2, 1;", 0x33221100, 0, 0, 0x33223322},
      {"mov.b64 d, {r1, r2};", 1, 2, 0, 0x200000001},
      {"mov.b64 {r1, r2}, d1; add.u32 r, r1, r2;", 0x300000004, 0, 0, 7},
      {"mov.b32 {h1, h2}, r1; mov.b16 h, h2;", 0xabcd1234, 0, 0, 0xabcd},
      {"setp.lt.s32 p, r1, r2;", uint32_t(-1), 0, 0, 1},
      {"setp.lt.u32 p, r1, r2;", uint32_t(-1), 0, 0, 0},
      {"setp.eq.f32 p, r1, r1;", qnan, 0, 0, 0},
      {"setp.neu.f32 p, r1, r1;", qnan, 0, 0, 1},
      {"setp.nan.f32 p, r1, r2;", qnan, one, 0, 1},
      {"setp.eq.u32 q, 0, 0; setp.gt.and.s32 p, r1, r2, !q;", 5, 1, 0, 0},
      {"set.lt.u32.f32 r, r1, r2;", one, two, 0, 0xffffffff},
      {"set.gt.f32.s32 r, r1, r2;", 5, 1, 0, one},
      {"setp.ne.u32 q, 1, 0; selp.b32 r, r1, r2, q;", 5, 6, 0, 5},
      {"slct.u32.s32 r, r1, r2, r3;", 5, 6, uint32_t(-1), 6},
      {"testp.infinite.f32 p, r1;", inf, 0, 0, 1},
      {"testp.subnormal.f32 p, r1;", 1, 0, 0, 1},
      {"copysign.f32 r, r1, r2;", 0x80000000, one, 0, one | 0x80000000},
  });
}

TEST(Scalar, Floats) {
  check({
      {"add.f32 r, r1, r2;", one, two, 0, 0x40400000},
      {"add.rz.f32 r, r1, r2;", one, 0x33800000 + 1, 0, one},
      {"add.rp.f32 r, r1, r2;", one, 1, 0, one + 1},
      {"add.ftz.f32 r, r1, r2;", 1, 1, 0, 0},
      {"add.f32 r, r1, r2;", 1, 1, 0, 2},
      {"add.f32 r, r1, r2;", inf, inf | 0x80000000, 0, qnan},
      {"add.sat.f32 r, r1, r2;", one, two, 0, one},
      {"mul.rm.f32 r, r1, r2;", 0x3f800001, 0x3f800001, 0, 0x3f800002},
      {"fma.rn.f32 r, r1, r2, r3;", 0x3f800001, 0x3f800001, 0xbf800002,
       0x28800000},
      {"fma.rn.sat.f32 r, r1, r2, r3;", qnan, one, one, 0},
      {"div.rn.f32 r, r1, r2;", one, 0x40400000, 0, 0x3eaaaaab},
      {"div.rz.f32 r, r1, r2;", one, 0x40400000, 0, 0x3eaaaaaa},
      {"rcp.rn.f32 r, r1;", 0x40400000, 0, 0, 0x3eaaaaab},
      {"sqrt.rn.f32 r, r1;", two, 0, 0, 0x3fb504f3},
      {"sqrt.rp.f32 r, r1;", two, 0, 0, 0x3fb504f4},
      {"min.f32 r, r1, r2;", qnan, one, 0, one},
      {"min.NaN.f32 r, r1, r2;", qnan, one, 0, qnan},
      {"max.f32 r, r1, r2;", 0x80000000, 0, 0, 0},
      {"min.f32 r, r1, r2;", 0x80000000, 0, 0, 0x80000000},
      {"max.f32 r, r1, r2, r3;", one, two, 0x40400000, 0x40400000},
      {"max.xorsign.abs.f32 r, r1, r2;", 0xc0000000, one, 0, 0xc0000000},
      {"neg.f32 r, r1;", one, 0, 0, 0xbf800000},
      {"abs.ftz.f32 r, r1;", 0x80000001, 0, 0, 0},
      {"ex2.approx.f32 r, r1;", two, 0, 0, 0x40800000},
      {"lg2.approx.f32 r, r1;", 0x41000000, 0, 0, 0x40400000},
      {"rsqrt.approx.f32 r, r1;", 0x40800000, 0, 0, 0x3f000000},
      {"add.f64 d, d1, d2;", 0x3ff0000000000000, 0x3ff0000000000000, 0,
       0x4000000000000000},
      {"div.rm.f64 d, d1, d2;", 0x3ff0000000000000, 0x4008000000000000, 0,
       0x3fd5555555555555},
      {"fma.rp.f64 d, d1, d2, d3;", 0x3ff0000000000000, 0x3ff0000000000000, 1,
       0x3ff0000000000001},
  });
}

TEST(Scalar, Halves) {
  check({
      {"add.f16 h, h1, h2;", half(1.5f), half(2.25f), 0, half(3.75f)},
      {"add.f16 h, h1, h2;", 0x7bff, 0x7bff, 0, 0x7c00},
      {"add.sat.f16 h, h1, h2;", half(0.75f), half(0.5f), 0, half(1)},
      {"mul.f16x2 r, r1, r2;", 0x3c004000, 0x40003c00, 0, 0x40004000},
      // 1 + 2^-11 + 2^-24: a tie broken by a bit far below.
      {"fma.rn.f16 h, h1, h2, h3;", half(0.00048828125f), half(1.0009765625f),
       half(1), 0x3c01},
      {"fma.rn.relu.f16 h, h1, h2, h3;", half(-1), half(1), half(0.5f), 0},
      {"fma.rn.bf16 h, h1, h2, h3;", 0x3f80, 0x4000, 0x3f80, 0x4040},
      {"add.bf16x2 r, r1, r2;", 0x3f803f80, 0x3f804000, 0, 0x40004040},
      {"min.f16x2 r, r1, r2;", 0x3c00bc00, 0x40003c00, 0, 0x3c00bc00},
      {"max.NaN.f16 h, h1, h2;", 0x7e00, half(1), 0, 0x7fff},
      {"neg.f16x2 r, r1;", 0x3c00bc00, 0, 0, 0xbc003c00},
      {"abs.bf16 h, h1;", 0xbf80, 0, 0, 0x3f80},
      {"setp.lt.f16 p, h1, h2;", half(1), half(2), 0, 1},
      {"set.gt.u32.f16x2 r, r1, r2;", 0x3c004000, 0x40003c00, 0, 0x0000ffff},
      {"ex2.approx.f16 h, h1;", half(3), 0, 0, half(8)},
      {"tanh.approx.f16 h, h1;", half(0), 0, 0, 0},
  });
}

TEST(Scalar, Conversions) {
  check({
      {"cvt.s64.s32 d, r1;", 0xffffffff, 0, 0, ~0ull},
      {"cvt.u16.u32 h, r1;", 0x12345678, 0, 0, 0x5678},
      {"cvt.s32.s8 r, r1;", 0x80, 0, 0, 0xffffff80},
      {"cvt.sat.u8.s32 r, r1;", 300, 0, 0, 255},
      {"cvt.sat.s8.s32 r, r1;", uint32_t(-300), 0, 0, 0xffffff80},
      {"cvt.rn.f32.s32 r, r1;", uint32_t(-16777217), 0, 0, 0xcb800000},
      {"cvt.rz.f32.u32 r, r1;", 0xffffffff, 0, 0, 0x4f7fffff},
      {"cvt.rp.f32.u64 r, d1;", ~0ull, 0, 0, 0x5f800000},
      {"cvt.rni.s32.f32 r, r1;", 0x40200000, 0, 0, 2},
      {"cvt.rzi.u32.f32 r, r1;", 0xbf800000, 0, 0, 0},
      {"cvt.rzi.s32.f32 r, r1;", 0x4f800000, 0, 0, 0x7fffffff},
      {"cvt.rzi.s32.f32 r, r1;", qnan, 0, 0, 0},
      {"cvt.rmi.f32.f32 r, r1;", 0xbf000000, 0, 0, 0xbf800000},
      {"cvt.f64.f32 d, r1;", one, 0, 0, 0x3ff0000000000000},
      {"cvt.rp.f32.f64 r, d1;", 0x3ff0000000000001, 0, 0, one + 1},
      {"cvt.rn.f16.f32 h, r1;", 0x477fefff, 0, 0, 0x7bff},
      {"cvt.rn.f16.f32 h, r1;", 0x477ff000, 0, 0, 0x7c00},
      {"cvt.rz.f16.f32 h, r1;", 0x47800000, 0, 0, 0x7bff},
      {"cvt.rn.satfinite.f16.f32 h, r1;", 0x47800000, 0, 0, 0x7bff},
      {"cvt.rn.f16.f32 h, r1;", 0x33000001, 0, 0, 1},
      {"cvt.rn.relu.f16.f32 h, r1;", 0xbf800000, 0, 0, 0},
      {"cvt.rn.bf16.f32 h, r1;", 0x3f808000, 0, 0, 0x3f80},
      {"cvt.rn.bf16.f32 h, r1;", 0x3f818000, 0, 0, 0x3f82},
      {"cvt.f32.f16 r, h1;", 0x0001, 0, 0, 0x33800000},
      {"cvt.f32.bf16 r, h1;", 0x3f80, 0, 0, one},
      {"cvt.rn.f16x2.f32 r, r1, r2;", one, two, 0, 0x3c004000},
      {"cvt.rn.bf16x2.f32 r, r1, r2;", one, two, 0, 0x3f804000},
      {"cvt.rn.satfinite.e4m3x2.f32 h, r1, r2;", one, 0x44000000, 0, 0x387e},
      {"cvt.rn.satfinite.e5m2x2.f32 h, r1, r2;", one, 0x7f000000, 0, 0x3c7b},
      {"cvt.rn.satfinite.e4m3x2.f16x2 h, r1;", 0x3c004000, 0, 0, 0x3840},
      {"cvt.rn.f16x2.e4m3x2 r, h1;", 0x3801, 0, 0, 0x3c001800},
      {"cvt.rn.f16x2.e5m2x2 r, h1;", 0x3c7c, 0, 0, 0x3c007c00},
      {"cvt.rna.tf32.f32 r, r1;", 0x3f801000, 0, 0, 0x3f802000},
      {"cvt.rn.tf32.f32 r, r1;", 0x3f801000, 0, 0, 0x3f800000},
      {"cvt.rn.f16.s32 h, r1;", 2049, 0, 0, half(2048)},
      {"cvt.rni.s16.f16 h, h1;", half(2.5f), 0, 0, 2},
      {"cvt.pack.sat.s8.s32.b32 r, r1, r2, r3;", 300, uint32_t(-300), 0xab,
       0xab7f80},
      {"cvt.sat.f32.f32 r, r1;", two, 0, 0, one},
  });
}
