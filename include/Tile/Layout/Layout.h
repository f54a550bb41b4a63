//===- Layout.h - Strided layouts and their algebra ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout is a function from coordinates to integers, written shape:stride.
//
//   (4,8):(8,1)       4 rows of 8, row-major: (i,j) -> 8*i + j
//   (4,(2,3)):(1,(8,4))   the second mode is itself two modes
//
// Shape and stride are tuples of the same nesting. Each leaf of the shape is a
// *mode*: a digit 0 <= d < extent that contributes d * stride. The domain can
// be addressed at any level of nesting. Read as one integer, a coordinate is a
// number in mixed radix whose first mode is the fastest digit, so every layout
// is also a function [0, size) -> integers:
//
//   L(i) = sum over modes of  (i / (extents before) mod extent) * stride
//
// That reading is what makes an algebra: layouts compose, invert, divide and
// multiply as functions, and extents need not be powers of two. The pictures
// are in docs/Layouts.md. In one line each:
//
//   coalesce(A)          the same function with as few modes as there can be
//   composition(A, B)    i -> A(B(i)), with the shape of B
//   complement(A, m)     what has to be added to A to reach all of [0, m) once
//   rightInverse(A)      R with A(R(i)) = i, as far as A is dense from 0 on
//   leftInverse(A)       L with L(A(i)) = i, for an injective A
//   logicalDivide(A, B)  A cut into tiles picked by B: (within tile, which
//   tile) logicalProduct(A, B) copies of A arranged as B says: (within, which
//   copy) quotient(A, B)       the R for which A is copies of B placed at R
//
// Composition is partial: not every function has a strided form. A failure is a
// value with a reason, and it is exact: composition and quotient fail only
// where no layout of the asked-for shape computes the function. Users that must
// not fail tabulate instead, as FragmentLayout does.
//
// What other libraries do otherwise: here a divisor that does not divide is a
// failure, not a layout that silently reaches beyond its domain. Tiles that
// overhang are the business of FragmentLayout, which knows what is outside.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_LAYOUT_H
#define TILE_LAYOUT_LAYOUT_H

#include "Tile/Layout/IntTuple.h"

#include <optional>

namespace tile::layout {

class Layout {
public:
  /// 1:0, the layout of one element.
  Layout() : Layout(IntTuple(1), IntTuple(0)) {}
  /// Shape and stride are congruent and the extents positive.
  Layout(IntTuple shape, IntTuple stride);

  /// The checked form of the constructor, for shapes that come from outside.
  static Expected<Layout> get(IntTuple shape, IntTuple stride);
  /// Dense, the first mode fastest. This is also what a missing stride means in
  /// the text form.
  static Layout columnMajor(IntTuple shape);
  /// Dense, the last mode fastest.
  static Layout rowMajor(IntTuple shape);
  /// The coalesced layout with L(i) = values[i], where one exists.
  static std::optional<Layout> fromValues(const std::vector<int64_t> &values);

  const IntTuple &shape() const { return extents; }
  const IntTuple &stride() const { return strides; }
  int64_t rank() const { return extents.rank(); }
  int64_t depth() const { return extents.depth(); }
  /// Size of the domain.
  int64_t size() const { return extents.product(); }
  /// One more than the largest value; strides below zero do not add to it.
  int64_t cosize() const;
  /// A top-level mode, as a layout of its own.
  Layout mode(int64_t index) const;

  int64_t operator()(int64_t index) const;
  /// A coordinate with one entry for each top-level mode, each of which may be
  /// a number or nested like its mode.
  int64_t operator()(const IntTuple &coordinate) const;

  /// `(4,(2,3)):(1,(8,4))`, and back.
  std::string str() const;
  static Expected<Layout> parse(std::string_view text);

  /// The same text. For the same function ask areEquivalent.
  friend bool operator==(const Layout &a, const Layout &b) {
    return a.extents == b.extents && a.strides == b.strides;
  }
  friend bool operator!=(const Layout &a, const Layout &b) { return !(a == b); }

private:
  IntTuple extents, strides;
};

/// All leaves as top-level modes.
Layout flatten(const Layout &layout);
/// The same function of an integer with the fewest modes: the normal form.
Layout coalesce(const Layout &layout);
/// Coalesces each top-level mode by itself, so that the rank stays.
Layout coalesceModes(const Layout &layout);
/// The same function of an integer.
bool areEquivalent(const Layout &a, const Layout &b);

/// A layout whose top-level modes are the arguments.
Layout concat(const std::vector<Layout> &modes);
/// The top-level modes in another order: mode i of the result is order[i].
Layout permuteModes(const Layout &layout, const std::vector<int64_t> &order);

/// i -> a(b(i)). Each leaf of b stays or becomes a nested list.
Expected<Layout> composition(const Layout &a, const Layout &b);
/// C such that (layout, C) takes each value of [0, bound) exactly once; ordered
/// by stride. Modes of stride 0 in `layout` do not count.
Expected<Layout> complement(const Layout &layout, int64_t bound);
/// R with layout(R(i)) = i, built of whole modes of the coalesced layout.
Layout rightInverse(const Layout &layout);
/// L with L(layout(i)) = i. A value that `layout` skips goes where the closest
/// value below it goes.
Expected<Layout> leftInverse(const Layout &layout);

Expected<Layout> logicalDivide(const Layout &layout, const Layout &tiler);
/// Divides mode i by tilers[i]: ((in tile, rest), (in tile, rest), ...).
Expected<Layout> logicalDivide(const Layout &layout,
                               const std::vector<Layout> &tilers);
/// The same, gathered: ((in tile, in tile, ...), (rest, rest, ...)).
Expected<Layout> zippedDivide(const Layout &layout,
                              const std::vector<Layout> &tilers);
Expected<Layout> logicalProduct(const Layout &block, const Layout &copies);
/// The product mode by mode, for two layouts of one rank: mode i is
/// (block mode i, copies mode i), so a grid of blocks reads as a matrix.
Expected<Layout> blockedProduct(const Layout &block, const Layout &copies);
/// R with layout(i + size(block) * j) = block(i) + R(j).
Expected<Layout> quotient(const Layout &layout, const Layout &block);

} // namespace tile::layout

#endif // TILE_LAYOUT_LAYOUT_H
