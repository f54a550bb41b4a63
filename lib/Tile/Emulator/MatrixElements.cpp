//===- MatrixElements.cpp - Elements of tensor-core operands ---*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inner loop runs along n, contiguous in b and in the sums, so the
// compiler makes vectors of it.
//===----------------------------------------------------------------------===//
#include "MatrixElements.h"
#include "NumberFormat.h"
#include <algorithm>

using namespace tile::emulator;
using ptx::TypeClass;

float tile::emulator::matrixFloat(uint32_t bits, ptx::Type type) {
  switch (type.kind) {
  case TypeClass::BFloat:
    return bfloatToFloat(uint16_t(bits));
  case TypeClass::TFloat:
    // The hardware ignores the 13 low bits.
    return __builtin_bit_cast(float, bits & 0xffffe000u);
  case TypeClass::E4M3:
    return widen(bits, NumberFormat::E4M3);
  case TypeClass::E5M2:
    return widen(bits, NumberFormat::E5M2);
  default:
    return halfToFloat(uint16_t(bits));
  }
}

int32_t tile::emulator::matrixInteger(uint32_t bits, ptx::Type type) {
  unsigned shift = 32 - type.bits;
  return type.isSigned() ? int32_t(bits << shift) >> shift
                         : int32_t(bits << shift >> shift);
}

void tile::emulator::multiplyFloats(unsigned m, unsigned n, unsigned k,
                                    const float *a, const float *b,
                                    float *sums) {
  for (unsigned i = 0; i < m; ++i)
    for (unsigned p = 0; p < k; ++p) {
      float x = a[i * k + p];
      const float *row = b + p * n;
      float *to = sums + i * n;
      for (unsigned j = 0; j < n; ++j)
        to[j] += x * row[j];
    }
}

void tile::emulator::multiplyIntegers(unsigned m, unsigned n, unsigned k,
                                      const int32_t *a, const int32_t *b,
                                      int64_t *sums) {
  for (unsigned i = 0; i < m; ++i)
    for (unsigned p = 0; p < k; ++p)
      for (unsigned j = 0; j < n; ++j)
        sums[i * n + j] += int64_t(a[i * k + p]) * b[p * n + j];
}

int32_t tile::emulator::saturateSum(int64_t sum, bool saturates) {
  if (!saturates)
    return int32_t(uint32_t(uint64_t(sum)));
  return int32_t(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
}
