//===- DTypeTest.cpp - Element types, exhaustively ------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Narrow floats are checked against the definition of their formats: every code
// is decoded by the formula, and every gap between neighbours is rounded at its
// middle and on both sides of it.
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/DType.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace tile::runtime;

namespace {

struct Format {
  DType type;
  int exponentBits, mantissaBits;
  bool hasInfinity;
};

const Format formats[] = {{DType::F16, 5, 10, true},
                          {DType::BF16, 8, 7, true},
                          {DType::F8E4M3FN, 4, 3, false},
                          {DType::F8E5M2, 5, 2, true}};

/// The value of a code without its sign, by the definition.
double decodeByDefinition(const Format &format, int code) {
  int exponent = code >> format.mantissaBits;
  int mantissa = code & ((1 << format.mantissaBits) - 1);
  int top = (1 << format.exponentBits) - 1;
  int bias = top / 2;
  if (exponent == top && format.hasInfinity)
    return mantissa ? NAN : INFINITY;
  if (exponent == top && mantissa == (1 << format.mantissaBits) - 1)
    return NAN;
  if (exponent == 0)
    return std::ldexp(mantissa, 1 - bias - format.mantissaBits);
  return std::ldexp(mantissa + (1 << format.mantissaBits),
                    exponent - bias - format.mantissaBits);
}

class NarrowFloat : public testing::TestWithParam<Format> {};

} // namespace

TEST_P(NarrowFloat, DecodesEveryCode) {
  const Format &format = GetParam();
  int sign = 1 << (format.exponentBits + format.mantissaBits);
  for (int code = 0; code < sign; ++code) {
    double expected = decodeByDefinition(format, code);
    double positive = decode(format.type, uint64_t(code));
    double negative = decode(format.type, uint64_t(code | sign));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(positive) && std::isnan(negative)) << code;
      EXPECT_TRUE(
          std::isnan(decode(format.type, encode(format.type, positive))));
      continue;
    }
    ASSERT_EQ(positive, expected) << code;
    ASSERT_EQ(negative, -expected) << code;
    EXPECT_TRUE(std::signbit(negative)) << code;
    ASSERT_EQ(encode(format.type, positive), uint64_t(code));
    ASSERT_EQ(encode(format.type, negative), uint64_t(code | sign));
  }
}

TEST_P(NarrowFloat, RoundsToNearestEven) {
  const Format &format = GetParam();
  int last = 0;
  while (std::isfinite(decodeByDefinition(format, last + 1)))
    ++last;
  int sign = 1 << (format.exponentBits + format.mantissaBits);
  for (int code = 0; code < last; ++code) {
    double low = decodeByDefinition(format, code);
    double high = decodeByDefinition(format, code + 1);
    double middle = low + (high - low) / 2;
    int even = code & 1 ? code + 1 : code;
    ASSERT_EQ(encode(format.type, middle), uint64_t(even)) << code;
    ASSERT_EQ(encode(format.type, -middle), uint64_t(even | sign)) << code;
    ASSERT_EQ(encode(format.type, std::nextafter(middle, 0)), uint64_t(code));
    ASSERT_EQ(encode(format.type, std::nextafter(middle, INFINITY)),
              uint64_t(code + 1));
  }
}

TEST_P(NarrowFloat, OverflowsAtTheMiddleOfTheStepBeyondTheLargest) {
  const Format &format = GetParam();
  double largest = getMaxFinite(format.type);
  uint64_t code = encode(format.type, largest);
  EXPECT_EQ(decode(format.type, code), largest);
  EXPECT_FALSE(std::isfinite(decode(format.type, code + 1)));
  // The value that would follow, had the exponent no end.
  double step = largest - decode(format.type, code - 1);
  double tie = largest + step / 2;
  // The tie goes to the even neighbour: the largest of f8E4M3FN ends in 0.
  bool keepsTie = (code & 1) == 0;
  double atTie = decode(format.type, encode(format.type, tie));
  EXPECT_EQ(atTie == largest, keepsTie);
  EXPECT_EQ(encode(format.type, std::nextafter(tie, 0)), code);
  double beyond =
      decode(format.type, encode(format.type, std::nextafter(tie, INFINITY)));
  EXPECT_EQ(std::isinf(beyond), format.hasInfinity);
  EXPECT_EQ(std::isnan(beyond), !format.hasInfinity);
  for (double huge : {tie * 2, 1e300, double(INFINITY)}) {
    EXPECT_EQ(encode(format.type, huge, Overflow::Saturate), code);
    EXPECT_EQ(
        decode(format.type, encode(format.type, -huge, Overflow::Saturate)),
        -largest);
  }
  EXPECT_TRUE(std::isnan(
      decode(format.type, encode(format.type, NAN, Overflow::Saturate))));
  EXPECT_EQ(getEpsilon(format.type), std::ldexp(1, -format.mantissaBits));
}

INSTANTIATE_TEST_SUITE_P(All, NarrowFloat, testing::ValuesIn(formats),
                         [](const auto &info) {
                           return std::string(getName(info.param.type));
                         });

TEST(DType, NamesAreThoseOfMLIR) {
  for (unsigned i = 0; i < numDTypes; ++i) {
    DType type = DType(i);
    EXPECT_EQ(parseDType(getName(type)), type);
    EXPECT_NE(getDTypeNames().find(getName(type)), std::string_view::npos);
  }
  EXPECT_FALSE(parseDType("float"));
  EXPECT_FALSE(parseDType("F16"));
  EXPECT_FALSE(parseDType(""));
}

TEST(DType, IntegersRoundAndSaturate) {
  EXPECT_EQ(decode(DType::I8, encode(DType::I8, 2.5)), 2);
  EXPECT_EQ(decode(DType::I8, encode(DType::I8, 3.5)), 4);
  EXPECT_EQ(decode(DType::I8, encode(DType::I8, -2.5)), -2);
  EXPECT_EQ(decode(DType::I8, encode(DType::I8, 0.49999999999999994)), 0);
  EXPECT_EQ(decode(DType::I8, encode(DType::I8, 1000)), 127);
  EXPECT_EQ(decode(DType::I8, encode(DType::I8, -INFINITY)), -128);
  EXPECT_EQ(decode(DType::I8, encode(DType::I8, NAN)), 0);
  EXPECT_EQ(decode(DType::I4, encode(DType::I4, -9)), -8);
  EXPECT_EQ(decode(DType::I4, encode(DType::I4, 9)), 7);
  EXPECT_EQ(decode(DType::I1, encode(DType::I1, 0.25)), 1);
  EXPECT_EQ(decode(DType::I1, encode(DType::I1, -0.0)), 0);
  EXPECT_EQ(decodeInt(DType::I64, encode(DType::I64, 1e19)), INT64_MAX);
  EXPECT_EQ(decodeInt(DType::I64, encode(DType::I64, -1e19)), INT64_MIN);
  EXPECT_EQ(decodeInt(DType::F32, encode(DType::F32, -2.75)), -2);
  EXPECT_EQ(decodeInt(DType::F64, encode(DType::F64, INFINITY)), INT64_MAX);
}

// A first rounding to double would make a tie of what is above one.
TEST(DType, LargeIntegersRoundOnce) {
  int64_t aboveTie = (int64_t(1) << 62) + (int64_t(1) << 54) + 1;
  double nextBF16 = std::ldexp(129, 55);
  EXPECT_EQ(decode(DType::BF16, encodeInt(DType::BF16, aboveTie)), nextBF16);
  EXPECT_EQ(decode(DType::BF16, encodeInt(DType::BF16, -aboveTie)), -nextBF16);
  EXPECT_EQ(decode(DType::BF16, encodeInt(DType::BF16, aboveTie - 1)),
            std::ldexp(1, 62));
  EXPECT_EQ(decode(DType::F16, encodeInt(DType::F16, INT64_MIN)), -INFINITY);
  EXPECT_EQ(decode(DType::F16, encodeInt(DType::F16, 2049)), 2048);
  EXPECT_EQ(decode(DType::F32, encodeInt(DType::F32, aboveTie)),
            double(float(aboveTie)));
}

TEST(DType, PackedElementsKeepTheirNeighbours) {
  uint8_t bytes[2] = {0, 0};
  for (int i = 0; i < 4; ++i)
    storeBits(DType::I4, bytes, i, uint64_t(i + 5));
  EXPECT_EQ(bytes[0], 0x65);
  EXPECT_EQ(bytes[1], 0x87);
  storeBits(DType::I4, bytes, 1, 0xF);
  EXPECT_EQ(bytes[0], 0xF5);
  EXPECT_EQ(decodeInt(DType::I4, loadBits(DType::I4, bytes, 1)), -1);
}

TEST(DType, RowsAgreeWithElements) {
  for (unsigned t = 0; t < numDTypes; ++t) {
    DType type = DType(t);
    for (int64_t stride : {1, 3}) {
      std::vector<double> values, back(41);
      for (int i = 0; i < 41; ++i)
        values.push_back(i * 1.25 - 20);
      for (Overflow overflow : {Overflow::ToInfinity, Overflow::Saturate}) {
        std::vector<uint64_t> row(200), single(200);
        encodeRow(type, values.data(), 41, row.data(), 5, stride, overflow);
        for (int i = 0; i < 41; ++i)
          storeBits(type, single.data(), 5 + i * stride,
                    encode(type, values[size_t(i)], overflow));
        EXPECT_EQ(row, single) << getName(type);
        decodeRow(type, row.data(), 5, stride, 41, back.data());
        for (int i = 0; i < 41; ++i)
          EXPECT_EQ(back[size_t(i)],
                    decode(type, loadBits(type, row.data(), 5 + i * stride)));
      }
    }
  }
}
