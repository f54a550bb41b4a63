//===- Reports.cpp - Faults in words ---------------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One report a pair of instructions and kind of fault: a race in a loop is one
// fault with a count.
//===----------------------------------------------------------------------===//
#include "Machine.h"

using namespace tile::emulator;

const char *tile::emulator::reportKindName(ReportKind kind) {
  switch (kind) {
#define REPORT_KIND(name, text)                                                \
  case ReportKind::name:                                                       \
    return text;
#include "Tile/Emulator/ReportKinds.def"
  }
  return "";
}

static std::string triple(const uint32_t (&v)[3]) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," +
         std::to_string(v[2]) + ")";
}

std::string Party::str() const {
  if (!isKnown)
    return "";
  std::string text = isAsynchronous ? "an asynchronous operation of " : "";
  text += isAnyone ? "any thread"
                   : "thread " + triple(thread) + " of block " + triple(block);
  if (!instruction.empty())
    text += ", `" + instruction + "` at PTX line " + std::to_string(ptxLine);
  if (!sourceFile.empty())
    text += " (" + sourceFile + ":" + std::to_string(sourceLine) + ")";
  return text;
}

std::string Report::str() const {
  std::string text = reportKindName(kind);
  text += ": " + message;
  if (!place.empty())
    text += "\n  where: " + place;
  if (first.isKnown)
    text += "\n  by:    " + first.str();
  if (second.isKnown)
    text += "\n  and:   " + second.str();
  if (count > 1)
    text += "\n  seen " + std::to_string(count) + " times";
  return text + "\n";
}

static void fillSite(Launch &launch, Party &party, const Site *site) {
  if (!site)
    return;
  party.instruction = site->spelled;
  party.ptxLine = site->line;
  const ptx::Program &program = *launch.image->program;
  if (site->location < 0)
    return;
  const ptx::SourceLocation &location = program.locations[site->location];
  party.sourceLine = location.line;
  if (location.file < program.files.size())
    party.sourceFile = program.files[location.file];
}

static void fillThread(Launch &launch, Party &party, uint32_t cluster,
                       uint32_t agent) {
  party.isKnown = true;
  uint32_t rank = agent / launch.blockThreads;
  uint32_t linear = agent % launch.blockThreads;
  const Dim3 &block = launch.config->block, &shape = launch.clusterShape,
             &grid = launch.config->grid;
  party.thread[0] = linear % block.x;
  party.thread[1] = linear / block.x % block.y;
  party.thread[2] = linear / block.x / block.y;
  uint32_t cx = grid.x / shape.x, cy = grid.y / shape.y;
  party.block[0] = cluster % cx * shape.x + rank % shape.x;
  party.block[1] = cluster / cx % cy * shape.y + rank / shape.x % shape.y;
  party.block[2] = cluster / cx / cy * shape.z + rank / shape.x / shape.y;
}

Party tile::emulator::partyOf(Launch &launch, const Mark &mark,
                              const Cluster *cluster) {
  Party party;
  if (!(mark.flags & markValid))
    return party;
  uint32_t agent = mark.agent, threads = launch.clusterThreads;
  party.isAsynchronous = mark.flags & markAsync;
  if (agent >= threads) {
    party.isAsynchronous = true;
    uint32_t engines = threads * (launch.image->usesAsyncCopies ? 2 : 1);
    uint32_t warpgroups = (launch.blockThreads + 127) / 128;
    uint32_t first = engines + warpgroups * threads / launch.blockThreads;
    if (agent < engines)
      agent -= threads;
    else if (agent < first)
      agent = (agent - engines) / warpgroups * launch.blockThreads +
              (agent - engines) % warpgroups * 128;
    else if (cluster && cluster->number == mark.cluster &&
             agent - first < cluster->asyncAgents.size())
      agent = cluster->asyncAgents[agent - first].issuer;
    else // another cluster's: its tables may be gone, its block is known
      agent = mark.block * launch.blockThreads;
  }
  fillThread(launch, party, mark.cluster, agent);
  if (mark.site < launch.image->sites.size())
    fillSite(launch, party, launch.image->sites[mark.site].get());
  return party;
}

Party tile::emulator::partyOf(Thread &thread, const Site *site) {
  Party party;
  fillThread(*thread.launch, party, thread.cluster->number, thread.agent);
  fillSite(*thread.launch, party, site);
  return party;
}

void tile::emulator::report(Launch &launch, ReportKind kind,
                            std::string message, const Party &first,
                            const Party &second, std::string place,
                            std::array<uint64_t, 4> key) {
  // Copies of one source line that a compiler unrolled are one party.
  for (int i = 0; i < 2; ++i)
    if (key[i] && key[i] <= launch.image->sites.size()) {
      int location = launch.image->sites[key[i] - 1]->location;
      if (location >= 0) {
        const auto &l = launch.image->program->locations[location];
        key[i] = uint64_t(1) << 63 | uint64_t(l.file) << 32 | l.line;
      }
    }
  std::lock_guard<std::mutex> lock(launch.reportMutex);
  key[3] = static_cast<uint64_t>(kind);
  auto [it, isNew] = launch.reportIndex.try_emplace(key, SIZE_MAX);
  if (!isNew) {
    if (it->second != SIZE_MAX)
      ++launch.reports[it->second].count;
    return;
  }
  if (launch.reports.size() >= launch.config->maxReports)
    return;
  it->second = launch.reports.size();
  launch.reports.push_back(
      {kind, std::move(message), first, second, std::move(place), 1});
}

void tile::emulator::report(Launch &launch, ReportKind kind,
                            const TextFault &fault) {
  auto partyOf = [&](const Site *site) {
    Party party;
    party.isKnown = party.isAnyone = true;
    fillSite(launch, party, site);
    return party;
  };
  report(launch, kind, fault.message, partyOf(fault.first),
         partyOf(fault.second), "",
         {fault.first->number + 1ull, fault.second->number + 1ull, 0, 0});
}

void tile::emulator::report(Thread &thread, ReportKind kind,
                            std::string message, const Site *site) {
  report(*thread.launch, kind, std::move(message), partyOf(thread, site),
         Party(), "", {site ? site->number + 1 : 0, 0, 0, 0});
}

void tile::emulator::reportFatal(Thread &thread, ReportKind kind,
                                 std::string message, const Site *site) {
  {
    // The string must not live on a fiber that is abandoned.
    std::string owned = std::move(message);
    report(thread, kind, std::move(owned), site);
  }
  thread.launch->stop();
  leave(thread);
}
