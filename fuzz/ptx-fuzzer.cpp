//===- ptx-fuzzer.cpp - Arbitrary text through the emulator -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads any text as PTX and translates each kernel in it, with all checks.
// Kernels or a message are right; a crash, a hang, a sanitizer's report, or a
// refusal without a word is not. Nothing is executed.
//
//===----------------------------------------------------------------------===//

#include "Tile/Emulator/Emulator.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <string>

using namespace tile::emulator;

/// Texts above it take long without telling more.
static constexpr size_t kMaxBytes = 1 << 16;

/// Stops with a message, which the fuzzer records as a crash.
static void require(bool holds, const char *what) {
  if (holds)
    return;
  llvm::errs() << "ptx-fuzzer: " << what << '\n';
  abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > kMaxBytes)
    return -1;
  const std::string text(reinterpret_cast<const char *>(data), size);
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = Module::parse(text, diagnostics);
  if (!module) {
    require(!diagnostics.empty(), "refused without a diagnostic");
    return 0;
  }
  for (const std::string &entry : module->entries()) {
    diagnostics.clear();
    bool isModelled = module->check(entry, checks::All, diagnostics);
    require(isModelled || !diagnostics.empty(),
            "a kernel is refused without a diagnostic");
  }
  return 0;
}
