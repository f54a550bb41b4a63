//===- MatrixMoves.cpp - ldmatrix, stmatrix, movmatrix ---------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 8x8 matrices of 16-bit elements. Lane 8 i + r gives the address of row r of
// matrix i and counts as the one who accesses it; lane l holds the elements of
// row l / 4, columns 2 (l % 4) and the next, or of a column if transposed.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "SyncSites.h"
#include <cstring>

using namespace tile::emulator;

void tile::emulator::performLoadMatrix(Gathering &g) {
  const auto &site = static_cast<const MatrixMoveSite &>(g.site);
  for (unsigned m = 0; m < site.matrices; ++m) {
    uint16_t rows[8][8] = {};
    for (unsigned r = 0; r < 8; ++r) {
      Thread &thread = *g.threads[8 * m + r];
      Place place = resolve(thread, site.memory.space,
                            g.arguments[8 * m + r][0], 16, 16, &site, false);
      if (!place.host)
        continue;
      checkRead(thread, thread.actor(&site), place, 16, &site);
      std::memcpy(rows[r], place.host, 16);
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned i = lane / 4, j = 2 * (lane % 4);
      uint32_t low = site.isTransposed ? rows[j][i] : rows[i][j];
      uint32_t high = site.isTransposed ? rows[j + 1][i] : rows[i][j + 1];
      g.results[lane][m] = low | high << 16;
    }
  }
}

void tile::emulator::performStoreMatrix(Gathering &g) {
  const auto &site = static_cast<const MatrixMoveSite &>(g.site);
  for (unsigned m = 0; m < site.matrices; ++m) {
    uint16_t rows[8][8];
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned i = lane / 4, j = 2 * (lane % 4);
      uint32_t word = uint32_t(g.arguments[lane][1 + m]);
      (site.isTransposed ? rows[j][i] : rows[i][j]) = uint16_t(word);
      (site.isTransposed ? rows[j + 1][i] : rows[i][j + 1]) =
          uint16_t(word >> 16);
    }
    for (unsigned r = 0; r < 8; ++r) {
      Thread &thread = *g.threads[8 * m + r];
      Place place = resolve(thread, site.memory.space,
                            g.arguments[8 * m + r][0], 16, 16, &site, true);
      if (!place.host)
        continue;
      checkWrite(thread, thread.actor(&site), place, 16, &site,
                 reinterpret_cast<const uint8_t *>(rows[r]));
      std::memcpy(place.host, rows[r], 16);
    }
  }
}

void tile::emulator::performMoveMatrix(Gathering &g) {
  uint16_t rows[8][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    uint32_t word = uint32_t(g.arguments[lane][0]);
    rows[lane / 4][2 * (lane % 4)] = uint16_t(word);
    rows[lane / 4][2 * (lane % 4) + 1] = uint16_t(word >> 16);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned i = lane / 4, j = 2 * (lane % 4);
    g.results[lane][0] = rows[j][i] | uint32_t(rows[j + 1][i]) << 16;
  }
}
