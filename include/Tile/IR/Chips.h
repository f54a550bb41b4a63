//===- Chips.h - What each GPU can do ---------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one table of chip facts. Passes ask for a capability, never for a number.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_CHIPS_H
#define TILE_IR_CHIPS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace mlir {
class Operation;
} // namespace mlir

namespace tile {

struct Chip {
  llvm::StringLiteral name;
  /// Shared memory one block may use.
  int64_t sharedBytes;
  /// mma.sync on fp8, and the conversions from and to it.
  bool hasFP8;
  /// Matrix stores.
  bool hasStMatrix;
  /// bf16 arithmetic beyond fma.
  bool hasBF16Arithmetic;
  /// The bulk tensor copy engine.
  bool hasTMA;
  /// Additions to global memory of several neighbours at once.
  bool hasVectorAtomics;
  /// The PTX version that has all of this, as LLVM's feature names it.
  llvm::StringLiteral ptxFeature;
};

/// The chip of that name, `sm_80` for instance.
std::optional<Chip> getChip(llvm::StringRef name);
/// The same, with an error at `op` where there is none.
std::optional<Chip> getChip(llvm::StringRef name, mlir::Operation *op);
/// The newest chip whose code runs on a device of compute capability
/// `capability`, 90 for 9.0; those without a suffix before those of one chip.
std::optional<Chip> getChipOfDevice(int capability);
/// All names, for messages.
std::string getChipNames();

} // namespace tile

#endif // TILE_IR_CHIPS_H
