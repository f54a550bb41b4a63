//===- TensorMap.h - Tensor maps for the emulator --------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the driver's opaque CUtensorMap says, as a plain description. A kernel
// receives it as 128 opaque bytes; the encoding here is the emulator's own,
// since the hardware's is not documented.
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_TENSORMAP_H
#define TILE_EMULATOR_TENSORMAP_H

#include <array>
#include <cstdint>
#include <string>

namespace tile::emulator {

enum class TensorElement : uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz
};

unsigned tensorElementBytes(TensorElement element);

enum class TensorSwizzle : uint8_t { None, B32, B64, B128 };
enum class TensorFill : uint8_t { Zeros, NaN };

struct TensorMap {
  uint64_t base = 0; // a registered buffer's address
  TensorElement element = TensorElement::F16;
  unsigned rank = 2;
  /// Extents in elements, innermost first.
  std::array<uint64_t, 5> extents = {1, 1, 1, 1, 1};
  /// Bytes between neighbours in dimensions 1 to rank - 1; entry 0 is for
  /// dimension 1.
  std::array<uint64_t, 4> strides = {0, 0, 0, 0};
  std::array<uint32_t, 5> box = {1, 1, 1, 1, 1};
  std::array<uint32_t, 5> elementStrides = {1, 1, 1, 1, 1};
  TensorSwizzle swizzle = TensorSwizzle::None;
  TensorFill fill = TensorFill::Zeros;

  uint64_t boxBytes() const;
};

using TensorMapBytes = std::array<uint8_t, 128>;

/// Encodes `map`, or says in `problem` which of the driver's rules it breaks.
bool encodeTensorMap(const TensorMap &map, TensorMapBytes &bytes,
                     std::string &problem);

/// Reads an encoded map back; false for bytes that are none.
bool decodeTensorMap(const uint8_t *bytes, TensorMap &map);

} // namespace tile::emulator

#endif // TILE_EMULATOR_TENSORMAP_H
