//===- Cursor.h - A place in a text being parsed ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the text forms of layouts share: skip blanks, take a character, a word
// or an integer that fits 64 bits, and say where the text stopped making sense.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_LAYOUT_CURSOR_H
#define TILE_LIB_LAYOUT_CURSOR_H

#include "Tile/Layout/Expected.h"
#include "Tile/Layout/IntTuple.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace tile::layout {

class Cursor {
public:
  explicit Cursor(std::string_view text) : text(text) {}

  bool atEnd();
  char peek();
  bool take(char c);
  bool take(std::string_view word);
  std::optional<int64_t> integer();
  /// A tuple; nesting deeper than any real layout's is refused, since the
  /// parser recurses.
  Expected<IntTuple> tuple(int depth = 0);
  Failure expected(std::string_view what);
  /// What has not been read yet.
  std::string_view rest() const { return text.substr(position); }

private:
  void skipBlanks();

  std::string_view text;
  size_t position = 0;
};

} // namespace tile::layout

#endif // TILE_LIB_LAYOUT_CURSOR_H
