//===- MatrixElements.h - Elements of tensor-core operands -----*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the packed bits of an operand into numbers one can multiply, for
// mma.sync and wgmma alike, and multiplies dense panels of them.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_MATRIXELEMENTS_H
#define TILE_LIB_EMULATOR_MATRIXELEMENTS_H

#include "Program.h"
#include <cstdint>

namespace tile::emulator {

/// Value of the low `type.bits` of `bits` for floats of tensor cores.
float matrixFloat(uint32_t bits, ptx::Type type);
/// Likewise for integers: 8 and 4 bits, signed or not.
int32_t matrixInteger(uint32_t bits, ptx::Type type);

/// sums[m][n] += a[m][k] * b[k][n], all dense, rows of `n` and `k`. Products
/// of tensor-core inputs are exact in float; each row sums in order of k.
void multiplyFloats(unsigned m, unsigned n, unsigned k, const float *a,
                    const float *b, float *sums);
void multiplyIntegers(unsigned m, unsigned n, unsigned k, const int32_t *a,
                      const int32_t *b, int64_t *sums);

int32_t saturateSum(int64_t sum, bool saturates);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_MATRIXELEMENTS_H
