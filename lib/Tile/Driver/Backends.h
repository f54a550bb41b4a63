//===- Backends.h - The end of each target's way ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a target adds to the passes that all share: its own pipeline and what
// comes after it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_BACKENDS_H
#define TILE_DRIVER_BACKENDS_H

#include "StageRecorder.h"
#include "Tile/Driver/Kernel.h"
#include "mlir/IR/BuiltinOps.h"

namespace tile::driver {

/// Compiles `module`, which holds the function of `signature` and what it
/// calls, and which is consumed. What is wrong with the program is reported on
/// the module's context.
using Backend = llvm::Expected<std::unique_ptr<Executable>>(
    mlir::ModuleOp module, const Signature &signature,
    const CompileOptions &options, StageRecorder &recorder);

Backend compileForCPU;

} // namespace tile::driver

#endif // TILE_DRIVER_BACKENDS_H
