//===- Kernel.h - A compiled function ---------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What compilation gives: a function that can be called with arrays, the text
// of every stage on its way, and how long each took.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_KERNEL_H
#define TILE_DRIVER_KERNEL_H

#include "Tile/Driver/Signature.h"
#include "Tile/Driver/Target.h"
#include "Tile/Runtime/Array.h"
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tile::driver {

/// The program at one point of its compilation. Stages are named after the
/// passes; `source`, `mlir` (after all passes), `llvm`, `asm` and `obj` are the
/// others.
struct Stage {
  std::string name;
  /// Without the dot.
  std::string extension;
  std::string contents;
};

/// One step of compilation: a pass or a phase of the back end.
struct PhaseTime {
  std::string name;
  double seconds;
};

struct CompileOptions {
  Target target = Target::CPU;
  /// Values for tunables; the others keep their defaults.
  std::vector<std::pair<std::string, int64_t>> tunables;
  /// Keep all stages in the kernel. Printing them takes time.
  bool keepStages = false;
  /// Called with every stage, also of a compilation that fails later.
  std::function<void(const Stage &)> onStage;
};

/// A kernel bound to arrays that have been checked. Not for several threads at
/// once.
class Call {
public:
  virtual ~Call();
  /// Runs the kernel once, to its end. Gives the seconds it took as the device
  /// measures it.
  virtual llvm::Expected<double> run() = 0;
  /// Brings what the kernel wrote into the arrays, where the device has memory
  /// of its own.
  virtual llvm::Error fetch() = 0;
  /// The lines that `tile.print` printed since this was asked last, on behalf
  /// of any call of the kernel.
  virtual std::string takeOutput() { return {}; }
};

/// Code of one target. Immutable; any number of threads may use it at once.
class Executable {
public:
  virtual ~Executable();
  /// The arrays have been checked against the signature.
  virtual llvm::Expected<std::unique_ptr<Call>>
  bind(llvm::ArrayRef<runtime::Array> arguments) const = 0;
};

/// Immutable; any number of threads may use it at once. Needs neither the
/// program nor the session it came from.
class Kernel {
public:
  Kernel(Target target, Signature signature,
         std::unique_ptr<Executable> executable, std::vector<Stage> stages,
         std::vector<PhaseTime> times, std::string diagnostics);

  Target getTarget() const { return target; }
  const Signature &getSignature() const { return signature; }
  /// All stages in order, where they were asked for.
  llvm::ArrayRef<Stage> getStages() const { return stages; }
  llvm::ArrayRef<PhaseTime> getTimes() const { return times; }
  double getCompileSeconds() const;
  /// Warnings and remarks, or nothing.
  llvm::StringRef getDiagnostics() const { return diagnostics; }

  /// Checks the arrays and prepares calls with them. A scalar is an array of
  /// rank 0. The arrays share their elements with the call.
  llvm::Expected<std::unique_ptr<Call>>
  bind(llvm::ArrayRef<runtime::Array> arguments) const;
  /// Checks the arrays and runs once.
  llvm::Error run(llvm::ArrayRef<runtime::Array> arguments) const;

private:
  Target target;
  Signature signature;
  std::unique_ptr<Executable> executable;
  std::vector<Stage> stages;
  std::vector<PhaseTime> times;
  std::string diagnostics;
};

} // namespace tile::driver

#endif // TILE_DRIVER_KERNEL_H
