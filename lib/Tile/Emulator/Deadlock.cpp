//===- Deadlock.cpp - Who waits for what -----------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes a cluster in which nothing can happen any more: one line for the
// lanes of a warp that wait at the same instruction for the same thing.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include <map>

using namespace tile::emulator;

static std::string hex(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

static std::string reasonOf(const Thread &thread) {
  switch (thread.waiting) {
  case Waiting::Nothing:
    return "running";
  case Waiting::Collective:
    return "for the lanes of mask " + hex(thread.waitMask);
  case Waiting::NamedBarrier: {
    const NamedBarrier &barrier =
        *thread.block->namedBarriers.at(thread.waitNumber);
    return "at barrier " + std::to_string(thread.waitNumber) + ", " +
           std::to_string(barrier.arrived) + " of " +
           std::to_string(barrier.expected) + " threads have arrived";
  }
  case Waiting::MBarrier:
  case Waiting::Polling: {
    if (!thread.waitBarrier)
      return "polling";
    const MBarrier &barrier = *thread.waitBarrier;
    return "for phase " + std::to_string(thread.waitPhase) +
           " of the mbarrier at shared[" + std::to_string(barrier.offset) +
           "] of rank " + std::to_string(barrier.block->rank) + ": phase " +
           std::to_string(barrier.phase) + " lacks " +
           std::to_string(barrier.pending) + " of " +
           std::to_string(barrier.expected) + " arrivals and " +
           std::to_string(barrier.transactions) + " bytes";
  }
  case Waiting::ClusterBarrier:
    return "for the cluster, " +
           std::to_string(thread.cluster->clusterArrived) + " of " +
           std::to_string(thread.cluster->threadAgents) +
           " threads have arrived";
  case Waiting::Registers:
    return "for registers, " + std::to_string(thread.block->freeRegisters) +
           " are free in the block";
  case Waiting::Spinning:
    return "spinning";
  }
  return "";
}

static std::string lanesOf(uint32_t mask) {
  std::string text;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    int end = lane;
    while (end < 31 && mask >> (end + 1) & 1)
      ++end;
    text += (text.empty() ? "" : ",") + std::to_string(lane) +
            (end > lane ? "-" + std::to_string(end) : "");
    lane = end;
  }
  return text;
}

void tile::emulator::describeDeadlock(Cluster &cluster, std::string &text) {
  if (text.empty())
    text = "no thread can go on";
  for (Block &block : cluster.blocks)
    for (Warp &warp : block.warps) {
      std::map<std::string, uint32_t> groups;
      uint32_t exited = 0;
      for (int lane = 0; lane < 32; ++lane) {
        Thread *thread = warp.lanes[lane];
        if (!thread)
          continue;
        if (!(warp.live >> lane & 1)) {
          exited |= 1u << lane;
          continue;
        }
        std::string where;
        if (const Site *site = thread->waitSite) {
          where = "wait at PTX line " + std::to_string(site->line) + " `" +
                  site->spelled + "`";
          if (site->location >= 0) {
            const ptx::Program &program = *cluster.launch->image->program;
            const auto &location = program.locations[site->location];
            if (location.file < program.files.size())
              where += " (" + program.files[location.file] + ":" +
                       std::to_string(location.line) + ")";
          }
        }
        groups[where + " " + reasonOf(*thread)] |= 1u << lane;
      }
      std::string head = "\n  block (" + std::to_string(block.index[0]) + "," +
                         std::to_string(block.index[1]) + "," +
                         std::to_string(block.index[2]) + ") warp " +
                         std::to_string(warp.index) + " lanes ";
      for (auto &[what, mask] : groups)
        text += head + lanesOf(mask) + " " + what;
      if (exited && !groups.empty())
        text += head + lanesOf(exited) + " have exited";
    }
}
