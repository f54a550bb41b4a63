//===- Report.h - What a kernel did wrong ----------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fault the emulator found while a kernel ran: what happened, where in the
// PTX and in the program it was compiled from, which two parties were
// involved, and which element of which buffer.
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_REPORT_H
#define TILE_EMULATOR_REPORT_H

#include <cstdint>
#include <string>
#include <vector>

namespace tile::emulator {

enum class ReportKind : uint8_t {
#define REPORT_KIND(name, text) name,
#include "Tile/Emulator/ReportKinds.def"
};

/// "data race", "out of bounds", ...
const char *reportKindName(ReportKind kind);

/// Someone who took part in a fault.
struct Party {
  bool isKnown = false;
  bool isAnyone = false; // the fault is in the text, whichever thread runs it
  uint32_t block[3] = {0, 0, 0};
  uint32_t thread[3] = {0, 0, 0};
  bool isAsynchronous = false; // acts for the thread, in the async proxy
  std::string instruction;     // as spelled in the PTX
  unsigned ptxLine = 0;
  std::string sourceFile; // empty without .loc
  unsigned sourceLine = 0;

  /// "thread (1,0,0) of block (0,0,0) at k.ptx:12 (matmul.mlir:7)"
  std::string str() const;
};

struct Report {
  ReportKind kind;
  std::string message; // one sentence, or several lines for a deadlock
  Party first;         // who noticed: the later access, the waiting thread
  Party second;        // the other side, where there is one
  std::string place;   // buffer[index], empty where no memory is concerned
  unsigned count = 1;  // how often this pair of instructions did it

  std::string str() const;
};

} // namespace tile::emulator

#endif // TILE_EMULATOR_REPORT_H
