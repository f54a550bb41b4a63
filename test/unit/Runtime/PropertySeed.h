//===- PropertySeed.h - Seeds of property tests -----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fresh seed every run, printed, and fixed by TILE_TEST_SEED to repeat a run
// that failed.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTEST_RUNTIME_PROPERTYSEED_H
#define TILE_UNITTEST_RUNTIME_PROPERTYSEED_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

inline uint64_t getPropertySeed() {
  const char *fixed = std::getenv("TILE_TEST_SEED");
  uint64_t seed =
      fixed ? std::strtoull(fixed, nullptr, 0) : std::random_device()();
  std::printf("TILE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

#endif // TILE_UNITTEST_RUNTIME_PROPERTYSEED_H
