//===- TensorTest.cpp - Tensor copies --------------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boxes of every rank and swizzle, in and out, against a direct computation.
//===----------------------------------------------------------------------===//
#include "EmulatorTest.h"

using namespace tile::emulator;
using namespace tile::emulator::test;

namespace {
struct Case {
  unsigned rank;
  std::array<uint64_t, 5> extents;
  std::array<uint32_t, 5> box;
  std::array<int, 5> at;
  TensorSwizzle swizzle;
  std::array<uint32_t, 5> strides = {1, 1, 1, 1, 1};
};

std::string coordinates(const Case &c) {
  std::string text = "{";
  for (unsigned i = 0; i < c.rank; ++i)
    text += (i ? ", " : "") + std::to_string(c.at[i]);
  return text + "}";
}

TensorMap describe(const Case &c, Array<uint32_t> &array) {
  TensorMap map;
  map.base = reinterpret_cast<uintptr_t>(array.data());
  map.element = TensorElement::U32;
  map.rank = c.rank;
  map.extents = c.extents;
  map.box = c.box;
  map.elementStrides = c.strides;
  map.swizzle = c.swizzle;
  uint64_t stride = 4;
  for (unsigned i = 0; i + 1 < c.rank; ++i)
    map.strides[i] = stride *= c.extents[i];
  return map;
}

/// Word of the box's element with this linear index in shared memory.
uint32_t placeOf(uint32_t index, TensorSwizzle swizzle) {
  static const uint32_t masks[] = {0, 1, 3, 7};
  uint32_t address = index * 4;
  address ^= (address >> 7 & masks[unsigned(swizzle)]) << 4;
  return address / 4;
}

void run(const Case &c, bool isStore) {
  uint64_t count = 1, boxCount = 1;
  std::array<uint32_t, 5> counts = {1, 1, 1, 1, 1};
  for (unsigned i = 0; i < c.rank; ++i) {
    count *= c.extents[i];
    counts[i] = (c.box[i] + c.strides[i] - 1) / c.strides[i];
    boxCount *= counts[i];
  }
  Array<uint32_t> tensor(count), raw(boxCount);
  for (uint64_t i = 0; i < count; ++i)
    tensor[i] = uint32_t(i + 1);
  for (uint64_t i = 0; i < boxCount; ++i)
    raw[i] = uint32_t(100000 + i);
  std::string dimension = std::to_string(c.rank) + "d";
  std::string bytes = std::to_string(boxCount * 4);
  std::string copyLoop =
      "mov.u32 %r2, 0;\nL: setp.ge.u32 %p1, %r2, " + bytes +
      "; @%p1 bra E; add.u32 %r4, %r3, %r2; cvt.u64.u32 %rd3, %r2;"
      "add.u64 %rd3, %rd3, %rd1;\n" +
      (isStore ? "ld.global.b32 %r5, [%rd3]; st.shared.b32 [%r4], %r5;"
               : "ld.shared.b32 %r5, [%r4]; st.global.b32 [%rd3], %r5;") +
      "add.u32 %r2, %r2, 4; bra L;\nE:\n";
  std::string load =
      "mbarrier.init.shared.b64 [bar], 1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " +
      bytes +
      ";\n"
      "cp.async.bulk.tensor." +
      dimension +
      ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], "
      "[map, " +
      coordinates(c) +
      "], [bar];\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W;\n";
  std::string store =
      "fence.proxy.async; cp.async.bulk.tensor." + dimension +
      ".global.shared::cta.tile.bulk_group [map, " + coordinates(c) +
      "], [tile];\ncp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
  Harness h(kernel(".param .align 64 .b8 map[128], .param .u64 raw",
                   ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
                   ".shared .align 1024 .b8 tile[8192];\n"
                   ".shared .align 8 .b64 bar;\n"
                   "ld.param.u64 %rd1, [raw]; mov.u32 %r3, tile;\n" +
                       (isStore ? copyLoop + store : load + copyLoop)));
  h.map(describe(c, tensor)).buffer(tensor, "tensor").pointer(raw, "raw");
  for (unsigned seed = 0; seed < 3; ++seed) {
    h.config.seed = seed;
    h.runClean();
  }
  std::vector<uint32_t> expected(count);
  for (uint64_t i = 0; i < count; ++i)
    expected[i] = uint32_t(i + 1);
  for (uint32_t i = 0; i < boxCount; ++i) {
    uint32_t rest = i;
    uint64_t index = 0, scale = 1;
    bool inside = true;
    for (unsigned d = 0; d < c.rank; ++d) {
      int64_t at = c.at[d] + int64_t(rest % counts[d]) * c.strides[d];
      rest /= counts[d];
      inside &= at >= 0 && at < int64_t(c.extents[d]);
      index += uint64_t(at) * scale;
      scale *= c.extents[d];
    }
    uint32_t place = placeOf(i, c.swizzle);
    if (isStore && inside)
      expected[index] = 100000 + place;
    if (!isStore) {
      EXPECT_EQ(raw[place], inside ? index + 1 : 0) << "element " << i;
    }
  }
  if (!isStore)
    return;
  for (uint64_t i = 0; i < count; ++i)
    EXPECT_EQ(tensor[i], expected[i]) << "element " << i;
}

const Case cases[] = {
    {1,
     {100, 1, 1, 1, 1},
     {32, 1, 1, 1, 1},
     {80, 0, 0, 0, 0},
     TensorSwizzle::None},
    {2,
     {64, 20, 1, 1, 1},
     {32, 16, 1, 1, 1},
     {16, 8, 0, 0, 0},
     TensorSwizzle::B128},
    {2,
     {40, 20, 1, 1, 1},
     {16, 16, 1, 1, 1},
     {-4, -3, 0, 0, 0},
     TensorSwizzle::B64},
    {2,
     {40, 20, 1, 1, 1},
     {8, 16, 1, 1, 1},
     {36, 10, 0, 0, 0},
     TensorSwizzle::B32},
    {3,
     {16, 6, 5, 1, 1},
     {16, 4, 3, 1, 1},
     {4, 4, 3, 0, 0},
     TensorSwizzle::None},
    {4, {8, 5, 4, 3, 1}, {8, 3, 2, 2, 1}, {0, 3, -1, 2, 0}, TensorSwizzle::B32},
    {5, {8, 3, 3, 3, 2}, {4, 2, 2, 2, 2}, {6, 2, 1, 2, 1}, TensorSwizzle::None},
};
} // namespace

TEST(Tensor, Loads) {
  for (const Case &c : cases)
    run(c, false);
}

TEST(Tensor, Stores) {
  for (const Case &c : cases)
    run(c, true);
}

TEST(Tensor, ElementStrides) {
  run({2,
       {32, 20, 1, 1, 1},
       {16, 12, 1, 1, 1},
       {8, 4, 0, 0, 0},
       TensorSwizzle::None,
       {1, 3, 1, 1, 1}},
      false);
}

/// A map may promise more than the buffer holds.
TEST(Tensor, CopiesStayInTheBuffer) {
  for (bool isStore : {false, true})
    for (bool isFaulty : {false, true}) {
      Array<uint32_t> tensor(16 * 16);
      TensorMap map = describe({2,
                                {16, isFaulty ? 17u : 16u, 1, 1, 1},
                                {16, 8, 1, 1, 1},
                                {0, 0, 0, 0, 0},
                                TensorSwizzle::None},
                               tensor);
      Harness h(kernel(
          ".param .align 64 .b8 map[128]",
          ".reg .pred %p<3>; .shared .align 1024 .b8 tile[512];\n"
          ".shared .align 8 .b64 bar;\n"
          "mbarrier.init.shared.b64 [bar], 1;\n"
          "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile"
          ".mbarrier::complete_tx::bytes [tile], [map, {0, 9}], [bar];\n"
          "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;"
          "@!%p1 bra W;\n" +
              std::string(isStore ? "cp.async.bulk.tensor.2d.global.shared::cta"
                                    ".tile.bulk_group [map, {0, 9}], [tile];\n"
                                    "cp.async.bulk.commit_group;"
                                    "cp.async.bulk.wait_group 0;\n"
                                  : "")));
      h.map(map).buffer(tensor, "tensor");
      if (isFaulty)
        h.runFaulty(ReportKind::OutOfBounds);
      else
        h.runClean();
    }
}

TEST(Tensor, MapsAreChecked) {
  Array<uint32_t> array(1024);
  TensorMap map = describe({2,
                            {32, 32, 1, 1, 1},
                            {32, 8, 1, 1, 1},
                            {0, 0, 0, 0, 0},
                            TensorSwizzle::B128},
                           array);
  TensorMapBytes bytes;
  std::string problem;
  EXPECT_TRUE(encodeTensorMap(map, bytes, problem));
  TensorMap back;
  EXPECT_TRUE(decodeTensorMap(bytes.data(), back));
  EXPECT_EQ(back.box[1], 8u);
  map.box[0] = 64;
  EXPECT_FALSE(encodeTensorMap(map, bytes, problem));
  EXPECT_EQ(problem, "the inner box must fit the swizzle's 128 bytes, got 256");
  map.box[0] = 32;
  map.strides[0] = 100;
  EXPECT_FALSE(encodeTensorMap(map, bytes, problem));
  map.strides[0] = 128;
  map.base += 4;
  EXPECT_FALSE(encodeTensorMap(map, bytes, problem));
}

TEST(Tensor, GarbageIsNoMap) {
  Array<uint8_t> raw(128);
  Harness h(kernel(".param .align 64 .b8 map[128]",
                   ".shared .align 128 .b8 tile[128];\n"
                   "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group"
                   " [map, {0}], [tile];\n"));
  Argument garbage;
  garbage.bytes.assign(128, 0xab);
  h.config.arguments.push_back(garbage);
  h.runFaulty(ReportKind::InvalidOperand);
}
