//===- RuntimeCopies.cpp - Asynchronous operations, cp.async ---*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An asynchronous operation is an agent of its own: it comes after what its
// issuer did before issuing it, and nothing comes after it but who waited.
// When it takes effect is drawn from the seed. cp.async works in the generic
// proxy, on behalf of one agent a thread; of its copies only those waited for
// come before others.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "RuntimeFunctions.h"
#include <cstring>

using namespace tile::emulator;
using ptx::Space;

void tile::emulator::startAsync(Thread &thread, const AsyncOpRef &op) {
  Cluster &cluster = *thread.cluster;
  ++cluster.events;
  switch (cluster.random() % 3) {
  case 0:
    advance(*op, false);
    return;
  case 1:
    op->isLate = true;
    break;
  default:
    break;
  }
  cluster.pending.push_back(op);
}

void tile::emulator::advance(AsyncOp &op, bool onlyRead) {
  if (!op.hasRead) {
    op.hasRead = true;
    if (op.readStep)
      op.readStep(op);
  }
  if (onlyRead || op.isDone)
    return;
  op.isDone = true;
  if (op.writeStep)
    op.writeStep(op);
}

/// Engines are reused by who knows that their last operation is done.
static uint32_t takeEngine(Thread &thread) {
  Cluster &cluster = *thread.cluster;
  std::vector<AsyncAgent> &engines = cluster.asyncAgents;
  const ClockRef &known = thread.knowledge.ordered;
  for (size_t tries = std::min<size_t>(engines.size(), 16); tries--;) {
    size_t index = cluster.nextAgent++ % engines.size();
    uint32_t agent = cluster.firstAsyncAgent + static_cast<uint32_t>(index);
    if (known && known->get(cluster.number, agent) >= engines[index].time)
      return static_cast<uint32_t>(index);
  }
  if (cluster.firstAsyncAgent + engines.size() < UINT16_MAX) {
    engines.emplace_back();
    return static_cast<uint32_t>(engines.size() - 1);
  }
  return static_cast<uint32_t>(cluster.nextAgent++ % engines.size());
}

AsyncOpRef tile::emulator::createBulkOp(Thread &thread, const Site *site) {
  Cluster &cluster = *thread.cluster;
  uint32_t index = takeEngine(thread);
  AsyncAgent &engine = cluster.asyncAgents[index];
  engine.issuer = thread.agent;
  auto op = std::make_shared<AsyncOp>();
  op->mark = thread.mark(site, markAsync);
  op->mark.agent = static_cast<uint16_t>(cluster.firstAsyncAgent + index);
  op->mark.time = ++engine.time;
  op->writeTime = ++engine.time;
  op->knowledge = thread.knowledge;
  op->issuer = thread.agent;
  op->issuerTime = thread.time++;
  return op;
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

void tile::emulator::tileEmuCopyAsync(Thread *thread, const AsyncCopySite *site,
                                      uint64_t to, uint64_t from,
                                      uint32_t sourceBytes) {
  if (sourceBytes > site->bytes) {
    report(*thread, ReportKind::InvalidOperand,
           "the source size " + std::to_string(sourceBytes) +
               " exceeds the copy's " + std::to_string(site->bytes) + " bytes",
           site);
    return;
  }
  Place target =
      resolve(*thread, Space::Shared, to, site->bytes, site->bytes, site, true);
  Place source;
  if (sourceBytes)
    source = resolve(*thread, Space::Global, from, sourceBytes, site->bytes,
                     site, false);
  if (!target.host || (sourceBytes && !source.host))
    return;
  auto op = std::make_shared<AsyncOp>();
  op->mark = thread->mark(site);
  op->mark.agent =
      static_cast<uint16_t>(thread->launch->clusterThreads + thread->agent);
  op->mark.time = op->writeTime = ++thread->copyTime;
  op->isInOrder = false;
  op->knowledge = thread->knowledge;
  op->issuer = thread->agent;
  op->issuerTime = thread->time++;
  op->writeStep = [thread, site, target, source, sourceBytes](AsyncOp &self) {
    uint8_t data[16] = {};
    if (sourceBytes) {
      checkRead(*thread, self.actor(false), source, sourceBytes, site);
      std::memcpy(data, source.host, sourceBytes);
    }
    checkWrite(*thread, self.actor(true), target, site->bytes, site, data);
    std::memcpy(target.host, data, site->bytes);
  };
  thread->openCopies.push_back(op);
  startAsync(*thread, op);
}

void tile::emulator::tileEmuCopyCommit(Thread *thread) {
  thread->copyGroups.push_back({std::move(thread->openCopies)});
  thread->openCopies.clear();
}

/// Completes groups from the oldest on and takes what they did as known.
static void finishGroups(Thread &thread, std::deque<AsyncGroup> &groups,
                         size_t left, bool onlyRead) {
  ++thread.cluster->events;
  if (groups.size() <= left)
    return;
  KnowledgeBuilder builder;
  builder.join(thread.knowledge);
  size_t count = groups.size() - left;
  for (size_t i = 0; i < count; ++i)
    for (const AsyncOpRef &op : groups[i].ops) {
      advance(*op, onlyRead);
      op->isAwaited = true;
      op->releaseTo(builder, onlyRead);
    }
  // Groups that have only read are still to be waited for.
  if (!onlyRead)
    groups.erase(groups.begin(), groups.begin() + count);
  thread.knowledge = builder.freeze();
}

void tile::emulator::tileEmuCopyWait(Thread *thread, const Site *,
                                     uint32_t pending, uint32_t all) {
  if (all)
    tileEmuCopyCommit(thread);
  finishGroups(*thread, thread->copyGroups, pending, false);
}

void tile::emulator::tileEmuCopyArrive(Thread *thread, const MBarrierSite *site,
                                       uint64_t address) {
  MBarrier *barrier = findBarrier(*thread, site->space, address, site);
  if (!barrier)
    return;
  // Without .noinc the arrival is counted in first, so the phase is as before.
  if (!site->noComplete)
    ++barrier->pending;
  std::vector<AsyncOpRef> before = thread->openCopies;
  for (const AsyncGroup &group : thread->copyGroups)
    before.insert(before.end(), group.ops.begin(), group.ops.end());
  auto op = std::make_shared<AsyncOp>();
  op->mark = thread->mark(site);
  op->knowledge = thread->knowledge;
  op->issuer = thread->agent;
  op->issuerTime = op->writeTime = thread->time++;
  op->writeStep = [thread, site, barrier, before](AsyncOp &self) {
    KnowledgeBuilder builder;
    self.releaseTo(builder, false);
    for (const AsyncOpRef &copy : before) {
      advance(*copy, false);
      copy->releaseTo(builder, false);
    }
    arriveAsync(*thread, *barrier, builder, site);
  };
  startAsync(*thread, op);
}

//===----------------------------------------------------------------------===//
// Bulk groups
//===----------------------------------------------------------------------===//

void tile::emulator::tileEmuBulkCommit(Thread *thread) {
  thread->bulkGroups.push_back({std::move(thread->openBulk)});
  thread->openBulk.clear();
}

void tile::emulator::tileEmuBulkWait(Thread *thread, const Site *,
                                     uint32_t pending, uint32_t onlyRead) {
  finishGroups(*thread, thread->bulkGroups, pending, onlyRead);
}
