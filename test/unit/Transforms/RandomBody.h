//===- RandomBody.h - Random elementwise loops ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_TRANSFORMS_RANDOMBODY_H
#define TILE_TEST_TRANSFORMS_RANDOMBODY_H

#include <string>

namespace tile::test {

/// How many buffers a random program has; they are its first allocations.
inline constexpr unsigned kNumBuffers = 3;

/// The text of a function with one elementwise loop, whose lanes often meet. It
/// may contradict itself; the evaluation tells.
std::string makeRandomProgram(unsigned seed);

} // namespace tile::test

#endif // TILE_TEST_TRANSFORMS_RANDOMBODY_H
