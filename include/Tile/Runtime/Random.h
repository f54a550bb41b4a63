//===- Random.h - Reproducible random numbers -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random numbers by counter (Philox 4x32-10): number i of a stream depends on
// the seed, the stream's name and i alone, so threads may make them in any
// order, and one more argument leaves the others as they were.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_RANDOM_H
#define TILE_RUNTIME_RANDOM_H

#include "Tile/Runtime/Array.h"

#include <array>
#include <string_view>

namespace tile::runtime {

/// The Philox 4x32-10 function: 128 random bits for a counter under a key.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                               std::array<uint32_t, 2> key);

/// The numbers of one argument.
class RandomStream {
public:
  RandomStream(uint64_t seed, std::string_view name);

  /// 64 random bits.
  uint64_t getBits(int64_t i) const;
  /// Uniform in [0, 1), a multiple of 2^-53.
  double getUniform(int64_t i) const;
  /// Standard normal, by the Box-Muller transform.
  double getNormal(int64_t i) const;
  /// Uniform in low <= n < high, up to a bias below (high - low) / 2^64.
  int64_t getInteger(int64_t i, int64_t low, int64_t high) const;

  /// Numbers 2 * pair and 2 * pair + 1 at the cost of one.
  std::array<double, 2> getNormalPair(int64_t pair) const;
  std::array<uint64_t, 2> getBitsPair(int64_t pair) const;

private:
  std::array<uint32_t, 2> key;
  std::array<uint32_t, 2> stream;
};

/// Element i in row-major order is number i of the stream, rounded to the
/// array's type (`high` itself can result where that rounds up). Uses all
/// cores; the result does not depend on how many.
void fillUniform(Array &array, const RandomStream &stream, double low,
                 double high);
void fillNormal(Array &array, const RandomStream &stream, double mean,
                double deviation);
/// low <= n < high.
void fillIntegers(Array &array, const RandomStream &stream, int64_t low,
                  int64_t high);

} // namespace tile::runtime

#endif // TILE_RUNTIME_RANDOM_H
