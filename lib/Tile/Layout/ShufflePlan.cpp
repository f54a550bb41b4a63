//===- ShufflePlan.cpp - Conversion by shuffles ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In one round each lane offers one unit and takes one, so a schedule is an
// edge colouring of the bipartite graph of senders and receivers. Where every
// unit goes to one place, colouring with alternating paths meets the lower
// bound, the largest number of units a lane sends or receives. First fit may do
// as well, keeps results in one register for all lanes more often, and can send
// one unit to several lanes at once; so both are tried.
//
//===----------------------------------------------------------------------===//

#include "ShufflePlan.h"

#include "Coordinates.h"

#include <algorithm>
#include <array>
#include <set>

using namespace tile::layout;

//===----------------------------------------------------------------------===//
// UnitTable
//===----------------------------------------------------------------------===//

UnitTable::UnitTable(const FragmentLayout &from, const FragmentLayout &to,
                     int64_t pack)
    : threadCount(to.numThreads()), targetUnits(to.numRegisters() / pack) {
  const std::vector<int64_t> held = from.elements(), wanted = to.elements();
  const int64_t sourceUnits = from.numRegisters() / pack;
  // Kinds of units by their first element; the bucket in front is for idle.
  std::vector<std::vector<int64_t>> kinds(from.numElements() + 1);
  std::vector<const int64_t *> contents;
  auto find = [&](const int64_t *unit) {
    for (int64_t kind : kinds[*unit + 1])
      if (std::equal(unit, unit + pack, contents[kind]))
        return kind;
    return missingUnit;
  };
  for (int64_t unit = 0; unit < int64_t(held.size()) / pack; ++unit) {
    const int64_t *const first = &held[unit * pack];
    int64_t kind = find(first);
    if (kind == missingUnit) {
      kind = int64_t(contents.size());
      contents.push_back(first);
      kinds[*first + 1].push_back(kind);
      owners.emplace_back();
    }
    owners[kind].push_back({unit / sourceUnits, unit % sourceUnits});
  }
  for (int64_t unit = 0; unit < int64_t(wanted.size()) / pack; ++unit) {
    const int64_t *const first = &wanted[unit * pack];
    const bool isIdle = std::all_of(first, first + pack, [](int64_t element) {
      return element == FragmentLayout::idle;
    });
    sourceOf.push_back(isIdle ? idleUnit : find(first));
  }
}

const std::vector<Owner> &UnitTable::sources(int64_t thread,
                                             int64_t unit) const {
  static const std::vector<Owner> none;
  const int64_t index = sourceOf[thread * targetUnits + unit];
  return index < 0 ? none : owners[index];
}

bool UnitTable::isComplete() const {
  return std::find(sourceOf.begin(), sourceOf.end(), missingUnit) ==
         sourceOf.end();
}

bool UnitTable::staysInWarps() const {
  for (int64_t thread = 0; thread < threadCount; ++thread)
    for (int64_t unit = 0; unit < targetUnits; ++unit) {
      const std::vector<Owner> &from = sources(thread, unit);
      if (!isIdle(thread, unit) &&
          std::none_of(from.begin(), from.end(), [&](const Owner &owner) {
            return owner.thread / warpSize == thread / warpSize;
          }))
        return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

namespace {
/// A unit that a lane of this warp needs from other lanes of it.
struct Demand {
  int64_t lane, unit;
  std::vector<Owner> sources;
};

/// What is known of one warp's schedule: by round and lane.
struct WarpSchedule {
  struct Take {
    int64_t unit = -1, lane = 0;
  };
  std::vector<std::array<int64_t, warpSize>> offered;
  std::vector<std::array<Take, warpSize>> taken;

  int64_t rounds() const { return int64_t(offered.size()); }
  void grow(int64_t round) {
    while (rounds() <= round) {
      offered.emplace_back().fill(-1);
      taken.emplace_back();
    }
  }
};
} // namespace

/// Tries the round of the target unit first, so that where all goes well each
/// round fills one register.
static WarpSchedule firstFit(const std::vector<Demand> &demands) {
  WarpSchedule schedule;
  for (const Demand &demand : demands) {
    auto place = [&](int64_t round) {
      schedule.grow(round);
      WarpSchedule::Take &take = schedule.taken[round][demand.lane];
      if (take.unit >= 0)
        return false;
      for (const Owner &source : demand.sources) {
        const int64_t lane = source.thread % warpSize;
        int64_t &offered = schedule.offered[round][lane];
        if (offered >= 0 && offered != source.reg)
          continue;
        offered = source.reg;
        take = {demand.unit, lane};
        return true;
      }
      return false;
    };
    bool isPlaced = place(demand.unit);
    for (int64_t round = 0; !isPlaced; ++round)
      isPlaced = place(round);
  }
  // Rounds that stayed empty were only passed over.
  WarpSchedule dense;
  for (int64_t round = 0; round < schedule.rounds(); ++round)
    if (std::any_of(schedule.taken[round].begin(), schedule.taken[round].end(),
                    [](const auto &take) { return take.unit >= 0; })) {
      dense.offered.push_back(schedule.offered[round]);
      dense.taken.push_back(schedule.taken[round]);
    }
  return dense;
}

/// Edge colouring by alternating paths; each demand has one source and each
/// source one demand.
static WarpSchedule colourEdges(const std::vector<Demand> &demands) {
  // By lane and colour, the demand that has this colour there.
  std::array<std::vector<int64_t>, warpSize> sent, received;
  auto at = [](std::vector<int64_t> &colours, int64_t colour) -> int64_t & {
    if (int64_t(colours.size()) <= colour)
      colours.resize(colour + 1, -1);
    return colours[colour];
  };
  auto firstFree = [&](std::vector<int64_t> &colours) {
    int64_t colour = 0;
    while (at(colours, colour) >= 0)
      ++colour;
    return colour;
  };
  auto sender = [&](int64_t demand) {
    return demands[demand].sources[0].thread % warpSize;
  };
  for (int64_t demand = 0; demand < int64_t(demands.size()); ++demand) {
    std::vector<int64_t> &out = sent[sender(demand)],
                         &in = received[demands[demand].lane];
    const int64_t colour = firstFree(out), other = firstFree(in);
    // From the receiver, swap the two colours along the path that alternates
    // between them; it cannot come back to the sender, which lacks `colour`.
    std::vector<int64_t> path;
    int64_t next = at(in, colour);
    for (bool atReceiver = true; next >= 0; atReceiver = !atReceiver) {
      path.push_back(next);
      next = atReceiver ? at(sent[sender(next)], other)
                        : at(received[demands[next].lane], colour);
    }
    for (size_t i = 0; i < path.size(); ++i) {
      const int64_t old = i % 2 == 0 ? colour : other;
      if (at(sent[sender(path[i])], old) == path[i])
        at(sent[sender(path[i])], old) = -1;
      if (at(received[demands[path[i]].lane], old) == path[i])
        at(received[demands[path[i]].lane], old) = -1;
    }
    for (size_t i = 0; i < path.size(); ++i) {
      const int64_t fresh = i % 2 == 0 ? other : colour;
      at(sent[sender(path[i])], fresh) = path[i];
      at(received[demands[path[i]].lane], fresh) = path[i];
    }
    at(sent[sender(demand)], colour) = demand;
    at(received[demands[demand].lane], colour) = demand;
  }
  WarpSchedule schedule;
  for (int64_t lane = 0; lane < warpSize; ++lane)
    for (int64_t round = 0; round < int64_t(received[lane].size()); ++round)
      if (int64_t demand = received[lane][round]; demand >= 0) {
        schedule.grow(round);
        schedule.taken[round][lane] = {demands[demand].unit, sender(demand)};
        schedule.offered[round][sender(demand)] =
            demands[demand].sources[0].reg;
      }
  return schedule;
}

static WarpSchedule scheduleWarp(const std::vector<Demand> &demands) {
  WarpSchedule greedy = firstFit(demands);
  std::set<std::pair<int64_t, int64_t>> sources;
  for (const Demand &demand : demands)
    if (demand.sources.size() != 1 ||
        !sources.insert({demand.sources[0].thread, demand.sources[0].reg})
             .second)
      return greedy;
  WarpSchedule exact = colourEdges(demands);
  return exact.rounds() < greedy.rounds() ? exact : greedy;
}

bool tile::layout::scheduleShuffles(const UnitTable &units, Conversion &plan) {
  if (!units.isComplete() || !units.staysInWarps())
    return false;
  plan.local.assign(units.threads() * units.units(), -1);
  for (int64_t warp = 0; warp < units.threads(); warp += warpSize) {
    const int64_t end = std::min(warp + warpSize, units.threads());
    std::vector<Demand> demands;
    // Unit by unit over the lanes, the order first fit wants.
    for (int64_t unit = 0; unit < units.units(); ++unit)
      for (int64_t thread = warp; thread < end; ++thread) {
        if (units.isIdle(thread, unit))
          continue;
        Demand demand{thread - warp, unit, {}};
        int64_t &local = plan.local[thread * units.units() + unit];
        for (const Owner &owner : units.sources(thread, unit)) {
          if (owner.thread == thread && local < 0)
            local = owner.reg;
          if (owner.thread >= warp && owner.thread < end)
            demand.sources.push_back(owner);
        }
        if (local < 0)
          demands.push_back(std::move(demand));
      }
    const WarpSchedule schedule = scheduleWarp(demands);
    while (int64_t(plan.rounds.size()) < schedule.rounds()) {
      const size_t threads = units.threads();
      plan.rounds.push_back({std::vector<int64_t>(threads, 0),
                             std::vector<int64_t>(threads, 0),
                             std::vector<int64_t>(threads, -1)});
    }
    for (int64_t round = 0; round < schedule.rounds(); ++round)
      for (int64_t thread = warp; thread < end; ++thread) {
        const int64_t lane = thread - warp;
        const auto take = schedule.taken[round][lane];
        plan.rounds[round].offered[thread] =
            std::max<int64_t>(schedule.offered[round][lane], 0);
        plan.rounds[round].taken[thread] = take.unit;
        plan.rounds[round].sourceLane[thread] =
            take.unit < 0 ? lane : take.lane;
      }
  }
  return true;
}

int64_t tile::layout::countSelects(const UnitTable &units,
                                   const Conversion &plan) {
  int64_t selects = 0;
  // A target unit is chosen among the values that lanes take for it.
  std::vector<std::set<int64_t>> ways(units.units());
  for (int64_t thread = 0; thread < units.threads(); ++thread)
    for (int64_t unit = 0; unit < units.units(); ++unit)
      if (int64_t from = plan.local[thread * units.units() + unit]; from >= 0)
        ways[unit].insert(from);
  for (size_t round = 0; round < plan.rounds.size(); ++round) {
    const ShuffleRound &shuffle = plan.rounds[round];
    std::set<int64_t> offered, masks;
    for (int64_t thread = 0; thread < units.threads(); ++thread) {
      if (shuffle.taken[thread] < 0)
        continue;
      ways[shuffle.taken[thread]].insert(-1 - int64_t(round));
      const int64_t lane = thread % warpSize,
                    source = shuffle.sourceLane[thread];
      offered.insert(shuffle.offered[thread - lane + source]);
      masks.insert(lane ^ source);
    }
    // A butterfly takes its mask as a constant; other lane maps are computed.
    selects += int64_t(offered.size()) - 1 + (masks.size() > 1);
  }
  for (const std::set<int64_t> &choices : ways)
    selects += std::max<int64_t>(int64_t(choices.size()) - 1, 0);
  return selects;
}
