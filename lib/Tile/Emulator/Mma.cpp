//===- Mma.cpp - mma.sync --------------------------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All shapes share one fragment layout. With e elements in a 32-bit register
// (one double in a 64-bit one), g = lane / 4 and t = lane % 4, register r of A
// holds row g + 8 (r mod m/8), columns e t + 4 e (r div m/8) and following; of
// B rows e t + 4 e r and following, column g; of C rows g + 8 (r div 2),
// column 2 t + r mod 2.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "MatrixElements.h"
#include "NumberFormat.h"
#include "SyncSites.h"
#include <cmath>

using namespace tile::emulator;

namespace {
/// Visits the elements of A and B by (row, column, value bits).
template <typename Visit>
void forA(const Gathering &g, const MmaSite &site, Visit visit) {
  unsigned width = site.a.bits, halves = site.m / 8;
  unsigned perRegister = width >= 32 ? 1 : 32 / width;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < site.aRegisters; ++r)
      for (unsigned e = 0; e < perRegister; ++e)
        visit(lane / 4 + 8 * (r % halves),
              perRegister * (lane % 4 + 4 * (r / halves)) + e,
              g.arguments[lane][r] >> (e * width) % 64);
}

template <typename Visit>
void forB(const Gathering &g, const MmaSite &site, Visit visit) {
  unsigned width = site.b.bits;
  unsigned perRegister = width >= 32 ? 1 : 32 / width;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < site.bRegisters; ++r)
      for (unsigned e = 0; e < perRegister; ++e)
        visit(perRegister * (lane % 4 + 4 * r) + e, lane / 4,
              g.arguments[lane][site.aRegisters + r] >> e * width % 64);
}

/// Visits the sums by (row, column, lane, register).
template <typename Visit> void forC(const MmaSite &site, Visit visit) {
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < site.m / 4; ++i)
      visit(lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2, lane, i);
}
} // namespace

static void multiplyAsFloats(Gathering &g, const MmaSite &site) {
  float a[16 * 64], b[64 * 8], c[16 * 8];
  unsigned k = site.k, firstC = site.aRegisters + site.bRegisters;
  bool isHalf = site.d.bits == 16;
  forA(g, site, [&](unsigned row, unsigned column, uint64_t bits) {
    a[row * k + column] = matrixFloat(uint32_t(bits), site.a);
  });
  forB(g, site, [&](unsigned row, unsigned column, uint64_t bits) {
    b[row * 8 + column] = matrixFloat(uint32_t(bits), site.b);
  });
  forC(site, [&](unsigned row, unsigned column, unsigned lane, unsigned i) {
    const uint64_t *sums = g.arguments[lane] + firstC;
    c[row * 8 + column] =
        isHalf ? halfToFloat(uint16_t(sums[i / 2] >> 16 * (i % 2)))
               : __builtin_bit_cast(float, uint32_t(sums[i]));
  });
  multiplyFloats(site.m, 8, k, a, b, c);
  forC(site, [&](unsigned row, unsigned column, unsigned lane, unsigned i) {
    float value = c[row * 8 + column];
    if (!isHalf) {
      g.results[lane][i] =
          std::isnan(value) ? 0x7fffffff : __builtin_bit_cast(uint32_t, value);
      return;
    }
    uint64_t half = floatToHalf(value);
    uint64_t &word = g.results[lane][i / 2];
    word = i % 2 ? (word & 0xffff) | half << 16 : half;
  });
}

static void multiplyAsIntegers(Gathering &g, const MmaSite &site) {
  int32_t a[16 * 64], b[64 * 8];
  int64_t c[16 * 8];
  unsigned k = site.k, firstC = site.aRegisters + site.bRegisters;
  forA(g, site, [&](unsigned row, unsigned column, uint64_t bits) {
    a[row * k + column] = matrixInteger(uint32_t(bits), site.a);
  });
  forB(g, site, [&](unsigned row, unsigned column, uint64_t bits) {
    b[row * 8 + column] = matrixInteger(uint32_t(bits), site.b);
  });
  forC(site, [&](unsigned row, unsigned column, unsigned lane, unsigned i) {
    c[row * 8 + column] = int32_t(g.arguments[lane][firstC + i]);
  });
  multiplyIntegers(site.m, 8, k, a, b, c);
  forC(site, [&](unsigned row, unsigned column, unsigned lane, unsigned i) {
    g.results[lane][i] =
        uint32_t(saturateSum(c[row * 8 + column], site.saturates));
  });
}

static void multiplyAsBits(Gathering &g, const MmaSite &site) {
  bool a[16][256], b[256][8];
  unsigned firstC = site.aRegisters + site.bRegisters;
  forA(g, site, [&](unsigned row, unsigned column, uint64_t bits) {
    a[row][column] = bits & 1;
  });
  forB(g, site, [&](unsigned row, unsigned column, uint64_t bits) {
    b[row][column] = bits & 1;
  });
  bool isXor = site.kind == MatrixKind::BitXor;
  forC(site, [&](unsigned row, unsigned column, unsigned lane, unsigned i) {
    uint32_t count = 0;
    for (unsigned p = 0; p < site.k; ++p)
      count += isXor ? a[row][p] != b[p][column] : a[row][p] && b[p][column];
    g.results[lane][i] = uint32_t(g.arguments[lane][firstC + i]) + count;
  });
}

static void multiplyAsDoubles(Gathering &g, const MmaSite &site) {
  double a[16][16], b[16][8];
  unsigned firstC = site.aRegisters + site.bRegisters;
  forA(g, site, [&](unsigned row, unsigned column, uint64_t bits) {
    a[row][column] = __builtin_bit_cast(double, bits);
  });
  forB(g, site, [&](unsigned row, unsigned column, uint64_t bits) {
    b[row][column] = __builtin_bit_cast(double, bits);
  });
  forC(site, [&](unsigned row, unsigned column, unsigned lane, unsigned i) {
    double sum = __builtin_bit_cast(double, g.arguments[lane][firstC + i]);
    for (unsigned p = 0; p < site.k; ++p)
      sum = std::fma(a[row][p], b[p][column], sum);
    g.results[lane][i] = __builtin_bit_cast(uint64_t, sum);
  });
}

void tile::emulator::performMma(Gathering &g) {
  const auto &site = static_cast<const MmaSite &>(g.site);
  switch (site.kind) {
  case MatrixKind::Float:
    return multiplyAsFloats(g, site);
  case MatrixKind::Integer:
    return multiplyAsIntegers(g, site);
  case MatrixKind::Double:
    return multiplyAsDoubles(g, site);
  case MatrixKind::BitXor:
  case MatrixKind::BitAnd:
    return multiplyAsBits(g, site);
  }
}
