//===- DType.h - Element types of host buffers ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The element types a tile program can name, how they are stored, and their
// conversions to and from `double` and `int64_t`. Every conversion rounds once,
// to nearest with ties to even, with integer arithmetic only, so the host is an
// independent judge of what devices compute.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_DTYPE_H
#define TILE_RUNTIME_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace tile::runtime {

/// I4 is packed two to a byte, the even element in the low half. I1 takes one
/// byte that is 0 or 1, as in MLIR's memrefs. Integers carry no signedness;
/// values are read as signed, those of I1 as 0 and 1.
enum class DType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  F8E4M3FN,
  F8E5M2,
  I64,
  I32,
  I16,
  I8,
  I4,
  I1,
};
inline constexpr unsigned numDTypes = 12;

/// What becomes of a value beyond the largest finite one of a float type.
/// Integer types saturate always.
enum class Overflow : uint8_t {
  /// To infinity, or to NaN where the type has no infinity (f8E4M3FN).
  ToInfinity,
  /// To the largest finite value, infinities included; NaN stays NaN.
  Saturate,
};

/// The name as MLIR prints it: "f16", "bf16", "f8E4M3FN", "i32", ...
std::string_view getName(DType type);
/// The type of that name; "index" and unsigned names are not types here.
std::optional<DType> parseDType(std::string_view name);
/// All names, separated by commas, for messages.
std::string_view getDTypeNames();

bool isFloat(DType type);
inline bool isInteger(DType type) { return !isFloat(type); }

/// Bits of a value: 1 for I1, 4 for I4.
unsigned getBits(DType type);
/// Bits an element takes in a buffer: 8 for I1, 4 for I4.
unsigned getStorageBits(DType type);

/// Distance from 1 to the next larger value; 0 for integers.
double getEpsilon(DType type);
/// The largest finite value. For I64, whose largest is not a double, the
/// nearest double.
double getMaxFinite(DType type);
/// The smallest and largest value of an integer type.
int64_t getMinInt(DType type);
int64_t getMaxInt(DType type);

/// The value of an element's bits (the low `getStorageBits` of `bits`). Exact
/// but for I64 beyond 2^53, which rounds.
double decode(DType type, uint64_t bits);
/// The bits nearest to `value`. Integers: nearest, ties to even, saturating,
/// NaN gives 0; I1 is whether the value differs from 0.
uint64_t encode(DType type, double value,
                Overflow overflow = Overflow::ToInfinity);

/// As `decode` for integers; floats round toward zero, saturate at the ends of
/// int64_t, NaN gives 0.
int64_t decodeInt(DType type, uint64_t bits);
/// As `encode`, from an integer: one rounding also for those beyond 2^53.
uint64_t encodeInt(DType type, int64_t value,
                   Overflow overflow = Overflow::ToInfinity);

/// Bits of the element at `index` of a buffer that starts at `base`.
uint64_t loadBits(DType type, const void *base, int64_t index);
/// Stores them. Two threads must not write the two halves of one byte of I4.
void storeBits(DType type, void *base, int64_t index, uint64_t bits);

/// `count` elements from `index` on, `stride` elements apart, as doubles. The
/// way to read much: the type is looked at once, not once an element.
void decodeRow(DType type, const void *base, int64_t index, int64_t stride,
               int64_t count, double *out);
/// The other way round.
void encodeRow(DType type, const double *values, int64_t count, void *base,
               int64_t index, int64_t stride,
               Overflow overflow = Overflow::ToInfinity);

} // namespace tile::runtime

#endif // TILE_RUNTIME_DTYPE_H
