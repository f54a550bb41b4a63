//===- Clock.cpp - What happened before what -------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Clock.h. A builder copies nothing until a second, different clock comes.
//===----------------------------------------------------------------------===//
#include "Clock.h"
#include <algorithm>

using namespace tile::emulator;

bool Clock::equals(const Clock &other) const {
  if (parts.size() != other.parts.size())
    return false;
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].cluster != other.parts[i].cluster ||
        parts[i].times != other.parts[i].times)
      return false;
  return true;
}

std::vector<uint32_t> &ClockBuilder::partOf(uint32_t cluster) {
  for (Clock::Part &part : parts)
    if (part.cluster == cluster)
      return part.times;
  parts.push_back({cluster, {}});
  return parts.back().times;
}

void ClockBuilder::materialize() {
  if (isOwn)
    return;
  isOwn = true;
  parts.clear();
  if (base)
    parts = base->parts;
  base = nullptr;
}

void ClockBuilder::join(const ClockRef &clock) {
  if (!clock || clock.get() == last)
    return;
  last = clock.get();
  keepLast = clock;
  if (!isOwn) {
    if (!base) {
      base = clock;
      return;
    }
    if (base == clock)
      return;
    materialize();
  }
  for (const Clock::Part &part : clock->parts) {
    std::vector<uint32_t> &times = partOf(part.cluster);
    if (times.size() < part.times.size())
      times.resize(part.times.size());
    const uint32_t *from = part.times.data();
    uint32_t *to = times.data();
    for (size_t i = 0, e = part.times.size(); i < e; ++i)
      to[i] = std::max(to[i], from[i]);
  }
}

void ClockBuilder::set(uint32_t cluster, uint32_t agent, uint32_t time) {
  materialize();
  std::vector<uint32_t> &times = partOf(cluster);
  if (times.size() <= agent)
    times.resize(agent + 1);
  times[agent] = std::max(times[agent], time);
}

ClockRef ClockBuilder::freeze() {
  if (!isOwn)
    return base;
  auto *clock = new Clock;
  clock->parts = parts;
  base = clock;
  isOwn = false;
  parts.clear();
  last = base.get();
  keepLast = base;
  return base;
}

void ClockBuilder::clear() {
  base = nullptr;
  keepLast = nullptr;
  last = nullptr;
  isOwn = false;
  parts.clear();
}
