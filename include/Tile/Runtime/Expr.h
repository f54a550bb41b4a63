//===- Expr.h - Arithmetic over extents and scalars -------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The small expression language of argument specifications, launch plans and
// arithmetic costs. Values are known extents and scalars of arguments:
//
//   expr   ::= term (('+' | '-') term)*
//   term   ::= factor (('*' | '/' | '%') factor)*
//   factor ::= '-' factor | number | name | name '[' digits ']' | '(' expr ')'
//            | ('ceildiv' | 'floordiv' | 'min' | 'max') '(' expr ',' expr ')'
//            | 'sqrt' '(' expr ')'
//
// `name[i]` is extent i of an array argument, a bare name a scalar argument;
// `inf`, `nan`, `true` and `false` are constants.
//
// An expression has two readings, and who evaluates it says which. Integers:
// 64-bit and checked, `/` and `%` round toward minus infinity. Reals, for costs
// and values of floats: doubles, where `/` is the exact quotient.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_EXPR_H
#define TILE_RUNTIME_EXPR_H

#include "Tile/Runtime/Result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tile::runtime {

using Number = std::variant<int64_t, double>;

/// An immutable expression; copies are cheap and share their parts.
class Expr {
public:
  enum class Kind : uint8_t {
    Constant,
    Scalar,
    Extent,
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    FloorDivide,
    CeilDivide,
    Minimum,
    Maximum,
    SquareRoot,
  };

  /// Gives the value of a scalar (no dimension) or an extent.
  using Lookup = std::function<Result<Number>(
      const std::string &name, std::optional<int64_t> dimension)>;

  /// Parses all of `text`. The error shows the place with a caret.
  static Result<Expr> parse(std::string_view text);

  static Expr constant(Number value);
  static Expr scalar(std::string name);
  static Expr extent(std::string name, int64_t dimension);
  /// An operation; a negated constant folds. Nothing when it would be nested
  /// deeper than `maxDepth`.
  static std::optional<Expr> unary(Kind kind, const Expr &operand);
  static std::optional<Expr> binary(Kind kind, const Expr &left,
                                    const Expr &right);

  /// Nesting beyond this is refused, so that no recursion over an expression
  /// exhausts the stack.
  static constexpr unsigned maxDepth = 500;

  Kind getKind() const;
  /// The value of a constant.
  std::optional<Number> getConstant() const;

  /// The integer reading. Errors: overflow, division by zero, a value that is
  /// no integer, what `lookup` reports.
  Result<int64_t> evaluateInt(const Lookup &lookup) const;
  /// The real reading. Errors: what `lookup` reports, division by zero.
  Result<double> evaluate(const Lookup &lookup) const;

  /// Text that parses to the same expression, without spaces and with no more
  /// parentheses than needed.
  std::string print() const;
  /// The names it refers to, each once, sorted.
  std::vector<std::string> getNames() const;

  bool operator==(const Expr &other) const;
  bool operator!=(const Expr &other) const { return !(*this == other); }

private:
  struct Node;
  explicit Expr(std::shared_ptr<const Node> node) : node(std::move(node)) {}

  std::shared_ptr<const Node> node;
};

/// A lookup for expressions that may not refer to anything.
Result<Number> lookupNothing(const std::string &name,
                             std::optional<int64_t> dimension);

} // namespace tile::runtime

#endif // TILE_RUNTIME_EXPR_H
