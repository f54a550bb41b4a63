//===- ArgumentsTest.cpp - Arguments that refer to each other -------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Arguments.h"

#include <gtest/gtest.h>

using namespace tile::runtime;

namespace {

ArgumentRequest request(const char *name, const char *spec, DType type,
                        std::optional<Shape> shape) {
  Result<ArgSpec> parsed = parseArgSpec(spec);
  EXPECT_TRUE(parsed) << parsed.message();
  return {name, *parsed, {type, std::move(shape)}};
}

std::string getError(const std::vector<ArgumentRequest> &requests) {
  Result<std::vector<Argument>> arguments = bindArguments(requests, 1);
  EXPECT_FALSE(arguments);
  return arguments ? "" : arguments.message();
}

const Shape matrix = {-1, -1};

} // namespace

TEST(Arguments, BindInAnyOrder) {
  Result<std::vector<Argument>> arguments =
      bindArguments({request("C", "empty:A[0]xB[1]xf32", DType::F32, matrix),
                     request("B", "randn:A[1]x(n)xf16", DType::F16, matrix),
                     request("A", "randn:5x(2*n)xf16", DType::F16, matrix),
                     request("n", "3", DType::I64, std::nullopt),
                     request("scale", "1/sqrt(n+1)", DType::F32, std::nullopt)},
                    42);
  ASSERT_TRUE(arguments) << arguments.message();
  EXPECT_EQ((*arguments)[0].name, "C");
  EXPECT_EQ((*arguments)[0].value.formatType(), "5x3xf32");
  EXPECT_EQ((*arguments)[1].value.formatType(), "6x3xf16");
  EXPECT_TRUE((*arguments)[3].isScalar);
  EXPECT_EQ((*arguments)[4].value.getDouble(0), 0.5);

  Result<Expr> cost = Expr::parse("2*A[0]*A[1]*B[1]/scale");
  ASSERT_TRUE(cost);
  Result<double> flops = cost->evaluate(makeLookup(*arguments));
  ASSERT_TRUE(flops);
  EXPECT_EQ(*flops, 360);
}

// One more argument, or another order, leaves an argument's numbers alone.
TEST(Arguments, KeepTheirRandomStreams) {
  ArgumentRequest a = request("A", "randn:8x8xf32", DType::F32, matrix);
  ArgumentRequest b = request("B", "randn:8x8xf32", DType::F32, matrix);
  Result<std::vector<Argument>> one = bindArguments({a}, 7);
  Result<std::vector<Argument>> two = bindArguments({b, a}, 7);
  Result<std::vector<Argument>> other = bindArguments({a}, 8);
  ASSERT_TRUE(one && two && other);
  const Array &first = (*one)[0].value;
  int sameName = 0, sameSeed = 0, otherSeed = 0;
  for (int64_t i = 0; i < 64; ++i) {
    sameName += first.getDouble(i) == (*two)[1].value.getDouble(i);
    sameSeed += first.getDouble(i) == (*two)[0].value.getDouble(i);
    otherSeed += first.getDouble(i) == (*other)[0].value.getDouble(i);
  }
  EXPECT_EQ(sameName, 64);
  EXPECT_EQ(sameSeed, 0);
  EXPECT_EQ(otherSeed, 0);
}

TEST(Arguments, ErrorsNameTheArgument) {
  EXPECT_EQ(getError({request("A", "zeros:B[0]xf32", DType::F32, Shape{-1})}),
            "argument 'A': there is no argument 'B'; there are: A");
  EXPECT_EQ(
      getError({request("A", "zeros:B[0]xf32", DType::F32, Shape{-1}),
                request("B", "zeros:C[0]xf32", DType::F32, Shape{-1}),
                request("C", "zeros:B[0]xf32", DType::F32, Shape{-1})}),
      "arguments refer to each other in a circle: 'B' needs 'C' needs 'B'");
  EXPECT_EQ(getError({request("A", "zeros:4xf32", DType::F16, Shape{-1})}),
            "argument 'A': the program takes ?xf16, this is 4xf32");
  EXPECT_EQ(getError({request("A", "zeros:4xf32", DType::F32, Shape{8})}),
            "argument 'A': the program takes 8xf32, this is 4xf32");
  EXPECT_EQ(getError({request("A", "zeros:4xf32", DType::F32, matrix)}),
            "argument 'A': the program takes ?x?xf32, this is 4xf32");
  EXPECT_EQ(getError({request("n", "zeros:4xf32", DType::F32, std::nullopt)}),
            "argument 'n': the program takes a scalar f32, 'zeros:4xf32' is "
            "an array");
  EXPECT_NE(
      getError({request("A", "3", DType::F32, matrix)}).find("'3' is a scalar"),
      std::string::npos);
  EXPECT_EQ(getError({request("A", "zeros:4xf32", DType::F32, Shape{4}),
                      request("n", "A", DType::I64, std::nullopt)}),
            "argument 'n': 'A' is an array; its extents are A[0] and so on");
  EXPECT_EQ(getError({request("A", "zeros:4xf32", DType::F32, Shape{4}),
                      request("n", "A[1]", DType::I64, std::nullopt)}),
            "argument 'n': there is no A[1]: 'A' is 4xf32, of rank 1");
  EXPECT_EQ(getError({request("m", "1", DType::I64, std::nullopt),
                      request("n", "m[0]", DType::I64, std::nullopt)}),
            "argument 'n': 'm' is a scalar and has no extents");
  EXPECT_EQ(getError({request("A", "1", DType::I64, std::nullopt),
                      request("A", "1", DType::I64, std::nullopt)}),
            "two arguments are called 'A'");
  EXPECT_NE(getError({request("A", "no/such.npy", DType::F32, matrix)})
                .find("argument 'A': 'no/such.npy': cannot be opened"),
            std::string::npos);
}
