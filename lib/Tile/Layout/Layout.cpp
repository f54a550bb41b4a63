//===- Layout.cpp - Strided layouts as values ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Construction, evaluation, normal form and text of layouts. The operations
// between layouts are in Algebra.cpp.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/Layout.h"

#include "Cursor.h"
#include "MixedRadix.h"

using namespace tile::layout;

Layout::Layout(IntTuple shape, IntTuple stride)
    : extents(std::move(shape)), strides(std::move(stride)) {
  assert(extents.isCongruentTo(strides) &&
         "shape and stride differ in nesting");
}

/// The reach of a layout must leave room for sums: 2^60 elements are more than
/// any memory has.
static constexpr int64_t largestReach = int64_t(1) << 60;

Expected<Layout> Layout::get(IntTuple shape, IntTuple stride) {
  if (!shape.isCongruentTo(stride))
    return Failure{"shape " + shape.str() + " and stride " + stride.str() +
                   " are not nested alike"};
  const std::vector<int64_t> sizes = shape.leaves(), steps = stride.leaves();
  int64_t size = 1, reach = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1)
      return Failure{"extents are at least 1, got " + std::to_string(sizes[i]) +
                     " in " + shape.str()};
    int64_t span = 0;
    if (__builtin_mul_overflow(size, sizes[i], &size) ||
        __builtin_mul_overflow(sizes[i] - 1, steps[i], &span) ||
        span == INT64_MIN ||
        __builtin_add_overflow(reach, span < 0 ? -span : span, &reach) ||
        size > largestReach || reach > largestReach)
      return Failure{"layout " + shape.str() + ":" + stride.str() +
                     " reaches beyond 2^60 elements"};
  }
  return Layout(std::move(shape), std::move(stride));
}

static IntTuple denseStrides(const IntTuple &shape, int64_t &next,
                             bool lastFastest) {
  if (shape.isLeaf()) {
    const int64_t stride = next;
    next *= shape.value();
    return stride;
  }
  std::vector<IntTuple> items(shape.items().size());
  for (size_t i = 0; i < items.size(); ++i) {
    const size_t at = lastFastest ? items.size() - 1 - i : i;
    items[at] = denseStrides(shape.items()[at], next, lastFastest);
  }
  return items;
}

Layout Layout::columnMajor(IntTuple shape) {
  int64_t next = 1;
  IntTuple stride = denseStrides(shape, next, /*lastFastest=*/false);
  return Layout(std::move(shape), std::move(stride));
}

Layout Layout::rowMajor(IntTuple shape) {
  int64_t next = 1;
  IntTuple stride = denseStrides(shape, next, /*lastFastest=*/true);
  return Layout(std::move(shape), std::move(stride));
}

std::optional<Layout> Layout::fromValues(const std::vector<int64_t> &values) {
  std::optional<std::vector<RadixMode>> found =
      findModes(values, 1, LastDigit::Full);
  if (!found)
    return std::nullopt;
  std::vector<IntTuple> shape, stride;
  for (const RadixMode &mode : *found) {
    shape.push_back(mode.extent);
    stride.push_back(mode.strides[0]);
  }
  return coalesce(Layout(std::move(shape), std::move(stride)));
}

int64_t Layout::cosize() const {
  const std::vector<int64_t> sizes = extents.leaves(), steps = strides.leaves();
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (steps[i] > 0)
      last += (sizes[i] - 1) * steps[i];
  return last + 1;
}

Layout Layout::mode(int64_t index) const {
  assert(index >= 0 && index < rank() && "no such mode");
  if (extents.isLeaf())
    return *this;
  return Layout(extents.items()[index], strides.items()[index]);
}

static int64_t evaluate(const IntTuple &shape, const IntTuple &stride,
                        int64_t &rest) {
  if (shape.isLeaf()) {
    const int64_t digit = rest % shape.value();
    rest /= shape.value();
    return digit * stride.value();
  }
  int64_t sum = 0;
  for (size_t i = 0; i < shape.items().size(); ++i)
    sum += evaluate(shape.items()[i], stride.items()[i], rest);
  return sum;
}

int64_t Layout::operator()(int64_t index) const {
  assert(index >= 0 && index < size() && "outside the domain");
  return evaluate(extents, strides, index);
}

int64_t Layout::operator()(const IntTuple &coordinate) const {
  if (coordinate.isLeaf())
    return (*this)(coordinate.value());
  assert(!extents.isLeaf() && coordinate.rank() == rank() &&
         "one entry a mode");
  int64_t sum = 0;
  for (int64_t i = 0; i < rank(); ++i)
    sum += mode(i)(coordinate.items()[i]);
  return sum;
}

std::string Layout::str() const { return extents.str() + ":" + strides.str(); }

Expected<Layout> Layout::parse(std::string_view text) {
  Cursor cursor(text);
  Expected<IntTuple> shape = cursor.tuple();
  if (!shape)
    return shape.failure();
  Expected<IntTuple> stride = IntTuple(0);
  const bool hasStride = cursor.take(':');
  if (hasStride && !(stride = cursor.tuple()))
    return stride.failure();
  if (!cursor.atEnd())
    return cursor.expected(hasStride ? "the end of the text"
                                     : "':' and a stride");
  if (hasStride)
    return get(std::move(*shape), std::move(*stride));
  // Zero strides check the extents before a product of them is taken.
  std::vector<int64_t> sizes = shape->leaves();
  Expected<Layout> checked =
      get(std::vector<IntTuple>(sizes.begin(), sizes.end()),
          std::vector<IntTuple>(sizes.size(), IntTuple(0)));
  if (!checked)
    return checked;
  return columnMajor(std::move(*shape));
}

Layout tile::layout::flatten(const Layout &layout) {
  if (layout.shape().isLeaf())
    return layout;
  const std::vector<int64_t> sizes = layout.shape().leaves(),
                             steps = layout.stride().leaves();
  return Layout(std::vector<IntTuple>(sizes.begin(), sizes.end()),
                std::vector<IntTuple>(steps.begin(), steps.end()));
}

Layout tile::layout::coalesce(const Layout &layout) {
  const std::vector<int64_t> sizes = layout.shape().leaves(),
                             steps = layout.stride().leaves();
  std::vector<int64_t> shape, stride;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1)
      continue;
    if (!shape.empty() && steps[i] == shape.back() * stride.back()) {
      shape.back() *= sizes[i];
      continue;
    }
    shape.push_back(sizes[i]);
    stride.push_back(steps[i]);
  }
  if (shape.empty())
    return Layout();
  if (shape.size() == 1)
    return Layout(shape[0], stride[0]);
  return Layout(std::vector<IntTuple>(shape.begin(), shape.end()),
                std::vector<IntTuple>(stride.begin(), stride.end()));
}

Layout tile::layout::coalesceModes(const Layout &layout) {
  if (layout.shape().isLeaf())
    return coalesce(layout);
  std::vector<Layout> modes;
  for (int64_t i = 0; i < layout.rank(); ++i)
    modes.push_back(coalesce(layout.mode(i)));
  return concat(modes);
}

bool tile::layout::areEquivalent(const Layout &a, const Layout &b) {
  return coalesce(a) == coalesce(b);
}

Layout tile::layout::concat(const std::vector<Layout> &modes) {
  std::vector<IntTuple> shape, stride;
  for (const Layout &mode : modes) {
    shape.push_back(mode.shape());
    stride.push_back(mode.stride());
  }
  return Layout(std::move(shape), std::move(stride));
}

Layout tile::layout::permuteModes(const Layout &layout,
                                  const std::vector<int64_t> &order) {
  assert(int64_t(order.size()) == layout.rank() && "one entry a mode");
  std::vector<Layout> modes;
  for (int64_t index : order)
    modes.push_back(layout.mode(index));
  return concat(modes);
}
