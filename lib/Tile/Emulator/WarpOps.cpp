//===- WarpOps.cpp - shfl, vote, match, redux, elect -----------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The warp's collectives on registers, once all their lanes have met. Only
// bar.warp.sync orders memory; the others exchange registers and no more, as
// the PTX ISA has it.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "SyncSites.h"

using namespace tile::emulator;

void tile::emulator::performWarpBarrier(Gathering &g) {
  KnowledgeBuilder builder;
  for (unsigned i = 0; i < g.count; ++i)
    if (g.threads[i])
      release(*g.threads[i], builder);
  Knowledge knowledge = builder.freeze();
  for (unsigned i = 0; i < g.count; ++i)
    if (g.threads[i])
      acquire(*g.threads[i], knowledge);
}

void tile::emulator::performShuffle(Gathering &g) {
  auto mode = static_cast<const WarpSite &>(g.site).mode;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!g.threads[lane])
      continue;
    uint32_t b = uint32_t(g.arguments[lane][1]) & 31;
    uint32_t c = uint32_t(g.arguments[lane][2]);
    uint32_t segment = c >> 8 & 31;
    int last = int((lane & segment) | (c & 31 & ~segment));
    int first = int(lane & segment);
    int from;
    bool valid;
    switch (mode) {
    case shuffleUp:
      from = int(lane) - int(b);
      valid = from >= last;
      break;
    case shuffleDown:
      from = int(lane + b);
      valid = from <= last;
      break;
    case shuffleButterfly:
      from = int(lane ^ b);
      valid = from <= last;
      break;
    default:
      from = first | int(b & ~segment);
      valid = from <= last;
    }
    if (!valid)
      from = int(lane);
    if (!g.threads[from]) {
      report(*g.threads[lane], ReportKind::DivergentCollective,
             "the shuffle reads lane " + std::to_string(from) +
                 ", which is not in its mask",
             &g.site);
      from = int(lane);
    }
    g.results[lane][0] = g.arguments[from][0];
    g.results[lane][1] = valid;
  }
}

void tile::emulator::performVote(Gathering &g) {
  uint32_t ballot = 0;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (g.threads[lane] && (g.arguments[lane][0] & 1))
      ballot |= 1u << lane;
  uint64_t result = 0;
  switch (static_cast<const WarpSite &>(g.site).mode) {
  case voteAll:
    result = ballot == g.mask;
    break;
  case voteAny:
    result = ballot != 0;
    break;
  case voteUniform:
    result = ballot == 0 || ballot == g.mask;
    break;
  default:
    result = ballot;
  }
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (g.threads[lane])
      g.results[lane][0] = result;
}

void tile::emulator::performMatch(Gathering &g) {
  bool isAll = static_cast<const WarpSite &>(g.site).mode == 1;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!g.threads[lane])
      continue;
    uint32_t same = 0;
    for (uint32_t other = 0; other < 32; ++other)
      if (g.threads[other] && g.arguments[other][0] == g.arguments[lane][0])
        same |= 1u << other;
    bool agree = same == g.mask;
    g.results[lane][0] = isAll && !agree ? 0 : same;
    g.results[lane][1] = agree;
  }
}

static float reduceFloats(const WarpSite &site, float a, float b) {
  if (site.isAbsolute) {
    a = __builtin_fabsf(a);
    b = __builtin_fabsf(b);
  }
  if (a != a || b != b) {
    if (site.keepsNaN)
      return __builtin_bit_cast(float, 0x7fffffffu);
    return a != a ? b : a;
  }
  return site.mode == reduxMin ? (a < b ? a : b) : (a > b ? a : b);
}

static uint32_t reduce(const WarpSite &site, uint32_t a, uint32_t b) {
  if (site.type.isFloat())
    return __builtin_bit_cast(uint32_t,
                              reduceFloats(site, __builtin_bit_cast(float, a),
                                           __builtin_bit_cast(float, b)));
  switch (site.mode) {
  case reduxAdd:
    return a + b;
  case reduxMin:
    return site.type.isSigned() ? (int32_t(a) < int32_t(b) ? a : b)
                                : (a < b ? a : b);
  case reduxMax:
    return site.type.isSigned() ? (int32_t(a) > int32_t(b) ? a : b)
                                : (a > b ? a : b);
  case reduxAnd:
    return a & b;
  case reduxOr:
    return a | b;
  default:
    return a ^ b;
  }
}

void tile::emulator::performRedux(Gathering &g) {
  const auto &site = static_cast<const WarpSite &>(g.site);
  bool isFirst = true;
  uint32_t result = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (!g.threads[lane])
      continue;
    uint32_t value = uint32_t(g.arguments[lane][0]);
    if (isFirst && site.isAbsolute)
      value &= 0x7fffffff;
    result = isFirst ? value : reduce(site, result, value);
    isFirst = false;
  }
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (g.threads[lane])
      g.results[lane][0] = result;
}

void tile::emulator::performElect(Gathering &g) {
  uint32_t leader = uint32_t(__builtin_ctz(g.mask));
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (g.threads[lane]) {
      g.results[lane][0] = leader;
      g.results[lane][1] = lane == leader;
    }
}
