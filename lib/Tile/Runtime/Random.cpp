//===- Random.cpp - Reproducible random numbers ---------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox is from Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3" (SC 2011); the constants are theirs.
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Random.h"
#include "ParallelFor.h"

#include <algorithm>
#include <cmath>

using namespace tile::runtime;

std::array<uint32_t, 4> tile::runtime::philox(std::array<uint32_t, 4> counter,
                                              std::array<uint32_t, 2> key) {
  constexpr uint64_t multipliers[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t keySteps[] = {0x9E3779B9, 0xBB67AE85};
  for (unsigned round = 0; round < 10; ++round) {
    uint64_t first = multipliers[0] * counter[0];
    uint64_t second = multipliers[1] * counter[2];
    counter = {uint32_t(second >> 32) ^ counter[1] ^ key[0], uint32_t(second),
               uint32_t(first >> 32) ^ counter[3] ^ key[1], uint32_t(first)};
    key[0] += keySteps[0];
    key[1] += keySteps[1];
  }
  return counter;
}

/// FNV-1a of 64 bits: the name has to choose a stream, nothing more.
static uint64_t hashName(std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325;
  for (char c : name)
    hash = (hash ^ uint8_t(c)) * 0x100000001B3;
  return hash;
}

RandomStream::RandomStream(uint64_t seed, std::string_view name) {
  uint64_t hash = hashName(name);
  key = {uint32_t(seed), uint32_t(seed >> 32)};
  stream = {uint32_t(hash), uint32_t(hash >> 32)};
}

std::array<uint64_t, 2> RandomStream::getBitsPair(int64_t pair) const {
  std::array<uint32_t, 4> words =
      philox({uint32_t(uint64_t(pair)), uint32_t(uint64_t(pair) >> 32),
              stream[0], stream[1]},
             key);
  return {uint64_t(words[1]) << 32 | words[0],
          uint64_t(words[3]) << 32 | words[2]};
}

static double toUniform(uint64_t bits) { return double(bits >> 11) * 0x1p-53; }

std::array<double, 2> RandomStream::getNormalPair(int64_t pair) const {
  std::array<uint64_t, 2> bits = getBitsPair(pair);
  // In (0, 1], for the logarithm.
  double radius = std::sqrt(-2 * std::log(toUniform(bits[0]) + 0x1p-53));
  double angle = 6.283185307179586 * toUniform(bits[1]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

uint64_t RandomStream::getBits(int64_t i) const {
  return getBitsPair(i >> 1)[size_t(i & 1)];
}

double RandomStream::getUniform(int64_t i) const {
  return toUniform(getBits(i));
}

double RandomStream::getNormal(int64_t i) const {
  return getNormalPair(i >> 1)[size_t(i & 1)];
}

static int64_t toInteger(uint64_t bits, int64_t low, int64_t high) {
  uint64_t range = uint64_t(high) - uint64_t(low);
  __extension__ using Wide = unsigned __int128;
  return int64_t(uint64_t(low) + uint64_t(Wide(bits) * range >> 64));
}

int64_t RandomStream::getInteger(int64_t i, int64_t low, int64_t high) const {
  return toInteger(getBits(i), low, high);
}

/// Fills the array in blocks that begin at even positions: `getPair` gives two
/// elements at once, `storeRow` takes those of a row.
template <typename T, typename GetPair, typename Store>
static void fillPairs(Array &array, GetPair getPair, Store storeRow) {
  constexpr int64_t block = 2048;
  // With strides of its own, elements of different ranges may share a byte
  // (packed ones) or be the same (a stride of 0).
  bool isSerial = !array.isDense();
  int64_t count = array.getNumElements();
  auto fillRange = [&](int64_t begin, int64_t end) {
    T values[block];
    for (int64_t start = begin; start < end; start += block) {
      int64_t stop = std::min(start + block, end);
      for (int64_t i = start; i < stop; i += 2) {
        auto pair = getPair(i >> 1);
        values[i - start] = pair[0];
        values[i - start + 1] = pair[1];
      }
      array.forEachRow(start, stop, [&](const Row &row) {
        storeRow(row, values + (row.first - start));
      });
    }
  };
  if (isSerial)
    fillRange(0, count);
  else
    parallelFor(count, 32 * block, fillRange);
}

static void
fillReals(Array &array,
          const std::function<std::array<double, 2>(int64_t)> &getPair) {
  fillPairs<double>(array, getPair, [&](const Row &row, const double *values) {
    encodeRow(array.getType(), values, row.count, array.data(), row.index,
              row.stride);
  });
}

void tile::runtime::fillUniform(Array &array, const RandomStream &stream,
                                double low, double high) {
  fillReals(array, [=](int64_t pair) -> std::array<double, 2> {
    std::array<uint64_t, 2> bits = stream.getBitsPair(pair);
    return {low + (high - low) * toUniform(bits[0]),
            low + (high - low) * toUniform(bits[1])};
  });
}

void tile::runtime::fillNormal(Array &array, const RandomStream &stream,
                               double mean, double deviation) {
  fillReals(array, [=](int64_t pair) -> std::array<double, 2> {
    std::array<double, 2> normal = stream.getNormalPair(pair);
    return {mean + deviation * normal[0], mean + deviation * normal[1]};
  });
}

void tile::runtime::fillIntegers(Array &array, const RandomStream &stream,
                                 int64_t low, int64_t high) {
  DType type = array.getType();
  fillPairs<int64_t>(
      array,
      [&](int64_t pair) -> std::array<int64_t, 2> {
        std::array<uint64_t, 2> bits = stream.getBitsPair(pair);
        return {toInteger(bits[0], low, high), toInteger(bits[1], low, high)};
      },
      [&](const Row &row, const int64_t *values) {
        for (int64_t i = 0; i < row.count; ++i)
          storeBits(type, array.data(), row.index + i * row.stride,
                    encodeInt(type, values[i]));
      });
}
