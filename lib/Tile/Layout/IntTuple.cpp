//===- IntTuple.cpp - Nested tuples of integers ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See IntTuple.h.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/IntTuple.h"

#include "Cursor.h"

#include <algorithm>

using namespace tile::layout;

int64_t IntTuple::depth() const {
  if (leaf)
    return 0;
  int64_t deepest = 0;
  for (const IntTuple &child : children)
    deepest = std::max(deepest, child.depth());
  return deepest + 1;
}

int64_t IntTuple::product() const {
  if (leaf)
    return number;
  int64_t result = 1;
  for (const IntTuple &child : children)
    result *= child.product();
  return result;
}

static void collect(const IntTuple &tuple, std::vector<int64_t> &into) {
  if (tuple.isLeaf())
    into.push_back(tuple.value());
  for (const IntTuple &child : tuple.items())
    collect(child, into);
}

std::vector<int64_t> IntTuple::leaves() const {
  std::vector<int64_t> result;
  collect(*this, result);
  return result;
}

bool IntTuple::isCongruentTo(const IntTuple &other) const {
  if (leaf != other.leaf || children.size() != other.children.size())
    return false;
  for (size_t i = 0; i < children.size(); ++i)
    if (!children[i].isCongruentTo(other.children[i]))
      return false;
  return true;
}

std::string IntTuple::str() const {
  if (leaf)
    return std::to_string(number);
  std::string text = "(";
  for (const IntTuple &child : children) {
    if (text.size() > 1)
      text += ',';
    text += child.str();
  }
  return text + ")";
}

Expected<IntTuple> IntTuple::parse(std::string_view text) {
  Cursor cursor(text);
  Expected<IntTuple> tuple = cursor.tuple();
  if (tuple && !cursor.atEnd())
    return cursor.expected("the end of the text");
  return tuple;
}
