//===- Scheduler.cpp - Whose turn it is ------------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the fibers of one cluster. Which ready warp comes next, and when an
// asynchronous operation takes effect, is drawn from the launch's seed; late
// operations wait until nothing else can happen, which is the latest moment a
// program may count on.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "RuntimeFunctions.h"
#include <sys/mman.h>

using namespace tile::emulator;

/// Backward branches between two turns of the scheduler.
static constexpr int64_t fuelPerTurn = 1 << 16;
/// Rounds of vain polling, with nothing else going on, that make a deadlock.
static constexpr uint32_t maxIdleRounds = 64;

uint64_t tile::emulator::localMemoryBytes(const KernelImage &image) {
  uint64_t depth = image.functions.size() > 1 ? 64 : 1;
  return image.localBytes * depth;
}

void tile::emulator::makeReady(Thread &thread) {
  Warp &warp = *thread.warp;
  thread.waiting = Waiting::Nothing;
  warp.ready |= 1u << thread.laneid;
  if (warp.isQueued)
    return;
  warp.isQueued = true;
  thread.cluster->queue.push_back(&warp);
}

void tile::emulator::suspend(Thread &thread, Waiting why, const Site *site) {
  thread.waiting = why;
  thread.waitSite = site;
  Fiber::switchTo(thread.fiber, thread.cluster->scheduler);
}

void tile::emulator::pause(Thread &thread, Waiting why, const Site *site) {
  thread.cluster->spinners.push_back(&thread);
  suspend(thread, why, site);
}

void tile::emulator::leave(Thread &thread) {
  thread.hasExited = true;
  for (;;)
    Fiber::switchTo(thread.fiber, thread.cluster->scheduler);
}

void tile::emulator::tileEmuExit(Thread *thread) {
  threadExited(*thread);
  leave(*thread);
}

void tile::emulator::tileEmuOutOfFuel(Thread *thread, const Site *site) {
  thread->fuel = fuelPerTurn;
  pause(*thread, Waiting::Spinning, site);
}

void tile::emulator::tileEmuYield(Thread *thread) {
  pause(*thread, Waiting::Spinning, nullptr);
}

static void runThread(void *argument) {
  auto *thread = static_cast<Thread *>(argument);
  thread->launch->image->entry(thread);
  tileEmuExit(thread);
}

static void fillDimensions(Thread &thread, const Launch &launch,
                           const Block &block, uint32_t linear) {
  const LaunchConfig &config = *launch.config;
  const Dim3 &shape = launch.clusterShape;
  auto set = [](uint32_t (&to)[3], const Dim3 &from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
  };
  set(thread.ntid, config.block);
  set(thread.nctaid, config.grid);
  set(thread.clusterNctaid, shape);
  set(thread.nclusterid, {config.grid.x / shape.x, config.grid.y / shape.y,
                          config.grid.z / shape.z});
  thread.tid[0] = linear % config.block.x;
  thread.tid[1] = linear / config.block.x % config.block.y;
  thread.tid[2] = linear / config.block.x / config.block.y;
  for (int i = 0; i < 3; ++i) {
    thread.ctaid[i] = block.index[i];
    thread.clusterid[i] = block.index[i] / thread.clusterNctaid[i];
    thread.clusterCtaid[i] = block.index[i] % thread.clusterNctaid[i];
  }
  thread.clusterCtarank = block.rank;
  thread.clusterNctarank = static_cast<uint32_t>(shape.count());
  thread.isExplicitCluster = launch.hasClusters;
  thread.laneid = linear % 32;
  thread.warpid = linear / 32;
  thread.nwarpid = (launch.blockThreads + 31) / 32;
  thread.smid = block.cluster->number % 132;
  thread.nsmid = 132;
  thread.gridid = 1;
  uint32_t bit = 1u << thread.laneid;
  thread.lanemaskEq = bit;
  thread.lanemaskLt = bit - 1;
  thread.lanemaskLe = bit | (bit - 1);
  thread.lanemaskGe = ~(bit - 1);
  thread.lanemaskGt = ~(bit | (bit - 1));
  thread.dynamicSharedBytes = config.dynamicSharedBytes;
  thread.totalSharedBytes = launch.sharedBytes - sharedReserved;
}

std::unique_ptr<Cluster> tile::emulator::createCluster(Launch &launch,
                                                       uint64_t number,
                                                       uint8_t *window,
                                                       StackPool &stacks) {
  auto cluster = std::make_unique<Cluster>();
  cluster->launch = &launch;
  cluster->number = static_cast<uint32_t>(number);
  cluster->window = window;
  cluster->stacks = &stacks;
  std::seed_seq seeds{uint64_t(launch.config->seed), number};
  cluster->random.seed(seeds);
  cluster->threadAgents = launch.clusterThreads;
  cluster->firstMatrixAgent =
      launch.clusterThreads * (launch.image->usesAsyncCopies ? 2 : 1);
  uint32_t warpgroups = (launch.blockThreads + 127) / 128;
  const Dim3 &shape = launch.clusterShape, &grid = launch.config->grid;
  uint32_t count = static_cast<uint32_t>(shape.count());
  cluster->firstAsyncAgent = cluster->firstMatrixAgent + warpgroups * count;
  uint32_t cx = grid.x / shape.x, cy = grid.y / shape.y;
  uint32_t n = cluster->number;
  for (uint32_t rank = 0; rank < count; ++rank) {
    Block &block = cluster->blocks.emplace_back();
    block.cluster = cluster.get();
    block.rank = rank;
    block.index[0] = n % cx * shape.x + rank % shape.x;
    block.index[1] = n / cx % cy * shape.y + rank / shape.x % shape.y;
    block.index[2] = n / cx / cy * shape.z + rank / shape.x / shape.y;
    block.shared = window + (uint64_t(rank) << sharedRankShift);
    block.sharedBytes = launch.sharedBytes;
    block.shadow = std::make_unique<Shadow>(launch.sharedBytes, false, true);
    block.live = launch.blockThreads;
    block.matrixQueues.resize(warpgroups);
    block.matrixTimes.resize(warpgroups);
    // What ptxas would give each thread of a full block, setmaxnreg's pool.
    uint32_t perThread =
        std::min<uint32_t>(65536 / launch.blockThreads / 8 * 8, 256);
    if (launch.image->function->maximumRegisters)
      perThread = *launch.image->function->maximumRegisters;
    for (uint32_t i = 0; i < launch.blockThreads; ++i) {
      if (i % 32 == 0) {
        Warp &warp = block.warps.emplace_back();
        warp.block = &block;
        warp.index = i / 32;
      }
      Thread &thread = block.threads.emplace_back();
      thread.launch = &launch;
      thread.cluster = cluster.get();
      thread.block = &block;
      thread.warp = &block.warps.back();
      thread.agent = static_cast<uint16_t>(rank * launch.blockThreads + i);
      thread.registers = perThread;
      thread.sharedWindow = window;
      thread.sharedBase = uint64_t(rank) << sharedRankShift;
      thread.parameters = launch.parameterBase;
      thread.fuel = fuelPerTurn;
      thread.matrixOpsPending = 0;
      fillDimensions(thread, launch, block, i);
      thread.warp->lanes[thread.laneid] = &thread;
      thread.warp->live |= 1u << thread.laneid;
      thread.warp->existing = thread.warp->live;
      thread.stack = stacks.take();
      if (!thread.stack)
        return nullptr;
      // Local memory below, the host's stack above; both grow towards each
      // other's border and are checked at calls.
      thread.localTop = thread.stack;
      thread.localLimit = thread.stack + localMemoryBytes(*launch.image);
      thread.stackLimit = thread.localLimit + 48 * 1024;
      thread.fiber.prepare(thread.stack, stacks.stackBytes(), runThread,
                           &thread);
      ++cluster->live;
      makeReady(thread);
    }
  }
  return cluster;
}

Cluster::~Cluster() {
  for (Block &block : blocks)
    for (Thread &thread : block.threads)
      if (thread.stack)
        stacks->put(thread.stack);
}

/// A bulk copy may write after its block has ended, but not read: the block's
/// shared memory is gone then, and nobody else can wait for the thread's
/// groups.
static void checkOpenCopies(Thread &thread) {
  auto check = [&](const std::vector<AsyncOpRef> &ops) {
    for (const AsyncOpRef &op : ops)
      if (op->readsShared && !op->isAwaited)
        report(thread, ReportKind::Race,
               "the thread ends without having waited until its bulk copy has "
               "read its block's shared memory",
               thread.launch->image->sites[op->mark.site].get());
  };
  check(thread.openBulk);
  for (const AsyncGroup &group : thread.bulkGroups)
    check(group.ops);
}

/// A copy that comes in later writes where there is no block any more, so some
/// thread of the block must have waited for it.
static void checkIncomingCopies(Block &block) {
  if (block.incoming.empty())
    return;
  Knowledge known = block.ended.freeze();
  Cluster &cluster = *block.cluster;
  Launch &launch = *cluster.launch;
  for (const auto &[agent, mark] : block.incoming)
    if (!known.ordered || known.ordered->get(mark.cluster, agent) < mark.time)
      report(launch, ReportKind::Race,
             "the block ends without having waited for this copy into its "
             "shared memory",
             partyOf(launch, mark, &cluster), Party(), "",
             {mark.site + 1, 0, 1, 0});
}

void tile::emulator::threadExited(Thread &thread) {
  Cluster &cluster = *thread.cluster;
  Warp &warp = *thread.warp;
  Block &block = *thread.block;
  warp.live &= ~(1u << thread.laneid);
  --block.live;
  --cluster.live;
  ++cluster.events;
  checkOpenCopies(thread);
  // What was issued later, by another block, this thread cannot know.
  if (!block.incoming.empty() && (thread.launch->checks & checkRace))
    block.ended.join(thread.knowledge);
  if (!block.live && (thread.launch->checks & checkRace))
    checkIncomingCopies(block);
  // wgmma must not outlive its thread, whose registers it uses.
  if (thread.matrixOpsPending) {
    report(thread, ReportKind::RegisterInFlight,
           "the thread ends while its wgmma is in flight", nullptr);
    finishMatrixOps(thread, 0);
  }
  checkWarpCollectives(warp);
}

static void fire(Cluster &cluster, size_t index) {
  AsyncOpRef op = cluster.pending[index];
  advance(*op, false);
  if (op->isDone) {
    // It may have moved while it took effect.
    auto it = std::find(cluster.pending.begin(), cluster.pending.end(), op);
    if (it != cluster.pending.end()) {
      *it = cluster.pending.back();
      cluster.pending.pop_back();
    }
  }
}

static void dropFinished(Cluster &cluster) {
  auto &list = cluster.pending;
  list.erase(std::remove_if(list.begin(), list.end(),
                            [](const AsyncOpRef &op) { return op->isDone; }),
             list.end());
}

Cluster::Status Cluster::run() {
  uint64_t eventsBefore = events;
  for (uint32_t turn = 0;; ++turn) {
    if (turn % 1024 == 1023 || turn == 0)
      launch->checkTime(*this);
    if (launch->isStopped.load(std::memory_order_relaxed))
      return Status::Done;
    if (!pending.empty() && (queue.empty() || random() % 8 == 0)) {
      dropFinished(*this);
      // With nothing to run even the late ones must come.
      std::vector<size_t> candidates;
      for (size_t i = 0; i < pending.size(); ++i)
        if (queue.empty() || !pending[i]->isLate)
          candidates.push_back(i);
      if (!candidates.empty()) {
        fire(*this, candidates[random() % candidates.size()]);
        idleRounds = 0;
        continue;
      }
    }
    if (!queue.empty()) {
      size_t pick = random() % queue.size();
      Warp &warp = *queue[pick];
      queue[pick] = queue.back();
      queue.pop_back();
      warp.isQueued = false;
      while (warp.ready) {
        uint32_t lane = __builtin_ctz(warp.ready);
        warp.ready &= warp.ready - 1;
        running = warp.lanes[lane];
        running->waiting = Waiting::Nothing;
        Fiber::switchTo(scheduler, running->fiber);
        if (launch->isStopped.load(std::memory_order_relaxed))
          return Status::Done;
      }
      continue;
    }
    if (!live && pending.empty())
      return Status::Done;
    if (spinners.empty())
      break;
    // Nothing but spinning: they get a turn, and other clusters too.
    bool onlyPolling = true;
    for (Thread *thread : spinners)
      onlyPolling &= thread->waiting == Waiting::Polling;
    if (onlyPolling && ++idleRounds > maxIdleRounds)
      break;
    std::vector<Thread *> list = std::move(spinners);
    spinners.clear();
    for (Thread *thread : list)
      makeReady(*thread);
    if (!onlyPolling)
      return events == eventsBefore ? Status::Idle : Status::Running;
  }
  std::string text;
  describeDeadlock(*this, text);
  report(*launch, ReportKind::Deadlock, text, Party(), Party(), "",
         {number + 1ull, 0, 0, 0});
  launch->stop();
  return Status::Done;
}
