//===- Target.h - Where a program can run -----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The targets by name. All of them stand behind one interface (Executable.h).
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_TARGET_H
#define TILE_DRIVER_TARGET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace tile::driver {

enum class Target {
  /// All cores of this machine.
  CPU,
  /// An NVIDIA GPU.
  CUDA,
  /// The GPU's code, run thread by thread on this machine.
  Emulator,
};

llvm::StringRef getName(Target target);
/// The target of that name; the error lists the names there are.
llvm::Expected<Target> parseTarget(llvm::StringRef name);
/// CUDA where it is built and a device is present, else the CPU.
Target getDefaultTarget();

/// Success where `device`, a number from 0 on, is one of this machine's GPUs
/// and the target uses them, or where no device is chosen.
llvm::Error checkDevice(Target target, std::optional<int> device);

/// The chip of this machine's GPU of that number, which is the first where none
/// is chosen; sm_80 where there is none.
std::string getDefaultChip(std::optional<int> device = std::nullopt);

/// The name of that GPU, empty where there is none.
std::string getDeviceName(std::optional<int> device);

} // namespace tile::driver

#endif // TILE_DRIVER_TARGET_H
