//===- RuntimeNumbers.cpp - Arithmetic beyond one instruction --*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bit-field operations as the PTX ISA defines them, directed rounding through
// the host's rounding mode, and the transcendental functions. Those marked
// approximate on the device are computed to within half a unit here, which is
// inside every documented bound.
//===----------------------------------------------------------------------===//
#include "NumberFormat.h"
#include "RuntimeFunctions.h"
#include <algorithm>
#include <cfenv>
#include <cmath>

using namespace tile::emulator;

//===----------------------------------------------------------------------===//
// Bit fields
//===----------------------------------------------------------------------===//

uint64_t tile::emulator::tileEmuExtractUnsigned(uint64_t a, uint32_t position,
                                                uint32_t length,
                                                uint32_t bits) {
  position &= 0xff;
  length &= 0xff;
  if (position >= bits || length == 0)
    return 0;
  uint64_t value = a >> position;
  return length >= 64 ? value : value & ((uint64_t(1) << length) - 1);
}

uint64_t tile::emulator::tileEmuExtractSigned(uint64_t a, uint32_t position,
                                              uint32_t length, uint32_t bits) {
  position &= 0xff;
  length &= 0xff;
  if (length == 0)
    return 0;
  // The sign is the field's top bit, or the operand's if the field reaches
  // beyond it.
  uint32_t top = std::min(position + length - 1, bits - 1);
  uint64_t sign = a >> top & 1;
  uint64_t value = 0;
  for (uint32_t i = 0; i < bits; ++i) {
    uint64_t bit =
        i < length && position + i < bits ? a >> (position + i) & 1 : sign;
    value |= bit << i;
  }
  return value;
}

uint64_t tile::emulator::tileEmuInsertBits(uint64_t a, uint64_t b,
                                           uint32_t position, uint32_t length,
                                           uint32_t bits) {
  position &= 0xff;
  length &= 0xff;
  for (uint32_t i = 0; i < length && position + i < bits; ++i) {
    uint64_t mask = uint64_t(1) << (position + i);
    b = (b & ~mask) | ((a >> i & 1) << (position + i));
  }
  return b;
}

uint32_t tile::emulator::tileEmuBitMask(uint32_t position, uint32_t length,
                                        uint32_t wraps) {
  if (wraps) {
    position &= 31;
    length &= 31;
  }
  if (position >= 32 || length == 0)
    return 0;
  uint64_t mask = length >= 32 ? ~uint64_t(0) : (uint64_t(1) << length) - 1;
  return uint32_t(mask << position);
}

uint32_t tile::emulator::tileEmuSignOrZeroExtend(uint32_t value, uint32_t bits,
                                                 uint32_t wraps,
                                                 uint32_t isSigned) {
  if (wraps)
    bits &= 31;
  if (bits >= 32)
    return value;
  if (bits == 0)
    return 0;
  uint32_t shift = 32 - bits;
  return isSigned ? uint32_t(int32_t(value << shift) >> shift)
                  : value << shift >> shift;
}

uint32_t tile::emulator::tileEmuFindNthSet(uint32_t mask, uint32_t base,
                                           uint32_t offset) {
  int n = int32_t(offset);
  if (n == 0)
    return mask >> (base & 31) & 1 ? base : ~0u;
  int step = n > 0 ? 1 : -1;
  int left = std::abs(n);
  for (int i = int(base); i >= 0 && i < 32; i += step)
    if (mask >> i & 1 && --left == 0)
      return uint32_t(i);
  return ~0u;
}

uint32_t tile::emulator::tileEmuPermuteBytes(uint32_t a, uint32_t b,
                                             uint32_t selector, uint32_t mode) {
  uint8_t bytes[8];
  for (int i = 0; i < 4; ++i) {
    bytes[i] = uint8_t(a >> 8 * i);
    bytes[4 + i] = uint8_t(b >> 8 * i);
  }
  uint32_t s = selector & 3, result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint8_t byte;
    switch (mode) {
    case 0: { // generic: four bits a byte, the top one replicates the sign
      uint32_t choice = selector >> 4 * i & 0xf;
      byte = bytes[choice & 7];
      if (choice & 8)
        byte = byte & 0x80 ? 0xff : 0;
      break;
    }
    case 1: // f4e
      byte = bytes[s + i];
      break;
    case 2: // b4e
      byte = bytes[(s + 8 - i) & 7];
      break;
    case 3: // rc8
      byte = bytes[s];
      break;
    case 4: // ecl
      byte = bytes[std::max(i, s)];
      break;
    case 5: // ecr
      byte = bytes[std::min(i, s)];
      break;
    default: // rc16
      byte = bytes[(s & 1) * 2 + (i & 1)];
    }
    result |= uint32_t(byte) << 8 * i;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Halves
//===----------------------------------------------------------------------===//

float tile::emulator::tileEmuHalfToFloat(uint32_t bits) {
  return halfToFloat(uint16_t(bits));
}
uint32_t tile::emulator::tileEmuFloatToHalf(float value) {
  return floatToHalf(value);
}
uint32_t tile::emulator::tileEmuFloatToBfloat(float value) {
  return floatToBfloat(value);
}

uint32_t tile::emulator::tileEmuFlushHalf(uint32_t bits) {
  return bits & 0x7c00 ? bits : bits & 0x8000;
}

/// a * b + c in double, rounded to odd, so that a later rounding to fewer bits
/// is the only one that counts. The product of two halves is exact.
static double fmaToOdd(float a, float b, float c) {
  double product = double(a) * double(b);
  double sum = product + double(c);
  if (!std::isfinite(sum))
    return sum;
  double backwards = sum - product;
  double error = (product - (sum - backwards)) + (double(c) - backwards);
  uint64_t bits = __builtin_bit_cast(uint64_t, sum);
  if (error != 0 && !(bits & 1)) {
    // Towards the exact value: away from zero if the error has sum's sign.
    bits += (error > 0) == (sum > 0) ? 1 : -1;
    sum = __builtin_bit_cast(double, bits);
  }
  return sum;
}

float tile::emulator::tileEmuFmaHalf(float a, float b, float c) {
  return widen(narrow(fmaToOdd(a, b, c), NumberFormat::Half, roundNearestEven),
               NumberFormat::Half);
}

float tile::emulator::tileEmuFmaBfloat(float a, float b, float c) {
  return widen(
      narrow(fmaToOdd(a, b, c), NumberFormat::BFloat16, roundNearestEven),
      NumberFormat::BFloat16);
}

uint32_t tile::emulator::tileEmuNarrow(float value, uint32_t format,
                                       uint32_t rounding, uint32_t flags) {
  return narrow(value, NumberFormat(format), rounding, flags);
}
uint32_t tile::emulator::tileEmuNarrowDouble(double value, uint32_t format,
                                             uint32_t rounding,
                                             uint32_t flags) {
  return narrow(value, NumberFormat(format), rounding, flags);
}
float tile::emulator::tileEmuWiden(uint32_t bits, uint32_t format) {
  return widen(bits, NumberFormat(format));
}

//===----------------------------------------------------------------------===//
// Directed rounding
//===----------------------------------------------------------------------===//

namespace {
/// The host's rounding mode while in scope; operands and results go through
/// volatiles so that nothing is computed outside.
class HostRounding {
public:
  explicit HostRounding(uint32_t rounding) : changed(rounding != 0) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                FE_UPWARD};
    if (changed)
      std::fesetround(modes[rounding & 3]);
  }
  ~HostRounding() {
    if (changed)
      std::fesetround(FE_TONEAREST);
  }

private:
  bool changed;
};

template <typename T, typename Compute>
T rounded(uint32_t rounding, T a, T b, Compute compute) {
  volatile T x = a, y = b, result;
  HostRounding scope(rounding);
  result = compute(x, y);
  return result;
}
} // namespace

#define DIRECTED(op, symbol)                                                   \
  float tile::emulator::tileEmuRounded##op##32(float a, float b, uint32_t r) { \
    return rounded(r, a, b, [](float x, float y) { return x symbol y; });      \
  }                                                                            \
  double tile::emulator::tileEmuRounded##op##64(double a, double b,            \
                                                uint32_t r) {                  \
    return rounded(r, a, b, [](double x, double y) { return x symbol y; });    \
  }
DIRECTED(add, +)
DIRECTED(sub, -)
DIRECTED(mul, *)
DIRECTED(div, /)
#undef DIRECTED

float tile::emulator::tileEmuRoundedfma32(float a, float b, float c,
                                          uint32_t r) {
  volatile float z = c;
  return rounded(r, a, b, [&](float x, float y) { return std::fma(x, y, z); });
}
double tile::emulator::tileEmuRoundedfma64(double a, double b, double c,
                                           uint32_t r) {
  volatile double z = c;
  return rounded(r, a, b,
                 [&](double x, double y) { return std::fma(x, y, z); });
}

template <typename To, typename From>
static To convertRounded(From value, uint32_t rounding) {
  volatile From from = value;
  volatile To to;
  HostRounding scope(rounding);
  to = static_cast<To>(from);
  return to;
}

float tile::emulator::tileEmuSignedToFloat32(int64_t v, uint32_t r) {
  return convertRounded<float>(v, r);
}
double tile::emulator::tileEmuSignedToFloat64(int64_t v, uint32_t r) {
  return convertRounded<double>(v, r);
}
float tile::emulator::tileEmuUnsignedToFloat32(uint64_t v, uint32_t r) {
  if (v <= uint64_t(INT64_MAX))
    return convertRounded<float>(int64_t(v), r);
  // Halve with the lost bit kept sticky, convert once, double exactly.
  return 2 * convertRounded<float>(int64_t(v >> 1 | (v & 1)), r);
}
double tile::emulator::tileEmuUnsignedToFloat64(uint64_t v, uint32_t r) {
  if (v <= uint64_t(INT64_MAX))
    return convertRounded<double>(int64_t(v), r);
  return 2 * convertRounded<double>(int64_t(v >> 1 | (v & 1)), r);
}
float tile::emulator::tileEmuDoubleToFloat(double v, uint32_t r) {
  return convertRounded<float>(v, r);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

float tile::emulator::tileEmuMath_rcp32(float x, uint32_t r) {
  return tileEmuRoundeddiv32(1.0f, x, r);
}
double tile::emulator::tileEmuMath_rcp64(double x, uint32_t r) {
  return tileEmuRoundeddiv64(1.0, x, r);
}
float tile::emulator::tileEmuMath_sqrt32(float x, uint32_t r) {
  return rounded(r, x, x, [](float v, float) { return std::sqrt(v); });
}
double tile::emulator::tileEmuMath_sqrt64(double x, uint32_t r) {
  return rounded(r, x, x, [](double v, double) { return std::sqrt(v); });
}
float tile::emulator::tileEmuMath_rsqrt32(float x, uint32_t) {
  return float(1.0 / std::sqrt(double(x)));
}
double tile::emulator::tileEmuMath_rsqrt64(double x, uint32_t) {
  return 1.0 / std::sqrt(x);
}
float tile::emulator::tileEmuMath_sin32(float x, uint32_t) {
  return std::sin(x);
}
float tile::emulator::tileEmuMath_cos32(float x, uint32_t) {
  return std::cos(x);
}
float tile::emulator::tileEmuMath_lg232(float x, uint32_t) {
  return std::log2(x);
}
float tile::emulator::tileEmuMath_ex232(float x, uint32_t) {
  return std::exp2(x);
}
float tile::emulator::tileEmuMath_tanh32(float x, uint32_t) {
  return std::tanh(x);
}
