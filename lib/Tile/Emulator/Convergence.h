//===- Convergence.h - Loops that may part a warp --------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run cannot show: lanes are independent here, and a barrier is taken
// for what it says. On the hardware an aligned instruction needs its warp
// together, and where threads meet again after a branch is up to ptxas.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_CONVERGENCE_H
#define TILE_LIB_EMULATOR_CONVERGENCE_H

#include "Program.h"
#include <string>

namespace tile::emulator {

/// An aligned instruction in a loop whose shape does not tell ptxas where the
/// sides of a branch meet before it.
struct ConvergenceFault {
  const ptx::Instruction *aligned;
  const ptx::Instruction *branch; // that depends on the thread
  std::string message;
};

std::vector<ConvergenceFault>
findConvergenceFaults(const ptx::Function &function);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_CONVERGENCE_H
