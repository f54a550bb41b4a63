//===- PrintLog.h - What running code printed --------------------*- C++
//-*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks run at the same time and in any order, their lines come in the order
// of their numbers: each line is put together by the worker that runs its
// block, lines are kept until their launch has ended, and then sorted.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_CPU_PRINTLOG_H
#define TILE_TARGET_CPU_PRINTLOG_H

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace tile::cpu {

class PrintLog {
public:
  /// Begins this worker's next line.
  void begin(int64_t block);
  /// Adds to this worker's line.
  static void addText(const char *text);
  static void addInteger(int64_t value);
  static void addFloat(double value);
  /// Ends this worker's line.
  void end();
  /// A launch has ended.
  void flush();
  /// All lines since the last call.
  std::string take();

private:
  /// What a program may print between two calls of take; a loop of prints must
  /// not fill the memory.
  static constexpr size_t maxBytes = size_t(4) << 20;

  struct Line {
    int64_t block;
    /// Counts the lines of all blocks; a block's own are in order by it.
    size_t number;
    std::string text;
  };
  static thread_local Line current;

  std::mutex mutex;
  std::vector<Line> lines;
  std::string output;
  size_t numBytes = 0;
  bool isFull = false;
};

} // namespace tile::cpu

#endif // TILE_TARGET_CPU_PRINTLOG_H
