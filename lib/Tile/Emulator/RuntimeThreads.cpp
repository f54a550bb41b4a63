//===- RuntimeThreads.cpp - What concerns one thread alone -----*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clocks, calls, traps, registers, and the printf of the device.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "RuntimeFunctions.h"
#include "SyncSites.h"
#include <chrono>
#include <cstdio>
#include <cstring>

using namespace tile::emulator;
using ptx::Space;

uint64_t tile::emulator::tileEmuClock64(Thread *) {
  return static_cast<uint64_t>(
      std::chrono::steady_clock::now().time_since_epoch().count());
}
uint64_t tile::emulator::tileEmuGlobalTimer(Thread *thread) {
  return tileEmuClock64(thread);
}
uint32_t tile::emulator::tileEmuClock32(Thread *thread) {
  return static_cast<uint32_t>(tileEmuClock64(thread));
}
uint32_t tile::emulator::tileEmuClockHigh(Thread *thread) {
  return static_cast<uint32_t>(tileEmuClock64(thread) >> 32);
}

uint32_t tile::emulator::tileEmuActiveMask(Thread *thread) {
  return thread->lanemaskEq;
}

void tile::emulator::tileEmuTrap(Thread *thread, const Site *site) {
  reportFatal(*thread, ReportKind::Trap, "the kernel stopped itself", site);
}

void tile::emulator::tileEmuEnterCall(Thread *thread, const Site *site) {
  auto *here = static_cast<uint8_t *>(__builtin_frame_address(0));
  bool isFull =
      thread->localTop + thread->launch->image->localBytes > thread->localLimit;
  if (here < thread->stackLimit || isFull)
    reportFatal(*thread, ReportKind::InvalidOperand,
                "calls are nested too deep for the thread's stack", site);
}

void *tile::emulator::tileEmuIndirectCall(Thread *thread, uint64_t address,
                                          const Site *site) {
  tileEmuEnterCall(thread, site);
  const KernelImage &image = *thread->launch->image;
  for (uint64_t known : image.functionAddresses)
    if (known == address)
      return reinterpret_cast<void *>(address);
  reportFatal(*thread, ReportKind::InvalidOperand,
              "an indirect call to what is no function of the kernel", site);
}

void tile::emulator::tileEmuUninitializedRegister(Thread *thread,
                                                  const RegisterSite *site) {
  report(*thread, ReportKind::UninitializedRegister,
         "register " + site->name + " has no value yet", site);
}

//===----------------------------------------------------------------------===//
// setmaxnreg
//===----------------------------------------------------------------------===//

/// Registers move between a block's warps through a pool; an increase waits
/// until others have given enough back (PTX ISA, "setmaxnreg").
void tile::emulator::tileEmuSetMaxRegisters(Thread *thread,
                                            const RegisterCountSite *site) {
  ++thread->cluster->events;
  Block &block = *thread->block;
  if (!site->isIncrease) {
    if (site->registers > thread->registers)
      report(*thread, ReportKind::InvalidOperand,
             "setmaxnreg.dec to " + std::to_string(site->registers) +
                 " registers, but the thread has " +
                 std::to_string(thread->registers),
             site);
    else
      block.freeRegisters += thread->registers - site->registers;
    thread->registers = site->registers;
    std::vector<Thread *> waiters = std::move(block.registerWaiters);
    block.registerWaiters.clear();
    for (Thread *waiter : waiters)
      makeReady(*waiter);
    return;
  }
  if (site->registers < thread->registers) {
    report(*thread, ReportKind::InvalidOperand,
           "setmaxnreg.inc to " + std::to_string(site->registers) +
               " registers, but the thread has " +
               std::to_string(thread->registers),
           site);
    return;
  }
  uint64_t needed = site->registers - thread->registers;
  while (block.freeRegisters < needed) {
    block.registerWaiters.push_back(thread);
    suspend(*thread, Waiting::Registers, site);
  }
  block.freeRegisters -= needed;
  thread->registers = site->registers;
}

//===----------------------------------------------------------------------===//
// printf
//===----------------------------------------------------------------------===//

/// A zero-terminated string at a generic address, at most 4 KB of it.
static std::string readString(Thread &thread, uint64_t address,
                              const Site *site) {
  std::string text;
  while (text.size() < 4096) {
    Place place = resolve(thread, Space::Generic, address + text.size(), 1, 1,
                          site, false);
    if (!place.host || *place.host == 0)
      break;
    text += static_cast<char>(*place.host);
  }
  return text;
}

static std::string formatDevice(Thread &thread, const std::string &format,
                                uint64_t arguments, const Site *site) {
  std::string text;
  uint64_t offset = 0;
  auto next = [&](unsigned size) {
    offset = (offset + size - 1) / size * size;
    uint64_t value = 0;
    Place place = resolve(thread, Space::Generic, arguments + offset, size, 1,
                          site, false);
    if (place.host)
      std::memcpy(&value, place.host, size);
    offset += size;
    return value;
  };
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    std::string spec = "%";
    size_t j = i + 1;
    while (j < format.size() && std::strchr("-+ #0123456789.*", format[j])) {
      if (format[j] == '*')
        spec += std::to_string(static_cast<int>(next(4)));
      else
        spec += format[j];
      ++j;
    }
    bool isLong = false;
    while (j < format.size() && std::strchr("lhzjt", format[j]))
      isLong |= format[j] == 'l' || format[j] == 'z' || format[j] == 'j', ++j;
    char conversion = j < format.size() ? format[j] : '%';
    i = j;
    char piece[512];
    // A width beyond the piece is cut off, never overrun.
    switch (conversion) {
    case '%':
      text += '%';
      continue;
    case 'd':
    case 'i':
      snprintf(piece, sizeof piece, (spec + "lld").c_str(),
               isLong ? static_cast<long long>(next(8))
                      : static_cast<long long>(static_cast<int>(next(4))));
      break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      snprintf(piece, sizeof piece, (spec + "ll" + conversion).c_str(),
               static_cast<unsigned long long>(isLong ? next(8) : next(4)));
      break;
    case 'c':
      snprintf(piece, sizeof piece, (spec + "c").c_str(),
               static_cast<int>(next(4)));
      break;
    case 'p':
      snprintf(piece, sizeof piece, "0x%llx",
               static_cast<unsigned long long>(next(8)));
      break;
    case 's':
      snprintf(piece, sizeof piece, (spec + "s").c_str(),
               readString(thread, next(8), site).c_str());
      break;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      snprintf(piece, sizeof piece, (spec + conversion).c_str(),
               __builtin_bit_cast(double, next(8)));
      break;
    default:
      text += spec + conversion;
      continue;
    }
    text += piece;
  }
  return text;
}

void tile::emulator::tileEmuPrintf(Thread *thread, const Site *site,
                                   const uint8_t *in, uint8_t *out) {
  uint64_t format, arguments;
  std::memcpy(&format, in, 8);
  std::memcpy(&arguments, in + 8, 8);
  std::string text =
      formatDevice(*thread, readString(*thread, format, site), arguments, site);
  uint32_t count = static_cast<uint32_t>(text.size());
  std::memcpy(out, &count, 4);
  std::lock_guard<std::mutex> lock(thread->launch->reportMutex);
  thread->launch->output += text;
}

void tile::emulator::tileEmuAssertFail(Thread *thread, const Site *site,
                                       const uint8_t *in) {
  uint64_t message, file;
  uint32_t line;
  std::memcpy(&message, in, 8);
  std::memcpy(&file, in + 8, 8);
  std::memcpy(&line, in + 16, 4);
  std::string text = "assertion failed: " + readString(*thread, message, site) +
                     " at " + readString(*thread, file, site) + ":" +
                     std::to_string(line);
  report(*thread, ReportKind::Trap, std::move(text), site);
  text = std::string();
  thread->launch->stop();
  leave(*thread);
}
