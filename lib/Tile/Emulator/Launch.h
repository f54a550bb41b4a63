//===- Launch.h - One grid from start to end -------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a compiled kernel over a grid.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_LAUNCH_H
#define TILE_LIB_EMULATOR_LAUNCH_H

#include "Machine.h"

namespace tile::emulator {

std::optional<LaunchResult> runLaunch(const KernelImage &image,
                                      const LaunchConfig &config,
                                      Diagnostics &diagnostics);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_LAUNCH_H
