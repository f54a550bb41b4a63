//===- RuntimeMBarrier.cpp - mbarrier objects ------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA section "mbarrier". The state lives beside shared memory, not in it:
// the 64 bits are opaque to programs. A phase is complete when no arrivals and
// no transaction bytes are missing; who waits for it then knows what everybody
// knew who contributed. Relaxed arrivals count as releases (docs/Emulator.md).
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "RuntimeFunctions.h"

using namespace tile::emulator;
using ptx::Space;

static constexpr int64_t maxCount = (1 << 20) - 1;
static constexpr uint64_t phaseBits = uint64_t(1) << 40;

static Place barrierPlace(Thread &thread, Space space, uint64_t address,
                          const Site *site) {
  Place place = resolve(thread, space, address, 8, 8, site, false);
  if (place.host && !place.block) {
    report(thread, ReportKind::BarrierMisuse,
           "an mbarrier lives in shared memory only", site);
    return Place();
  }
  return place;
}

static std::string nameOf(const MBarrier &barrier) {
  return "the mbarrier at shared offset " + std::to_string(barrier.offset) +
         " of rank " + std::to_string(barrier.block->rank);
}

MBarrier *tile::emulator::findBarrier(Thread &thread, Space space,
                                      uint64_t address, const Site *site) {
  Place place = barrierPlace(thread, space, address, site);
  if (!place.host)
    return nullptr;
  auto &barriers = place.block->mbarriers;
  auto it = barriers.find(static_cast<uint32_t>(place.offset));
  if (it == barriers.end() || !it->second->isValid) {
    report(thread, ReportKind::BarrierMisuse,
           "no mbarrier is initialised at shared offset " +
               std::to_string(place.offset) + " of rank " +
               std::to_string(place.block->rank),
           site);
    return nullptr;
  }
  MBarrier &barrier = *it->second;
  const ClockRef &inits = thread.knowledge.inits;
  const Mark &init = barrier.init;
  if (!thread.actor(site).isAfter(init) &&
      !(inits && inits->get(init.cluster, init.agent) >= init.time))
    report(*thread.launch, ReportKind::BarrierMisuse,
           nameOf(barrier) + " is used before its initialisation is visible "
                             "to this thread",
           partyOf(thread, site), partyOf(*thread.launch, init, thread.cluster),
           "", {site->number + 1, init.site + 1, 0, 0});
  return &barrier;
}

static void finishPhase(MBarrier &barrier) {
  if (barrier.pending || barrier.transactions)
    return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.arriving.join(barrier.completed);
  barrier.completed = barrier.arriving.freeze();
  barrier.arriving.clear();
  std::vector<Thread *> waiters = std::move(barrier.waiters);
  barrier.waiters.clear();
  for (Thread *waiter : waiters)
    makeReady(*waiter);
}

static void changeTransactions(Thread &thread, MBarrier &barrier, int64_t bytes,
                               const Site *site) {
  barrier.transactions += bytes;
  if (barrier.transactions > maxCount || barrier.transactions < -maxCount)
    report(thread, ReportKind::BarrierMisuse,
           nameOf(barrier) + " has a transaction count of " +
               std::to_string(barrier.transactions) + ", beyond the limit of " +
               std::to_string(maxCount),
           site);
}

void tile::emulator::completeTransactions(Thread &issuer, MBarrier &barrier,
                                          int64_t bytes, const AsyncOp &op,
                                          const Site *site) {
  ++issuer.cluster->events;
  if (!barrier.isValid)
    return;
  op.releaseTo(barrier.arriving, false);
  changeTransactions(issuer, barrier, -bytes, site);
  finishPhase(barrier);
}

/// Takes `count` arrivals off the phase; false if there are not as many left.
static bool countArrivals(Thread &thread, MBarrier &barrier, uint32_t count,
                          const Site *site) {
  if (count <= barrier.pending) {
    barrier.pending -= count;
    return true;
  }
  report(thread, ReportKind::BarrierMisuse,
         "one arrival too many: " + nameOf(barrier) + " expects " +
             std::to_string(barrier.expected) + " a phase, " +
             std::to_string(barrier.pending) + " are left, " +
             std::to_string(count) + " arrive" +
             (barrier.transactions
                  ? " (the phase still lacks " +
                        std::to_string(barrier.transactions) + " bytes)"
                  : ""),
         site);
  return false;
}

void tile::emulator::arriveAsync(Thread &issuer, MBarrier &barrier,
                                 const KnowledgeBuilder &knowledge,
                                 const Site *site) {
  ++issuer.cluster->events;
  KnowledgeBuilder copy = knowledge;
  barrier.arriving.join(copy.freeze());
  if (countArrivals(issuer, barrier, 1, site))
    finishPhase(barrier);
}

static uint64_t stateOf(const MBarrier &barrier) {
  return barrier.phase % phaseBits | uint64_t(barrier.pending) << 40;
}

uint32_t tile::emulator::tileEmuPendingCount(Thread *, uint64_t state) {
  return static_cast<uint32_t>(state >> 40);
}

static void initialize(Thread &thread, const MBarrierSite *site,
                       uint64_t address, uint64_t count) {
  Place place = barrierPlace(thread, site->space, address, site);
  if (!place.host)
    return;
  if (place.block != &*thread.block) {
    report(thread, ReportKind::BarrierMisuse,
           "an mbarrier is initialised by its own block only", site);
    return;
  }
  if (count == 0 || count > uint64_t(maxCount)) {
    report(thread, ReportKind::BarrierMisuse,
           "the count of an mbarrier is 1 to " + std::to_string(maxCount) +
               ", got " + std::to_string(count),
           site);
    return;
  }
  auto &slot = place.block->mbarriers[static_cast<uint32_t>(place.offset)];
  if (slot && slot->isValid && !slot->waiters.empty())
    report(thread, ReportKind::BarrierMisuse,
           nameOf(*slot) + " is initialised again while threads wait at it",
           site);
  checkWrite(thread, thread.actor(site, markBarrier), place, 8, site, nullptr);
  // The object stays where it is: waiters may still point to it.
  if (!slot)
    slot = std::make_unique<MBarrier>();
  MBarrier &barrier = *slot;
  barrier.block = place.block;
  barrier.offset = static_cast<uint32_t>(place.offset);
  barrier.expected = barrier.pending = static_cast<uint32_t>(count);
  barrier.transactions = 0;
  barrier.phase = 0;
  barrier.arriving.clear();
  barrier.completed = Knowledge();
  barrier.init = thread.mark(site);
  barrier.isValid = true;
}

static uint64_t waitFor(Thread &thread, const MBarrierSite *site,
                        MBarrier &barrier, uint64_t argument) {
  auto isDone = [&] {
    return site->byParity ? (barrier.phase & 1) != (argument & 1)
                          : barrier.phase % phaseBits > argument % phaseBits;
  };
  while (!isDone()) {
    thread.waitBarrier = &barrier;
    thread.waitPhase = barrier.phase;
    if (site->action == MBarrierAction::TestWait) {
      pause(thread, Waiting::Polling, site);
      if (isDone())
        break;
      return 0;
    }
    barrier.waiters.push_back(&thread);
    suspend(thread, Waiting::MBarrier, site);
  }
  if (!site->isRelaxed)
    acquire(thread, barrier.completed);
  return 1;
}

uint64_t tile::emulator::tileEmuMBarrier(Thread *thread,
                                         const MBarrierSite *site,
                                         uint64_t address, uint64_t argument) {
  // Waiting is no progress: a loop of successful waits may be endless.
  if (site->action != MBarrierAction::TestWait &&
      site->action != MBarrierAction::TryWait)
    ++thread->cluster->events;
  if (site->action == MBarrierAction::Init) {
    initialize(*thread, site, address, argument);
    return 0;
  }
  MBarrier *barrier = findBarrier(*thread, site->space, address, site);
  if (!barrier)
    return 1; // a wait that returned false would spin for ever
  uint64_t state = stateOf(*barrier);
  auto arrive = [&](uint32_t count) {
    if (barrier->block != thread->block && !site->isVoid)
      report(*thread, ReportKind::BarrierMisuse,
             "a remote arrival gives no state; its destination must be _",
             site);
    if (!countArrivals(*thread, *barrier, count, site))
      return;
    if (site->noComplete && barrier->pending == 0)
      report(*thread, ReportKind::BarrierMisuse,
             "an arrival marked noComplete completes the phase", site);
    if (site->drops)
      barrier->expected -= std::min(count, barrier->expected);
    release(*thread, barrier->arriving);
    finishPhase(*barrier);
  };
  switch (site->action) {
  case MBarrierAction::Invalidate: {
    barrier->isValid = false;
    Place place = barrierPlace(*thread, site->space, address, site);
    place.shadow->endBarrier(place.offset, 8);
    return 0;
  }
  case MBarrierAction::ExpectTx:
    changeTransactions(*thread, *barrier, int64_t(argument), site);
    return 0;
  case MBarrierAction::CompleteTx:
    changeTransactions(*thread, *barrier, -int64_t(argument), site);
    finishPhase(*barrier);
    return 0;
  case MBarrierAction::ArriveExpectTx:
    changeTransactions(*thread, *barrier, int64_t(argument), site);
    arrive(1);
    return state;
  case MBarrierAction::Arrive:
    arrive(static_cast<uint32_t>(argument));
    return state;
  default:
    return waitFor(*thread, site, *barrier, argument);
  }
}
