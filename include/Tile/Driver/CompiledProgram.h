//===- CompiledProgram.h - Programs compiled ahead of time ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An artifact as the driver writes and reads it: besides plans and code, which
// the small runtime needs, what each function takes and costs. It runs on a GPU
// or in the emulator without the program it was made from.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_COMPILEDPROGRAM_H
#define TILE_DRIVER_COMPILEDPROGRAM_H

#include "Tile/Driver/Program.h"
#include "Tile/Runtime/Artifact.h"

namespace tile::driver {

/// Compiles `function` for each of `chips` and adds it to `artifact`. Returns
/// what its kernels take of each chip, one list a chip.
llvm::Expected<std::vector<std::vector<KernelResources>>>
addToArtifact(const Program &program, llvm::StringRef function,
              const CompileOptions &options, llvm::ArrayRef<std::string> chips,
              runtime::Artifact &artifact);

class CompiledProgram {
public:
  static llvm::Expected<CompiledProgram> load(llvm::StringRef path);
  explicit CompiledProgram(runtime::Artifact artifact)
      : artifact(std::move(artifact)) {}

  std::vector<std::string> getFunctions() const;
  llvm::Expected<Signature> getSignature(llvm::StringRef function) const;
  /// Costs alone: an artifact has neither references nor tunables.
  llvm::Expected<FunctionFacts> getFacts(llvm::StringRef function) const;
  /// Makes the code for the target and chip of `options` ready to run; without
  /// a chip, the best there is.
  llvm::Expected<std::shared_ptr<const Kernel>>
  load(llvm::StringRef function, const CompileOptions &options) const;

private:
  runtime::Artifact artifact;
};

} // namespace tile::driver

#endif // TILE_DRIVER_COMPILEDPROGRAM_H
