//===- NumberFormat.h - Small floating-point formats -----------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between float or double and the formats of tensor cores, bit for
// bit as the hardware's cvt: one routine over a table of formats.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_NUMBERFORMAT_H
#define TILE_LIB_EMULATOR_NUMBERFORMAT_H

#include <cstdint>

namespace tile::emulator {

enum class NumberFormat : unsigned { Half, BFloat16, E4M3, E5M2, TF32 };

enum Rounding : unsigned {
  roundNearestEven,
  roundZero,
  roundDown,
  roundUp,
  roundNearestAway
};

enum NarrowFlags : unsigned { narrowSaturate = 1, narrowRelu = 2 };

/// Bits of `value` in `format`. Without saturation, overflow gives infinity,
/// or the NaN of a format that has none.
uint32_t narrow(double value, NumberFormat format, unsigned rounding,
                unsigned flags = 0);

/// Value of `bits`; upper bits beyond the format are ignored. TF32 reads the
/// upper 19 bits of 32.
float widen(uint32_t bits, NumberFormat format);

float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
inline float bfloatToFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  return __builtin_bit_cast(float, wide);
}
uint16_t floatToBfloat(float value);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_NUMBERFORMAT_H
