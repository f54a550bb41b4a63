//===- WgmmaOperands.h - Matrices in shared memory -------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads an operand of wgmma as its 64-bit descriptor lays it out.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_WGMMAOPERANDS_H
#define TILE_LIB_EMULATOR_WGMMAOPERANDS_H

#include "Machine.h"
#include "SyncSites.h"

namespace tile::emulator {

/// Bits of the elements of one operand; rows run along m or n.
class OperandPanel {
public:
  OperandPanel(unsigned rows, unsigned k) : k(k), bits(size_t(rows) * k) {}
  uint32_t &at(unsigned row, unsigned column) {
    return bits[size_t(row) * k + column];
  }
  uint32_t at(unsigned row, unsigned column) const {
    return bits[size_t(row) * k + column];
  }
  unsigned rows() const { return static_cast<unsigned>(bits.size() / k); }

private:
  unsigned k;
  std::vector<uint32_t> bits;
};

/// Fills `panel` through checked reads by `actor`.
void readSharedOperand(Thread &thread, const Actor &actor,
                       const WgmmaSite &site, uint64_t descriptor,
                       bool isTransposed, const char *name,
                       OperandPanel &panel);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_WGMMAOPERANDS_H
