//===- TrapLog.cpp - What running code reported -----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrapLog.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile::cpu;

static thread_local TrapLog *currentLog = nullptr;

TrapLog *TrapLog::current() { return currentLog; }

llvm::Error TrapLog::collect(llvm::function_ref<void()> run) {
  TrapLog *outer = std::exchange(currentLog, this);
  run();
  currentLog = outer;
  // The workers are done.
  uint64_t count = numReports;
  if (count == 0)
    return llvm::Error::success();
  std::string text = llvm::join(messages, "\n");
  if (count > messages.size())
    text += "\n(" + std::to_string(count) + " reports in all)";
  return llvm::createStringError(text);
}

void TrapLog::add(const char *message) {
  // A bad access in a loop reports millions of times: after the first few
  // messages the lock is not taken any more.
  if (numReports.fetch_add(1) >= 1024)
    return;
  std::lock_guard lock(mutex);
  if (messages.size() < maxKept && !llvm::is_contained(messages, message))
    messages.push_back(message);
}
