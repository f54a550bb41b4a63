//===- Version.h - The version of the dialect in bytecode -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytecode names the version of the dialect that wrote it. A reader takes its
// own and older ones and refuses newer ones. The minor version grows with what
// old readers cannot know, the major one when old files would mean something
// else; upgrades from older versions live in Bytecode.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_VERSION_H
#define TILE_IR_VERSION_H

#include "mlir/Bytecode/BytecodeImplementation.h"

namespace tile {

struct Version : mlir::DialectVersion {
  uint64_t majorNumber, minorNumber;

  Version(uint64_t majorNumber, uint64_t minorNumber)
      : majorNumber(majorNumber), minorNumber(minorNumber) {}
  static Version current() { return {1, 0}; }

  bool isNewerThan(const Version &other) const {
    return std::pair(majorNumber, minorNumber) >
           std::pair(other.majorNumber, other.minorNumber);
  }
};

} // namespace tile

#endif // TILE_IR_VERSION_H
