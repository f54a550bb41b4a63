//===- Clock.h - What happened before what ---------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector clocks over agents. An agent is a thread, or an asynchronous engine
// acting for one; it is numbered within its cluster and counts its own time. A
// Clock says for every agent up to which of its times everything is known. It
// is immutable and shared: after a barrier all threads hold one and the same,
// which keeps joins linear in the number of threads instead of quadratic.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_CLOCK_H
#define TILE_LIB_EMULATOR_CLOCK_H

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace tile::emulator {

class Clock : public llvm::ThreadSafeRefCountedBase<Clock> {
public:
  struct Part {
    uint32_t cluster;
    std::vector<uint32_t> times; // by agent; shorter means zeros
  };

  uint32_t get(uint32_t cluster, uint32_t agent) const {
    for (const Part &part : parts)
      if (part.cluster == cluster)
        return agent < part.times.size() ? part.times[agent] : 0;
    return 0;
  }

  bool equals(const Clock &other) const;

private:
  friend class ClockBuilder;
  llvm::SmallVector<Part, 1> parts;
};

/// Null knows nothing.
using ClockRef = llvm::IntrusiveRefCntPtr<const Clock>;

/// Collects the union of clocks.
class ClockBuilder {
public:
  void join(const ClockRef &clock);
  void set(uint32_t cluster, uint32_t agent, uint32_t time);
  ClockRef freeze();
  void clear();

private:
  std::vector<uint32_t> &partOf(uint32_t cluster);
  void materialize();

  ClockRef base; // the only clock joined so far
  const Clock *last = nullptr;
  ClockRef keepLast;
  bool isOwn = false; // `parts` holds the union, else `base` is it
  llvm::SmallVector<Clock::Part, 1> parts;
};

/// What an agent knows: which accesses are ordered before it; which generic
/// writes a proxy fence has made visible to the async proxy; which barrier
/// initialisations a fence has published.
struct Knowledge {
  ClockRef ordered, fenced, inits;
};

struct KnowledgeBuilder {
  ClockBuilder ordered, fenced, inits;

  void join(const Knowledge &knowledge) {
    ordered.join(knowledge.ordered);
    fenced.join(knowledge.fenced);
    inits.join(knowledge.inits);
  }
  Knowledge freeze() {
    return {ordered.freeze(), fenced.freeze(), inits.freeze()};
  }
  void clear() {
    ordered.clear();
    fenced.clear();
    inits.clear();
  }
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_CLOCK_H
