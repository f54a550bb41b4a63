//===- SharedLayout.cpp - Swizzled layouts of shared memory ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SharedLayout.h.
//
//===----------------------------------------------------------------------===//

#include "Tile/Layout/SharedLayout.h"

#include "Coordinates.h"
#include "Cursor.h"

#include <algorithm>

using namespace tile::layout;

int64_t tile::layout::rowBytes(SwizzleMode mode) {
  switch (mode) {
  case SwizzleMode::None:
    return 0;
  case SwizzleMode::Bytes32:
    return 32;
  case SwizzleMode::Bytes64:
    return 64;
  case SwizzleMode::Bytes128:
    break;
  }
  return 128;
}

static int64_t log2Of(int64_t value) {
  int64_t bits = 0;
  while (value > 1) {
    value >>= 1;
    ++bits;
  }
  return bits;
}

Expected<Swizzle> Swizzle::get(int64_t bits, int64_t base, int64_t shift) {
  const int64_t distance = shift < 0 ? -shift : shift;
  if (bits < 0 || base < 0 || distance > 40 || bits > 20 || base > 20)
    return Failure{
        "swizzle bits and base lie from 0 to 20 and shift from -40 to "
        "40, got " +
        std::to_string(bits) + ", " + std::to_string(base) + " and " +
        std::to_string(shift)};
  if (distance < bits)
    return Failure{"a swizzle of " + std::to_string(bits) +
                   " bits needs a shift of at least as many, got " +
                   std::to_string(shift)};
  return Swizzle{bits, base, shift};
}

Swizzle Swizzle::forMode(SwizzleMode mode, int64_t elementBits) {
  if (mode == SwizzleMode::None)
    return Swizzle();
  // Byte address bits 4, 5, 6 (as many as the row has chunks of 16 bytes) take
  // bits 7, 8, 9, which number rows of 128 bytes. PTX: "Tensor swizzling
  // modes".
  return Swizzle{log2Of(rowBytes(mode) / 16), log2Of(128 / elementBits), 3};
}

int64_t Swizzle::operator()(int64_t offset) const {
  const int64_t mask = (int64_t(1) << bits) - 1;
  if (shift >= 0)
    return offset ^ ((offset >> shift) & (mask << base));
  return offset ^ ((offset & (mask << base)) << -shift);
}

int64_t Swizzle::period() const {
  if (bits == 0)
    return 1;
  return int64_t(1) << (base + bits + (shift < 0 ? -shift : shift));
}

int64_t Swizzle::involvedBits() const {
  const int64_t mask = ((int64_t(1) << bits) - 1) << base;
  return mask | (shift >= 0 ? mask << shift : mask << -shift);
}

Coordinate ComposedLayout::tile() const {
  Coordinate shape;
  for (int64_t i = 0; i < layout.rank(); ++i)
    shape.push_back(layout.mode(i).size());
  return shape;
}

int64_t ComposedLayout::operator()(const Coordinate &coordinate) const {
  assert(int64_t(coordinate.size()) == layout.rank() &&
         "one entry a dimension");
  int64_t sum = offset;
  for (int64_t i = 0; i < layout.rank(); ++i)
    sum += layout.mode(i)(coordinate[i]);
  return swizzle(sum);
}

std::vector<int64_t> ComposedLayout::offsets() const {
  // Read as one integer a layout counts its first mode fastest; row-major
  // numbers count the last dimension fastest.
  std::vector<int64_t> order(layout.rank());
  std::iota(order.rbegin(), order.rend(), 0);
  const Layout reversed = permuteModes(layout, order);
  std::vector<int64_t> result;
  for (int64_t i = 0, e = reversed.size(); i < e; ++i)
    result.push_back(swizzle(offset + reversed(i)));
  return result;
}

int64_t ComposedLayout::allocation() const {
  const int64_t period = swizzle.period();
  return (offset + layout.cosize() + period - 1) / period * period;
}

std::optional<SwizzleMode> ComposedLayout::mode(int64_t elementBits) const {
  for (SwizzleMode candidate : {SwizzleMode::None, SwizzleMode::Bytes32,
                                SwizzleMode::Bytes64, SwizzleMode::Bytes128})
    if (swizzle == Swizzle::forMode(candidate, elementBits))
      return candidate;
  return std::nullopt;
}

std::string ComposedLayout::str() const {
  return "Sw<" + std::to_string(swizzle.bits) + "," +
         std::to_string(swizzle.base) + "," + std::to_string(swizzle.shift) +
         "> o " + std::to_string(offset) + " o " + layout.str();
}

Expected<ComposedLayout> ComposedLayout::parse(std::string_view text) {
  ComposedLayout result;
  Cursor cursor(text);
  if (cursor.peek() == 'S') {
    std::optional<int64_t> bits, base, shift, offset;
    if (!cursor.take("Sw<") || !(bits = cursor.integer()) ||
        !cursor.take(',') || !(base = cursor.integer()) || !cursor.take(',') ||
        !(shift = cursor.integer()) || !cursor.take('>'))
      return cursor.expected("'Sw<bits,base,shift>'");
    if (!cursor.take('o') || !(offset = cursor.integer()) || !cursor.take('o'))
      return cursor.expected("'o offset o'");
    Expected<Swizzle> swizzle = Swizzle::get(*bits, *base, *shift);
    if (!swizzle)
      return swizzle.failure();
    if (*offset < 0 || *offset > largestTile)
      return Failure{"offset " + std::to_string(*offset) +
                     " is outside of shared memory"};
    result.swizzle = *swizzle;
    result.offset = *offset;
  }
  Expected<Layout> layout = Layout::parse(cursor.rest());
  if (!layout)
    return layout.failure();
  for (int64_t stride : layout->stride().leaves())
    if (stride < 0)
      return Failure{"layout " + layout->str() +
                     " of shared memory has a negative stride"};
  result.layout = std::move(*layout);
  return result;
}

ComposedLayout tile::layout::rowMajorShared(const Coordinate &tile,
                                            int64_t padding) {
  std::vector<IntTuple> shape(tile.begin(), tile.end()), stride(tile.size());
  int64_t next = 1;
  for (size_t d = tile.size(); d-- > 0;) {
    stride[d] = next;
    next = next * tile[d] + (d + 1 == tile.size() ? padding : 0);
  }
  return {{}, 0, Layout(std::move(shape), std::move(stride))};
}

Expected<ComposedLayout> tile::layout::swizzledPanels(const Coordinate &tile,
                                                      SwizzleMode mode,
                                                      int64_t elementBits) {
  if (mode == SwizzleMode::None)
    return rowMajorShared(tile);
  const int64_t width = rowBytes(mode) * 8 / elementBits;
  if (tile.size() < 2 || tile.back() % width != 0)
    return Failure{"the " + std::to_string(rowBytes(mode)) +
                   "-byte swizzle needs rows of a multiple of " +
                   std::to_string(width) + " elements, got " + shapeText(tile)};
  const size_t column = tile.size() - 1, row = column - 1;
  std::vector<IntTuple> shape(tile.begin(), tile.end()), stride(tile.size());
  const int64_t panels = tile[column] / width;
  if (panels == 1) {
    stride[column] = 1;
  } else {
    shape[column] = IntTuple{width, panels};
    stride[column] = IntTuple{1, tile[row] * width};
  }
  stride[row] = width;
  int64_t next = tile[row] * tile[column];
  for (size_t d = row; d-- > 0;) {
    stride[d] = next;
    next *= tile[d];
  }
  return ComposedLayout{Swizzle::forMode(mode, elementBits), 0,
                        Layout(std::move(shape), std::move(stride))};
}
