//===- RuntimeBarriers.cpp - Barriers of blocks and clusters ---*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bar/barrier with numbers and counts, and barrier.cluster. The last to arrive
// opens the barrier; everybody leaves with what all knew.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "RuntimeFunctions.h"
#include "SyncSites.h"

using namespace tile::emulator;

static void openBarrier(NamedBarrier &barrier) {
  Knowledge knowledge = barrier.knowledge.freeze();
  std::vector<Thread *> waiters = std::move(barrier.waiters);
  barrier.waiters.clear();
  barrier.arrived = 0;
  for (Thread *waiter : waiters) {
    acquire(*waiter, knowledge);
    switch (static_cast<const BarrierSite *>(waiter->waitSite)->action) {
    case BarrierAction::RedAnd:
      waiter->barrierResult = barrier.conjunction;
      break;
    case BarrierAction::RedOr:
      waiter->barrierResult = barrier.disjunction;
      break;
    case BarrierAction::RedPopc:
      waiter->barrierResult = barrier.count;
      break;
    default:
      break;
    }
    makeReady(*waiter);
  }
  barrier.knowledge.clear();
  barrier.conjunction = 1;
  barrier.disjunction = barrier.count = 0;
}

uint32_t tile::emulator::tileEmuBarrier(Thread *thread, const BarrierSite *site,
                                        uint32_t id, uint32_t count,
                                        uint32_t condition) {
  Block &block = *thread->block;
  ++thread->cluster->events;
  if (id >= 16) {
    report(*thread, ReportKind::BarrierMisuse,
           "a block has barriers 0 to 15, got " + std::to_string(id), site);
    return 0;
  }
  // A barrier counts whole warps; without a count it is for all threads.
  uint32_t all = (thread->launch->blockThreads + 31) / 32 * 32;
  uint32_t expected = site->hasCount ? count : all;
  if (site->hasCount && (count == 0 || count % 32 || count > all)) {
    report(
        *thread, ReportKind::BarrierMisuse,
        "the count of a barrier must be a multiple of 32 up to the block's " +
            std::to_string(all) + " threads, got " + std::to_string(count),
        site);
    return 0;
  }
  auto &slot = block.namedBarriers[id];
  if (!slot)
    slot = std::make_unique<NamedBarrier>();
  NamedBarrier &barrier = *slot;
  if (barrier.arrived && barrier.expected != expected)
    report(*thread, ReportKind::BarrierMisuse,
           "barrier " + std::to_string(id) + " is in use for " +
               std::to_string(barrier.expected) +
               " threads, this one expects " + std::to_string(expected),
           site);
  barrier.expected = expected;
  release(*thread, barrier.knowledge);
  barrier.conjunction &= condition;
  barrier.disjunction |= condition;
  barrier.count += condition;
  // The missing lanes of a last, partial warp count as arrived with it.
  uint32_t weight = 1;
  uint32_t partial = thread->launch->blockThreads % 32;
  if (partial &&
      thread->tid[0] + thread->ntid[0] * (thread->tid[1] +
                                          thread->ntid[1] * thread->tid[2]) ==
          thread->launch->blockThreads - 1)
    weight = 32 - partial + 1;
  barrier.arrived += weight;
  if (barrier.arrived > expected)
    report(*thread, ReportKind::BarrierMisuse,
           "more threads than the " + std::to_string(expected) +
               " expected arrive at barrier " + std::to_string(id),
           site);
  bool waits = site->action != BarrierAction::Arrive;
  bool isLast = barrier.arrived >= expected;
  if (waits) {
    barrier.waiters.push_back(thread);
    thread->waitSite = site;
    thread->waitNumber = id;
  }
  if (isLast)
    openBarrier(barrier);
  if (waits) {
    // The last to arrive was made ready as well; it takes its turn like all.
    thread->waiting = isLast ? Waiting::Nothing : Waiting::NamedBarrier;
    Fiber::switchTo(thread->fiber, thread->cluster->scheduler);
  }
  return thread->barrierResult;
}

void tile::emulator::tileEmuClusterBarrier(Thread *thread,
                                           const BarrierSite *site) {
  Cluster &cluster = *thread->cluster;
  ++cluster.events;
  if (site->action == BarrierAction::Arrive) {
    if (thread->hasClusterArrived) {
      report(*thread, ReportKind::BarrierMisuse,
             "the thread arrives at the cluster barrier twice without a wait "
             "in between",
             site);
      return;
    }
    thread->hasClusterArrived = true;
    thread->clusterPhase = cluster.clusterPhase;
    if (site->isRelaxed) // orders nothing but fenced initialisations
      cluster.clusterKnowledge.inits.join(thread->knowledge.inits);
    else
      release(*thread, cluster.clusterKnowledge);
    if (++cluster.clusterArrived < cluster.threadAgents)
      return;
    cluster.clusterArrived = 0;
    ++cluster.clusterPhase;
    cluster.clusterCompleted = cluster.clusterKnowledge.freeze();
    cluster.clusterKnowledge.clear();
    std::vector<Thread *> waiters = std::move(cluster.clusterWaiters);
    cluster.clusterWaiters.clear();
    for (Thread *waiter : waiters)
      makeReady(*waiter);
    return;
  }
  if (!thread->hasClusterArrived) {
    report(*thread, ReportKind::BarrierMisuse,
           "the thread waits at the cluster barrier without having arrived",
           site);
    return;
  }
  while (cluster.clusterPhase == thread->clusterPhase) {
    cluster.clusterWaiters.push_back(thread);
    suspend(*thread, Waiting::ClusterBarrier, site);
  }
  thread->hasClusterArrived = false;
  acquire(*thread, cluster.clusterCompleted);
}
