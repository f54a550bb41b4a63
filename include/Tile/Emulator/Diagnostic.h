//===- Diagnostic.h - What is wrong with a PTX text ------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A message about the input of the emulator (the text, the launch), as opposed
// to a Report, which is about what a kernel did while it ran.
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_DIAGNOSTIC_H
#define TILE_EMULATOR_DIAGNOSTIC_H

#include <string>
#include <vector>

namespace tile::emulator {

struct Diagnostic {
  unsigned line = 0; // of the PTX text; 0 where no line is to blame
  std::string message;

  std::string str() const {
    return line ? "line " + std::to_string(line) + ": " + message : message;
  }
};

using Diagnostics = std::vector<Diagnostic>;

} // namespace tile::emulator

#endif // TILE_EMULATOR_DIAGNOSTIC_H
