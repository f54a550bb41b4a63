//===- ExprTest.cpp - Expressions -----------------------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Expr.h"
#include "PropertySeed.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tile::runtime;

namespace {

/// n = 7, x = 0.5, A has extents 100 and 30.
Result<Number> lookup(const std::string &name,
                      std::optional<int64_t> dimension) {
  if (name == "n" && !dimension)
    return Number(int64_t(7));
  if (name == "x" && !dimension)
    return Number(0.5);
  if (name == "A" && dimension && *dimension < 2)
    return Number(int64_t(*dimension ? 30 : 100));
  return Error{"no " + name};
}

int64_t evaluateInt(const char *text) {
  Result<Expr> expr = Expr::parse(text);
  EXPECT_TRUE(expr) << expr.message();
  Result<int64_t> value = expr->evaluateInt(lookup);
  EXPECT_TRUE(value) << value.message();
  return value ? *value : -9999;
}

double evaluate(const char *text) {
  Result<Expr> expr = Expr::parse(text);
  EXPECT_TRUE(expr) << expr.message();
  Result<double> value = expr->evaluate(lookup);
  EXPECT_TRUE(value) << value.message();
  return value ? *value : NAN;
}

std::string getParseError(const std::string &text) {
  Result<Expr> expr = Expr::parse(text);
  EXPECT_FALSE(expr) << text << " parses as " << expr->print();
  return expr ? "" : expr.message();
}

std::string getValueError(const char *text) {
  Result<Expr> expr = Expr::parse(text);
  EXPECT_TRUE(expr) << expr.message();
  Result<int64_t> value = expr->evaluateInt(lookup);
  EXPECT_FALSE(value) << text << " is " << *value;
  return value ? "" : value.message();
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(Expr, EvaluatesIntegers) {
  EXPECT_EQ(evaluateInt("1+2*3"), 7);
  EXPECT_EQ(evaluateInt("(1 + 2) * 3"), 9);
  EXPECT_EQ(evaluateInt("10-3-2"), 5);
  EXPECT_EQ(evaluateInt("2*A[0]-A[1]"), 170);
  EXPECT_EQ(evaluateInt("ceildiv(A[0], 64)*64"), 128);
  EXPECT_EQ(evaluateInt("min(n,3)+max(n,3)"), 10);
  EXPECT_EQ(evaluateInt("--n"), 7);
  EXPECT_EQ(evaluateInt("true+true+false"), 2);
}

TEST(Expr, DividesTowardMinusInfinity) {
  for (int a = -9; a <= 9; ++a)
    for (int b = -4; b <= 4; ++b) {
      if (b == 0)
        continue;
      std::string pair = "(" + std::to_string(a) + ")";
      std::string divisor = "(" + std::to_string(b) + ")";
      int64_t floor = int64_t(std::floor(double(a) / b));
      EXPECT_EQ(evaluateInt((pair + "/" + divisor).c_str()), floor);
      EXPECT_EQ(evaluateInt(("floordiv(" + pair + "," + divisor + ")").c_str()),
                floor);
      EXPECT_EQ(evaluateInt((pair + "%" + divisor).c_str()), a - floor * b);
      EXPECT_EQ(evaluateInt(("ceildiv(" + pair + "," + divisor + ")").c_str()),
                int64_t(std::ceil(double(a) / b)));
      EXPECT_EQ(evaluate((pair + "%" + divisor).c_str()), a - floor * b);
    }
}

TEST(Expr, EvaluatesReals) {
  EXPECT_EQ(evaluate("1/8"), 0.125);
  EXPECT_EQ(evaluate("1/sqrt(A[0])"), 0.1);
  EXPECT_EQ(evaluate("x*n"), 3.5);
  EXPECT_EQ(evaluate("floordiv(n,2)+ceildiv(n,2)"), 7);
  EXPECT_EQ(evaluate("-inf"), -INFINITY);
  EXPECT_TRUE(std::isnan(evaluate("nan")));
  EXPECT_EQ(evaluate("1e-5"), 1e-5);
  EXPECT_EQ(evaluate(".5+2."), 2.5);
  EXPECT_EQ(evaluate("A[0]*A[0]*A[0]*A[0]*A[0]*A[0]*A[0]*A[0]*A[0]*A[0]"),
            1e20);
}

TEST(Expr, OverflowIsAnError) {
  EXPECT_EQ(evaluateInt("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(evaluateInt("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(evaluateInt("(-9223372036854775808)%-1"), 0);
  for (const char *text :
       {"9223372036854775807+1", "-9223372036854775808-1",
        "4611686018427387904*2", "-(-9223372036854775808)",
        "(-9223372036854775808)/-1", "ceildiv(-9223372036854775808,-1)"})
    EXPECT_TRUE(contains(getValueError(text), "does not fit in 64 bits"));
  EXPECT_TRUE(contains(getParseError("9223372036854775808"), "64 bits"));
  EXPECT_TRUE(contains(getParseError("1e999"), "double"));
}

TEST(Expr, SaysWhatFailed) {
  EXPECT_TRUE(contains(getValueError("n/(A[0]-100)"),
                       "division by zero: 'A[0]-100' in 'n/(A[0]-100)' is 0"));
  EXPECT_TRUE(contains(getValueError("n%0"), "division by zero"));
  EXPECT_TRUE(contains(getValueError("x"), "'x' is 0.5"));
  EXPECT_TRUE(contains(getValueError("1.5"), "an integer is needed"));
  EXPECT_TRUE(contains(getValueError("sqrt(4)"), "an integer is needed"));
  EXPECT_TRUE(contains(getValueError("nan"), "an integer is needed"));
  EXPECT_EQ(evaluateInt("2.0"), 2);
}

TEST(Expr, ShowsThePlaceOfAnError) {
  EXPECT_EQ(getParseError("1+*2"),
            "expected a number, a name or '(', found '*'\n  1+*2\n    ^");
  EXPECT_EQ(getParseError("min(1)"),
            "expected ',', found ')'\n  min(1)\n       ^");
  EXPECT_TRUE(contains(getParseError("pow(1,2)"), "unknown function 'pow'"));
  EXPECT_TRUE(contains(getParseError("A[]"), "number of a dimension"));
  EXPECT_TRUE(contains(getParseError("A[0"), "']'"));
  EXPECT_TRUE(contains(getParseError(""), "found the end"));
  EXPECT_TRUE(contains(getParseError("1 2"), "expected an operator"));
  EXPECT_TRUE(contains(getParseError("A[99999999999999999999]"), "dimension"));
}

TEST(Expr, RefusesDeepNesting) {
  std::string parentheses(100000, '('), minuses(100000, '-'), sum = "1";
  for (int i = 0; i < 100000; ++i)
    sum += "+1";
  for (const std::string &text : {parentheses, minuses + "n", sum})
    EXPECT_TRUE(contains(getParseError(text), "deep"));
}

TEST(Expr, ListsNamesOnce) {
  Result<Expr> expr = Expr::parse("B[1]*A[0]+n*A[1]");
  ASSERT_TRUE(expr);
  EXPECT_EQ(expr->getNames(), std::vector<std::string>({"A", "B", "n"}));
}

// What is printed parses to the same tree, for random trees of every kind.
TEST(Expr, PrintsWhatItParses) {
  std::mt19937_64 random(getPropertySeed());
  auto pick = [&](int count) { return int(random() % uint64_t(count)); };
  std::function<Expr(int)> make = [&](int depth) -> Expr {
    switch (depth > 0 ? pick(6) : pick(3)) {
    case 0: {
      const Number constants[] = {
          int64_t(0), int64_t(-3), int64_t(42), 2.0,         -0.75, 1e30,
          INT64_MIN,  INFINITY,    -INFINITY,   double(NAN), -0.0,  1e-300};
      return Expr::constant(constants[pick(12)]);
    }
    case 1:
      return Expr::scalar(pick(2) ? "n" : "long_name1");
    case 2:
      return Expr::extent("A", pick(3));
    case 3:
      return *Expr::unary(pick(4) ? Expr::Kind::Negate : Expr::Kind::SquareRoot,
                          make(depth - 1));
    default: {
      int kinds = int(Expr::Kind::Maximum) - int(Expr::Kind::Add) + 1;
      auto kind = Expr::Kind(int(Expr::Kind::Add) + pick(kinds));
      Expr left = make(depth - 1);
      return *Expr::binary(kind, left, make(depth - 1));
    }
    }
  };
  for (int i = 0; i < 3000; ++i) {
    Expr expr = make(pick(6));
    Result<Expr> again = Expr::parse(expr.print());
    ASSERT_TRUE(again) << expr.print() << "\n" << again.message();
    ASSERT_EQ(*again, expr) << expr.print() << " became " << again->print();
    ASSERT_EQ(again->print(), expr.print());
  }
}
