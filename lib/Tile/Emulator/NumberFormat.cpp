//===- NumberFormat.cpp - Small floating-point formats ---------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See NumberFormat.h. The general routine scales the value so that the last
// place of the result is 1, and rounds that integer; the two hot conversions
// have short forms of their own.
//===----------------------------------------------------------------------===//
#include "NumberFormat.h"
#include <cmath>

using namespace tile::emulator;

namespace {
struct Description {
  int exponentBits, mantissaBits;
  bool hasInfinity;
  uint32_t nan;
  unsigned shift; // of the pattern within its word
};
} // namespace

static const Description descriptions[] = {
    {5, 10, true, 0x7fff, 0},      {8, 7, true, 0x7fff, 0},
    {4, 3, false, 0x7f, 0},        {5, 2, true, 0x7f, 0},
    {8, 10, true, 0x7fffffff, 13},
};

uint32_t tile::emulator::narrow(double value, NumberFormat format,
                                unsigned rounding, unsigned flags) {
  const Description &d = descriptions[unsigned(format)];
  if (std::isnan(value))
    return d.nan;
  bool negative = std::signbit(value);
  if (negative && (flags & narrowRelu))
    return 0;
  uint32_t sign = negative ? 1u << (d.exponentBits + d.mantissaBits) : 0;
  double magnitude = std::fabs(value);
  int bias = (1 << (d.exponentBits - 1)) - 1;
  int leastExponent = 1 - bias;
  // The greatest finite pattern: e4m3 uses its top exponent for numbers.
  uint32_t greatest = d.hasInfinity
                          ? (((1u << d.exponentBits) - 1) << d.mantissaBits) - 1
                          : (1u << (d.exponentBits + d.mantissaBits)) - 2;
  auto overflow = [&](bool roundsAway) -> uint32_t {
    if (!roundsAway || (flags & narrowSaturate))
      return (sign | greatest) << d.shift;
    return d.hasInfinity ? (sign | (greatest + 1)) << d.shift : sign | d.nan;
  };
  if (std::isinf(value))
    return overflow(true);
  uint32_t pattern = 0;
  if (magnitude != 0) {
    int exponent = std::ilogb(magnitude);
    if (exponent < leastExponent)
      exponent = leastExponent;
    double scaled = std::ldexp(magnitude, d.mantissaBits - exponent);
    double whole = std::floor(scaled);
    double rest = scaled - whole;
    bool up = false;
    switch (rounding) {
    case roundNearestEven:
      up = rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2.0) != 0);
      break;
    case roundNearestAway:
      up = rest >= 0.5;
      break;
    case roundDown:
      up = rest != 0 && negative;
      break;
    case roundUp:
      up = rest != 0 && !negative;
      break;
    default:
      break;
    }
    if (exponent - leastExponent > int(1u << d.exponentBits))
      return overflow(rounding != roundZero &&
                      !(rounding == roundDown && !negative) &&
                      !(rounding == roundUp && negative));
    // Adding the mantissa to the exponent field carries where it must: a
    // subnormal has whole < 2^mantissaBits at the least exponent.
    uint64_t field = uint64_t(exponent - leastExponent) << d.mantissaBits;
    uint64_t wide = field + uint64_t(whole) + (up ? 1 : 0);
    if (wide > greatest)
      return overflow(rounding == roundNearestEven ||
                      rounding == roundNearestAway || up);
    pattern = uint32_t(wide);
  }
  return (sign | pattern) << d.shift;
}

float tile::emulator::widen(uint32_t bits, NumberFormat format) {
  switch (format) {
  case NumberFormat::Half:
    return halfToFloat(uint16_t(bits));
  case NumberFormat::BFloat16:
    return bfloatToFloat(uint16_t(bits));
  case NumberFormat::TF32:
    return __builtin_bit_cast(float, bits & 0xffffe000u);
  case NumberFormat::E5M2:
    return halfToFloat(uint16_t((bits & 0xff) << 8));
  case NumberFormat::E4M3:
    break;
  }
  bits &= 0xff;
  if ((bits & 0x7f) == 0x7f)
    return NAN;
  int exponent = (bits >> 3) & 15;
  float mantissa = float(bits & 7);
  float value = exponent ? std::ldexp(8 + mantissa, exponent - 10)
                         : std::ldexp(mantissa, -9);
  return bits & 0x80 ? -value : value;
}

float tile::emulator::halfToFloat(uint16_t half) {
  // Scaling by a power of two turns a half's exponent, subnormals included,
  // into a float's.
  uint32_t shifted = uint32_t(half & 0x7fff) << 13;
  float value = __builtin_bit_cast(float, shifted) * 0x1p112f;
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  if ((half & 0x7c00) == 0x7c00)
    bits = 0x7f800000 | uint32_t(half & 0x3ff) << 13;
  bits |= uint32_t(half & 0x8000) << 16;
  return __builtin_bit_cast(float, bits);
}

uint16_t tile::emulator::floatToHalf(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  bits &= 0x7fffffff;
  if (bits > 0x7f800000)
    return 0x7fff;
  if (bits >= 0x47800000)
    return sign | 0x7c00;
  if (bits < 0x38800000) {
    // Subnormal: adding 0.5 lines the last place up with a half's.
    float rounded = __builtin_bit_cast(float, bits) + 0.5f;
    return sign | uint16_t(__builtin_bit_cast(uint32_t, rounded) - 0x3f000000);
  }
  uint32_t odd = bits >> 13 & 1;
  bits += 0xfffu + odd;
  return sign | uint16_t((bits - 0x38000000) >> 13);
}

uint16_t tile::emulator::floatToBfloat(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
