//===- GPUCode.h - What GPU targets share -----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_GPUCODE_H
#define TILE_DRIVER_GPUCODE_H

#include "StageRecorder.h"
#include "Tile/IR/Chips.h"
#include "Tile/Runtime/Artifact.h"
#include "Tile/Runtime/LaunchPlan.h"
#include "mlir/IR/BuiltinOps.h"

namespace tile::driver {

/// The chip that the options name; where they name none, `otherwise`.
llvm::Expected<Chip> chooseChip(const CompileOptions &options,
                                llvm::StringRef otherwise);

/// The chip whose code of `function` to run: the one that the options name,
/// else `otherwise` where the artifact has code for it, else the newest; empty
/// where the function has no code.
llvm::Expected<std::string> chooseCode(const runtime::Artifact &artifact,
                                       llvm::StringRef function,
                                       const CompileOptions &options,
                                       llvm::StringRef otherwise);

/// Compiles the function of `signature` to a launch plan and PTX, and to
/// machine code where `ptxas` names the program that makes it, and adds them to
/// `artifact`.
llvm::Error compileForGPU(mlir::ModuleOp module, const Signature &signature,
                          const CompileOptions &options, const Chip &chip,
                          llvm::StringRef ptxas, StageRecorder &recorder,
                          runtime::Artifact &artifact);

/// What ptxas said of the kernels of `function`; nothing where it was not run.
std::vector<KernelResources> readResources(const runtime::Artifact &artifact,
                                           llvm::StringRef function,
                                           llvm::StringRef chip);

/// The arguments as a launch plan takes them. `addresses` says where the first
/// element of each is in the memory that kernels see; without it they are where
/// the views say.
llvm::Expected<std::vector<runtime::PlanArgument>>
makePlanArguments(const Signature &signature,
                  llvm::ArrayRef<ArgumentView> arguments,
                  llvm::ArrayRef<uint64_t> addresses = {});

/// Bytes that one argument, or several that overlap, take.
struct MemoryRange {
  uintptr_t begin = 0, end = 0;
  /// Positions of the arguments.
  llvm::SmallVector<size_t, 2> arguments;
  bool isWritten = false;
  /// No argument in it has contents before the run.
  bool isEmpty = true;
};

/// The memory of all arrays, in the order of its addresses.
std::vector<MemoryRange> findMemory(const Signature &signature,
                                    llvm::ArrayRef<ArgumentView> arguments);

} // namespace tile::driver

#endif // TILE_DRIVER_GPUCODE_H
