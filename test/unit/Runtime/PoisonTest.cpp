//===- PoisonTest.cpp - Unwritten elements --------------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Poison.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tile::runtime;

namespace {

/// Two outputs, poisoned each in its way.
struct Runs {
  Array first, second;

  Runs(DType type, Shape shape, Shape strides, int64_t offset)
      : first(*Array::allocate(type, shape, strides, offset)),
        second(*Array::allocate(type, shape, strides, offset)) {
    fillPoison(first, Poison::First);
    fillPoison(second, Poison::Second);
  }
  void write(int64_t i, double value) {
    first.setDouble(i, value);
    second.setDouble(i, value);
  }
  WriteReport report() const { return *findUnwritten(first, second); }
};

} // namespace

TEST(Poison, FindsWhatWasNotWrittenInEveryType) {
  for (unsigned t = 0; t < numDTypes; ++t) {
    DType type = DType(t);
    Runs runs(type, {5, 4}, {4, 1}, 0);
    EXPECT_EQ(runs.report().numUnwritten, 20) << getName(type);
    for (int64_t i = 0; i < 20; ++i)
      if (i != 7 && i != 18)
        runs.write(i, i % 3 - 1);
    WriteReport report = runs.report();
    EXPECT_EQ(report.numUnwritten, 2) << getName(type);
    EXPECT_EQ(report.numUnstable, 0) << getName(type);
    EXPECT_EQ(report.firstUnwritten, std::vector<Shape>({{1, 3}, {4, 2}}))
        << getName(type);
  }
}

// A result that looks like a pattern looks so in both runs.
TEST(Poison, TakesNoResultForPoison) {
  for (unsigned t = 0; t < numDTypes; ++t) {
    DType type = DType(t);
    for (unsigned pattern : {0x7Fu, 0xC3u}) {
      Runs runs(type, {2}, {1}, 0);
      uint64_t bits = pattern * uint64_t(0x0101010101010101);
      for (Array *array : {&runs.first, &runs.second})
        array->fillBits(bits);
      WriteReport report = runs.report();
      EXPECT_EQ(report.numUnwritten + report.numUnstable, 0) << getName(type);
    }
  }
  Runs runs(DType::F16, {3}, {1}, 0);
  for (int64_t i = 0; i < 3; ++i)
    runs.write(i, NAN);
  EXPECT_EQ(runs.report().numUnwritten, 0);
  storeBits(DType::F16, runs.first.data(), 1, 0x7C01);
  EXPECT_EQ(runs.report().numUnstable, 0) << "another NaN is no difference";
}

TEST(Poison, TellsUnstableFromUnwritten) {
  Runs runs(DType::F32, {4}, {1}, 0);
  for (int64_t i = 0; i < 4; ++i)
    runs.write(i, 1);
  runs.second.setDouble(2, 1.5);
  // Half an element written: the rest is still poison.
  auto *bytes = static_cast<unsigned char *>(runs.first.data());
  bytes[4] = 0x7F;
  WriteReport report = runs.report();
  EXPECT_EQ(report.numUnwritten, 0);
  EXPECT_EQ(report.firstUnstable, std::vector<Shape>({{1}, {2}}));
  Runs other(DType::F16, {4}, {1}, 0);
  EXPECT_FALSE(findUnwritten(runs.first, other.second));
}

TEST(Poison, FindsWritesBesideTheElements) {
  for (DType type : {DType::F32, DType::I4}) {
    Runs runs(type, {3, 2}, {4, 1}, 1);
    for (int64_t i = 0; i < 6; ++i)
      runs.write(i, 1);
    EXPECT_EQ(runs.report().numUnwritten, 0);
    EXPECT_FALSE(findStrayWrite(runs.first, Poison::First));
    EXPECT_FALSE(findStrayWrite(runs.second, Poison::Second));
    storeBits(type, runs.first.data(), 7, 1);
    EXPECT_EQ(findStrayWrite(runs.first, Poison::First), 7);
  }
}
