//===- Support.h - What the layout tests share ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small layouts that exhaustive tests run over, random ones for property
// tests (each test prints the seed it used), and tables of values.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_LAYOUT_SUPPORT_H
#define TILE_TEST_LAYOUT_SUPPORT_H

#include "Tile/Layout/Layout.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <random>

namespace tile::layout::test {

inline std::vector<int64_t> valuesOf(const Layout &layout) {
  std::vector<int64_t> values;
  for (int64_t i = 0, e = layout.size(); i < e; ++i)
    values.push_back(layout(i));
  return values;
}

/// Every layout of exactly `rank` modes with the given extents and strides.
inline std::vector<Layout> allLayouts(int rank,
                                      const std::vector<int64_t> &extents,
                                      const std::vector<int64_t> &strides) {
  std::vector<Layout> result{Layout(IntTuple(std::vector<IntTuple>()),
                                    IntTuple(std::vector<IntTuple>()))};
  for (int mode = 0; mode < rank; ++mode) {
    std::vector<Layout> longer;
    for (const Layout &layout : result)
      for (int64_t extent : extents)
        for (int64_t stride : strides) {
          std::vector<IntTuple> shape = layout.shape().items(),
                                step = layout.stride().items();
          shape.push_back(extent);
          step.push_back(stride);
          longer.push_back(Layout(std::move(shape), std::move(step)));
        }
    result = std::move(longer);
  }
  return result;
}

/// A generator seeded by TILE_TEST_SEED or by chance; the seed is printed.
inline std::mt19937_64 seededGenerator() {
  const char *given = std::getenv("TILE_TEST_SEED");
  const uint64_t seed =
      given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::cout << "TILE_TEST_SEED=" << seed << std::endl;
  return std::mt19937_64(seed);
}

inline int64_t pick(std::mt19937_64 &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

/// A dense layout with nested, permuted modes of arbitrary extents.
inline Layout randomDense(std::mt19937_64 &random, int modes) {
  std::vector<IntTuple> shape(modes), stride(modes);
  std::vector<int> order(modes);
  for (int i = 0; i < modes; ++i)
    order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  int64_t next = 1;
  for (int i : order) {
    const int64_t extent = pick(random, 1, 5);
    shape[i] = extent;
    stride[i] = next;
    next *= extent;
  }
  if (modes > 2) {
    const int64_t cut = pick(random, 1, modes - 1);
    auto nest = [&](std::vector<IntTuple> &items) {
      IntTuple head = std::vector<IntTuple>(items.begin(), items.begin() + cut);
      items.erase(items.begin(), items.begin() + cut);
      items.insert(items.begin(), head);
    };
    nest(shape);
    nest(stride);
  }
  return Layout(std::move(shape), std::move(stride));
}

} // namespace tile::layout::test

#endif // TILE_TEST_LAYOUT_SUPPORT_H
