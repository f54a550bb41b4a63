//===- ArrayTest.cpp - Host buffers ---------------------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Array.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

using namespace tile::runtime;

TEST(Array, AllocatesZeroedAndAligned) {
  Result<Array> array = Array::allocate(DType::F16, {3, 5});
  ASSERT_TRUE(array);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array->data()) % 64, 0u);
  EXPECT_EQ(array->getStrides(), Shape({5, 1}));
  EXPECT_EQ(array->getStorageBytes(), 30u);
  EXPECT_EQ(array->formatType(), "3x5xf16");
  EXPECT_TRUE(array->isDense());
  for (int64_t i = 0; i < 15; ++i)
    EXPECT_EQ(array->getDouble(i), 0);
}

#ifdef __linux__
/// What /proc/self/smaps says of the mapping that holds `address`.
static std::string getMappingFlags(uintptr_t address) {
  std::ifstream maps("/proc/self/smaps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t low = 0, high = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &low, &high) ==
        2)
      found = low <= address && address < high;
    if (found && line.rfind("VmFlags:", 0) == 0)
      return line + ' ';
  }
  return "";
}

TEST(Array, AsksForLargePages) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "this system has pages of one size";
  Result<Array> large = Array::allocate(DType::F32, {2048, 2048});
  Result<Array> small = Array::allocate(DType::F32, {512, 512});
  ASSERT_TRUE(large && small);
  auto isLarge = [](const Array &array) {
    auto middle =
        reinterpret_cast<uintptr_t>(array.data()) + array.getStorageBytes() / 2;
    return getMappingFlags(middle).find(" hg ") != std::string::npos;
  };
  EXPECT_TRUE(isLarge(*large));
  EXPECT_FALSE(isLarge(*small));
}
#endif

TEST(Array, RefusesWhatCannotExist) {
  Result<Array> tooMany =
      Array::allocate(DType::I1, {int64_t(1) << 40, int64_t(1) << 40, 2});
  ASSERT_FALSE(tooMany);
  EXPECT_NE(tooMany.message().find("too large"), std::string::npos);
  Result<Array> tooBig = Array::allocate(DType::F64, {int64_t(1) << 50});
  ASSERT_FALSE(tooBig);
  EXPECT_NE(tooBig.message().find("memory"), std::string::npos)
      << tooBig.message();
  EXPECT_FALSE(Array::allocate(DType::F32, {4, -1}));
  EXPECT_FALSE(Array::allocate(DType::F32, {4, 4}, {4}, 0));
  EXPECT_FALSE(Array::allocate(DType::F32, {4}, {-1}, 2));
  EXPECT_FALSE(Array::allocate(DType::F32, {2, 2}, {INT64_MAX, 1}, 0));
  EXPECT_FALSE(Array::allocate(DType::F32, {4}, {INT64_MIN}, 0));
  EXPECT_FALSE(Array::allocate(DType::F32, {4}, {1}, -1));
  EXPECT_FALSE(Array::allocate(DType::F32, {0}, {1}, -1));
}

TEST(Array, EmptyOnesHaveNoElements) {
  Result<Array> array = Array::allocate(DType::F32, {4, 0, 3});
  ASSERT_TRUE(array);
  EXPECT_EQ(array->getNumElements(), 0);
  array->fill(1);
  array->fillIota();
  array->forEachRow([](const Row &) { FAIL() << "no rows to visit"; });
  EXPECT_TRUE(array->clone());
}

TEST(Array, ReachesElementsThroughStrides) {
  Result<Array> array = Array::allocate(DType::I32, {3, 4}, {1, 5}, 2);
  ASSERT_TRUE(array);
  EXPECT_EQ(array->getStorageBytes(), 4u * (2 + 2 + 15 + 1));
  array->fillIota();
  auto *storage = static_cast<int32_t *>(array->data());
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      EXPECT_EQ(storage[2 + i + 5 * j], 4 * i + j);
  EXPECT_EQ(array->getCoordinates(7), Shape({1, 3}));
  Result<Array> dense = array->clone();
  ASSERT_TRUE(dense);
  EXPECT_TRUE(dense->isDense());
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(dense->getInt(i), i);
}

TEST(Array, GoesBackwardsWithNegativeStrides) {
  Result<Array> array = Array::allocate(DType::I8, {4}, {-2}, 6);
  ASSERT_TRUE(array);
  array->fillIota();
  auto *storage = static_cast<int8_t *>(array->data());
  EXPECT_EQ(storage[6], 0);
  EXPECT_EQ(storage[0], 3);
}

TEST(Array, RowsCoverPartsInOrder) {
  Result<Array> array = Array::allocate(DType::I32, {3, 4}, {10, 2}, 1);
  ASSERT_TRUE(array);
  std::vector<int64_t> indices;
  array->forEachRow(3, 9, [&](const Row &row) {
    EXPECT_EQ(row.first, int64_t(indices.size()) + 3);
    for (int64_t i = 0; i < row.count; ++i)
      indices.push_back(row.index + i * row.stride);
  });
  EXPECT_EQ(indices, std::vector<int64_t>({7, 11, 13, 15, 17, 21}));
}

TEST(Array, BorrowsWithinBounds) {
  float storage[6] = {0, 1, 2, 3, 4, 5};
  Result<Array> array =
      Array::borrow(storage, sizeof storage, DType::F32, {2, 2}, {3, 1}, 1);
  ASSERT_TRUE(array);
  EXPECT_EQ(array->getDouble(3), 5);
  array->setDouble(0, 9);
  EXPECT_EQ(storage[1], 9);
  Result<Array> beyond =
      Array::borrow(storage, sizeof storage, DType::F32, {2, 2}, {3, 1}, 2);
  ASSERT_FALSE(beyond);
  EXPECT_NE(beyond.message().find("needs 28 bytes, the buffer has 24"),
            std::string::npos)
      << beyond.message();
  EXPECT_FALSE(Array::borrow(nullptr, 64, DType::F32, {2}, {1}));
}

TEST(Array, CopiesShareAndClonesDoNot) {
  Array a = Array::scalar(DType::F32, 1.5);
  Array shared = a;
  Result<Array> cloned = a.clone();
  ASSERT_TRUE(cloned);
  a.setDouble(0, 2);
  EXPECT_EQ(shared.getDouble(0), 2);
  EXPECT_EQ(cloned->getDouble(0), 1.5);
}

TEST(Array, ConvertsWithOneRounding) {
  Result<Array> array = Array::allocate(DType::F64, {4});
  ASSERT_TRUE(array);
  const double values[] = {0.1, 1e10, -3.5, 2.5};
  for (int i = 0; i < 4; ++i)
    array->setDouble(i, values[i]);
  Result<Array> half = array->convert(DType::F16, Overflow::Saturate);
  Result<Array> integer = array->convert(DType::I32);
  ASSERT_TRUE(half && integer);
  EXPECT_EQ(half->getDouble(0), 0.0999755859375);
  EXPECT_EQ(half->getDouble(1), 65504);
  EXPECT_EQ(integer->getInt(1), INT32_MAX);
  EXPECT_EQ(integer->getInt(2), -4);
  EXPECT_EQ(integer->getInt(3), 2);
}

TEST(Array, IotaWrapsIntegersAndRoundsFloats) {
  Result<Array> bytes = Array::allocate(DType::I8, {300});
  Result<Array> packed = Array::allocate(DType::I4, {20});
  Result<Array> bits = Array::allocate(DType::I1, {5});
  Result<Array> half = Array::allocate(DType::F16, {4098});
  ASSERT_TRUE(bytes && packed && bits && half);
  bytes->fillIota();
  packed->fillIota();
  bits->fillIota();
  half->fillIota();
  EXPECT_EQ(bytes->getInt(200), -56);
  EXPECT_EQ(packed->getInt(9), -7);
  EXPECT_EQ(bits->getInt(3), 1);
  EXPECT_EQ(bits->getInt(4), 0);
  EXPECT_EQ(half->getDouble(2049), 2048);
  EXPECT_EQ(half->getDouble(4097), 4096);
}

TEST(Array, LargeIntegersSurviveConversion) {
  Array array = Array::scalar(DType::I64, INT64_MAX);
  Result<Array> copy = array.clone();
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->getInt(0), INT64_MAX);
  Result<Array> narrow = array.convert(DType::I32);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->getInt(0), INT32_MAX);
}
