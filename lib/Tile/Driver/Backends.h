//===- Backends.h - The end of each target's way ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a target adds to the steps that all share: from a module to an artifact,
// and from an artifact to code that runs. The artifact between them is what the
// cache keeps and what `tile-run --emit=artifact` writes.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_BACKENDS_H
#define TILE_DRIVER_BACKENDS_H

#include "StageRecorder.h"
#include "Tile/Driver/Kernel.h"
#include "Tile/Runtime/Artifact.h"
#include "mlir/IR/BuiltinOps.h"

namespace tile::driver {

/// The section of an artifact with the warnings and remarks of its making.
inline constexpr const char *kDiagnosticsSection = "diagnostics";

struct Backend {
  /// What, besides the program, the compiler and the tunables, decides what the
  /// artifact holds: the machine compiled for, the tools used.
  llvm::Expected<std::string> (*describe)(const CompileOptions &options);
  /// Compiles `module`, which holds the function of `signature` and what it
  /// calls, and which is consumed, and adds the code to `artifact`. What is
  /// wrong with the program is reported on the module's context.
  llvm::Error (*compile)(mlir::ModuleOp module, const Signature &signature,
                         const CompileOptions &options, StageRecorder &recorder,
                         runtime::Artifact &artifact);
  /// Makes the artifact's code of the function ready to run.
  llvm::Expected<std::unique_ptr<Executable>> (*load)(
      const runtime::Artifact &artifact, const Signature &signature,
      const CompileOptions &options);
};

const Backend &getBackend(Target target);

extern const Backend cpuBackend;
extern const Backend emulatorBackend;
extern const Backend cudaBackend;

/// An object file in which C programs call the functions of `signatures`, all
/// that `module` holds.
llvm::Expected<llvm::SmallVector<char, 0>>
compileObjectForCPU(mlir::ModuleOp module, llvm::ArrayRef<Signature> signatures,
                    const CompileOptions &options);

} // namespace tile::driver

#endif // TILE_DRIVER_BACKENDS_H
