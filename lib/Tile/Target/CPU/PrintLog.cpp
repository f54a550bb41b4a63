//===- PrintLog.cpp - What running code printed ------------------*- C++
//-*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrintLog.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::cpu;

thread_local PrintLog::Line PrintLog::current;

void PrintLog::begin(int64_t block) { current = {block, 0, ""}; }

void PrintLog::addText(const char *text) { current.text += text; }

void PrintLog::addInteger(int64_t value) {
  current.text += std::to_string(value);
}

void PrintLog::addFloat(double value) {
  llvm::raw_string_ostream(current.text) << llvm::format("%g", value);
}

void PrintLog::end() {
  std::lock_guard lock(mutex);
  if (isFull)
    return;
  numBytes += current.text.size() + 1;
  isFull = numBytes > maxBytes;
  current.number = lines.size();
  lines.push_back(std::move(current));
}

void PrintLog::flush() {
  std::lock_guard lock(mutex);
  llvm::sort(lines, [](const Line &x, const Line &y) {
    return std::pair(x.block, x.number) < std::pair(y.block, y.number);
  });
  for (const Line &line : lines)
    output += line.text + "\n";
  lines.clear();
}

std::string PrintLog::take() {
  flush();
  std::lock_guard lock(mutex);
  std::string text = std::move(output);
  if (isFull)
    text += "(the program printed more)\n";
  output.clear();
  numBytes = 0;
  isFull = false;
  return text;
}
