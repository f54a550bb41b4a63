//===- RuntimeMemory.cpp - Checked loads and stores ------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an address to host memory, with every reason why not. A faulty load
// gives zeros and a faulty store is dropped, so that one launch can report
// several faults.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "RuntimeFunctions.h"
#include <cstdio>
#include <cstring>

using namespace tile::emulator;
using ptx::Space;

static std::string hex(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string tile::emulator::describePlace(Launch &launch, const Place &place) {
  if (place.region) {
    uint64_t size = place.region->elementBytes;
    std::string text =
        place.region->name + "[" + std::to_string(place.offset / size) + "]";
    if (place.offset % size)
      text += " byte " + std::to_string(place.offset % size);
    return text;
  }
  if (!place.block)
    return "";
  // The variable that starts last before the offset.
  const KernelImage &image = *launch.image;
  const ptx::Variable *best = nullptr;
  uint32_t bestOffset = 0;
  for (auto [index, offset] : image.sharedOffsets) {
    const ptx::Variable &variable = image.program->variables[index];
    if (offset <= place.offset && (!best || offset >= bestOffset)) {
      best = &variable;
      bestOffset = offset;
    }
  }
  std::string text = "shared memory of rank " +
                     std::to_string(place.block->rank) + " at offset " +
                     std::to_string(place.offset);
  if (best) {
    uint64_t size = best->type.bytes();
    text = best->name.str() + "[" +
           std::to_string((place.offset - bestOffset) / size) + "], " + text;
  }
  return text;
}

Place tile::emulator::findShared(Thread &thread, uint64_t address,
                                 uint64_t bytes) {
  Place place;
  uint64_t rank = address >> sharedRankShift;
  uint64_t offset = address & ((1u << sharedRankShift) - 1);
  if (rank >= thread.cluster->blocks.size())
    return place;
  Block &block = thread.cluster->blocks[rank];
  if (offset < sharedReserved || offset + bytes > block.sharedBytes)
    return place;
  place.block = &block;
  place.host = block.shared + offset;
  place.shadow = block.shadow.get();
  place.offset = offset;
  return place;
}

static Place findGlobal(Thread &thread, uint64_t address, uint64_t bytes) {
  Place place;
  std::vector<GlobalRegion> &regions = thread.launch->regions;
  auto fits = [&](const GlobalRegion &region) {
    uint64_t offset = address - reinterpret_cast<uintptr_t>(region.data);
    return offset < region.bytes && bytes <= region.bytes - offset;
  };
  size_t index = thread.lastRegion;
  if (index >= regions.size() || !fits(regions[index])) {
    auto it =
        std::upper_bound(regions.begin(), regions.end(), address,
                         [](uint64_t a, const GlobalRegion &region) {
                           return a < reinterpret_cast<uintptr_t>(region.data);
                         });
    if (it == regions.begin() || !fits(*std::prev(it)))
      return place;
    index = static_cast<size_t>(std::prev(it) - regions.begin());
    thread.lastRegion = index;
  }
  place.region = &regions[index];
  place.host = reinterpret_cast<uint8_t *>(address);
  place.offset = address - reinterpret_cast<uintptr_t>(place.region->data);
  place.shadow = place.region->shadow.get();
  return place;
}

static void reportOutOfBounds(Thread &thread, Space space, uint64_t address,
                              uint64_t bytes, const Site *site, bool isWrite) {
  std::string what = std::string(isWrite ? "write" : "read") + " of " +
                     std::to_string(bytes) + " bytes at ";
  Launch &launch = *thread.launch;
  uint64_t window = reinterpret_cast<uintptr_t>(thread.sharedWindow);
  bool isShared = space == Space::Shared || space == Space::SharedCluster;
  uint64_t shared = isShared ? address : address - window;
  if (isShared || shared < sharedWindowBytes) {
    what += "shared address " + hex(shared) + "; a block's window is " +
            std::to_string(sharedReserved) + " to " +
            std::to_string(launch.sharedBytes) + ", this block's rank is " +
            std::to_string(thread.block->rank) + " of " +
            std::to_string(thread.cluster->blocks.size());
  } else {
    what += hex(address);
    const GlobalRegion *nearest = nullptr;
    for (const GlobalRegion &region : launch.regions)
      if (reinterpret_cast<uintptr_t>(region.data) <= address)
        nearest = &region;
    if (!nearest && !launch.regions.empty())
      nearest = &launch.regions.front();
    if (nearest) {
      int64_t offset = static_cast<int64_t>(
          address - reinterpret_cast<uintptr_t>(nearest->data));
      what += ", byte " + std::to_string(offset) + " of '" + nearest->name +
              "', which has " + std::to_string(nearest->bytes) +
              " bytes (element " +
              std::to_string(offset / int64_t(nearest->elementBytes)) + " of " +
              std::to_string(nearest->bytes / nearest->elementBytes) + ")";
    }
  }
  report(thread, ReportKind::OutOfBounds, what, site);
}

Place tile::emulator::resolve(Thread &thread, Space space, uint64_t address,
                              uint64_t bytes, uint32_t alignment,
                              const Site *site, bool isWrite) {
  Place place;
  if (address & (alignment - 1)) {
    report(thread, ReportKind::Misaligned,
           std::string(isWrite ? "write" : "read") + " of " +
               std::to_string(bytes) + " bytes at " + hex(address) +
               " needs an alignment of " + std::to_string(alignment),
           site);
    return place;
  }
  uint64_t window = reinterpret_cast<uintptr_t>(thread.sharedWindow);
  if (space == Space::Shared || space == Space::SharedCluster) {
    place = findShared(thread, address, bytes);
    if (place.host && space == Space::Shared && place.block != thread.block)
      place = Place();
  } else if (address - window < sharedWindowBytes) {
    if (space == Space::Generic)
      place = findShared(thread, address - window, bytes);
  } else {
    place = findGlobal(thread, address, bytes);
    if (!place.host && space != Space::Global && space != Space::Const) {
      auto *host = reinterpret_cast<uint8_t *>(address);
      if (host >= thread.stack && host < thread.localTop &&
          bytes <= uint64_t(thread.localTop - host))
        place.host = host;
      uint64_t offset =
          address - reinterpret_cast<uintptr_t>(thread.launch->parameterBase);
      uint64_t size = thread.launch->image->function->parameterBytes;
      if (!isWrite && offset < size && bytes <= size - offset)
        place.host = host;
    }
    if (isWrite && place.region && place.region->isReadOnly) {
      report(thread, ReportKind::OutOfBounds,
             "write to '" + place.region->name + "', which is read-only", site);
      return Place();
    }
  }
  if (!place.host)
    reportOutOfBounds(thread, space, address, bytes, site, isWrite);
  if (place.block && place.block->live == 0 && place.block != thread.block) {
    report(thread, ReportKind::OutOfBounds,
           "rank " + std::to_string(place.block->rank) +
               " of the cluster has ended, its shared memory with it",
           site);
    return Place();
  }
  return place;
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

static void reportConflict(Thread &thread, const Actor &actor, Place place,
                           const Conflict &conflict, const Site *site) {
  Launch &launch = *thread.launch;
  ReportKind kind = ReportKind::Race;
  std::string message;
  switch (conflict.kind) {
  case ConflictKind::ReadAfterWrite:
    message = "this read is not ordered after the other's write";
    break;
  case ConflictKind::WriteAfterWrite:
    message = "this write is not ordered after the other's write";
    break;
  case ConflictKind::WriteAfterRead:
    message = "this write is not ordered after the other's read";
    break;
  case ConflictKind::SameValue:
    kind = ReportKind::SameValueWrites;
    message = "two unordered writes store the same value";
    break;
  case ConflictKind::NoProxyFence:
    kind = ReportKind::MissingProxyFence;
    message = "the async proxy reads a generic write; between them a "
              "fence.proxy.async is missing";
    break;
  case ConflictKind::NeverWritten:
    kind = ReportKind::Uninitialized;
    message = "nothing was written there before this read";
    break;
  case ConflictKind::BarrierObject:
    kind = ReportKind::BarrierMisuse;
    message = "an mbarrier lives there; only mbarrier instructions may touch "
              "it until mbarrier.inval";
    break;
  }
  place.offset = conflict.offset;
  uint64_t where = place.region ? reinterpret_cast<uintptr_t>(place.region) : 1;
  report(launch, kind, message, partyOf(launch, actor.mark, thread.cluster),
         partyOf(launch, conflict.earlier, thread.cluster),
         describePlace(launch, place),
         {site ? site->number + 1 : 0,
          conflict.earlier.flags & markValid ? conflict.earlier.site + 1 : 0,
          where, 0});
}

void tile::emulator::checkRead(Thread &thread, const Actor &actor,
                               const Place &place, uint64_t bytes,
                               const Site *site) {
  if (!place.shadow)
    return;
  std::optional<Conflict> conflict =
      place.shadow->read(actor, place.offset, bytes, thread.launch->checks);
  if (conflict)
    reportConflict(thread, actor, place, *conflict, site);
}

void tile::emulator::checkWrite(Thread &thread, const Actor &actor,
                                const Place &place, uint64_t bytes,
                                const Site *site, const uint8_t *after) {
  if (!place.shadow)
    return;
  std::optional<Conflict> conflict = place.shadow->write(
      actor, place.offset, bytes, thread.launch->checks, place.host, after);
  if (conflict)
    reportConflict(thread, actor, place, *conflict, site);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// What is taken of a load, each stretch between its gaps.
static void checkLoad(Thread &thread, const Place &place,
                      const MemorySite &site) {
  Actor actor = thread.actor(&site);
  if (!site.gaps)
    return checkRead(thread, actor, place, site.bytes, &site);
  auto isGap = [&](unsigned byte) { return site.gaps >> byte & 1; };
  for (unsigned at = 0; at < site.bytes;) {
    unsigned end = at;
    while (end < site.bytes && !isGap(end))
      ++end;
    if (end > at) {
      Place part = place;
      part.offset += at;
      checkRead(thread, actor, part, end - at, &site);
    }
    at = end + 1;
  }
}

uint8_t *tile::emulator::tileEmuLoad(Thread *thread, uint64_t address,
                                     const MemorySite *site) {
  Place place = resolve(*thread, site->space, address, site->bytes,
                        site->alignment, site, false);
  if (!place.host) {
    std::memset(thread->loaded, 0, sizeof thread->loaded);
    return thread->loaded;
  }
  if (place.shadow)
    checkLoad(*thread, place, *site);
  return place.host;
}

void tile::emulator::tileEmuStore(Thread *thread, uint64_t address,
                                  const MemorySite *site, const uint8_t *data) {
  ++thread->cluster->events;
  Place place = resolve(*thread, site->space, address, site->bytes,
                        site->alignment, site, true);
  if (!place.host)
    return;
  if (place.shadow)
    checkWrite(*thread, thread->actor(site), place, site->bytes, site, data);
  std::memcpy(place.host, data, site->bytes);
}

uint32_t tile::emulator::tileEmuIsInSpace(Thread *thread, uint64_t address,
                                          uint32_t space) {
  uint64_t shared = address - reinterpret_cast<uintptr_t>(thread->sharedWindow);
  bool inShared = shared < sharedWindowBytes;
  auto *host = reinterpret_cast<uint8_t *>(address);
  bool inLocal = host >= thread->stack && host < thread->localLimit;
  uint64_t offset =
      address - reinterpret_cast<uintptr_t>(thread->launch->parameterBase);
  bool inParameters = offset < thread->launch->image->function->parameterBytes;
  switch (static_cast<Space>(space)) {
  case Space::Shared:
    return inShared && shared >> sharedRankShift == thread->block->rank;
  case Space::SharedCluster:
    return inShared;
  case Space::Local:
    return inLocal;
  case Space::Param:
    return inParameters;
  case Space::Const: {
    Place place = findGlobal(*thread, address, 1);
    return place.region && place.region->isReadOnly;
  }
  default:
    return !inShared && !inLocal && !inParameters;
  }
}
