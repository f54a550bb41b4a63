//===- Chips.cpp - What each GPU can do -------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory: CUDA programming guide, "Technical Specifications per Compute
// Capability", maximum per thread block.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/Chips.h"
#include "mlir/IR/Operation.h"

using namespace tile;

static constexpr Chip chips[] = {
    {"sm_80", 163 * 1024, false, false, false, false, false, "+ptx80"},
    {"sm_86", 99 * 1024, false, false, false, false, false, "+ptx80"},
    {"sm_89", 99 * 1024, true, false, false, false, false, "+ptx84"},
    {"sm_90", 227 * 1024, true, true, true, true, true, "+ptx84"},
    {"sm_90a", 227 * 1024, true, true, true, true, true, "+ptx84"},
    {"sm_100a", 227 * 1024, true, true, true, true, true, "+ptx86"},
    {"sm_120", 99 * 1024, true, true, true, true, true, "+ptx87"},
};

std::optional<Chip> tile::getChip(llvm::StringRef name) {
  for (const Chip &chip : chips)
    if (chip.name == name)
      return chip;
  return std::nullopt;
}

std::optional<Chip> tile::getChip(llvm::StringRef name, mlir::Operation *op) {
  std::optional<Chip> chip = getChip(name);
  if (!chip)
    op->emitError("unknown chip '")
        << name << "'; known are " << getChipNames();
  return chip;
}

std::optional<Chip> tile::getChipOfDevice(int capability) {
  std::optional<Chip> best;
  int bestNumber = 0;
  for (const Chip &chip : chips) {
    llvm::StringRef name = chip.name;
    name.consume_front("sm_");
    int number = 0;
    if (name.consumeInteger(10, number))
      continue;
    bool isSpecific = !name.empty();
    if (number > capability || (isSpecific && number != capability) ||
        number <= bestNumber)
      continue;
    best = chip;
    bestNumber = number;
  }
  return best;
}

std::string tile::getChipNames() {
  std::string names;
  for (const Chip &chip : chips)
    names += (names.empty() ? "" : ", ") + chip.name.str();
  return names;
}
