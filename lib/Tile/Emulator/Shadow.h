//===- Shadow.h - Who touched which byte last ------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shadow of one buffer or of one block's shared memory. A cell remembers the
// last write and the reads since then that are not ordered among themselves;
// that suffices to find every pair of conflicting, unordered accesses to the
// cell, given that each access is checked against it (FastTrack's argument).
// Pages start with a cell a word and split into bytes at the first access that
// is no multiple of a word.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_SHADOW_H
#define TILE_LIB_EMULATOR_SHADOW_H

#include "Clock.h"
#include <memory>
#include <mutex>
#include <optional>

namespace tile::emulator {

enum MarkFlags : uint8_t {
  markValid = 1,
  markStrong = 2,   // atomic, volatile or with a memory order
  markCtaScope = 4, // strong among the threads of a block only
  markAsync = 8,    // through the async proxy
  markMany = 16,    // of a read: `time` numbers a list of reads
  markBarrier = 32, // of a write: an mbarrier lives here
  markHost = 64     // written before the launch
};

/// One access.
struct Mark {
  uint32_t cluster = 0;
  uint32_t time = 0;
  uint32_t site = 0;
  uint16_t agent = 0;
  uint8_t flags = 0;
  uint8_t block = 0; // rank in the cluster
};

/// Who accesses, and what it knows.
struct Actor {
  Mark mark;
  const Knowledge *knowledge = nullptr;
  /// An engine also comes after all that its issuer did until it issued.
  uint32_t issuer = UINT32_MAX, issuerTime = 0;
  /// Whether what the own agent does comes in the order of its times.
  bool isInOrder = true;

  bool isAfter(const Mark &other) const {
    if (other.cluster == mark.cluster &&
        ((other.agent == mark.agent &&
          (isInOrder || other.time == mark.time)) ||
         (other.agent == issuer && other.time <= issuerTime)))
      return true;
    return knowledge->ordered &&
           knowledge->ordered->get(other.cluster, other.agent) >= other.time;
  }
  bool isFencedAfter(const Mark &other) const {
    return knowledge->fenced &&
           knowledge->fenced->get(other.cluster, other.agent) >= other.time;
  }
};

enum class ConflictKind : uint8_t {
  ReadAfterWrite,
  WriteAfterWrite,
  WriteAfterRead,
  SameValue,
  NoProxyFence,
  NeverWritten,
  BarrierObject
};

struct Conflict {
  ConflictKind kind;
  Mark earlier;
  uint64_t offset; // of the first byte concerned
};

class Shadow {
public:
  /// `isShared` serialises accesses of several host threads. Where
  /// `wantsUninitialized`, reads of bytes never written are conflicts.
  Shadow(uint64_t bytes, bool isShared, bool wantsUninitialized);
  ~Shadow();

  /// Checks and records a read; the first conflict if there is one.
  std::optional<Conflict> read(const Actor &actor, uint64_t offset,
                               uint64_t bytes, uint32_t checks);
  /// Likewise a write. `before` and `after` are the bytes there and to come,
  /// to tell writes of the same value; null where that is of no interest.
  std::optional<Conflict> write(const Actor &actor, uint64_t offset,
                                uint64_t bytes, uint32_t checks,
                                const uint8_t *before, const uint8_t *after);
  /// Takes the barrier mark off.
  void endBarrier(uint64_t offset, uint64_t bytes);
  void reset();

private:
  struct Cell {
    Mark write, read;
  };
  struct Page {
    bool isFine = false;
    std::unique_ptr<Cell[]> cells;
  };
  static constexpr uint64_t pageBytes = 256;

  template <typename Update>
  std::optional<Conflict> visit(uint64_t offset, uint64_t bytes, Update update);
  Page &pageAt(uint64_t index);
  void refine(Page &page);
  void addRead(Cell &cell, const Actor &actor);
  void dropReads(Cell &cell);
  bool mayCoincide(const Mark &a, const Mark &b) const;

  std::vector<Page> pages;
  std::vector<std::vector<Mark>> lists;
  std::vector<uint32_t> unusedLists;
  size_t mostReaders;
  bool wantsUninitialized;
  std::unique_ptr<std::mutex> mutex;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_SHADOW_H
