//===- Cursor.cpp - A place in a text being parsed ------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cursor.h"

#include <algorithm>

using namespace tile::runtime;

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view Cursor::takeName() {
  size_t end = position;
  if (isLetter(peek()))
    while (end < text.size() &&
           (isLetter(text[end]) || (text[end] >= '0' && text[end] <= '9')))
      ++end;
  std::string_view name = text.substr(position, end - position);
  position = end;
  return name;
}

std::nullopt_t Cursor::fail(size_t at, std::string message) {
  if (errorMessage.empty()) {
    errorPosition = at;
    errorMessage = std::move(message);
  }
  return std::nullopt;
}

std::nullopt_t Cursor::failExpected(const std::string &what) {
  if (atEnd())
    return fail("expected " + what + ", found the end");
  return fail("expected " + what + ", found '" + std::string(1, peek()) + "'");
}

Error Cursor::getError() const {
  // A window of a long text, so that the caret stays in view.
  constexpr size_t before = 60, after = 20;
  size_t begin = errorPosition > before ? errorPosition - before : 0;
  size_t end = std::min(text.size(), errorPosition + after);
  std::string line(text.substr(begin, end - begin));
  for (char &c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      c = '?';
  std::string lead = begin ? "..." : "";
  std::string tail = end < text.size() ? "..." : "";
  // A column a character, not a byte, of UTF-8.
  size_t column = lead.size();
  for (size_t i = begin; i < errorPosition; ++i)
    column += (text[i] & 0xC0) != 0x80;
  return {errorMessage + "\n  " + lead + line + tail + "\n  " +
          std::string(column, ' ') + "^"};
}
