//===- IntTuple.h - Nested tuples of integers ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes, strides and coordinates of layouts: an integer, or a list of tuples.
// `4` and `(4)` are different tuples, as `4:1` and `(4):(1)` are different (but
// equivalent) layouts.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_INTTUPLE_H
#define TILE_LAYOUT_INTTUPLE_H

#include "Tile/Layout/Expected.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace tile::layout {

class IntTuple {
public:
  IntTuple(int64_t value = 0) : number(value), leaf(true) {}
  IntTuple(int value) : IntTuple(static_cast<int64_t>(value)) {}
  IntTuple(std::initializer_list<IntTuple> items)
      : leaf(false), children(items) {}
  IntTuple(std::vector<IntTuple> items)
      : leaf(false), children(std::move(items)) {}

  bool isLeaf() const { return leaf; }
  int64_t value() const {
    assert(leaf && "a list has no value");
    return number;
  }
  const std::vector<IntTuple> &items() const { return children; }

  /// Entries at the top level: 1 for an integer.
  int64_t rank() const { return leaf ? 1 : int64_t(children.size()); }
  /// Levels of nesting: 0 for an integer.
  int64_t depth() const;
  /// The product of all leaves.
  int64_t product() const;
  /// The leaves, from left to right.
  std::vector<int64_t> leaves() const;
  /// True where both have the same nesting, whatever the integers.
  bool isCongruentTo(const IntTuple &other) const;

  /// `(4,(2,3))`.
  std::string str() const;
  static Expected<IntTuple> parse(std::string_view text);

  friend bool operator==(const IntTuple &a, const IntTuple &b) {
    return a.leaf == b.leaf && a.number == b.number && a.children == b.children;
  }
  friend bool operator!=(const IntTuple &a, const IntTuple &b) {
    return !(a == b);
  }

private:
  int64_t number = 0;
  bool leaf;
  std::vector<IntTuple> children;
};

} // namespace tile::layout

#endif // TILE_LAYOUT_INTTUPLE_H
