//===- RuntimeAtomics.cpp - Atomics and ordered accesses -------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order through memory: a release or a fence before a relaxed write publishes
// what the thread knows at the address; an acquire, or a relaxed read before a
// fence, takes it. One mutex serialises all of it: such accesses are rare.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "NumberFormat.h"
#include "RuntimeFunctions.h"
#include <algorithm>
#include <cstring>

using namespace tile::emulator;

static uint8_t strongFlags(const MemorySite &site) {
  return static_cast<uint8_t>(markStrong |
                              (site.scope == Scope::Cta ? markCtaScope : 0));
}

/// Spinning shows as the same instruction on the same address in a row.
static void noticeSpinning(Thread &thread, uint64_t address, const Site *site) {
  if (thread.spinSite == site && thread.spinAddress == address)
    pause(thread, Waiting::Spinning, site);
  thread.spinSite = site;
  thread.spinAddress = address;
}

static void acquireFrom(Thread &thread, AddressClock &clock, Order order) {
  Knowledge knowledge = clock.knowledge.freeze();
  if (order == Order::Acquire || order == Order::AcqRel)
    return acquire(thread, knowledge);
  KnowledgeBuilder later;
  later.join(thread.untilNextFence);
  later.join(knowledge);
  thread.untilNextFence = later.freeze();
}

static void releaseTo(Thread &thread, AddressClock &clock, Order order) {
  if (order == Order::Release || order == Order::AcqRel)
    release(thread, clock.knowledge);
  else
    clock.knowledge.join(thread.atLastFence);
}

uint8_t *tile::emulator::tileEmuLoadStrong(Thread *thread, uint64_t address,
                                           const MemorySite *site) {
  noticeSpinning(*thread, address, site);
  std::memset(thread->loaded, 0, sizeof thread->loaded);
  Place place = resolve(*thread, site->space, address, site->bytes,
                        site->alignment, site, false);
  if (!place.host)
    return thread->loaded;
  std::lock_guard<std::mutex> lock(thread->launch->atomicMutex);
  auto clock = thread->launch->addressClocks.find(
      reinterpret_cast<uintptr_t>(place.host));
  if (clock != thread->launch->addressClocks.end())
    acquireFrom(*thread, clock->second, site->order);
  checkRead(*thread, thread->actor(site, strongFlags(*site)), place,
            site->bytes, site);
  std::memcpy(thread->loaded, place.host, site->bytes);
  return thread->loaded;
}

void tile::emulator::tileEmuStoreStrong(Thread *thread, uint64_t address,
                                        const MemorySite *site,
                                        const uint8_t *data) {
  ++thread->cluster->events;
  Place place = resolve(*thread, site->space, address, site->bytes,
                        site->alignment, site, true);
  if (!place.host)
    return;
  std::lock_guard<std::mutex> lock(thread->launch->atomicMutex);
  checkWrite(*thread, thread->actor(site, strongFlags(*site)), place,
             site->bytes, site, data);
  std::memcpy(place.host, data, site->bytes);
  AddressClock &clock =
      thread->launch->addressClocks[reinterpret_cast<uintptr_t>(place.host)];
  // A plain store starts a new release sequence.
  clock.knowledge.clear();
  releaseTo(*thread, clock, site->order);
}

template <typename T> static T combineIntegers(AtomicOp op, T old, T value) {
  switch (op) {
  case AtomicOp::And:
    return old & value;
  case AtomicOp::Or:
    return old | value;
  case AtomicOp::Xor:
    return old ^ value;
  case AtomicOp::Add:
    return static_cast<T>(static_cast<uint64_t>(old) +
                          static_cast<uint64_t>(value));
  case AtomicOp::Min:
    return old < value ? old : value;
  case AtomicOp::Max:
    return old < value ? value : old;
  case AtomicOp::Inc:
    return old >= value ? 0 : old + 1;
  case AtomicOp::Dec:
    return old == 0 || old > value ? value : old - 1;
  default:
    return value;
  }
}

static float combineFloats(AtomicOp op, float old, float value) {
  if (op == AtomicOp::Min)
    return old < value || value != value ? old : value;
  if (op == AtomicOp::Max)
    return old > value || value != value ? old : value;
  return old + value;
}

static uint16_t combineHalves(AtomicOp op, ptx::Type lane, uint16_t old,
                              uint16_t value) {
  if (lane.kind == ptx::TypeClass::BFloat)
    return floatToBfloat(
        combineFloats(op, bfloatToFloat(old), bfloatToFloat(value)));
  return floatToHalf(combineFloats(op, halfToFloat(old), halfToFloat(value)));
}

uint64_t tile::emulator::combineAtomically(AtomicOp op, ptx::Type type,
                                           uint64_t old, uint64_t value) {
  if (op == AtomicOp::Exch)
    return value;
  if (type.isFloat()) {
    if (type.laneBits() == 16) {
      uint64_t result = 0;
      for (unsigned i = 0; i < type.lanes; ++i)
        result |=
            uint64_t(combineHalves(op, type.lane(), uint16_t(old >> 16 * i),
                                   uint16_t(value >> 16 * i)))
            << 16 * i;
      return result;
    }
    if (type.bits == 64) {
      double a = __builtin_bit_cast(double, old),
             b = __builtin_bit_cast(double, value);
      double r = op == AtomicOp::Min   ? (a < b ? a : b)
                 : op == AtomicOp::Max ? (a > b ? a : b)
                                       : a + b;
      return __builtin_bit_cast(uint64_t, r);
    }
    return __builtin_bit_cast(
        uint32_t, combineFloats(op, __builtin_bit_cast(float, uint32_t(old)),
                                __builtin_bit_cast(float, uint32_t(value))));
  }
  if (type.isSigned()) {
    if (type.bits == 64)
      return uint64_t(
          combineIntegers<int64_t>(op, int64_t(old), int64_t(value)));
    return uint32_t(combineIntegers<int32_t>(op, int32_t(uint32_t(old)),
                                             int32_t(uint32_t(value))));
  }
  if (type.bits == 64)
    return combineIntegers<uint64_t>(op, old, value);
  return combineIntegers<uint32_t>(op, uint32_t(old), uint32_t(value));
}

void tile::emulator::tileEmuAtomic(Thread *thread, uint64_t address,
                                   const MemorySite *site,
                                   const uint64_t *arguments,
                                   uint64_t *results) {
  unsigned size = site->type.bytes(), count = site->bytes / size;
  // Of an element: its low word, then its high one.
  unsigned words = (size + 7) / 8;
  std::fill_n(results, count * words, 0);
  bool isCas = site->atomicOp == AtomicOp::Cas;
  if (isCas)
    noticeSpinning(*thread, address, site);
  Place place = resolve(*thread, site->space, address, site->bytes,
                        site->alignment, site, true);
  if (!place.host)
    return;
  std::lock_guard<std::mutex> lock(thread->launch->atomicMutex);
  uint8_t after[64];
  bool changes = false;
  for (unsigned i = 0; i < count; ++i) {
    uint64_t *old = results + i * words;
    std::memcpy(old, place.host + i * size, size);
    const uint64_t *value = arguments + i * words, *next = value;
    uint64_t combined;
    if (isCas) {
      bool isEqual = std::equal(old, old + words, value);
      next = isEqual ? value + count * words : old;
    } else if (site->atomicOp != AtomicOp::Exch) {
      combined = combineAtomically(site->atomicOp, site->type, *old, *value);
      next = &combined;
    }
    std::memcpy(after + i * size, next, size);
    changes |= std::memcmp(after + i * size, place.host + i * size, size) != 0;
  }
  if (changes)
    ++thread->cluster->events;
  AddressClock &clock =
      thread->launch->addressClocks[reinterpret_cast<uintptr_t>(place.host)];
  acquireFrom(*thread, clock, site->order);
  Actor actor = thread->actor(site, strongFlags(*site));
  // A compare-and-swap may find what nobody wrote: it is how a part of a word
  // is stored beside parts that are not written yet. Races show at its write.
  if (!isCas)
    checkRead(*thread, actor, place, site->bytes, site);
  checkWrite(*thread, actor, place, site->bytes, site, nullptr);
  std::memcpy(place.host, after, site->bytes);
  releaseTo(*thread, clock, site->order);
}
