//===- TrapLog.h - What running code reported -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generated code reports a failed assertion or a bad access by calling
// `__tile_cpu_report` with a message and goes on. This is where messages from
// all workers meet.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_CPU_TRAPLOG_H
#define TILE_TARGET_CPU_TRAPLOG_H

#include "llvm/Support/Error.h"
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace tile::cpu {

class TrapLog {
public:
  void beginCall();
  /// An error with the messages since the first of the calls that overlap this
  /// one, if there are any.
  llvm::Error endCall();
  void add(const char *message);

private:
  /// Different messages that are kept; all are counted.
  static constexpr size_t maxKept = 8;

  std::mutex mutex;
  unsigned activeCalls = 0;
  std::atomic<uint64_t> numReports = 0;
  std::vector<std::string> messages;
};

} // namespace tile::cpu

#endif // TILE_TARGET_CPU_TRAPLOG_H
