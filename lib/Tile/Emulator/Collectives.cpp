//===- Collectives.cpp - Threads that act together -------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rendezvous of warp and warpgroup instructions. A thread that arrives
// waits until every thread named by its mask is at the same instruction; the
// last one performs it for all. What can never meet is a divergent collective.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "RuntimeFunctions.h"
#include "SyncSites.h"

using namespace tile::emulator;

namespace {
enum class Meeting { Incomplete, Complete, Impossible };
} // namespace

/// Whether two threads wait for each other at what is one instruction.
static bool isSame(const CollectiveSite &a, const CollectiveSite &b) {
  if (a.isAligned || b.isAligned)
    return &a == &b;
  return a.perform == b.perform && a.spelled == b.spelled;
}

static Meeting gather(Thread &thread, Gathering &gathering, Thread *&odd) {
  const CollectiveSite &site = gathering.site;
  Block &block = *thread.block;
  uint32_t firstWarp =
      site.isWarpgroup ? thread.warp->index / 4 * 4 : thread.warp->index;
  gathering.count = site.isWarpgroup ? 128 : 32;
  for (unsigned i = 0; i < gathering.count; ++i) {
    gathering.threads[i] = nullptr;
    if (!(thread.waitMask >> i % 32 & 1))
      continue;
    Thread *other = firstWarp + i / 32 < block.warps.size()
                        ? block.warps[firstWarp + i / 32].lanes[i % 32]
                        : nullptr;
    odd = other;
    if (!other || other->hasExited || !(other->warp->live >> other->laneid & 1))
      return Meeting::Impossible;
    if (other->waiting != Waiting::Collective)
      return Meeting::Incomplete;
    const auto &theirs =
        static_cast<const CollectiveSite &>(*other->collective);
    if (!isSame(theirs, site) || other->waitMask != thread.waitMask) {
      // Where each names the other, neither can ever leave.
      bool mutual = other->waitMask >> thread.laneid & 1;
      return mutual ? Meeting::Impossible : Meeting::Incomplete;
    }
    gathering.threads[i] = other;
    gathering.arguments[i] = other->arguments;
    gathering.results[i] = other->results;
  }
  return Meeting::Complete;
}

static void reportDivergence(Thread &thread, Thread *odd) {
  const Site *site = thread.collective;
  std::string message;
  Party second;
  if (!odd || odd->hasExited || !(odd->warp->live >> odd->laneid & 1)) {
    message = "it names a lane that has exited or does not exist";
    if (odd)
      second = partyOf(*odd, nullptr);
  } else {
    message = "the lanes it names are at different instructions, or name "
              "different masks";
    second = partyOf(*odd, odd->collective);
  }
  report(*thread.launch, ReportKind::DivergentCollective, message,
         partyOf(thread, site), second, "",
         {site->number + 1,
          odd && odd->collective ? odd->collective->number + 1 : 0, 0, 0});
}

/// Performs the collective `thread` waits at, if all are there.
static bool tryPerform(Thread &thread, Thread *running) {
  const auto &site = static_cast<const CollectiveSite &>(*thread.collective);
  Gathering gathering{site, thread.waitMask, 0, {}, {}, {}};
  Thread *odd = nullptr;
  switch (gather(thread, gathering, odd)) {
  case Meeting::Incomplete:
    return false;
  case Meeting::Impossible:
    reportDivergence(thread, odd);
    thread.launch->stop();
    return false;
  case Meeting::Complete:
    break;
  }
  ++thread.cluster->events;
  site.perform(gathering);
  for (unsigned i = 0; i < gathering.count; ++i)
    if (Thread *other = gathering.threads[i]) {
      other->waiting = Waiting::Nothing;
      if (other != running)
        makeReady(*other);
    }
  return true;
}

void tile::emulator::tileEmuCollective(Thread *thread,
                                       const CollectiveSite *site,
                                       const uint64_t *arguments,
                                       uint64_t *results) {
  thread->collective = site;
  thread->waitSite = site;
  thread->waiting = Waiting::Collective;
  thread->arguments = arguments;
  thread->results = results;
  thread->waitMask = site->maskArgument >= 0
                         ? static_cast<uint32_t>(arguments[site->maskArgument])
                         : ~0u;
  // The lanes a last, partial warp lacks are named by habit.
  if (site->maskArgument >= 0)
    thread->waitMask &= thread->warp->existing;
  if (!(thread->waitMask >> thread->laneid & 1))
    reportFatal(*thread, ReportKind::DivergentCollective,
                "the executing lane is not in its own mask", site);
  if (tryPerform(*thread, thread))
    return;
  suspend(*thread, Waiting::Collective, site);
}

void tile::emulator::checkWarpCollectives(Warp &warp) {
  uint32_t firstWarp = warp.index / 4 * 4;
  // A warpgroup's threads may wait for one that just left.
  for (uint32_t w = firstWarp;
       w < firstWarp + 4 && w < warp.block->warps.size(); ++w)
    for (Thread *thread : warp.block->warps[w].lanes)
      if (thread && thread->waiting == Waiting::Collective &&
          (thread->warp == &warp ||
           static_cast<const CollectiveSite *>(thread->collective)
               ->isWarpgroup))
        tryPerform(*thread, nullptr);
}
