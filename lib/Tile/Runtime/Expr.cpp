//===- Expr.cpp - Arithmetic over extents and scalars ---------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tree, its evaluation and its text. The depth of a tree is bounded when it
// is built, so the functions here simply recurse.
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Expr.h"
#include "Tile/Runtime/Format.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <set>

using namespace tile::runtime;

struct Expr::Node {
  Kind kind = Kind::Constant;
  Number constant;
  std::string name;
  int64_t dimension = 0;
  std::optional<Expr> left = std::nullopt;
  std::optional<Expr> right = std::nullopt;
  unsigned depth = 1;
};

Expr Expr::constant(Number value) {
  return Expr(std::make_shared<Node>(Node{Kind::Constant, value, {}}));
}

Expr Expr::scalar(std::string name) {
  return Expr(std::make_shared<Node>(Node{Kind::Scalar, {}, std::move(name)}));
}

Expr Expr::extent(std::string name, int64_t dimension) {
  return Expr(std::make_shared<Node>(
      Node{Kind::Extent, {}, std::move(name), dimension}));
}

std::optional<Expr> Expr::unary(Kind kind, const Expr &operand) {
  assert((kind == Kind::Negate || kind == Kind::SquareRoot) && "not unary");
  if (std::optional<Number> value = operand.getConstant();
      value && kind == Kind::Negate) {
    if (const double *real = std::get_if<double>(&*value))
      return constant(-*real);
    int64_t integer = *std::get_if<int64_t>(&*value);
    if (integer != std::numeric_limits<int64_t>::min())
      return constant(-integer);
  }
  if (operand.node->depth >= maxDepth)
    return std::nullopt;
  return Expr(std::make_shared<Node>(
      Node{kind, {}, {}, 0, operand, std::nullopt, operand.node->depth + 1}));
}

std::optional<Expr> Expr::binary(Kind kind, const Expr &left,
                                 const Expr &right) {
  assert(kind >= Kind::Add && kind <= Kind::Maximum && "not binary");
  unsigned depth = std::max(left.node->depth, right.node->depth);
  if (depth >= maxDepth)
    return std::nullopt;
  return Expr(
      std::make_shared<Node>(Node{kind, {}, {}, 0, left, right, depth + 1}));
}

Expr::Kind Expr::getKind() const { return node->kind; }

std::optional<Number> Expr::getConstant() const {
  if (node->kind != Kind::Constant)
    return std::nullopt;
  return node->constant;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static Result<int64_t> toInteger(Number number, const Expr &source) {
  if (const int64_t *integer = std::get_if<int64_t>(&number))
    return *integer;
  double real = *std::get_if<double>(&number);
  if (real != std::floor(real) || std::fabs(real) >= 0x1p63)
    return Error{"'" + source.print() + "' is " + formatNumber(real) +
                 ", an integer is needed"};
  return int64_t(real);
}

static double toReal(Number number) {
  if (const int64_t *integer = std::get_if<int64_t>(&number))
    return double(*integer);
  return *std::get_if<double>(&number);
}

/// Floor division; the one quotient that overflows is smallest / -1.
static bool floorDivide(int64_t a, int64_t b, int64_t &quotient) {
  if (b == -1)
    return __builtin_sub_overflow(int64_t(0), a, &quotient);
  quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
  return false;
}

Result<int64_t> Expr::evaluateInt(const Lookup &lookup) const {
  switch (node->kind) {
  case Kind::Constant:
    return toInteger(node->constant, *this);
  case Kind::Scalar:
  case Kind::Extent: {
    std::optional<int64_t> dimension;
    if (node->kind == Kind::Extent)
      dimension = node->dimension;
    Result<Number> value = lookup(node->name, dimension);
    if (!value)
      return value.error();
    return toInteger(*value, *this);
  }
  case Kind::SquareRoot:
    return Error{"'" + print() + "' is a real number, an integer is needed"};
  default:
    break;
  }
  Result<int64_t> left = node->left->evaluateInt(lookup);
  if (!left)
    return left;
  int64_t a = *left, b = 0, result = 0;
  if (node->right) {
    Result<int64_t> right = node->right->evaluateInt(lookup);
    if (!right)
      return right;
    b = *right;
  }
  bool overflow = false;
  switch (node->kind) {
  case Kind::Negate:
    overflow = __builtin_sub_overflow(int64_t(0), a, &result);
    break;
  case Kind::Add:
    overflow = __builtin_add_overflow(a, b, &result);
    break;
  case Kind::Subtract:
    overflow = __builtin_sub_overflow(a, b, &result);
    break;
  case Kind::Multiply:
    overflow = __builtin_mul_overflow(a, b, &result);
    break;
  case Kind::Minimum:
    result = std::min(a, b);
    break;
  case Kind::Maximum:
    result = std::max(a, b);
    break;
  default:
    if (b == 0)
      return Error{"division by zero: '" + node->right->print() + "' in '" +
                   print() + "' is 0"};
    if (node->kind == Kind::Modulo) {
      // The remainder by -1 is 0, even where the quotient overflows.
      result = b == -1 ? 0 : a % b;
      if (result != 0 && (result < 0) != (b < 0))
        result += b;
    } else {
      overflow = floorDivide(a, b, result);
      if (node->kind == Kind::CeilDivide && b != -1 && a % b != 0)
        ++result;
    }
    break;
  }
  if (overflow)
    return Error{"'" + print() + "' does not fit in 64 bits"};
  return result;
}

Result<double> Expr::evaluate(const Lookup &lookup) const {
  switch (node->kind) {
  case Kind::Constant:
    return toReal(node->constant);
  case Kind::Scalar:
  case Kind::Extent: {
    std::optional<int64_t> dimension;
    if (node->kind == Kind::Extent)
      dimension = node->dimension;
    Result<Number> value = lookup(node->name, dimension);
    if (!value)
      return value.error();
    return toReal(*value);
  }
  default:
    break;
  }
  Result<double> left = node->left->evaluate(lookup);
  if (!left)
    return left;
  double a = *left, b = 0;
  if (node->right) {
    Result<double> right = node->right->evaluate(lookup);
    if (!right)
      return right;
    b = *right;
  }
  switch (node->kind) {
  case Kind::Negate:
    return -a;
  case Kind::SquareRoot:
    return std::sqrt(a);
  case Kind::Add:
    return a + b;
  case Kind::Subtract:
    return a - b;
  case Kind::Multiply:
    return a * b;
  case Kind::Minimum:
    return std::min(a, b);
  case Kind::Maximum:
    return std::max(a, b);
  default:
    break;
  }
  if (b == 0)
    return Error{"division by zero: '" + node->right->print() + "' in '" +
                 print() + "' is 0"};
  switch (node->kind) {
  case Kind::Divide:
    return a / b;
  case Kind::Modulo: {
    double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  case Kind::FloorDivide:
    return std::floor(a / b);
  default:
    return std::ceil(a / b);
  }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string printConstant(Number value) {
  if (const int64_t *integer = std::get_if<int64_t>(&value))
    return std::to_string(*integer);
  double real = *std::get_if<double>(&value);
  std::string text = formatNumber(real);
  // 2 and 2.0 are different constants.
  if (std::isfinite(real) && text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

/// How tightly the printed form holds together: sums 0, products 1, the rest 2.
static int getPrecedence(Expr::Kind kind) {
  switch (kind) {
  case Expr::Kind::Add:
  case Expr::Kind::Subtract:
    return 0;
  case Expr::Kind::Multiply:
  case Expr::Kind::Divide:
  case Expr::Kind::Modulo:
    return 1;
  default:
    return 2;
  }
}

std::string Expr::print() const {
  auto printWithin = [](const Expr &operand, int precedence) {
    std::string text = operand.print();
    return getPrecedence(operand.getKind()) < precedence ? "(" + text + ")"
                                                         : text;
  };
  auto printCall = [&](const char *name) {
    std::string text = name + ("(" + node->left->print());
    if (node->right)
      text += "," + node->right->print();
    return text + ")";
  };
  auto printBinary = [&](const char *symbol) {
    int precedence = getPrecedence(node->kind);
    return printWithin(*node->left, precedence) + symbol +
           printWithin(*node->right, precedence + 1);
  };
  switch (node->kind) {
  case Kind::Constant:
    return printConstant(node->constant);
  case Kind::Scalar:
    return node->name;
  case Kind::Extent:
    return node->name + "[" + std::to_string(node->dimension) + "]";
  case Kind::Negate:
    return "-" + printWithin(*node->left, 2);
  case Kind::Add:
    return printBinary("+");
  case Kind::Subtract:
    return printBinary("-");
  case Kind::Multiply:
    return printBinary("*");
  case Kind::Divide:
    return printBinary("/");
  case Kind::Modulo:
    return printBinary("%");
  case Kind::FloorDivide:
    return printCall("floordiv");
  case Kind::CeilDivide:
    return printCall("ceildiv");
  case Kind::Minimum:
    return printCall("min");
  case Kind::Maximum:
    return printCall("max");
  case Kind::SquareRoot:
    return printCall("sqrt");
  }
  return "";
}

std::vector<std::string> Expr::getNames() const {
  std::set<std::string> names;
  std::vector<Expr> pending = {*this};
  while (!pending.empty()) {
    Expr expr = pending.back();
    pending.pop_back();
    if (!expr.node->name.empty())
      names.insert(expr.node->name);
    if (expr.node->left)
      pending.push_back(*expr.node->left);
    if (expr.node->right)
      pending.push_back(*expr.node->right);
  }
  return {names.begin(), names.end()};
}

bool Expr::operator==(const Expr &other) const {
  if (node == other.node)
    return true;
  if (node->kind != other.node->kind || node->name != other.node->name ||
      node->dimension != other.node->dimension)
    return false;
  // By text, so that NaN equals itself.
  if (node->kind == Kind::Constant)
    return print() == other.print();
  return node->left == other.node->left && node->right == other.node->right;
}

Result<Number> tile::runtime::lookupNothing(const std::string &name,
                                            std::optional<int64_t>) {
  return Error{"'" + name + "' is unknown here; only numbers may stand here"};
}
