//===- Machine.h - Threads, warps, blocks, clusters, a launch --*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a running grid. A cluster belongs to one host thread from its
// start to its end, so nothing below it is locked; only what the whole grid
// shares (global memory's shadow, atomics, reports) is. Threads are fibers
// that run until they wait for somebody.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_MACHINE_H
#define TILE_LIB_EMULATOR_MACHINE_H

#include "Clock.h"
#include "Fiber.h"
#include "KernelImage.h"
#include "Shadow.h"
#include "ThreadState.h"
#include "Tile/Emulator/Emulator.h"
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>

namespace tile::emulator {

struct Block;
struct Cluster;
struct Launch;
struct Warp;
struct MBarrier;
struct MatrixOp;

/// An asynchronous copy on its way. Its effect happens in up to two steps, at
/// moments the scheduler chooses: reading the source, then writing the
/// destination and signalling completion. Bulk groups may wait for the first.
struct AsyncOp {
  std::function<void(AsyncOp &)> readStep, writeStep;
  Mark mark; // the agent that acts, at the time of its read
  uint32_t writeTime = 0;
  Knowledge knowledge; // what its issuer knew
  uint32_t issuer = 0, issuerTime = 0;
  bool isInOrder = true; // see Actor
  bool isLate = false;   // only once nothing else can happen
  bool hasRead = false, isDone = false;
  bool readsShared = false; // its source must outlive its reading
  bool isAwaited = false;   // somebody waited for (at least) its reading

  Actor actor(bool isWrite) const {
    Actor a{mark, &knowledge, issuer, issuerTime, isInOrder};
    if (isWrite)
      a.mark.time = writeTime;
    return a;
  }
  /// What is known once the operation is done, or once it has read.
  void releaseTo(KnowledgeBuilder &into, bool onlyRead) const {
    into.join(knowledge);
    into.ordered.set(mark.cluster, issuer, issuerTime);
    into.ordered.set(mark.cluster, mark.agent,
                     onlyRead ? mark.time : writeTime);
  }
};
using AsyncOpRef = std::shared_ptr<AsyncOp>;

/// Operations a thread committed together.
struct AsyncGroup {
  std::vector<AsyncOpRef> ops;
};

enum class Waiting : uint8_t {
  Nothing,
  Collective,
  NamedBarrier,
  MBarrier,
  ClusterBarrier,
  Registers,
  Polling, // asked a barrier in vain
  Spinning // read memory others may change, or ran for long
};

struct Thread : ThreadState {
  Launch *launch = nullptr;
  Cluster *cluster = nullptr;
  Block *block = nullptr;
  Warp *warp = nullptr;
  Fiber fiber;
  uint8_t *stack = nullptr;
  uint16_t agent = 0;
  uint32_t time = 1;
  Knowledge knowledge;
  /// Fence synchronisation: what a relaxed write publishes, and what relaxed
  /// reads picked up for the next fence.
  Knowledge atLastFence, untilNextFence;

  bool hasExited = false;
  Waiting waiting = Waiting::Nothing;
  const Site *waitSite = nullptr;
  const Site *collective = nullptr;
  uint32_t waitMask = 0;   // of a collective
  uint32_t waitNumber = 0; // of a named barrier
  MBarrier *waitBarrier = nullptr;
  uint64_t waitPhase = 0;
  uint32_t barrierResult = 0;
  const uint64_t *arguments = nullptr;
  uint64_t *results = nullptr;
  uint32_t registers = 0; // setmaxnreg
  uint64_t clusterPhase = 0;
  bool hasClusterArrived = false;
  size_t lastRegion = 0;
  // Where the thread last read what others may change, to notice spinning.
  const Site *spinSite = nullptr;
  uint64_t spinAddress = 0;

  std::vector<AsyncOpRef> openCopies, openBulk;
  std::deque<AsyncGroup> copyGroups, bulkGroups;
  uint32_t copyTime = 0; // of the thread's cp.async agent
  std::vector<std::shared_ptr<MatrixOp>> openMatrixOps;
  std::deque<std::vector<std::shared_ptr<MatrixOp>>> matrixGroups;
  uint64_t matrixFences = 0;

  alignas(16) uint8_t loaded[64];

  Actor actor(const Site *site, uint8_t flags = 0) const {
    Actor a;
    a.mark = mark(site, flags);
    a.knowledge = &knowledge;
    return a;
  }
  Mark mark(const Site *site, uint8_t flags = 0) const;
};

struct Warp {
  Block *block = nullptr;
  uint32_t index = 0;
  Thread *lanes[32] = {};
  uint32_t existing = 0;
  uint32_t live = 0;  // not exited
  uint32_t ready = 0; // can run
  bool isQueued = false;
};

struct NamedBarrier {
  uint32_t arrived = 0, expected = 0;
  KnowledgeBuilder knowledge;
  std::vector<Thread *> waiters;
  uint32_t conjunction = 1, disjunction = 0, count = 0;
};

struct MBarrier {
  Block *block = nullptr;
  uint32_t offset = 0;
  uint32_t expected = 0, pending = 0;
  int64_t transactions = 0;
  uint64_t phase = 0;
  KnowledgeBuilder arriving;
  Knowledge completed; // of the phases before this one
  Mark init;
  bool isValid = true;
  std::vector<Thread *> waiters;
};

struct Block {
  Cluster *cluster = nullptr;
  uint32_t rank = 0;
  uint32_t index[3] = {0, 0, 0};
  uint8_t *shared = nullptr; // host address of offset 0
  uint32_t sharedBytes = 0;
  std::unique_ptr<Shadow> shadow;
  std::deque<Thread> threads;
  std::deque<Warp> warps;
  std::map<uint32_t, std::unique_ptr<NamedBarrier>> namedBarriers;
  std::map<uint32_t, std::unique_ptr<MBarrier>> mbarriers;
  uint32_t live = 0;
  /// The last copy of each engine into this block, and what those of its
  /// threads that have ended knew.
  std::map<uint16_t, Mark> incoming;
  KnowledgeBuilder ended;
  uint64_t freeRegisters = 0;
  std::vector<Thread *> registerWaiters;
  std::vector<std::deque<std::shared_ptr<MatrixOp>>> matrixQueues;
  std::vector<uint32_t> matrixTimes; // of the warpgroups' agents
};

/// An agent that acts for asynchronous operations, one after the other.
struct AsyncAgent {
  uint32_t time = 0;
  uint16_t issuer = 0;
};

struct Cluster {
  Launch *launch = nullptr;
  uint32_t number = 0;
  uint8_t *window = nullptr;
  std::deque<Block> blocks;
  std::vector<Warp *> queue;
  std::vector<Thread *> spinners;
  std::vector<AsyncOpRef> pending;
  std::vector<AsyncAgent> asyncAgents;
  size_t nextAgent = 0;
  uint32_t threadAgents = 0; // agents below are threads
  uint32_t firstMatrixAgent = 0, firstAsyncAgent = 0;
  uint32_t live = 0;
  uint64_t events = 0;
  uint32_t idleRounds = 0;
  std::mt19937_64 random;
  Fiber scheduler;
  Thread *running = nullptr;
  StackPool *stacks = nullptr;

  // barrier.cluster
  uint32_t clusterArrived = 0;
  uint64_t clusterPhase = 0;
  KnowledgeBuilder clusterKnowledge;
  Knowledge clusterCompleted;
  std::vector<Thread *> clusterWaiters;

  // Joins repeat for all threads of a warp; remember the last ones.
  struct Memo {
    ClockRef a, b, result;
  };
  std::array<Memo, 16> memos;
  size_t nextMemo = 0;

  enum class Status { Done, Idle, Running };
  Status run();

  ~Cluster();
};

/// Release sequence of one address, for atomics and ordered accesses.
struct AddressClock {
  KnowledgeBuilder knowledge;
};

struct GlobalRegion {
  uint8_t *data = nullptr;
  uint64_t bytes = 0;
  std::string name;
  unsigned elementBytes = 1;
  bool isReadOnly = false;
  std::unique_ptr<Shadow> shadow;
};

struct Launch {
  const KernelImage *image = nullptr;
  const LaunchConfig *config = nullptr;
  CheckMask checks = 0;
  Dim3 clusterShape;
  bool hasClusters = false;
  uint32_t blockThreads = 0, clusterThreads = 0;
  uint32_t sharedBytes = 0; // of a block, the reserved part included
  std::vector<uint8_t> parameters;
  uint8_t *parameterBase = nullptr;
  std::vector<GlobalRegion> regions; // by address
  std::atomic<uint64_t> nextCluster{0};
  uint64_t clusterCount = 0;
  std::atomic<bool> isStopped{false};
  std::atomic<int64_t> lastProgress{0};
  std::atomic<int> activeWorkers{0};

  std::mutex reportMutex;
  std::vector<Report> reports;
  std::map<std::array<uint64_t, 4>, size_t> reportIndex;
  std::string output;

  std::mutex atomicMutex;
  std::map<uint64_t, AddressClock> addressClocks;

  void stop() { isStopped.store(true); }
  /// Stops with a report if the launch's time is up.
  void checkTime(Cluster &cluster);
  int64_t deadline = 0; // microseconds of the steady clock; 0: none
};

//===----------------------------------------------------------------------===//
// Scheduling (Scheduler.cpp)
//===----------------------------------------------------------------------===//

std::unique_ptr<Cluster> createCluster(Launch &launch, uint64_t number,
                                       uint8_t *window, StackPool &stacks);
/// Bytes at the low end of a thread's stack that are its .local space.
uint64_t localMemoryBytes(const KernelImage &image);
/// Gives up the processor until somebody calls makeReady.
void suspend(Thread &thread, Waiting why, const Site *site);
void makeReady(Thread &thread);
/// Lets others run, then continues.
void pause(Thread &thread, Waiting why, const Site *site);
[[noreturn]] void leave(Thread &thread);
void describeDeadlock(Cluster &cluster, std::string &text);
void checkWarpCollectives(Warp &warp);
void threadExited(Thread &thread);

//===----------------------------------------------------------------------===//
// Order (Order.cpp)
//===----------------------------------------------------------------------===//

/// What the thread knows, its own past included, for somebody else; the
/// thread's later accesses are not covered.
void release(Thread &thread, KnowledgeBuilder &into);
void acquire(Thread &thread, const Knowledge &from);
ClockRef joinClocks(Cluster &cluster, const ClockRef &a, const ClockRef &b);
/// A frozen copy of what release() publishes.
Knowledge publish(Thread &thread);

//===----------------------------------------------------------------------===//
// Memory (RuntimeMemory.cpp)
//===----------------------------------------------------------------------===//

struct Place {
  uint8_t *host = nullptr; // null: the access is not valid and was reported
  Shadow *shadow = nullptr;
  uint64_t offset = 0;    // within the shadow
  Block *block = nullptr; // of shared memory
  const GlobalRegion *region = nullptr;
};

/// Finds `bytes` at `address`, or reports why there are none.
Place resolve(Thread &thread, ptx::Space space, uint64_t address,
              uint64_t bytes, uint32_t alignment, const Site *site,
              bool isWrite);
Place findShared(Thread &thread, uint64_t address, uint64_t bytes);
void checkRead(Thread &thread, const Actor &actor, const Place &place,
               uint64_t bytes, const Site *site);
void checkWrite(Thread &thread, const Actor &actor, const Place &place,
                uint64_t bytes, const Site *site, const uint8_t *after);
std::string describePlace(Launch &launch, const Place &place);
/// The value an atomic leaves behind; also of bulk reductions.
uint64_t combineAtomically(AtomicOp op, ptx::Type type, uint64_t old,
                           uint64_t value);

//===----------------------------------------------------------------------===//
// Asynchrony (RuntimeCopies.cpp, RuntimeMBarrier.cpp, Wgmma.cpp)
//===----------------------------------------------------------------------===//

/// An operation of `thread` with an agent of its own, not started yet.
AsyncOpRef createBulkOp(Thread &thread, const Site *site);
/// Starts an operation; it may take effect at once.
void startAsync(Thread &thread, const AsyncOpRef &op);
void advance(AsyncOp &op, bool onlyRead);
/// Lets all but the last `groupsLeft` groups of wgmma take effect.
void finishMatrixOps(Thread &thread, size_t groupsLeft);

MBarrier *findBarrier(Thread &thread, ptx::Space space, uint64_t address,
                      const Site *site);
/// complete_tx by an asynchronous operation.
void completeTransactions(Thread &issuer, MBarrier &barrier, int64_t bytes,
                          const AsyncOp &op, const Site *site);
void arriveAsync(Thread &issuer, MBarrier &barrier,
                 const KnowledgeBuilder &knowledge, const Site *site);

//===----------------------------------------------------------------------===//
// Reports (Reports.cpp)
//===----------------------------------------------------------------------===//

/// `cluster`, if it is the mark's own, tells for whom an engine acted.
Party partyOf(Launch &launch, const Mark &mark, const Cluster *cluster);
Party partyOf(Thread &thread, const Site *site);
void report(Launch &launch, ReportKind kind, std::string message,
            const Party &first, const Party &second, std::string place,
            std::array<uint64_t, 4> key);
void report(Thread &thread, ReportKind kind, std::string message,
            const Site *site);
void report(Launch &launch, ReportKind kind, const TextFault &fault);
/// A report that ends the launch.
[[noreturn]] void reportFatal(Thread &thread, ReportKind kind,
                              std::string message, const Site *site);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_MACHINE_H
