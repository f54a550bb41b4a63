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
#include "llvm/ADT/BitVector.h"
#include <functional>
#include <memory>
#include <optional>
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

/// How the emulator runs a kernel.
struct EmulationOptions {
  /// Schedules to try, from `seed` on; a fault ends the search.
  unsigned seeds = 1;
  uint64_t seed = 0;
  /// Of emulator::checks.
  uint32_t checks = ~uint32_t(0);
};

struct CompileOptions {
  Target target = Target::CPU;
  /// The GPU to compile for, as in sm_90; empty for the device's, or sm_80
  /// where there is none.
  std::string chip;
  /// The GPU to run on, of those that the driver numbers from 0 on; the first
  /// where none is chosen.
  std::optional<int> device;
  EmulationOptions emulation;
  /// Where compiled kernels are kept; empty for nowhere. A compilation whose
  /// stages somebody wants to see is not looked up.
  std::string cacheDirectory;
  /// Values for tunables; the others keep their defaults.
  std::vector<std::pair<std::string, int64_t>> tunables;
  /// On the cpu, check accesses of functions without a launch too.
  bool guardAccesses = false;
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
};

/// What one kernel needs on a device.
struct KernelResources {
  std::string kernel;
  int64_t registers = 0;
  int64_t sharedBytes = 0;
  /// Bytes of registers that did not fit, and of local arrays, a thread.
  int64_t spillStores = 0, spillLoads = 0, stackBytes = 0;
  /// The part of a multiprocessor's warps that can be resident at once.
  std::optional<double> occupancy;
};

/// Code of one target. Immutable; any number of threads may use it at once.
class Executable {
public:
  virtual ~Executable();
  /// The arrays have been checked against the signature. `isEmpty` marks those
  /// without contents before the run.
  virtual llvm::Expected<std::unique_ptr<Call>>
  bind(llvm::ArrayRef<runtime::Array> arguments,
       const llvm::BitVector &isEmpty) const = 0;
  /// Runs the kernel on memory of the target: to its end, or, where the device
  /// works on its own, as the next piece of work of `stream`. The arguments
  /// have been checked against the signature.
  virtual llvm::Error launch(llvm::ArrayRef<ArgumentView> arguments,
                             void *stream) const = 0;
  /// The lines that `tile.print` printed since this was asked last.
  virtual std::string takeOutput() const { return {}; }
  /// The GPU it was compiled for, or empty.
  virtual llvm::StringRef getChip() const { return {}; }
  /// Of each kernel on the device, where they are known.
  virtual std::vector<KernelResources> getResources() const { return {}; }
};

/// Immutable; any number of threads may use it at once. Needs neither the
/// program nor the session it came from.
class Kernel {
public:
  Kernel(Target target, Signature signature,
         std::unique_ptr<Executable> executable, std::vector<Stage> stages,
         std::vector<PhaseTime> times, std::string diagnostics,
         bool isCached = false);

  Target getTarget() const { return target; }
  llvm::StringRef getChip() const { return executable->getChip(); }
  std::vector<KernelResources> getResources() const {
    return executable->getResources();
  }
  const Signature &getSignature() const { return signature; }
  /// All stages in order, where they were asked for.
  llvm::ArrayRef<Stage> getStages() const { return stages; }
  llvm::ArrayRef<PhaseTime> getTimes() const { return times; }
  double getCompileSeconds() const;
  /// True where the code was found on disk.
  bool isFromCache() const { return isCached; }
  /// Warnings and remarks, or nothing.
  llvm::StringRef getDiagnostics() const { return diagnostics; }

  /// Checks the arrays and prepares calls with them. A scalar is an array of
  /// rank 0. The arrays share their elements with the call. `isEmpty` marks
  /// those whose contents before the run mean nothing; the emulator reports
  /// who reads them.
  llvm::Expected<std::unique_ptr<Call>>
  bind(llvm::ArrayRef<runtime::Array> arguments,
       const llvm::BitVector &isEmpty = {}) const;
  /// Checks the arrays and runs once.
  llvm::Error run(llvm::ArrayRef<runtime::Array> arguments) const;
  /// Checks the arguments, which lie in the target's memory, and runs once; on
  /// a device, enqueues on `stream` and does not wait.
  llvm::Error launch(llvm::ArrayRef<ArgumentView> arguments,
                     void *stream) const;
  /// The lines that `tile.print` printed since this was asked last.
  std::string takeOutput() const { return executable->takeOutput(); }

private:
  Target target;
  Signature signature;
  std::unique_ptr<Executable> executable;
  std::vector<Stage> stages;
  std::vector<PhaseTime> times;
  std::string diagnostics;
  bool isCached;
};

} // namespace tile::driver

#endif // TILE_DRIVER_KERNEL_H
