//===- Cursor.cpp - A place in a text being parsed ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Cursor.h.
//
//===----------------------------------------------------------------------===//

#include "Cursor.h"

#include <charconv>

using namespace tile::layout;

static constexpr int maxDepth = 32;

void Cursor::skipBlanks() {
  while (position < text.size() &&
         (text[position] == ' ' || text[position] == '\t' ||
          text[position] == '\n' || text[position] == '\r'))
    ++position;
}

bool Cursor::atEnd() {
  skipBlanks();
  return position == text.size();
}

char Cursor::peek() { return atEnd() ? '\0' : text[position]; }

bool Cursor::take(char c) {
  if (peek() != c || c == '\0')
    return false;
  ++position;
  return true;
}

bool Cursor::take(std::string_view word) {
  skipBlanks();
  if (text.substr(position, word.size()) != word)
    return false;
  position += word.size();
  return true;
}

std::optional<int64_t> Cursor::integer() {
  skipBlanks();
  int64_t value = 0;
  const char *first = text.data() + position;
  auto [last, error] = std::from_chars(first, text.data() + text.size(), value);
  if (error != std::errc())
    return std::nullopt;
  position += last - first;
  return value;
}

Expected<IntTuple> Cursor::tuple(int depth) {
  if (!take('(')) {
    if (std::optional<int64_t> value = integer())
      return IntTuple(*value);
    return expected("an integer of 64 bits or '('");
  }
  if (depth == maxDepth)
    return Failure{"nested deeper than " + std::to_string(maxDepth) +
                   " levels"};
  std::vector<IntTuple> items;
  if (!take(')')) {
    do {
      Expected<IntTuple> item = tuple(depth + 1);
      if (!item)
        return item;
      items.push_back(std::move(*item));
    } while (take(','));
    if (!take(')'))
      return expected("',' or ')'");
  }
  return IntTuple(std::move(items));
}

Failure Cursor::expected(std::string_view what) {
  std::string message = "expected ";
  message += what;
  if (atEnd())
    return Failure{message + ", got the end of the text"};
  message += " at column " + std::to_string(position + 1) + ", got '";
  message += text.substr(position, 16);
  return Failure{message + "'"};
}
