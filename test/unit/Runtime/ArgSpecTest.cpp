//===- ArgSpecTest.cpp - Argument specifications --------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/ArgSpec.h"
#include "PropertySeed.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tile::runtime;

namespace {

/// n = 7, A is 100x30.
Result<Number> lookup(const std::string &name,
                      std::optional<int64_t> dimension) {
  if (name == "n" && !dimension)
    return Number(int64_t(7));
  if (name == "A" && dimension && *dimension < 2)
    return Number(int64_t(*dimension ? 30 : 100));
  return Error{"no " + name};
}

ArgSpec parse(const std::string &text) {
  Result<ArgSpec> spec = parseArgSpec(text);
  EXPECT_TRUE(spec) << spec.message();
  return spec ? *spec : ArgSpec(FileSpec{"failed"});
}

std::string getParseError(const std::string &text) {
  Result<ArgSpec> spec = parseArgSpec(text);
  EXPECT_FALSE(spec) << text << " parses as " << print(*spec);
  return spec ? "" : spec.message();
}

Result<Array> build(const std::string &text, uint64_t seed = 1,
                    std::string_view name = "Q") {
  ArgSpec spec = parse(text);
  const auto *array = std::get_if<ArraySpec>(&spec);
  if (!array)
    return Error{"not an array"};
  return buildArray(*array, lookup, seed, name);
}

std::string getBuildError(const std::string &text) {
  Result<Array> array = build(text);
  EXPECT_FALSE(array) << text;
  return array ? "" : array.message();
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(ArgSpec, PrintsTheCanonicalForm) {
  for (const char *text : {"randn:4096x4096xf16",
                           "randn(0,2):4xf32",
                           "uniform(-1,1):2x3xbf16",
                           "zeros:f32",
                           "ones:0xi1",
                           "full(0.5):3xf64",
                           "full(-inf):3xf16",
                           "full(nan):3xf16",
                           "iota:10xi32",
                           "empty:A[0]xB[1]xf32",
                           "randint(0,A[0]):(2*A[0]+1)x(n)xi64",
                           "values(0,5,12,20):4xi32",
                           "randn:100x50xf32:strides=64,1",
                           "randn:4xf32:offset=3",
                           "zeros:4x4xi4:strides=A[0],-1:offset=2*n",
                           "data/x.npy",
                           "a:b c.npy",
                           "3",
                           "-1.5",
                           "inf",
                           "A[0]",
                           "1/sqrt(Q[3])",
                           "n",
                           "1e-05",
                           "zeros:xs[0]xxs[1]xf8E4M3FN"})
    EXPECT_EQ(print(parse(text)), text);
  EXPECT_EQ(print(parse("randn( 0 , 1 ):(A[0])x(12)xf16")),
            "randn(0,1):A[0]x12xf16");
  EXPECT_EQ(print(parse("true")), "1");
  EXPECT_EQ(print(parse("zeros:007xf32")), "zeros:7xf32");
}

TEST(ArgSpec, PointsAtTheMistake) {
  EXPECT_EQ(getParseError("randn:4x4xf15"),
            "'f15' is no element type; there are f64, f32, f16, bf16, "
            "f8E4M3FN, f8E5M2, i64, i32, i16, i8, i4, i1\n"
            "  randn:4x4xf15\n"
            "            ^");
  EXPECT_EQ(getParseError("randm:4xf16"),
            "expected one of empty, zeros, ones, full, iota, uniform, randn, "
            "randint, values before ':'\n  randm:4xf16\n  ^");
  EXPECT_TRUE(contains(getParseError("zeros"), "as in zeros:4xf32"));
  EXPECT_TRUE(contains(getParseError("zeros(1):4xf32"), "no parameters"));
  EXPECT_TRUE(contains(getParseError("full:4xf32"), "full(0.5):4xf32"));
  EXPECT_TRUE(contains(getParseError("randn(1):4xf32"), "2 parameters"));
  EXPECT_TRUE(contains(getParseError("randint:4xi32"), "randint(0,10)"));
  EXPECT_TRUE(contains(getParseError("values():4xi32"), "found ')'"));
  EXPECT_TRUE(contains(getParseError("zeros:4x4"), "found the end"));
  EXPECT_TRUE(contains(getParseError("zeros:"), "an extent or an element"));
  EXPECT_TRUE(contains(getParseError("zeros:-4xf32"), "found '-'"));
  EXPECT_TRUE(contains(getParseError("zeros:4xxf32"), "'xf32' is no element"));
  EXPECT_TRUE(contains(getParseError("zeros:Nxf32"), "(N)x64xf16"));
  EXPECT_TRUE(contains(getParseError("zeros:A[b]xf32"), "dimension"));
  EXPECT_TRUE(contains(getParseError("zeros:A[0xf32"), "']'"));
  EXPECT_TRUE(contains(getParseError("zeros:A[0]*2xf32"), "expected 'x'"));
  EXPECT_TRUE(contains(getParseError("zeros:(2*A[0]xf32"), "')'"));
  EXPECT_TRUE(
      contains(getParseError("zeros:99999999999999999999xf32"), "63 bits"));
  EXPECT_TRUE(contains(getParseError("zeros:4xf32 "), "':strides='"));
  EXPECT_TRUE(contains(getParseError("zeros:4xf32:stride=1"), "strides="));
  EXPECT_TRUE(
      contains(getParseError("zeros:4x4xf32:strides=1"), "1 strides for 2"));
  EXPECT_TRUE(contains(getParseError("zeros:4xf32:offset=1:strides=1"),
                       "before the offset"));
  EXPECT_TRUE(
      contains(getParseError("zeros:4xf32:offset=1:offset=1"), "second"));
  EXPECT_TRUE(contains(getParseError("3 apples"), "scalar such as 3"));
  EXPECT_TRUE(contains(getParseError("x.npz"), "ends in .npy"));
  EXPECT_FALSE(getParseError("").empty());
}

TEST(ArgSpec, BuildsEveryContent) {
  Result<Array> full = build("full(1/4):2x2xf16");
  Result<Array> values = build("values(-1,2.5,inf,A[0]):4xf32");
  Result<Array> table = build("values(0,n,12):3xi32");
  Result<Array> integers = build("randint(-3,4):1000xi4");
  Result<Array> uniform = build("uniform(2,3):1000xf64");
  Result<Array> iota = build("iota:2x3xi32");
  Result<Array> extents = build("ones:(2*A[0]+1)xA[1]xf32");
  ASSERT_TRUE(full && values && table && integers && uniform && iota &&
              extents);
  EXPECT_EQ(full->getDouble(3), 0.25);
  EXPECT_EQ(values->getDouble(1), 2.5);
  EXPECT_EQ(values->getDouble(2), INFINITY);
  EXPECT_EQ(values->getDouble(3), 100);
  EXPECT_EQ(table->getInt(1), 7);
  EXPECT_EQ(iota->getInt(4), 4);
  EXPECT_EQ(extents->getShape(), Shape({201, 30}));
  EXPECT_EQ(extents->getDouble(6029), 1);
  bool seen[7] = {};
  for (int64_t i = 0; i < 1000; ++i) {
    int64_t integer = integers->getInt(i);
    ASSERT_TRUE(integer >= -3 && integer < 4);
    seen[integer + 3] = true;
    ASSERT_TRUE(uniform->getDouble(i) >= 2 && uniform->getDouble(i) < 3);
  }
  for (bool one : seen)
    EXPECT_TRUE(one);
}

TEST(ArgSpec, StridesChangeWhereAndNotWhat) {
  Result<Array> dense = build("randn:20x7xf32");
  Result<Array> strided = build("randn:20x7xf32:strides=16,2:offset=3");
  ASSERT_TRUE(dense && strided);
  EXPECT_EQ(strided->getStrides(), Shape({16, 2}));
  EXPECT_EQ(strided->getOffset(), 3);
  for (int64_t i = 0; i < 140; ++i)
    ASSERT_EQ(dense->getDouble(i), strided->getDouble(i));
  EXPECT_EQ(static_cast<float *>(strided->data())[4], 0) << "a gap";
}

TEST(ArgSpec, SaysWhyAnArrayCannotBe) {
  EXPECT_TRUE(contains(getBuildError("full(300):4xi8"), "outside of i8"));
  EXPECT_TRUE(contains(getBuildError("full(1.5):4xi8"), "integer"));
  EXPECT_TRUE(contains(getBuildError("full(nan):4xi32"), "integer"));
  EXPECT_TRUE(contains(getBuildError("randint(0,1000):4xi8"), "up to 999"));
  EXPECT_TRUE(contains(getBuildError("randint(4,4):4xi8"), "no integers"));
  EXPECT_TRUE(contains(getBuildError("values(1,2):3xi32"), "2 values"));
  EXPECT_TRUE(contains(getBuildError("zeros:(n-8)xf32"), "negative"));
  EXPECT_TRUE(contains(getBuildError("zeros:(1/0)xf32"), "division by zero"));
  EXPECT_TRUE(contains(getBuildError("zeros:B[0]xf32"), "no B"));
  EXPECT_TRUE(contains(getBuildError("zeros:4xf32:strides=-1"), "offset"));
  EXPECT_TRUE(
      contains(getBuildError("zeros:9000000000x9000000000xf32"), "too large"));
}

TEST(ArgSpec, ScalarsTakeTheTypeOfTheArgument) {
  auto value = [](const char *text, DType type) {
    ArgSpec spec = parse(text);
    return buildScalar(*std::get_if<ScalarSpec>(&spec), type, lookup);
  };
  EXPECT_EQ(value("1/8", DType::F32)->getDouble(0), 0.125);
  EXPECT_EQ(value("n/2", DType::I64)->getInt(0), 3);
  EXPECT_EQ(value("9223372036854775807", DType::I64)->getInt(0), INT64_MAX);
  EXPECT_EQ(value("0.1", DType::F16)->getDouble(0), 0.0999755859375);
  EXPECT_EQ(value("true", DType::I1)->getInt(0), 1);
  EXPECT_EQ(value("-inf", DType::BF16)->getDouble(0), -INFINITY);
  EXPECT_FALSE(value("1.5", DType::I32));
  EXPECT_FALSE(value("2", DType::I1));
  EXPECT_FALSE(value("3000000000", DType::I32));
}

// Any damage to a specification gives another one or an error with a caret.
TEST(ArgSpec, SurvivesMutation) {
  std::mt19937_64 random(getPropertySeed());
  const std::string seeds[] = {"randn(0,1):(2*A[0])x64xf16:strides=64,1",
                               "values(0,5,12,20):4xi32:offset=3",
                               "ceildiv(A[0],max(n,3))*-1.5e3"};
  const std::string letters = "()[]:,xX*/%+-.0129eEAnf \xc2\xb5\n";
  for (int i = 0; i < 20000; ++i) {
    std::string text = seeds[i % 3];
    for (uint64_t n = random() % 4 + 1; n > 0 && !text.empty(); --n) {
      size_t at = random() % text.size();
      char letter = letters[random() % letters.size()];
      switch (random() % 3) {
      case 0:
        text[at] = letter;
        break;
      case 1:
        text.insert(at, 1, letter);
        break;
      default:
        text.erase(at, random() % 3 + 1);
      }
    }
    Result<ArgSpec> spec = parseArgSpec(text);
    if (!spec) {
      ASSERT_TRUE(contains(spec.message(), "^")) << text;
      continue;
    }
    Result<ArgSpec> again = parseArgSpec(print(*spec));
    ASSERT_TRUE(again) << text << " printed as " << print(*spec);
    ASSERT_EQ(print(*again), print(*spec));
  }
}
