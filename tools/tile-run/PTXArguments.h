//===- PTXArguments.h - What a PTX kernel is launched with ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX says little of its parameters, so their types are said beside their
// values: `A=randn:64x32xf16`, `x.npy`, `i32:5`, `ptr:A`,
// `map:A,box=64x64,swizzle=128`.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUN_PTXARGUMENTS_H
#define TILE_RUN_PTXARGUMENTS_H

#include "Tile/Emulator/Emulator.h"
#include "Tile/Runtime/Array.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <deque>

class PTXArguments {
public:
  struct Buffer {
    std::string name;
    tile::runtime::Array value;
    /// It has no contents before the run.
    bool isEmpty;
  };

  explicit PTXArguments(uint64_t seed) : seed(seed) {}

  /// Adds a parameter, or, where `isParameter` is not set, a buffer that others
  /// refer to.
  llvm::Error add(llvm::StringRef text, bool isParameter);

  llvm::Expected<const Buffer *> find(llvm::StringRef name) const;
  const std::vector<tile::emulator::Argument> &getParameters() const {
    return parameters;
  }
  std::vector<tile::emulator::Buffer> getBuffers() const;

private:
  llvm::Error addScalar(llvm::StringRef type, llvm::StringRef value);
  llvm::Error addMap(llvm::StringRef text);
  llvm::Error addBuffer(std::string name, llvm::StringRef spec);

  uint64_t seed;
  std::deque<Buffer> buffers;
  std::vector<tile::emulator::Argument> parameters;
};

#endif // TILE_RUN_PTXARGUMENTS_H
