//===- CompareTest.cpp - Judging results ----------------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Compare.h"
#include "PropertySeed.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tile::runtime;

namespace {

Array make(DType type, const Shape &shape, const std::vector<double> &values) {
  Result<Array> array = Array::allocate(type, shape);
  EXPECT_TRUE(array);
  for (size_t i = 0; i < values.size(); ++i)
    array->setDouble(int64_t(i), values[i]);
  return *array;
}

Comparison judge(const Array &result, const Array &reference,
                 const Tolerance &tolerance) {
  Result<Comparison> comparison = compare(result, reference, tolerance);
  EXPECT_TRUE(comparison) << comparison.message();
  return *comparison;
}

} // namespace

TEST(Compare, MeasuresNormAndLargestErrors) {
  Array result = make(DType::F32, {2, 2}, {3, 4, 0, 12.5});
  Array reference = make(DType::F64, {2, 2}, {3, 4.25, 0, 12});
  Comparison comparison = judge(result, reference, {0.3, 0});
  EXPECT_DOUBLE_EQ(comparison.relativeNorm,
                   std::sqrt(0.0625 + 0.25) / std::sqrt(9 + 4.25 * 4.25 + 144));
  EXPECT_EQ(comparison.maxAbsolute, 0.5);
  EXPECT_EQ(comparison.maxAbsoluteAt, Shape({1, 1}));
  EXPECT_DOUBLE_EQ(comparison.maxRelative, 0.25 / 4.25);
  EXPECT_EQ(comparison.maxRelativeAt, Shape({0, 1}));
  ASSERT_EQ(comparison.numMismatches, 1);
  EXPECT_EQ(formatMismatches(comparison),
            "[1, 1]: 12.5, expected 12 (error 5.00e-01, allowed 3.00e-01)\n");
  EXPECT_EQ(judge(result, reference, {0, 0.06}).numMismatches, 0);
}

TEST(Compare, BoundsMayFollowAMagnitude) {
  Array result = make(DType::F32, {3}, {1.5, 1.5, 0});
  Array reference = make(DType::F64, {3}, {1, 1, 0});
  Array magnitude = make(DType::F32, {3}, {100, 1, 0});
  Tolerance tolerance;
  tolerance.magnitudeFactor = 0.01;
  tolerance.magnitude = &magnitude;
  Comparison comparison = judge(result, reference, tolerance);
  EXPECT_EQ(comparison.numMismatches, 1);
  EXPECT_EQ(comparison.first[0].coordinates, Shape({1}));
}

TEST(Compare, MatchesNaNAndInfinityWithTheirLikes) {
  std::vector<double> wanted = {NAN, INFINITY, -INFINITY, NAN,       1,
                                1,   INFINITY, INFINITY,  -INFINITY, 70000};
  std::vector<double> got = {NAN,      INFINITY, -INFINITY, 1,
                             NAN,      INFINITY, -INFINITY, 65504,
                             INFINITY, INFINITY};
  Comparison comparison =
      judge(make(DType::F16, {10}, got), make(DType::F64, {10}, wanted),
            {INFINITY, INFINITY});
  EXPECT_EQ(comparison.numMismatches, 6);
  EXPECT_EQ(comparison.numNonFinite, 10);
  EXPECT_EQ(comparison.relativeNorm, 0);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(comparison.first[i].coordinates, Shape({int64_t(i) + 3}));
}

TEST(Compare, KnowsWhatOverflowGivesInTheResultsType) {
  Array reference = make(DType::F64, {2}, {500, 470});
  EXPECT_EQ(judge(make(DType::F8E4M3FN, {2}, {NAN, NAN}), reference, {})
                .numMismatches,
            0);
  EXPECT_EQ(judge(make(DType::F8E5M2, {2}, {NAN, INFINITY}), reference, {})
                .numMismatches,
            2);
}

TEST(Compare, NaNToleranceAllowsNothing) {
  Array one = make(DType::F32, {1}, {1});
  EXPECT_EQ(judge(one, one, {NAN, 0}).numMismatches, 1);
}

TEST(Compare, TellsLargeIntegersApart) {
  Array a = Array::scalar(DType::I64, INT64_MAX);
  Array b = Array::scalar(DType::I64, INT64_MAX - 1);
  Comparison comparison = judge(a, b, {});
  EXPECT_EQ(comparison.numMismatches, 1);
  EXPECT_EQ(comparison.maxAbsolute, 1);
  EXPECT_EQ(judge(a, a, {}).numMismatches, 0);
}

TEST(Compare, NormsNeitherOverflowNorVanish) {
  for (double size : {1e200, 1e-200, 1e308}) {
    Array result = make(DType::F64, {2}, {size, 1.25 * size});
    Array reference = make(DType::F64, {2}, {size, size});
    EXPECT_NEAR(judge(result, reference, {}).relativeNorm,
                0.25 / std::sqrt(2.0), 1e-12)
        << size;
  }
  Array zero = make(DType::F64, {2}, {0, 0});
  Array tiny = make(DType::F64, {2}, {0, 1e-320});
  EXPECT_EQ(judge(zero, zero, {}).relativeNorm, 0);
  EXPECT_EQ(judge(tiny, zero, {}).relativeNorm, INFINITY);
}

TEST(Compare, EmptyArraysAgree) {
  Array empty = make(DType::F32, {0, 3}, {});
  Comparison comparison = judge(empty, empty, {});
  EXPECT_EQ(comparison.numMismatches, 0);
  EXPECT_TRUE(comparison.maxAbsoluteAt.empty());
}

TEST(Compare, ShapesHaveToAgree) {
  Array a = make(DType::F32, {2, 3}, {}), b = make(DType::F32, {3, 2}, {});
  Result<Comparison> comparison = compare(a, b, {});
  ASSERT_FALSE(comparison);
  EXPECT_EQ(comparison.message(),
            "the result is 2x3xf32, the reference 3x2xf32; their shapes have "
            "to agree");
  Tolerance tolerance;
  tolerance.magnitude = &b;
  EXPECT_FALSE(compare(a, a, tolerance));
}

// Against sums written down plainly, over sizes that end blocks and ranges
// everywhere, dense and strided.
TEST(Compare, AgreesWithThePlainDefinition) {
  std::mt19937_64 random(getPropertySeed());
  std::normal_distribution<double> normal;
  for (int64_t n : {1, 7, 1023, 1024, 1025, 300000}) {
    for (DType type : {DType::F32, DType::F16, DType::F64}) {
      Result<Array> result = Array::allocate(type, {n, 2}, {3, 1}, 1);
      Result<Array> reference = Array::allocate(DType::F64, {n, 2});
      ASSERT_TRUE(result && reference);
      double errors = 0, squares = 0, largest = 0, ratio = 0;
      int64_t mismatches = 0;
      for (int64_t i = 0; i < 2 * n; ++i) {
        double wanted = normal(random);
        reference->setDouble(i, wanted);
        result->setDouble(i, wanted * (1 + 1e-3 * normal(random)));
        double error = std::fabs(result->getDouble(i) - wanted);
        errors += error * error;
        squares += wanted * wanted;
        largest = std::max(largest, error);
        ratio = std::max(ratio, error / std::fabs(wanted));
        mismatches += error > 1e-4 + 2.5e-3 * std::fabs(wanted);
      }
      Comparison comparison = judge(*result, *reference, {1e-4, 2.5e-3});
      EXPECT_NEAR(comparison.relativeNorm, std::sqrt(errors / squares), 1e-12);
      EXPECT_EQ(comparison.maxAbsolute, largest);
      EXPECT_EQ(comparison.maxRelative, ratio);
      EXPECT_EQ(comparison.numMismatches, mismatches);
      EXPECT_EQ(comparison.numElements, 2 * n);
    }
  }
}

// One wrong element among many is found, wherever it is.
TEST(Compare, FindsASingleWrongElement) {
  std::mt19937_64 random(getPropertySeed());
  Result<Array> result = Array::allocate(DType::F32, {1000, 700});
  Result<Array> reference = Array::allocate(DType::F64, {1000, 700});
  ASSERT_TRUE(result && reference);
  result->fill(1);
  reference->fill(1);
  for (int i = 0; i < 20; ++i) {
    int64_t at = int64_t(random() % 700000);
    result->setDouble(at, 1.01);
    Comparison comparison = judge(*result, *reference, {1e-3, 0});
    EXPECT_EQ(comparison.numMismatches, 1);
    EXPECT_EQ(comparison.first[0].coordinates, result->getCoordinates(at));
    EXPECT_EQ(comparison.maxAbsoluteAt, result->getCoordinates(at));
    EXPECT_LT(comparison.relativeNorm, 1e-4);
    result->setDouble(at, 1);
  }
}

TEST(Compare, CountsDifferentBits) {
  Array a = make(DType::F32, {2, 2}, {1, NAN, 0, 4});
  Result<Array> b = Array::allocate(DType::F32, {2, 2}, {1, 2}, 0);
  ASSERT_TRUE(b);
  const double values[] = {1, NAN, -0.0, 4};
  for (int i = 0; i < 4; ++i)
    b->setDouble(i, values[i]);
  Result<int64_t> count = countDifferentBits(a, *b);
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, 1);
  EXPECT_FALSE(countDifferentBits(a, make(DType::F16, {2, 2}, {})));
}
