//===- Cursor.h - A place in a text being parsed ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parsers of expressions and argument specifications share: a position
// in a text, and the first error with the position it belongs to.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_RUNTIME_CURSOR_H
#define TILE_LIB_RUNTIME_CURSOR_H

#include "Tile/Runtime/Expr.h"

#include <string>
#include <string_view>

namespace tile::runtime {

class Cursor {
public:
  explicit Cursor(std::string_view text) : text(text) {}

  bool atEnd() const { return position == text.size(); }
  /// The next character, 0 at the end.
  char peek() const { return atEnd() ? '\0' : text[position]; }
  bool consume(char c) {
    if (atEnd() || text[position] != c)
      return false;
    ++position;
    return true;
  }
  void skipSpace() {
    while (peek() == ' ')
      ++position;
  }
  std::string_view rest() const { return text.substr(position); }
  size_t getPosition() const { return position; }
  void setPosition(size_t to) { position = to; }

  /// The letters, digits and underscores of a name; empty where there is none.
  std::string_view takeName();

  /// Keeps the first error only: the others follow from it. Returns nullopt,
  /// for callers to pass on.
  std::nullopt_t fail(size_t at, std::string message);
  std::nullopt_t fail(std::string message) {
    return fail(position, std::move(message));
  }
  /// "expected X, found Y" for what stands at the position.
  std::nullopt_t failExpected(const std::string &what);
  /// The error, with the text and a caret below the place it belongs to.
  Error getError() const;

private:
  std::string_view text;
  size_t position = 0;
  size_t errorPosition = 0;
  std::string errorMessage;
};

/// Parses an expression at the cursor and stops at what cannot continue it.
std::optional<Expr> parseExpr(Cursor &cursor);

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_CURSOR_H
