//===- AlgebraTest.cpp - The layout algebra against brute force -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operation over every small layout, extents of 3 and 5 included: where
// it answers, the answer is compared with the definition; where it fails, a
// search that shares no code with it confirms that there is no answer.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include "gtest/gtest.h"

#include <map>
#include <numeric>
#include <set>

using namespace tile::layout;
using namespace tile::layout::test;

static std::vector<Layout> smallLayouts() {
  std::vector<Layout> all = allLayouts(1, {1, 2, 3, 4, 6}, {0, 1, 2, 3, 4});
  for (const Layout &layout : allLayouts(2, {1, 2, 3, 4}, {0, 1, 2, 3, 4, 6}))
    all.push_back(layout);
  for (const Layout &layout : allLayouts(3, {2, 3}, {1, 2, 4, 5, 6}))
    all.push_back(layout);
  return all;
}

//===----------------------------------------------------------------------===//
// Normal form
//===----------------------------------------------------------------------===//

TEST(Coalesce, KeepsTheFunctionAndIsUnique) {
  std::map<std::vector<int64_t>, Layout> normal;
  for (const Layout &layout : smallLayouts()) {
    const Layout merged = coalesce(layout);
    const std::vector<int64_t> values = valuesOf(layout);
    EXPECT_EQ(valuesOf(merged), values) << layout.str();
    EXPECT_EQ(valuesOf(flatten(layout)), values) << layout.str();
    auto [known, isNew] = normal.try_emplace(values, merged);
    EXPECT_EQ(known->second, merged) << layout.str();
    EXPECT_EQ(Layout::fromValues(values), merged) << layout.str();
  }
}

TEST(Coalesce, ByModeKeepsTheRank) {
  const Layout layout = *Layout::parse("((2,3),(1,4),5):((1,2),(7,6),24)");
  EXPECT_EQ(coalesceModes(layout).str(), "(6,4,5):(1,6,24)");
  EXPECT_EQ(coalesce(layout).str(), "120:1");
}

TEST(FromValues, FindsNothingWhereThereIsNothing) {
  EXPECT_FALSE(Layout::fromValues({0, 1, 3}));
  EXPECT_FALSE(Layout::fromValues({1, 2, 3}));
  EXPECT_FALSE(Layout::fromValues({0, 1, 5, 7}));
  EXPECT_EQ(Layout::fromValues({0, 1, 5, 6, 10, 11})->str(), "(2,3):(1,5)");
}

TEST(Evaluate, NestedCoordinatesAgreeWithIndices) {
  const Layout layout = *Layout::parse("(4,(2,3)):(1,(8,4))");
  int64_t index = 0;
  for (int64_t c = 0; c < 3; ++c)
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t a = 0; a < 4; ++a, ++index) {
        EXPECT_EQ(layout(index), a + 8 * b + 4 * c);
        EXPECT_EQ(layout(IntTuple{a, IntTuple{b, c}}), a + 8 * b + 4 * c);
        EXPECT_EQ(layout(IntTuple{a, b + 2 * c}), a + 8 * b + 4 * c);
      }
  EXPECT_EQ(layout.size(), 24);
  EXPECT_EQ(layout.cosize(), 20);
  EXPECT_EQ(layout.rank(), 2);
  EXPECT_EQ(layout.depth(), 2);
}

//===----------------------------------------------------------------------===//
// Composition
//===----------------------------------------------------------------------===//

/// All ways to write n as an ordered product of factors above 1.
static void factorizations(int64_t n, std::vector<int64_t> &prefix,
                           std::vector<std::vector<int64_t>> &into) {
  if (n == 1)
    into.push_back(prefix);
  for (int64_t factor = 2; factor <= n; ++factor)
    if (n % factor == 0) {
      prefix.push_back(factor);
      factorizations(n / factor, prefix, into);
      prefix.pop_back();
    }
}

/// Whether some layout that refines the leaves of b has these values. Its
/// strides can only be the values at the first step of each digit.
static bool someLayoutHas(const Layout &b, const std::vector<int64_t> &values) {
  std::vector<std::vector<int64_t>> shapes{{}};
  for (int64_t extent : b.shape().leaves()) {
    std::vector<std::vector<int64_t>> factors, longer;
    std::vector<int64_t> prefix;
    factorizations(extent, prefix, factors);
    for (const std::vector<int64_t> &shape : shapes)
      for (const std::vector<int64_t> &more : factors) {
        longer.push_back(shape);
        longer.back().insert(longer.back().end(), more.begin(), more.end());
      }
    shapes = std::move(longer);
  }
  for (const std::vector<int64_t> &shape : shapes) {
    std::vector<IntTuple> extents, strides;
    int64_t step = 1;
    for (int64_t extent : shape) {
      extents.push_back(extent);
      strides.push_back(values[step]);
      step *= extent;
    }
    if (valuesOf(Layout(std::move(extents), std::move(strides))) == values)
      return true;
  }
  return false;
}

TEST(Composition, IsRightWhereItAnswersAndExactWhereItFails) {
  std::vector<Layout> outer = allLayouts(2, {2, 3, 4}, {1, 2, 3, 5});
  for (const Layout &layout : allLayouts(3, {2, 3}, {1, 3, 4}))
    outer.push_back(layout);
  outer.push_back(Layout(24, 1));
  std::vector<Layout> inner = allLayouts(1, {1, 2, 3, 4, 6}, {0, 1, 2, 3, 5});
  for (const Layout &layout : allLayouts(2, {2, 3, 4}, {0, 1, 2, 3, 4}))
    inner.push_back(layout);
  int64_t answered = 0, failed = 0;
  for (const Layout &a : outer)
    for (const Layout &b : inner) {
      const Expected<Layout> c = composition(a, b);
      if (b.cosize() > a.size()) {
        EXPECT_FALSE(c) << a.str() << " o " << b.str();
        continue;
      }
      std::vector<int64_t> values;
      for (int64_t i = 0; i < b.size(); ++i)
        values.push_back(a(b(i)));
      if (c) {
        ++answered;
        EXPECT_EQ(valuesOf(*c), values) << a.str() << " o " << b.str();
        ASSERT_EQ(c->rank(), b.rank());
        for (int64_t mode = 0; mode < b.rank(); ++mode)
          EXPECT_EQ(c->mode(mode).size(), b.mode(mode).size());
      } else {
        ++failed;
        EXPECT_FALSE(c.reason().empty());
        EXPECT_FALSE(someLayoutHas(b, values))
            << a.str() << " o " << b.str() << ": " << c.reason();
      }
    }
  // Both paths were taken, and often.
  EXPECT_GT(answered, 1000);
  EXPECT_GT(failed, 1000);
}

TEST(Composition, SaysWhatWentWrong) {
  auto reason = [](const char *a, const char *b) {
    return composition(*Layout::parse(a), *Layout::parse(b)).reason();
  };
  EXPECT_EQ(reason("(4,4):(1,8)", "3:3"),
            "mode 3:3 does not step evenly through the modes of (4,4):(1,8)");
  EXPECT_EQ(reason("8:1", "3:4"),
            "3:4 reaches 8, outside the domain of 8:1, which has 8 elements");
  EXPECT_EQ(reason("8:1", "2:-1"),
            "2:-1 has a negative stride, which leaves the "
            "domain of the outer layout");
}

TEST(Composition, HandlesHugeDenseLayouts) {
  const Layout huge = Layout::columnMajor({int64_t(1) << 29, int64_t(1) << 29});
  EXPECT_EQ(composition(huge, *Layout::parse("(4,8):(1,1073741824)"))->str(),
            "(4,8):(1,1073741824)");
}

TEST(Composition, IsAssociative) {
  std::mt19937_64 random = seededGenerator();
  for (int round = 0; round < 300; ++round) {
    const Layout a = randomDense(random, 4);
    const int64_t n = a.size();
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= n; ++d)
      if (n % d == 0)
        divisors.push_back(d);
    auto divisor = [&] {
      return divisors[pick(random, 0, int64_t(divisors.size()) - 1)];
    };
    const int64_t first = divisor(), second = divisor();
    const Layout b({first, n / first}, {n / first, 1});
    const Layout c({second, n / second}, {n / second, 1});
    Expected<Layout> ab = composition(a, b), bc = composition(b, c);
    if (!ab || !bc)
      continue;
    Expected<Layout> left = composition(*ab, c), right = composition(a, *bc);
    if (left && right) {
      EXPECT_EQ(valuesOf(*left), valuesOf(*right))
          << a.str() << " " << b.str() << " " << c.str();
    }
  }
}

//===----------------------------------------------------------------------===//
// Complement and inverses
//===----------------------------------------------------------------------===//

/// The one set Y with X + Y = [0, bound) and each sum unique: the least number
/// not yet reached must be in Y, because 0 is in X.
static std::optional<std::vector<int64_t>>
tilingOf(const std::vector<int64_t> &x, int64_t bound) {
  std::vector<bool> reached(bound, false);
  std::vector<int64_t> y;
  for (int64_t next = 0; next < bound; ++next) {
    if (reached[next])
      continue;
    y.push_back(next);
    for (int64_t value : x) {
      if (next + value >= bound || reached[next + value])
        return std::nullopt;
      reached[next + value] = true;
    }
  }
  return y;
}

TEST(Complement, CoversEachValueOnceOrCannotExist) {
  for (const Layout &layout : smallLayouts()) {
    std::vector<int64_t> image = valuesOf(layout);
    std::sort(image.begin(), image.end());
    const std::set<int64_t> distinct(image.begin(), image.end());
    // Modes of stride 0 only repeat the image.
    int64_t repeats = 1;
    for (int64_t i = 0; i < int64_t(layout.shape().leaves().size()); ++i)
      if (layout.stride().leaves()[i] == 0)
        repeats *= layout.shape().leaves()[i];
    const bool isInjective =
        int64_t(distinct.size()) * repeats == layout.size();
    for (int64_t bound : {1, 2, 4, 6, 12, 18, 24, 30, 36}) {
      const Expected<Layout> rest = complement(layout, bound);
      std::optional<std::vector<int64_t>> expected;
      if (isInjective)
        expected = tilingOf({distinct.begin(), distinct.end()}, bound);
      ASSERT_EQ(bool(rest), expected.has_value())
          << layout.str() << " in " << bound << ": " << rest.reason();
      if (rest) {
        EXPECT_EQ(valuesOf(*rest), *expected)
            << layout.str() << " in " << bound;
      }
    }
  }
}

TEST(Inverse, RightInverseUndoes) {
  for (const Layout &layout : smallLayouts()) {
    const Layout inverse = rightInverse(layout);
    for (int64_t i = 0; i < inverse.size(); ++i)
      EXPECT_EQ(layout(inverse(i)), i) << layout.str();
    // A bijection onto [0, n) is inverted whole.
    std::vector<int64_t> image = valuesOf(layout), all(layout.size());
    std::sort(image.begin(), image.end());
    std::iota(all.begin(), all.end(), 0);
    if (image == all) {
      EXPECT_EQ(inverse.size(), layout.size()) << layout.str();
    }
  }
}

TEST(Inverse, LeftInverseUndoes) {
  int64_t inverted = 0;
  for (const Layout &layout : smallLayouts()) {
    const std::vector<int64_t> image = valuesOf(layout);
    const bool isInjective =
        std::set<int64_t>(image.begin(), image.end()).size() == image.size();
    const Expected<Layout> inverse = leftInverse(layout);
    if (!isInjective) {
      EXPECT_FALSE(inverse) << layout.str();
      continue;
    }
    if (!inverse) // Injective, but its gaps are not regular.
      continue;
    ++inverted;
    EXPECT_GE(inverse->size(), layout.cosize());
    for (int64_t i = 0; i < layout.size(); ++i)
      EXPECT_EQ((*inverse)(layout(i)), i) << layout.str();
  }
  EXPECT_GT(inverted, 100);
}

TEST(Inverse, RandomDenseLayoutsInvertBothWays) {
  std::mt19937_64 random = seededGenerator();
  for (int round = 0; round < 200; ++round) {
    const Layout layout = randomDense(random, 5);
    const Layout right = rightInverse(layout);
    ASSERT_EQ(right.size(), layout.size()) << layout.str();
    const Expected<Layout> left = leftInverse(layout);
    ASSERT_TRUE(left) << left.reason();
    EXPECT_TRUE(areEquivalent(*left, right)) << layout.str();
    for (int64_t i = 0; i < layout.size(); ++i)
      EXPECT_EQ(right(layout(i)), i);
  }
}

//===----------------------------------------------------------------------===//
// Division and multiplication
//===----------------------------------------------------------------------===//

TEST(Divide, SplitsIntoTileAndRest) {
  for (const Layout &layout : smallLayouts())
    for (const Layout &tiler : allLayouts(1, {1, 2, 3}, {1, 2, 3, 4})) {
      const Expected<Layout> rest = complement(tiler, layout.size());
      const Expected<Layout> divided = logicalDivide(layout, tiler);
      if (!rest) {
        EXPECT_FALSE(divided);
        continue;
      }
      if (!divided)
        continue;
      ASSERT_EQ(divided->rank(), 2);
      for (int64_t j = 0; j < rest->size(); ++j)
        for (int64_t i = 0; i < tiler.size(); ++i)
          EXPECT_EQ((*divided)(IntTuple{i, j}), layout(tiler(i) + (*rest)(j)))
              << layout.str() << " / " << tiler.str();
    }
}

TEST(Divide, ByModeAndZipped) {
  const Layout matrix = Layout::rowMajor({6, 20});
  const std::vector<Layout> tilers{Layout(3, 1), Layout(5, 1)};
  EXPECT_EQ(logicalDivide(matrix, tilers)->str(),
            "((3,2),(5,4)):((20,60),(1,5))");
  EXPECT_EQ(zippedDivide(matrix, tilers)->str(),
            "((3,5),(2,4)):((20,1),(60,5))");
  EXPECT_EQ(logicalDivide(matrix, {Layout(4, 1), Layout(5, 1)}).reason(),
            "in mode 0: 6 is not a multiple of 4, the span of 4:1");
}

TEST(Product, RepeatsTheBlock) {
  for (const Layout &block : smallLayouts())
    for (const Layout &copies : allLayouts(2, {1, 2, 3}, {1, 2, 3})) {
      const Expected<Layout> product = logicalProduct(block, copies);
      if (!product)
        continue;
      EXPECT_EQ(product->mode(0), block);
      const Layout placed = product->mode(1);
      ASSERT_EQ(placed.size(), copies.size());
      // Copies are disjoint exactly when `copies` does not repeat a place.
      std::map<int64_t, int64_t> owner;
      const std::vector<int64_t> in = valuesOf(block);
      const std::set<int64_t> image(in.begin(), in.end());
      for (int64_t j = 0; j < placed.size(); ++j)
        for (int64_t value : image) {
          auto [at, isNew] = owner.try_emplace(placed(j) + value, copies(j));
          EXPECT_EQ(at->second, copies(j))
              << block.str() << " x " << copies.str();
        }
    }
}

TEST(Product, BlocksOfAGridReadAsAMatrix) {
  // 2x3 row-major blocks, 4 blocks down and 2 across, the blocks row-major too.
  const Expected<Layout> grid =
      blockedProduct(Layout::rowMajor({2, 3}), Layout::rowMajor({4, 2}));
  ASSERT_TRUE(grid) << grid.reason();
  for (int64_t row = 0; row < 8; ++row)
    for (int64_t column = 0; column < 6; ++column)
      EXPECT_EQ((*grid)(IntTuple{row, column}),
                (row % 2) * 3 + column % 3 + 6 * ((row / 2) * 2 + column / 3));
}

TEST(Quotient, UndoesTheProductAndIsExact) {
  for (const Layout &layout : smallLayouts())
    for (const Layout &block : allLayouts(1, {1, 2, 3, 4}, {0, 1, 2})) {
      const Expected<Layout> rest = quotient(layout, block);
      if (rest) {
        for (int64_t i = 0; i < layout.size(); ++i)
          EXPECT_EQ(layout(i),
                    block(i % block.size()) + (*rest)(i / block.size()));
        continue;
      }
      if (layout.size() % block.size() != 0)
        continue;
      // Otherwise no function R satisfies the equation, or R is not strided.
      std::vector<int64_t> places;
      bool isSum = true;
      for (int64_t i = 0; i < layout.size(); ++i) {
        if (i % block.size() == 0)
          places.push_back(layout(i));
        isSum &= layout(i) == block(i % block.size()) + places.back();
      }
      EXPECT_FALSE(isSum && Layout::fromValues(places))
          << layout.str() << " / " << block.str();
    }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

TEST(Text, RoundTrips) {
  for (const char *text :
       {"4:1", "(4):(1)", "(4,(2,3)):(1,(8,4))", "(1,2,3):(0,-1,5)", "():()",
        "((2,(3,4)),5):((0,(1,3)),12)"}) {
    const Expected<Layout> layout = Layout::parse(text);
    ASSERT_TRUE(layout) << layout.reason();
    EXPECT_EQ(layout->str(), text);
  }
  std::mt19937_64 random = seededGenerator();
  for (int round = 0; round < 100; ++round) {
    const Layout layout = randomDense(random, 5);
    EXPECT_EQ(*Layout::parse(layout.str()), layout);
  }
  EXPECT_EQ(Layout::parse(" ( 4 , 8 ) ")->str(), "(4,8):(1,4)");
}

TEST(Text, SaysWhereItStoppedMakingSense) {
  auto reason = [](const std::string &text) {
    return Layout::parse(text).reason();
  };
  EXPECT_EQ(reason("(4,8"), "expected ',' or ')', got the end of the text");
  EXPECT_EQ(reason("(4,8):(1,x)"),
            "expected an integer of 64 bits or '(' at column 10, got 'x)'");
  EXPECT_EQ(reason("(4,8):(1,4) 7"),
            "expected the end of the text at column 13, got '7'");
  EXPECT_EQ(reason("(4,8):1"), "shape (4,8) and stride 1 are not nested alike");
  EXPECT_EQ(reason("(4,0):(1,4)"), "extents are at least 1, got 0 in (4,0)");
  EXPECT_EQ(reason("4294967296:4294967296"),
            "layout 4294967296:4294967296 reaches beyond 2^60 elements");
  EXPECT_EQ(reason("9223372036854775808"),
            "expected an integer of 64 bits or '(' at column 1, got "
            "'9223372036854775'");
  EXPECT_EQ(reason(std::string(100, '(')), "nested deeper than 32 levels");
}

/// The examples of docs/Layouts.md.
TEST(Documentation, ExamplesOfTheAlgebra) {
  auto layout = [](const char *text) { return *Layout::parse(text); };
  EXPECT_EQ(coalesce(layout("(2,4):(1,2)")).str(), "8:1");
  EXPECT_EQ(composition(layout("(4,8):(8,1)"), layout("(2,4):(4,1)"))->str(),
            "(2,4):(1,8)");
  EXPECT_EQ(complement(layout("4:2"), 16)->str(), "(2,2):(1,8)");
  EXPECT_EQ(rightInverse(layout("(4,8):(8,1)")).str(), "(8,4):(4,1)");
  EXPECT_EQ(leftInverse(layout("4:2"))->str(), "(2,4):(0,1)");
  EXPECT_EQ(logicalDivide(layout("12:1"), layout("3:1"))->str(), "(3,4):(1,3)");
  EXPECT_EQ(logicalProduct(layout("3:1"), layout("4:1"))->str(), "(3,4):(1,3)");
  EXPECT_EQ(quotient(layout("(3,4):(1,8)"), layout("3:1"))->str(), "4:8");
  EXPECT_FALSE(composition(layout("(4,4):(1,8)"), layout("3:3")));
}
