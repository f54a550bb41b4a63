//===- TrapLog.h - What running code reported -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated code reports a failed assertion or a bad access by calling
// `__tile_cpu_report` with the call it belongs to and a message, and goes on.
// Each call has a log, where messages from all its workers meet; which call a
// thread is in it asks by `__tile_cpu_call`.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_CPU_TRAPLOG_H
#define TILE_TARGET_CPU_TRAPLOG_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace tile::cpu {

class TrapLog {
public:
  /// The log of the call that this thread is in.
  static TrapLog *current();

  /// Makes this the log of the call that this thread is in while `run` runs,
  /// and gives an error with what was reported, if anything was.
  llvm::Error collect(llvm::function_ref<void()> run);
  void add(const char *message);

private:
  /// Different messages that are kept; all are counted.
  static constexpr size_t maxKept = 8;

  std::mutex mutex;
  std::atomic<uint64_t> numReports = 0;
  std::vector<std::string> messages;
};

} // namespace tile::cpu

#endif // TILE_TARGET_CPU_TRAPLOG_H
