//===- replay.cpp - The fuzz target on given files --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for libFuzzer's engine where it is not built: calls the fuzz target
// once with each file, and names the file first, so that a crash tells which.
// As libFuzzer does, it hands over memory that ends with the input.
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  if (argc < 2) {
    llvm::errs() << "usage: tile-fuzzer FILE...\n";
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    auto file = llvm::MemoryBuffer::getFile(argv[i]);
    if (!file) {
      llvm::errs() << argv[i] << ": " << file.getError().message() << '\n';
      return 2;
    }
    llvm::errs() << argv[i] << '\n';
    const std::vector<uint8_t> bytes((*file)->getBuffer().bytes_begin(),
                                     (*file)->getBuffer().bytes_end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  llvm::errs() << argc - 1 << " inputs\n";
  return 0;
}
