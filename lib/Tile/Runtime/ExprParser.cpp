//===- ExprParser.cpp - Parsing of expressions ----------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recursive descent by the grammar in Expr.h. Depth is bounded here as well as
// in the tree, since parentheses leave no node behind.
//
//===----------------------------------------------------------------------===//

#include "Cursor.h"

#include <charconv>
#include <cmath>
#include <limits>

using namespace tile::runtime;

namespace {

class ExprParser {
public:
  explicit ExprParser(Cursor &cursor) : cursor(cursor) {}

  std::optional<Expr> parseSum();

private:
  std::optional<Expr> parseProduct();
  std::optional<Expr> parseFactor();
  std::optional<Expr> parseNumber(bool isNegative);
  std::optional<Expr> parseNamed();
  std::optional<Expr> parseCall(std::string_view name, size_t start);
  std::optional<Expr> tooDeep(size_t at) {
    return cursor.fail(at, "nested more than " +
                               std::to_string(Expr::maxDepth) + " deep");
  }
  std::optional<Expr> combine(Expr::Kind kind, const Expr &left,
                              const Expr &right, size_t at) {
    std::optional<Expr> result = Expr::binary(kind, left, right);
    return result ? result : tooDeep(at);
  }
  bool expect(char c) {
    cursor.skipSpace();
    if (cursor.consume(c))
      return true;
    cursor.failExpected(std::string("'") + c + "'");
    return false;
  }

  Cursor &cursor;
  unsigned depth = 0;
};

bool isDigit(char c) { return c >= '0' && c <= '9'; }

} // namespace

std::optional<Expr> ExprParser::parseSum() {
  std::optional<Expr> sum = parseProduct();
  while (sum) {
    cursor.skipSpace();
    size_t at = cursor.getPosition();
    Expr::Kind kind = Expr::Kind::Add;
    if (cursor.consume('-'))
      kind = Expr::Kind::Subtract;
    else if (!cursor.consume('+'))
      break;
    std::optional<Expr> right = parseProduct();
    if (!right)
      return std::nullopt;
    sum = combine(kind, *sum, *right, at);
  }
  return sum;
}

std::optional<Expr> ExprParser::parseProduct() {
  std::optional<Expr> product = parseFactor();
  while (product) {
    cursor.skipSpace();
    size_t at = cursor.getPosition();
    Expr::Kind kind = Expr::Kind::Multiply;
    if (cursor.consume('/'))
      kind = Expr::Kind::Divide;
    else if (cursor.consume('%'))
      kind = Expr::Kind::Modulo;
    else if (!cursor.consume('*'))
      break;
    std::optional<Expr> right = parseFactor();
    if (!right)
      return std::nullopt;
    product = combine(kind, *product, *right, at);
  }
  return product;
}

std::optional<Expr> ExprParser::parseFactor() {
  cursor.skipSpace();
  size_t at = cursor.getPosition();
  if (++depth > Expr::maxDepth)
    return tooDeep(at);
  std::optional<Expr> result;
  if (cursor.consume('-')) {
    // The smallest integer is a literal, the largest plus one is not.
    if (isDigit(cursor.peek()) || cursor.peek() == '.') {
      result = parseNumber(/*isNegative=*/true);
    } else if (std::optional<Expr> operand = parseFactor()) {
      result = Expr::unary(Expr::Kind::Negate, *operand);
      if (!result)
        tooDeep(at);
    }
  } else if (cursor.consume('(')) {
    result = parseSum();
    if (result && !expect(')'))
      result = std::nullopt;
  } else if (isDigit(cursor.peek()) || cursor.peek() == '.') {
    result = parseNumber(/*isNegative=*/false);
  } else {
    result = parseNamed();
  }
  --depth;
  return result;
}

std::optional<Expr> ExprParser::parseNumber(bool isNegative) {
  size_t start = cursor.getPosition();
  std::string_view text = cursor.rest();
  size_t length = 0;
  bool isReal = false;
  auto takeDigits = [&] {
    size_t from = length;
    while (length < text.size() && isDigit(text[length]))
      ++length;
    return length > from;
  };
  bool hasDigits = takeDigits();
  if (length < text.size() && text[length] == '.') {
    isReal = true;
    ++length;
    hasDigits |= takeDigits();
  }
  if (!hasDigits)
    return cursor.failExpected("a number");
  if (length < text.size() && (text[length] == 'e' || text[length] == 'E')) {
    size_t mark = length++;
    if (length < text.size() && (text[length] == '+' || text[length] == '-'))
      ++length;
    // An 'e' without an exponent is not part of the number.
    if (takeDigits())
      isReal = true;
    else
      length = mark;
  }
  const char *begin = text.data(), *end = begin + length;
  cursor.setPosition(start + length);
  if (isReal) {
    double value = 0;
    if (std::from_chars(begin, end, value).ec != std::errc())
      return cursor.fail(start, "this number is beyond what a double holds");
    return Expr::constant(isNegative ? -value : value);
  }
  uint64_t magnitude = 0;
  uint64_t limit = uint64_t(std::numeric_limits<int64_t>::max()) + isNegative;
  if (std::from_chars(begin, end, magnitude).ec != std::errc() ||
      magnitude > limit)
    return cursor.fail(start, "this integer does not fit in 64 bits");
  return Expr::constant(int64_t(isNegative ? 0 - magnitude : magnitude));
}

std::optional<Expr> ExprParser::parseNamed() {
  size_t start = cursor.getPosition();
  std::string_view name = cursor.takeName();
  if (name.empty())
    return cursor.failExpected("a number, a name or '('");
  if (cursor.consume('(')) {
    std::optional<Expr> call = parseCall(name, start);
    return call && expect(')') ? call : std::nullopt;
  }
  if (cursor.consume('[')) {
    std::string_view rest = cursor.rest();
    int64_t dimension = 0;
    auto [end, code] =
        std::from_chars(rest.data(), rest.data() + rest.size(), dimension);
    if (code != std::errc() || dimension < 0)
      return cursor.failExpected("the number of a dimension");
    cursor.setPosition(cursor.getPosition() + size_t(end - rest.data()));
    if (!expect(']'))
      return std::nullopt;
    return Expr::extent(std::string(name), dimension);
  }
  if (name == "inf")
    return Expr::constant(std::numeric_limits<double>::infinity());
  if (name == "nan")
    return Expr::constant(std::numeric_limits<double>::quiet_NaN());
  if (name == "true" || name == "false")
    return Expr::constant(int64_t(name == "true"));
  return Expr::scalar(std::string(name));
}

std::optional<Expr> ExprParser::parseCall(std::string_view name, size_t start) {
  constexpr std::pair<std::string_view, Expr::Kind> functions[] = {
      {"ceildiv", Expr::Kind::CeilDivide},
      {"floordiv", Expr::Kind::FloorDivide},
      {"min", Expr::Kind::Minimum},
      {"max", Expr::Kind::Maximum},
      {"sqrt", Expr::Kind::SquareRoot},
  };
  for (const auto &[known, kind] : functions) {
    if (known != name)
      continue;
    std::optional<Expr> left = parseSum();
    if (!left)
      return std::nullopt;
    if (kind == Expr::Kind::SquareRoot) {
      std::optional<Expr> result = Expr::unary(kind, *left);
      return result ? result : tooDeep(start);
    }
    if (!expect(','))
      return std::nullopt;
    std::optional<Expr> right = parseSum();
    return right ? combine(kind, *left, *right, start) : std::nullopt;
  }
  return cursor.fail(start, "unknown function '" + std::string(name) +
                                "'; there are ceildiv, floordiv, min, max and "
                                "sqrt");
}

std::optional<Expr> tile::runtime::parseExpr(Cursor &cursor) {
  return ExprParser(cursor).parseSum();
}

Result<Expr> Expr::parse(std::string_view text) {
  Cursor cursor(text);
  std::optional<Expr> expr = parseExpr(cursor);
  cursor.skipSpace();
  if (expr && !cursor.atEnd()) {
    cursor.failExpected("an operator");
    expr = std::nullopt;
  }
  if (!expr)
    return cursor.getError();
  return *expr;
}
