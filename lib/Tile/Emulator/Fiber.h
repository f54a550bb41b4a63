//===- Fiber.h - A call stack to switch to ---------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One fiber runs one PTX thread. Switching saves callee-saved registers only,
// in a few nanoseconds, which is what makes a fiber a thread affordable. A
// fiber may be abandoned at any switch: code that runs on one must not own
// anything across a switch.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_FIBER_H
#define TILE_LIB_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace tile::emulator {

class Fiber {
public:
  /// Prepares the fiber to call `entry(argument)`, which must not return.
  void prepare(uint8_t *stack, size_t bytes, void (*entry)(void *),
               void *argument);
  /// Suspends `from`, the running one, and resumes `to`.
  static void switchTo(Fiber &from, Fiber &to);

private:
#if defined(__x86_64__)
  void *stackPointer = nullptr;
#else
  ucontext_t context;
#endif
  // For AddressSanitizer, which wants to know about stacks.
  const void *stackBottom = nullptr;
  size_t stackSize = 0;
};

/// Stacks of one size, reused; pages are touched on first use only.
class StackPool {
public:
  explicit StackPool(size_t bytes);
  ~StackPool();
  uint8_t *take();
  void put(uint8_t *stack) { unused.push_back(stack); }
  size_t stackBytes() const { return bytes; }

private:
  size_t bytes;
  std::vector<uint8_t *> unused;
  std::vector<uint8_t *> slabs;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_FIBER_H
