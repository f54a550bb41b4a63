//===- Fiber.cpp - A call stack to switch to -------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x86-64 by hand (System V: rbx, rbp, r12 to r15 belong to the callee), other
// hosts through ucontext.
//===----------------------------------------------------------------------===//
#include "Fiber.h"
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TILE_EMULATOR_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TILE_EMULATOR_ASAN 1
#endif
#if defined(TILE_EMULATOR_ASAN)
extern "C" void __sanitizer_start_switch_fiber(void **, const void *, size_t);
extern "C" void __sanitizer_finish_switch_fiber(void *, const void **,
                                                size_t *);
#endif

using namespace tile::emulator;

static constexpr size_t stacksPerSlab = 32;

#if defined(__x86_64__)
extern "C" void tileEmuSwitchStack(void **save, void *load);
extern "C" void tileEmuFiberStart();
asm(R"(
.text
.globl tileEmuSwitchStack
.type tileEmuSwitchStack,@function
tileEmuSwitchStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
.size tileEmuSwitchStack, .-tileEmuSwitchStack
.globl tileEmuFiberStart
.type tileEmuFiberStart,@function
tileEmuFiberStart:
  movq %r12, %rdi
  xorl %ebp, %ebp
  callq *%r13
  ud2
.size tileEmuFiberStart, .-tileEmuFiberStart
)");

#if defined(TILE_EMULATOR_ASAN)
namespace {
struct FirstCall {
  void (*entry)(void *);
  void *argument;
};
} // namespace
static void finishFirstSwitch(void *pointer) {
  FirstCall call = *static_cast<FirstCall *>(pointer);
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
  call.entry(call.argument);
}
#endif

void Fiber::prepare(uint8_t *stack, size_t bytes, void (*entry)(void *),
                    void *argument) {
  stackBottom = stack;
  stackSize = bytes;
  auto *top = reinterpret_cast<void **>(stack + bytes);
#if defined(TILE_EMULATOR_ASAN)
  top -= 2;
  auto *call = reinterpret_cast<FirstCall *>(top);
  *call = {entry, argument};
  entry = finishFirstSwitch;
  argument = call;
#endif
  // tileEmuFiberStart is entered by ret with the stack 16-byte aligned, so
  // that its call leaves the alignment a function expects.
  *--top = reinterpret_cast<void *>(&tileEmuFiberStart);
  *--top = nullptr;                         // rbp
  *--top = nullptr;                         // rbx
  *--top = argument;                        // r12
  *--top = reinterpret_cast<void *>(entry); // r13
  *--top = nullptr;                         // r14
  *--top = nullptr;                         // r15
  stackPointer = top;
}

void Fiber::switchTo(Fiber &from, Fiber &to) {
#if defined(TILE_EMULATOR_ASAN)
  void *fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, to.stackBottom, to.stackSize);
  tileEmuSwitchStack(&from.stackPointer, to.stackPointer);
  const void *bottom;
  size_t size;
  __sanitizer_finish_switch_fiber(fake, &bottom, &size);
#else
  tileEmuSwitchStack(&from.stackPointer, to.stackPointer);
#endif
}
#else
static void startFiber(unsigned entryLow, unsigned entryHigh, unsigned argLow,
                       unsigned argHigh) {
  auto join = [](unsigned low, unsigned high) {
    return static_cast<uintptr_t>(uint64_t(high) << 32 | low);
  };
  auto *entry = reinterpret_cast<void (*)(void *)>(join(entryLow, entryHigh));
  entry(reinterpret_cast<void *>(join(argLow, argHigh)));
}

void Fiber::prepare(uint8_t *stack, size_t bytes, void (*entry)(void *),
                    void *argument) {
  stackBottom = stack;
  stackSize = bytes;
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = bytes;
  context.uc_link = nullptr;
  auto e = uint64_t(reinterpret_cast<uintptr_t>(entry));
  auto a = uint64_t(reinterpret_cast<uintptr_t>(argument));
  makecontext(&context, reinterpret_cast<void (*)()>(startFiber), 4,
              unsigned(e), unsigned(e >> 32), unsigned(a), unsigned(a >> 32));
}

void Fiber::switchTo(Fiber &from, Fiber &to) {
  swapcontext(&from.context, &to.context);
}
#endif

StackPool::StackPool(size_t wanted) : bytes((wanted + 4095) & ~size_t(4095)) {}

StackPool::~StackPool() {
  for (uint8_t *slab : slabs)
    munmap(slab, bytes * stacksPerSlab);
}

uint8_t *StackPool::take() {
  if (unused.empty()) {
    void *slab = mmap(nullptr, bytes * stacksPerSlab, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED)
      return nullptr;
    slabs.push_back(static_cast<uint8_t *>(slab));
    for (size_t i = stacksPerSlab; i-- > 0;)
      unused.push_back(slabs.back() + i * bytes);
  }
  uint8_t *stack = unused.back();
  unused.pop_back();
  return stack;
}
