//===- RandomTest.cpp - Random numbers ------------------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Random.h"
#include "PropertySeed.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tile::runtime;

// The vectors published with Random123 for philox4x32, 10 rounds.
TEST(Random, PhiloxGivesThePublishedVectors) {
  using Block = std::array<uint32_t, 4>;
  constexpr uint32_t ones = 0xFFFFFFFF;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Block{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(philox({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344},
                   {0xA4093822, 0x299F31D0}),
            (Block{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(Random, NormalsHaveTheirMoments) {
  RandomStream stream(getPropertySeed(), "A");
  constexpr int count = 200000;
  double sums[4] = {};
  int beyondTwo = 0;
  for (int i = 0; i < count; ++i) {
    double x = stream.getNormal(i);
    ASSERT_TRUE(std::isfinite(x));
    for (double &sum : sums) {
      sum += x;
      x *= stream.getNormal(i);
    }
    beyondTwo += std::fabs(stream.getNormal(i)) > 2;
  }
  // Six standard errors of each moment.
  double unit = 6 / std::sqrt(double(count));
  EXPECT_NEAR(sums[0] / count, 0, unit);
  EXPECT_NEAR(sums[1] / count, 1, unit * std::sqrt(2.0));
  EXPECT_NEAR(sums[2] / count, 0, unit * std::sqrt(15.0));
  EXPECT_NEAR(sums[3] / count, 3, unit * std::sqrt(96.0));
  EXPECT_NEAR(double(beyondTwo) / count, 0.0455, unit * 0.21);
}

TEST(Random, IntegersAreUniformOverAnyRange) {
  RandomStream stream(getPropertySeed(), "A");
  int counts[7] = {};
  for (int i = 0; i < 70000; ++i)
    ++counts[stream.getInteger(i, -3, 4) + 3];
  for (int count : counts)
    EXPECT_NEAR(count, 10000, 6 * std::sqrt(70000 * 6.0 / 49));
  for (int i = 0; i < 1000; ++i)
    EXPECT_LT(stream.getInteger(i, INT64_MIN, INT64_MAX), INT64_MAX);
  EXPECT_EQ(stream.getInteger(0, 5, 6), 5);
}

// Large enough for several threads: element i is number i, whatever the split.
TEST(Random, FillsAreTheStreamInOrder) {
  uint64_t seed = getPropertySeed();
  RandomStream stream(seed, "A"), other(seed, "B");
  Result<Array> normal = Array::allocate(DType::F64, {1000, 501});
  Result<Array> integers = Array::allocate(DType::I4, {500001});
  Result<Array> strided = Array::allocate(DType::F32, {333, 601}, {1, 340}, 5);
  ASSERT_TRUE(normal && integers && strided);
  fillNormal(*normal, stream, 1, 2);
  fillIntegers(*integers, stream, -8, 8);
  fillUniform(*strided, stream, -1, 1);
  int different = 0;
  for (int64_t i = 0; i < 500001; i += 97) {
    ASSERT_EQ(normal->getDouble(i), 1 + 2 * stream.getNormal(i));
    ASSERT_EQ(integers->getInt(i), stream.getInteger(i, -8, 8));
    different += stream.getBits(i) != other.getBits(i);
  }
  for (int64_t i = 0; i < strided->getNumElements(); ++i)
    ASSERT_EQ(strided->getDouble(i),
              double(float(2 * stream.getUniform(i) - 1)));
  EXPECT_GT(different, 5000);
}
