//===- Order.cpp - Release and acquire -------------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How order travels between threads. A thread's own time stands apart from its
// clock: a release publishes it and then advances it, so that what the thread
// does afterwards is not taken for published.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "RuntimeFunctions.h"
#include "SyncSites.h"

using namespace tile::emulator;

Mark Thread::mark(const Site *site, uint8_t flags) const {
  Mark m;
  m.cluster = cluster->number;
  m.time = time;
  m.site = site ? site->number : 0;
  m.agent = agent;
  m.flags = static_cast<uint8_t>(flags | markValid);
  m.block = static_cast<uint8_t>(block->rank);
  return m;
}

ClockRef tile::emulator::joinClocks(Cluster &cluster, const ClockRef &a,
                                    const ClockRef &b) {
  if (!a || a == b)
    return b;
  if (!b)
    return a;
  for (const Cluster::Memo &memo : cluster.memos)
    if (memo.a == a && memo.b == b)
      return memo.result;
  ClockBuilder builder;
  builder.join(a);
  builder.join(b);
  ClockRef result = builder.freeze();
  // Keep clocks shared where one says it all.
  if (result->equals(*b))
    result = b;
  else if (result->equals(*a))
    result = a;
  cluster.memos[cluster.nextMemo++ % cluster.memos.size()] = {a, b, result};
  return result;
}

void tile::emulator::release(Thread &thread, KnowledgeBuilder &into) {
  into.join(thread.knowledge);
  into.ordered.set(thread.cluster->number, thread.agent, thread.time);
  ++thread.time;
}

Knowledge tile::emulator::publish(Thread &thread) {
  KnowledgeBuilder builder;
  release(thread, builder);
  return builder.freeze();
}

void tile::emulator::acquire(Thread &thread, const Knowledge &from) {
  Knowledge &own = thread.knowledge;
  own.ordered = joinClocks(*thread.cluster, own.ordered, from.ordered);
  own.fenced = joinClocks(*thread.cluster, own.fenced, from.fenced);
  own.inits = joinClocks(*thread.cluster, own.inits, from.inits);
}

void tile::emulator::tileEmuFence(Thread *thread, const FenceSite *site) {
  ++thread->cluster->events;
  switch (site->kind) {
  case FenceKind::Thread:
    acquire(*thread, thread->untilNextFence);
    thread->untilNextFence = Knowledge();
    thread->atLastFence = publish(*thread);
    return;
  case FenceKind::AsyncProxy: {
    // Everything ordered before the fence is visible to the async proxy.
    Knowledge all = publish(*thread);
    thread->knowledge.fenced =
        joinClocks(*thread->cluster, thread->knowledge.fenced, all.ordered);
    return;
  }
  case FenceKind::BarrierInit: {
    Knowledge all = publish(*thread);
    thread->knowledge.inits =
        joinClocks(*thread->cluster, thread->knowledge.inits, all.ordered);
    return;
  }
  }
}
