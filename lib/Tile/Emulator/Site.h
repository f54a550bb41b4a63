//===- Site.h - An instruction as the runtime sees it ----------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled code calls the runtime with a pointer to a Site: everything about
// the instruction that is known at compile time. Sites are numbered within
// their kernel, so that shadow memory can name the instruction of an access in
// a few bits. They are immutable once the kernel is compiled.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_SITE_H
#define TILE_LIB_EMULATOR_SITE_H

#include "Program.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tile::emulator {

struct Thread;

struct Site {
  uint32_t number = 0;
  unsigned line = 0;
  int location = -1;
  std::string spelled;
  virtual ~Site() = default;
};

/// A use of a register that has to be checked when it happens.
struct RegisterSite : Site {
  std::string name;
  unsigned place = 0; // in the frame of asynchronous registers
  bool isWrite = false;
};

enum class Order : uint8_t { Weak, Relaxed, Acquire, Release, AcqRel };
enum class Scope : uint8_t { Cta, Cluster, Gpu, Sys };

enum class AtomicOp : uint8_t {
  And,
  Or,
  Xor,
  Add,
  Inc,
  Dec,
  Min,
  Max,
  Exch,
  Cas
};

struct MemorySite : Site {
  ptx::Space space = ptx::Space::Generic;
  uint16_t bytes = 0;     // of the whole access
  uint16_t alignment = 1; // required
  uint32_t gaps = 0;      // bytes of a load that nobody takes, a bit each
  Order order = Order::Weak;
  Scope scope = Scope::Gpu;
  AtomicOp atomicOp = AtomicOp::Add; // atomics only
  ptx::Type type;                    // of one element
};

/// An instruction that several threads execute together.
struct Gathering;
struct CollectiveSite : Site {
  void (*perform)(Gathering &) = nullptr;
  bool isAligned = false;   // all threads at this very instruction
  bool isWarpgroup = false; // 128 threads instead of 32
  int maskArgument = -1;    // argument that holds the member mask
  unsigned arguments = 0, results = 0;
};

/// Threads that arrived together at a collective; lane i is null where the
/// thread is not named by the mask.
struct Gathering {
  const CollectiveSite &site;
  uint32_t mask;
  unsigned count; // 32 or 128 places
  Thread *threads[128];
  const uint64_t *arguments[128];
  uint64_t *results[128];
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_SITE_H
