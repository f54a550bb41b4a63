//===- CFunction.h - A function as C programs call it -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an object file needs to know of an argument to take it from C: buffers
// come as pointers to a `tile_buffer_<rank>`, a struct of the address of
// element zero, the extents and the strides in elements; scalars come as values
// (narrow floats and i1 as the integers of their bits).
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_CPU_CFUNCTION_H
#define TILE_TARGET_CPU_CFUNCTION_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile::cpu {

struct CArgument {
  std::string name;
  bool isScalar = false;
  /// Bits of an element in a buffer.
  unsigned elementBits = 0;
  /// Extents; what is below zero is open.
  std::vector<int64_t> shape;
  /// In elements, each `open` or fixed. Not given where the code takes the
  /// buffer to be dense with the last dimension contiguous.
  std::optional<std::vector<int64_t>> strides;
  static constexpr int64_t open = INT64_MIN;
  /// From the address in the code's descriptor to element zero; `open` is zero.
  int64_t offset = 0;
};

struct CFunction {
  std::string name;
  std::vector<CArgument> arguments;
};

} // namespace tile::cpu

#endif // TILE_TARGET_CPU_CFUNCTION_H
