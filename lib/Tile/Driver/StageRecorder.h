//===- StageRecorder.h - Texts and times of a compilation -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_STAGERECORDER_H
#define TILE_DRIVER_STAGERECORDER_H

#include "Tile/Driver/Kernel.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/DenseMap.h"
#include <chrono>

namespace mlir {
class PassManager;
} // namespace mlir

namespace tile::driver {

/// Collects the stages and times of one compilation. A name that comes again
/// gets a number: `cse`, `cse-2`.
class StageRecorder {
public:
  explicit StageRecorder(const CompileOptions &options) : options(options) {}

  /// True where somebody wants the stages; otherwise none need be printed.
  bool wantsStages() const { return options.keepStages || options.onStage; }
  void addStage(llvm::StringRef name, llvm::StringRef extension,
                std::string contents);
  void addTime(llvm::StringRef name, double seconds);

  /// Records every pass of `passes`, which must not outlive this.
  void watch(mlir::PassManager &passes);

  std::vector<Stage> takeStages() { return std::move(stages); }
  std::vector<PhaseTime> takeTimes() { return std::move(times); }

private:
  class Watcher;
  std::string number(llvm::StringRef name);

  const CompileOptions &options;
  std::vector<Stage> stages;
  std::vector<PhaseTime> times;
  llvm::StringMap<unsigned> uses;
};

/// Adds the time from its making to its end as one phase.
class PhaseTimer {
public:
  PhaseTimer(StageRecorder &recorder, llvm::StringRef name)
      : recorder(recorder), name(name) {}
  ~PhaseTimer() {
    recorder.addTime(
        name, std::chrono::duration<double>(Clock::now() - start).count());
  }

private:
  using Clock = std::chrono::steady_clock;
  StageRecorder &recorder;
  llvm::StringRef name;
  Clock::time_point start = Clock::now();
};

} // namespace tile::driver

#endif // TILE_DRIVER_STAGERECORDER_H
