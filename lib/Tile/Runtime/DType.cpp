//===- DType.cpp - Element types of host buffers --------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One description a float format (exponent and mantissa widths, largest finite
// code) serves all narrow types; f32 and f64 are the machine's own.
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/DType.h"

#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

using namespace tile::runtime;

namespace {

/// A float format narrower than f32. Codes are without the sign bit.
struct Narrow {
  unsigned exponentBits;
  unsigned mantissaBits;
  uint32_t maxFinite;
  /// What overflow gives: infinity, or NaN without one.
  uint32_t overflow;
  uint32_t nan;

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr uint32_t sign() const {
    return uint32_t(1) << (exponentBits + mantissaBits);
  }
};

constexpr Narrow f16{5, 10, 0x7BFF, 0x7C00, 0x7E00};
constexpr Narrow bf16{8, 7, 0x7F7F, 0x7F80, 0x7FC0};
constexpr Narrow f8E4M3FN{4, 3, 0x7E, 0x7F, 0x7F};
constexpr Narrow f8E5M2{5, 2, 0x7B, 0x7C, 0x7E};

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "sizes must agree");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

uint32_t encodeNarrow(const Narrow &format, double value, Overflow overflow) {
  uint64_t bits = bitCast<uint64_t>(value);
  uint32_t sign = bits >> 63 ? format.sign() : 0;
  int biased = int(bits >> 52 & 0x7FF);
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  if (biased == 0x7FF && mantissa)
    return sign | format.nan;
  uint32_t beyond =
      overflow == Overflow::Saturate ? format.maxFinite : format.overflow;
  if (biased == 0x7FF)
    return sign | beyond;
  // A subnormal double is far below half of any narrow type's smallest value.
  if (biased == 0)
    return sign;
  mantissa |= uint64_t(1) << 52;

  int minExponent = 1 - format.bias();
  int exponent = biased - 1023;
  int shift = 52 - int(format.mantissaBits);
  if (exponent < minExponent) {
    shift += minExponent - exponent;
    exponent = minExponent;
  }
  if (shift > 53)
    return sign;
  uint64_t kept = mantissa >> shift;
  uint64_t rest = mantissa & ((uint64_t(1) << shift) - 1);
  uint64_t half = uint64_t(1) << (shift - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  // The hidden bit adds one to the exponent field, and a carry out of the
  // mantissa another: both as it should be.
  uint64_t code =
      (uint64_t(exponent - minExponent) << format.mantissaBits) + kept;
  return sign | (code > format.maxFinite ? beyond : uint32_t(code));
}

/// Exact, without branches on the value, so that loops over it vectorise, and
/// without subnormal floats on the way, which a thread that flushes them would
/// lose: a subnormal is an integer times a power of two, anything else only
/// moves its fields to f32's place.
inline float decodeNarrow(const Narrow &format, uint32_t bits) {
  uint32_t code = bits & (format.sign() - 1);
  float unit = bitCast<float>(
      uint32_t(127 + 1 - format.bias() - int(format.mantissaBits)) << 23);
  uint32_t subnormal = bitCast<uint32_t>(float(int32_t(code)) * unit);
  uint32_t normal = (code << (23 - format.mantissaBits)) +
                    (uint32_t(127 - format.bias()) << 23);
  uint32_t result = code >> format.mantissaBits ? normal : subnormal;
  bool isInfinity = code == format.overflow && format.overflow != format.nan;
  uint32_t special = isInfinity ? 0x7F800000 : 0x7FC00000;
  result = code > format.maxFinite ? special : result;
  uint32_t sign = bits & format.sign() ? uint32_t(0x80000000) : 0;
  return bitCast<float>(result | sign);
}

/// bf16 is the upper half of f32.
inline float decodeBF16(uint32_t bits) { return bitCast<float>(bits << 16); }

uint64_t encodeInteger(DType type, double value) {
  if (type == DType::I1)
    return value != 0 && !std::isnan(value);
  if (std::isnan(value))
    return 0;
  // nearbyint follows the thread's rounding mode, which a host program may
  // have changed; remainder always takes the nearest even.
  double rounded = std::fabs(value) < 4503599627370496.0
                       ? value - std::remainder(value, 1)
                       : value;
  // The largest int64_t is not a double; 2^63 is.
  if (rounded >= 9223372036854775808.0)
    return uint64_t(getMaxInt(type));
  if (rounded < -9223372036854775808.0)
    return uint64_t(getMinInt(type));
  int64_t integer = int64_t(rounded);
  if (integer > getMaxInt(type))
    integer = getMaxInt(type);
  if (integer < getMinInt(type))
    integer = getMinInt(type);
  return uint64_t(integer);
}

uint64_t maskBits(DType type, uint64_t bits) {
  unsigned width = getStorageBits(type);
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

/// The double that rounds to every narrower type as `value` would: cut to 53
/// bits with the last bit set when anything was cut off (round to odd).
double toOddDouble(int64_t value) {
  uint64_t magnitude = value < 0 ? 0 - uint64_t(value) : uint64_t(value);
  unsigned cut = 0;
  while (magnitude >> cut >= uint64_t(1) << 53)
    ++cut;
  uint64_t kept = magnitude >> cut;
  if (kept << cut != magnitude)
    kept |= 1;
  double result = std::ldexp(double(kept), int(cut));
  return value < 0 ? -result : result;
}

struct Info {
  std::string_view name;
  unsigned bits;
  unsigned storageBits;
  bool isFloat;
  double epsilon;
  double maxFinite;
};

constexpr Info infos[numDTypes] = {
    {"f64", 64, 64, true, 0x1p-52, 0x1.fffffffffffffp1023},
    {"f32", 32, 32, true, 0x1p-23, 0x1.fffffep127},
    {"f16", 16, 16, true, 0x1p-10, 65504},
    {"bf16", 16, 16, true, 0x1p-7, 0x1.fep127},
    {"f8E4M3FN", 8, 8, true, 0x1p-3, 448},
    {"f8E5M2", 8, 8, true, 0x1p-2, 57344},
    {"i64", 64, 64, false, 0, 0x1p63},
    {"i32", 32, 32, false, 0, 2147483647},
    {"i16", 16, 16, false, 0, 32767},
    {"i8", 8, 8, false, 0, 127},
    {"i4", 4, 4, false, 0, 7},
    {"i1", 1, 8, false, 0, 1},
};

const Info &getInfo(DType type) {
  assert(unsigned(type) < numDTypes && "not an element type");
  return infos[unsigned(type)];
}

/// Buffers may be borrowed: no type or alignment of theirs is relied on.
template <typename T> T load(const void *base, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(base) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T> void store(void *base, int64_t index, T value) {
  std::memcpy(static_cast<char *>(base) + index * sizeof(T), &value, sizeof(T));
}

template <typename Stored, typename Decode>
void decodeLoop(const void *base, int64_t index, int64_t stride, int64_t count,
                double *out, Decode decode) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = decode(load<Stored>(base, index + i));
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    out[i] = decode(load<Stored>(base, index + i * stride));
}

template <typename Stored, typename Encode>
void encodeLoop(const double *values, int64_t count, void *base, int64_t index,
                int64_t stride, Encode encode) {
  for (int64_t i = 0; i < count; ++i)
    store<Stored>(base, index + i * stride, encode(values[i]));
}

} // namespace

std::string_view tile::runtime::getName(DType type) {
  return getInfo(type).name;
}

std::optional<DType> tile::runtime::parseDType(std::string_view name) {
  for (unsigned i = 0; i < numDTypes; ++i)
    if (infos[i].name == name)
      return DType(i);
  return std::nullopt;
}

std::string_view tile::runtime::getDTypeNames() {
  return "f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, i4, i1";
}

bool tile::runtime::isFloat(DType type) { return getInfo(type).isFloat; }

unsigned tile::runtime::getBits(DType type) { return getInfo(type).bits; }

unsigned tile::runtime::getStorageBits(DType type) {
  return getInfo(type).storageBits;
}

double tile::runtime::getEpsilon(DType type) { return getInfo(type).epsilon; }

double tile::runtime::getMaxFinite(DType type) {
  return getInfo(type).maxFinite;
}

int64_t tile::runtime::getMinInt(DType type) {
  assert(isInteger(type) && "a float type");
  return type == DType::I1 ? 0 : -getMaxInt(type) - 1;
}

int64_t tile::runtime::getMaxInt(DType type) {
  assert(isInteger(type) && "a float type");
  return type == DType::I1
             ? 1
             : int64_t((uint64_t(1) << (getInfo(type).bits - 1)) - 1);
}

double tile::runtime::decode(DType type, uint64_t bits) {
  switch (type) {
  case DType::F64:
    return bitCast<double>(bits);
  case DType::F32:
    return bitCast<float>(uint32_t(bits));
  case DType::F16:
    return decodeNarrow(f16, uint16_t(bits));
  case DType::BF16:
    return decodeBF16(uint16_t(bits));
  case DType::F8E4M3FN:
    return decodeNarrow(f8E4M3FN, uint8_t(bits));
  case DType::F8E5M2:
    return decodeNarrow(f8E5M2, uint8_t(bits));
  default:
    return double(decodeInt(type, bits));
  }
}

uint64_t tile::runtime::encode(DType type, double value, Overflow overflow) {
  switch (type) {
  case DType::F64:
    if (overflow == Overflow::Saturate && std::isinf(value))
      value = std::copysign(getMaxFinite(type), value);
    return bitCast<uint64_t>(value);
  case DType::F32: {
    float narrow = float(value);
    if (overflow == Overflow::Saturate && std::isinf(narrow))
      narrow = std::copysign(float(getMaxFinite(type)), narrow);
    return bitCast<uint32_t>(narrow);
  }
  case DType::F16:
    return encodeNarrow(f16, value, overflow);
  case DType::BF16:
    return encodeNarrow(bf16, value, overflow);
  case DType::F8E4M3FN:
    return encodeNarrow(f8E4M3FN, value, overflow);
  case DType::F8E5M2:
    return encodeNarrow(f8E5M2, value, overflow);
  default:
    return maskBits(type, encodeInteger(type, value));
  }
}

int64_t tile::runtime::decodeInt(DType type, uint64_t bits) {
  switch (type) {
  case DType::I64:
    return int64_t(bits);
  case DType::I32:
    return int32_t(uint32_t(bits));
  case DType::I16:
    return int16_t(uint16_t(bits));
  case DType::I8:
    return int8_t(uint8_t(bits));
  case DType::I4:
    return int64_t((bits & 15) ^ 8) - 8;
  case DType::I1:
    return uint8_t(bits) != 0;
  default:
    return int64_t(encodeInteger(DType::I64, std::trunc(decode(type, bits))));
  }
}

uint64_t tile::runtime::encodeInt(DType type, int64_t value,
                                  Overflow overflow) {
  switch (type) {
  case DType::F64:
    return bitCast<uint64_t>(double(value));
  case DType::F32:
    return bitCast<uint32_t>(float(value));
  case DType::I1:
    return value != 0;
  default:
    break;
  }
  if (isFloat(type))
    return encode(type, toOddDouble(value), overflow);
  if (value > getMaxInt(type))
    value = getMaxInt(type);
  if (value < getMinInt(type))
    value = getMinInt(type);
  return maskBits(type, uint64_t(value));
}

uint64_t tile::runtime::loadBits(DType type, const void *base, int64_t index) {
  switch (getStorageBits(type)) {
  case 64:
    return load<uint64_t>(base, index);
  case 32:
    return load<uint32_t>(base, index);
  case 16:
    return load<uint16_t>(base, index);
  case 8:
    return load<uint8_t>(base, index);
  default:
    return static_cast<const uint8_t *>(base)[index >> 1] >> (index & 1) * 4 &
           15;
  }
}

void tile::runtime::storeBits(DType type, void *base, int64_t index,
                              uint64_t bits) {
  switch (getStorageBits(type)) {
  case 64:
    store<uint64_t>(base, index, bits);
    return;
  case 32:
    store<uint32_t>(base, index, uint32_t(bits));
    return;
  case 16:
    store<uint16_t>(base, index, uint16_t(bits));
    return;
  case 8:
    store<uint8_t>(base, index, uint8_t(bits));
    return;
  default: {
    uint8_t &byte = static_cast<uint8_t *>(base)[index >> 1];
    unsigned shift = (index & 1) * 4;
    byte = uint8_t((byte & ~(15u << shift)) | (bits & 15) << shift);
    return;
  }
  }
}

void tile::runtime::decodeRow(DType type, const void *base, int64_t index,
                              int64_t stride, int64_t count, double *out) {
  switch (type) {
  case DType::F64:
    return decodeLoop<double>(base, index, stride, count, out,
                              [](double v) { return v; });
  case DType::F32:
    return decodeLoop<float>(base, index, stride, count, out,
                             [](float v) { return double(v); });
  case DType::F16:
    return decodeLoop<uint16_t>(
        base, index, stride, count, out,
        [](uint16_t v) { return double(decodeNarrow(f16, v)); });
  case DType::BF16:
    return decodeLoop<uint16_t>(
        base, index, stride, count, out,
        [](uint16_t v) { return double(decodeBF16(v)); });
  case DType::I32:
    return decodeLoop<int32_t>(base, index, stride, count, out,
                               [](int32_t v) { return double(v); });
  case DType::I8:
    return decodeLoop<int8_t>(base, index, stride, count, out,
                              [](int8_t v) { return double(v); });
  default:
    for (int64_t i = 0; i < count; ++i)
      out[i] = decode(type, loadBits(type, base, index + i * stride));
  }
}

void tile::runtime::encodeRow(DType type, const double *values, int64_t count,
                              void *base, int64_t index, int64_t stride,
                              Overflow overflow) {
  if (overflow == Overflow::ToInfinity) {
    switch (type) {
    case DType::F64:
      return encodeLoop<double>(values, count, base, index, stride,
                                [](double v) { return v; });
    case DType::F32:
      return encodeLoop<float>(values, count, base, index, stride,
                               [](double v) { return float(v); });
    case DType::F16:
      return encodeLoop<uint16_t>(
          values, count, base, index, stride, [](double v) {
            return uint16_t(encodeNarrow(f16, v, Overflow::ToInfinity));
          });
    case DType::BF16:
      return encodeLoop<uint16_t>(
          values, count, base, index, stride, [](double v) {
            return uint16_t(encodeNarrow(bf16, v, Overflow::ToInfinity));
          });
    default:
      break;
    }
  }
  for (int64_t i = 0; i < count; ++i)
    storeBits(type, base, index + i * stride,
              encode(type, values[i], overflow));
}
