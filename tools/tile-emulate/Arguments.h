//===- Arguments.h - Kernel arguments from the command line ----*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns specifications such as `A=randn:64x32xf16`, `i32:5`, `x.npy` or
// `map:A,box=64x64,swizzle=128` into buffers and kernel arguments.
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_EMULATE_ARGUMENTS_H
#define TILE_TOOLS_EMULATE_ARGUMENTS_H

#include "Tile/Emulator/Emulator.h"
#include <deque>
#include <random>
#include <string>
#include <vector>

struct HostBuffer {
  std::string name, type; // f16 bf16 f32 f64 i8 u8 i16 i32 u32 i64 u64
  std::vector<uint64_t> shape;
  std::vector<uint64_t> storage; // 16-byte aligned through the allocator
  uint64_t bytes = 0;
  unsigned elementBytes = 1;
  bool isInitialized = true;

  uint8_t *data() { return reinterpret_cast<uint8_t *>(storage.data()); }
  double at(uint64_t index);
};

class Arguments {
public:
  explicit Arguments(uint64_t seed) : random(seed) {}
  /// Adds an argument; false with `problem` set where it is not understood.
  bool add(const std::string &text, bool isArgument, std::string &problem);
  HostBuffer *find(const std::string &name);

  std::deque<HostBuffer> buffers;
  std::vector<tile::emulator::Argument> list;

private:
  bool addBuffer(std::string name, const std::string &kind,
                 const std::string &shape, std::string &problem);
  bool addFile(std::string name, const std::string &path, std::string &problem);
  bool addMap(const std::string &text, std::string &problem);

  std::mt19937_64 random;
};

bool saveNpy(HostBuffer &buffer, const std::string &path, std::string &problem);

#endif // TILE_TOOLS_EMULATE_ARGUMENTS_H
