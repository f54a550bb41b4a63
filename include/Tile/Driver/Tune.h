//===- Tune.h - The best values of a program's tunables ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tries combinations of tunables: compiles them on several threads, checks each
// against the reference and times it, within a time that is given.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_TUNE_H
#define TILE_DRIVER_TUNE_H

#include "Tile/Driver/Example.h"

namespace tile::driver {

/// One combination.
struct TuneCandidate {
  enum class State {
    /// There was no time for it.
    Untried,
    /// It does not compile: a constraint does not hold, or it does not fit.
    Refused,
    /// It ran, and what it gave was wrong.
    Wrong,
    Measured,
  };

  std::vector<std::pair<std::string, int64_t>> tunables;
  State state = State::Untried;
  /// Why it is not measured.
  std::string reason;
  /// The median of its runs.
  double seconds = 0;
  std::vector<KernelResources> resources;

  /// "m=64 n=128".
  std::string print() const;
};

struct TuneReport {
  /// The fastest first, then those that were not measured.
  std::vector<TuneCandidate> candidates;
  /// True where an earlier tuning of the same program, on the same machine and
  /// with the same arguments, was found on disk.
  bool isFromCache = false;

  /// Null where none was measured.
  const TuneCandidate *getBest() const;
};

struct TuneOptions {
  /// What to run and how to judge it. Tunables given there are fixed. Reports
  /// are kept in its cache directory.
  ExampleOptions example;
  /// How long to go on.
  double seconds = 60;
  unsigned compileThreads = 2;
  /// Timed runs of each candidate.
  unsigned benchRuns = 10;
  /// Called after each candidate with the number of those done and of all, and
  /// the best so far, which may be null.
  std::function<void(size_t done, size_t all, const TuneCandidate *best)>
      onProgress;
};

llvm::Expected<TuneReport> tune(const Program &program,
                                llvm::StringRef function,
                                const TuneOptions &options);

/// One line a candidate; of those that were not measured, the reasons.
std::string formatTuning(const TuneReport &report);

} // namespace tile::driver

#endif // TILE_DRIVER_TUNE_H
