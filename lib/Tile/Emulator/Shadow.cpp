//===- Shadow.cpp - Who touched which byte last ----------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Shadow.h. Neighbouring cells nearly always have the same history, so a
// cell equal to the one before it gets that one's result without a check.
//===----------------------------------------------------------------------===//
#include "Shadow.h"
#include "KernelImage.h"
#include <cstring>

using namespace tile::emulator;

Shadow::Shadow(uint64_t bytes, bool isShared, bool wantsUninitialized)
    : pages(bytes / pageBytes + 1),
      // All threads of the grid may read one global word; a sample of them is
      // enough to catch a write that none of them is ordered before.
      mostReaders(isShared ? 16 : SIZE_MAX),
      wantsUninitialized(wantsUninitialized) {
  if (isShared)
    mutex = std::make_unique<std::mutex>();
}

Shadow::~Shadow() = default;

void Shadow::reset() {
  for (Page &page : pages)
    page = Page();
  lists.clear();
  unusedLists.clear();
}

Shadow::Page &Shadow::pageAt(uint64_t index) {
  Page &page = pages[index];
  if (!page.cells)
    page.cells = std::make_unique<Cell[]>(pageBytes / 4);
  return page;
}

void Shadow::refine(Page &page) {
  auto fine = std::make_unique<Cell[]>(pageBytes);
  for (uint64_t i = 0; i < pageBytes; ++i) {
    fine[i] = page.cells[i / 4];
    // A list belongs to one cell; the others get copies.
    if (i % 4 && fine[i].read.flags & markMany) {
      std::vector<Mark> copy = lists[fine[i].read.time];
      fine[i].read.time = static_cast<uint32_t>(lists.size());
      lists.push_back(std::move(copy));
    }
  }
  page.cells = std::move(fine);
  page.isFine = true;
}

void Shadow::dropReads(Cell &cell) {
  if (cell.read.flags & markMany) {
    lists[cell.read.time].clear();
    unusedLists.push_back(cell.read.time);
  }
  cell.read = Mark();
}

void Shadow::addRead(Cell &cell, const Actor &actor) {
  Mark &read = cell.read;
  if (!(read.flags & markValid) ||
      (!(read.flags & markMany) && actor.isAfter(read))) {
    read = actor.mark;
    return;
  }
  if (!(read.flags & markMany)) {
    uint32_t index;
    if (unusedLists.empty()) {
      index = static_cast<uint32_t>(lists.size());
      lists.emplace_back();
    } else {
      index = unusedLists.back();
      unusedLists.pop_back();
    }
    lists[index] = {read, actor.mark};
    read = Mark();
    read.time = index;
    read.flags = markValid | markMany;
    return;
  }
  std::vector<Mark> &list = lists[read.time];
  if (list.back().agent == actor.mark.agent &&
      list.back().cluster == actor.mark.cluster) {
    list.back() = actor.mark;
    return;
  }
  // Ordered ones are dropped now and then, at every doubling.
  if (list.size() == list.capacity() || list.size() >= mostReaders) {
    size_t kept = 0;
    for (const Mark &mark : list)
      if (!actor.isAfter(mark))
        list[kept++] = mark;
    list.resize(kept);
    if (list.size() >= mostReaders) {
      list[actor.mark.time % list.size()] = actor.mark;
      return;
    }
  }
  list.push_back(actor.mark);
}

/// Two strong accesses within each other's scope are no race.
bool Shadow::mayCoincide(const Mark &a, const Mark &b) const {
  if (!(a.flags & b.flags & markStrong))
    return false;
  if (!((a.flags | b.flags) & markCtaScope))
    return true;
  return a.cluster == b.cluster && a.block == b.block;
}

template <typename Update>
std::optional<Conflict> Shadow::visit(uint64_t offset, uint64_t bytes,
                                      Update update) {
  std::optional<Conflict> found;
  std::unique_lock<std::mutex> lock;
  if (mutex)
    lock = std::unique_lock<std::mutex>(*mutex);
  uint64_t end = offset + bytes;
  while (offset < end) {
    Page &page = pageAt(offset / pageBytes);
    uint64_t stop = std::min(end, (offset / pageBytes + 1) * pageBytes);
    if (!page.isFine && ((offset | stop) & 3))
      refine(page);
    uint64_t step = page.isFine ? 1 : 4;
    Cell *cell = &page.cells[offset % pageBytes / step];
    Cell before, after;
    bool canRepeat = false;
    for (; offset < stop; offset += step, ++cell) {
      if (canRepeat && std::memcmp(cell, &before, sizeof(Cell)) == 0) {
        *cell = after;
        continue;
      }
      bool hadMany = cell->read.flags & markMany;
      before = *cell;
      std::optional<Conflict> conflict = update(*cell, offset, step);
      if (conflict && !found)
        found = conflict;
      after = *cell;
      canRepeat = !hadMany && !(after.read.flags & markMany);
    }
  }
  return found;
}

std::optional<Conflict> Shadow::read(const Actor &actor, uint64_t offset,
                                     uint64_t bytes, uint32_t checks) {
  return visit(
      offset, bytes,
      [&](Cell &cell, uint64_t at, uint64_t) -> std::optional<Conflict> {
        const Mark &write = cell.write;
        std::optional<Conflict> conflict;
        if (!(write.flags & markValid)) {
          if (wantsUninitialized && (checks & checkUninitialized))
            conflict = Conflict{ConflictKind::NeverWritten, {}, at};
        } else if (write.flags & markBarrier) {
          conflict = Conflict{ConflictKind::BarrierObject, write, at};
        } else if (!actor.isAfter(write)) {
          if ((checks & checkRace) && !mayCoincide(write, actor.mark))
            conflict = Conflict{ConflictKind::ReadAfterWrite, write, at};
        } else if ((checks & checkProxy) && (actor.mark.flags & markAsync) &&
                   !(write.flags & markAsync) && !actor.isFencedAfter(write)) {
          conflict = Conflict{ConflictKind::NoProxyFence, write, at};
        }
        addRead(cell, actor);
        return conflict;
      });
}

std::optional<Conflict> Shadow::write(const Actor &actor, uint64_t offset,
                                      uint64_t bytes, uint32_t checks,
                                      const uint8_t *before,
                                      const uint8_t *after) {
  uint64_t start = offset;
  return visit(
      offset, bytes,
      [&](Cell &cell, uint64_t at, uint64_t step) -> std::optional<Conflict> {
        std::optional<Conflict> conflict;
        const Mark &write = cell.write;
        if ((write.flags & markBarrier) && !(actor.mark.flags & markBarrier)) {
          conflict = Conflict{ConflictKind::BarrierObject, write, at};
        } else if (checks & checkRace) {
          if ((write.flags & markValid) && !actor.isAfter(write) &&
              !mayCoincide(write, actor.mark)) {
            bool isSame = before && after &&
                          std::memcmp(before + (at - start),
                                      after + (at - start), step) == 0;
            conflict = Conflict{isSame ? ConflictKind::SameValue
                                       : ConflictKind::WriteAfterWrite,
                                write, at};
          } else if (cell.read.flags & markMany) {
            for (const Mark &read : lists[cell.read.time])
              if (!actor.isAfter(read) && !mayCoincide(read, actor.mark)) {
                conflict = Conflict{ConflictKind::WriteAfterRead, read, at};
                break;
              }
          } else if ((cell.read.flags & markValid) &&
                     !actor.isAfter(cell.read) &&
                     !mayCoincide(cell.read, actor.mark)) {
            conflict = Conflict{ConflictKind::WriteAfterRead, cell.read, at};
          }
        }
        dropReads(cell);
        cell.write = actor.mark;
        return conflict;
      });
}

void Shadow::endBarrier(uint64_t offset, uint64_t bytes) {
  visit(offset, bytes, [](Cell &cell, uint64_t, uint64_t) {
    cell.write.flags &= static_cast<uint8_t>(~markBarrier);
    return std::optional<Conflict>();
  });
}
