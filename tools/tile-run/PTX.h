//===- PTX.h - Running a PTX kernel on this machine -------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUN_PTX_H
#define TILE_RUN_PTX_H

#include "CommandLine.h"

/// Runs one kernel of a PTX file in the emulator and prints what it did wrong;
/// true where that is nothing.
llvm::Expected<bool> runPTX(const CommandLine &line,
                            const tile::driver::ExampleOptions &options,
                            const NameValues &saves);

#endif // TILE_RUN_PTX_H
