//===- RuntimeBulk.cpp - cp.async.bulk and TMA -----------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA sections "cp.async.bulk" and "cp.async.bulk.tensor". A copy is a
// list of pieces: contiguous bytes in shared memory that correspond to
// contiguous bytes in global memory, or to the filling outside the tensor.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "RuntimeFunctions.h"
#include <cstring>

using namespace tile::emulator;
using ptx::Space;

namespace {
struct Piece {
  uint64_t shared; // relative to the copy's start
  uint64_t global; // address; 0 for filling
  uint32_t bytes;
};

struct Copy {
  Thread *thread;
  const BulkSite *site;
  std::vector<Piece> pieces;
  uint64_t sharedAddress = 0;    // of the source, or of the destination
  uint64_t bytes = 0;            // for the barrier
  std::vector<uint64_t> targets; // shared addresses written to
  std::vector<MBarrier *> barriers;
  ptx::Type element;
  unsigned elementBytes = 1;
  unsigned swizzleMask = 0;
  uint8_t fill[16] = {};
  std::vector<uint8_t> data; // between the steps of a store
};
using CopyRef = std::shared_ptr<Copy>;
} // namespace

/// The place in the swizzled pattern of 16 bytes at this address: bits 4.. are
/// xored with bits 7.. .
static uint64_t swizzled(uint64_t address, unsigned mask) {
  return address ^ ((address >> 7 & mask) << 4);
}

/// Calls visit(shared address, bytes, offset within the piece) for the runs of
/// a piece that stay contiguous under the swizzle.
template <typename Visit>
static void forRuns(const Copy &copy, const Piece &piece, uint64_t start,
                    Visit visit) {
  uint64_t address = start + piece.shared;
  if (!copy.swizzleMask)
    return visit(address, uint64_t(piece.bytes), uint64_t(0));
  for (uint64_t done = 0; done < piece.bytes;) {
    uint64_t at = address + done;
    uint64_t bytes = std::min<uint64_t>(16 - at % 16, piece.bytes - done);
    visit(swizzled(at, copy.swizzleMask), bytes, done);
    done += bytes;
  }
}

static const uint8_t *readGlobal(Copy &copy, AsyncOp &op, const Piece &piece) {
  Place place = resolve(*copy.thread, Space::Global, piece.global, piece.bytes,
                        1, copy.site, false);
  if (!place.host)
    return nullptr;
  checkRead(*copy.thread, op.actor(false), place, piece.bytes, copy.site);
  return place.host;
}

static void load(Copy &copy, AsyncOp &op) {
  Thread &thread = *copy.thread;
  std::vector<uint8_t> row;
  for (const Piece &piece : copy.pieces) {
    row.resize(piece.bytes);
    const uint8_t *from = piece.global ? readGlobal(copy, op, piece) : nullptr;
    if (from)
      std::memcpy(row.data(), from, piece.bytes);
    else
      for (uint32_t i = 0; i < piece.bytes; ++i)
        row[i] = copy.fill[i % copy.elementBytes];
    for (uint64_t target : copy.targets)
      forRuns(copy, piece, target,
              [&](uint64_t address, uint64_t bytes, uint64_t offset) {
                Place place = findShared(thread, address, bytes);
                if (!place.host)
                  return;
                checkWrite(thread, op.actor(true), place, bytes, copy.site,
                           row.data() + offset);
                std::memcpy(place.host, row.data() + offset, bytes);
              });
  }
  for (MBarrier *barrier : copy.barriers)
    completeTransactions(thread, *barrier, int64_t(copy.bytes), op, copy.site);
}

static void readShared(Copy &copy, AsyncOp &op) {
  Thread &thread = *copy.thread;
  uint64_t total = 0;
  for (const Piece &piece : copy.pieces)
    total += piece.bytes;
  copy.data.resize(total);
  uint8_t *to = copy.data.data();
  for (const Piece &piece : copy.pieces) {
    forRuns(copy, piece, copy.sharedAddress,
            [&](uint64_t address, uint64_t bytes, uint64_t offset) {
              Place place = findShared(thread, address, bytes);
              if (!place.host)
                return;
              checkRead(thread, op.actor(false), place, bytes, copy.site);
              std::memcpy(to + offset, place.host, bytes);
            });
    to += piece.bytes;
  }
}

static void reduceInto(const Copy &copy, uint8_t *to, const uint8_t *from,
                       uint32_t bytes) {
  unsigned size = copy.elementBytes;
  for (uint32_t i = 0; i + size <= bytes; i += size) {
    uint64_t old = 0, value = 0;
    std::memcpy(&old, to + i, size);
    std::memcpy(&value, from + i, size);
    uint64_t next =
        combineAtomically(copy.site->reduction, copy.element, old, value);
    std::memcpy(to + i, &next, size);
  }
}

static void writeGlobal(Copy &copy, AsyncOp &op) {
  Thread &thread = *copy.thread;
  ++thread.cluster->events;
  const uint8_t *from = copy.data.data();
  for (const Piece &piece : copy.pieces) {
    Place place = resolve(thread, Space::Global, piece.global, piece.bytes, 1,
                          copy.site, true);
    if (place.host) {
      Actor actor = op.actor(true);
      if (copy.site->isReduction) {
        // Relaxed atomics at the scope of the device, element by element.
        std::lock_guard<std::mutex> lock(thread.launch->atomicMutex);
        actor.mark.flags |= markStrong;
        checkWrite(thread, actor, place, piece.bytes, copy.site, nullptr);
        reduceInto(copy, place.host, from, piece.bytes);
      } else {
        checkWrite(thread, actor, place, piece.bytes, copy.site, from);
        std::memcpy(place.host, from, piece.bytes);
      }
    }
    from += piece.bytes;
  }
}

static void writeRemote(Copy &copy, AsyncOp &op) {
  Thread &thread = *copy.thread;
  for (uint64_t target : copy.targets) {
    Place place = findShared(thread, target, copy.data.size());
    if (!place.host)
      continue;
    Actor actor = op.actor(true);
    if (copy.site->isReduction) {
      actor.mark.flags |= markStrong;
      checkWrite(thread, actor, place, copy.data.size(), copy.site, nullptr);
      reduceInto(copy, place.host, copy.data.data(),
                 uint32_t(copy.data.size()));
    } else {
      checkWrite(thread, actor, place, copy.data.size(), copy.site,
                 copy.data.data());
      std::memcpy(place.host, copy.data.data(), copy.data.size());
    }
  }
  for (MBarrier *barrier : copy.barriers)
    completeTransactions(thread, *barrier, int64_t(copy.bytes), op, copy.site);
}

/// Destinations and barriers: one, or the same offsets in each block of the
/// mask.
static bool findTargets(Copy &copy, uint64_t address, uint64_t barrier,
                        uint32_t mask) {
  Thread &thread = *copy.thread;
  std::vector<std::pair<uint64_t, uint64_t>> pairs;
  constexpr uint64_t offsetMask = (1u << sharedRankShift) - 1;
  if (!copy.site->isMulticast) {
    pairs.push_back({address, barrier});
  } else {
    if (mask == 0 || mask >> thread.cluster->blocks.size()) {
      report(thread, ReportKind::InvalidOperand,
             "the multicast mask " + std::to_string(mask) +
                 " names blocks the cluster of " +
                 std::to_string(thread.cluster->blocks.size()) +
                 " does not have",
             copy.site);
      return false;
    }
    for (uint64_t rank = 0; rank < thread.cluster->blocks.size(); ++rank)
      if (mask >> rank & 1)
        pairs.push_back({rank << sharedRankShift | (address & offsetMask),
                         rank << sharedRankShift | (barrier & offsetMask)});
  }
  for (auto [target, signal] : pairs) {
    Place place = resolve(thread, Space::SharedCluster, target, copy.bytes, 16,
                          copy.site, true);
    if (!place.host)
      return false;
    copy.targets.push_back(target);
    if (!copy.site->usesBarrier)
      continue;
    MBarrier *found =
        findBarrier(thread, Space::SharedCluster, signal, copy.site);
    if (!found)
      return false;
    copy.barriers.push_back(found);
  }
  return true;
}

/// Notes the operation in the block that it writes to. Of an engine only the
/// last one counts: it took no other before somebody had waited for it.
static void expectArrival(Thread &thread, uint64_t address, const AsyncOp &op) {
  Mark mark = op.mark;
  mark.time = op.writeTime;
  Block &block = thread.cluster->blocks[address >> sharedRankShift];
  block.incoming[mark.agent] = mark;
}

static void start(const CopyRef &copy) {
  Thread &thread = *copy->thread;
  AsyncOpRef op = createBulkOp(thread, copy->site);
  if (copy->site->way == CopyWay::GlobalToShared) {
    op->writeStep = [copy](AsyncOp &self) { load(*copy, self); };
  } else {
    op->readsShared = !copy->site->usesBarrier;
    op->readStep = [copy](AsyncOp &self) { readShared(*copy, self); };
    if (copy->site->way == CopyWay::SharedToGlobal)
      op->writeStep = [copy](AsyncOp &self) { writeGlobal(*copy, self); };
    else
      op->writeStep = [copy](AsyncOp &self) { writeRemote(*copy, self); };
  }
  if (!copy->site->usesBarrier)
    thread.openBulk.push_back(op);
  for (uint64_t target : copy->targets)
    expectArrival(thread, target, *op);
  startAsync(thread, op);
}

void tile::emulator::tileEmuBulkCopy(Thread *thread, const BulkSite *site,
                                     uint64_t to, uint64_t from, uint32_t bytes,
                                     uint64_t barrier, uint32_t mask) {
  if (bytes == 0 || bytes % 16) {
    report(*thread, ReportKind::InvalidOperand,
           "the size of a bulk copy must be a multiple of 16, got " +
               std::to_string(bytes),
           site);
    return;
  }
  auto copy = std::make_shared<Copy>();
  copy->thread = thread;
  copy->site = site;
  copy->bytes = bytes;
  copy->element = site->type;
  copy->elementBytes = site->isReduction ? site->type.bytes() : 1;
  bool isLoad = site->way == CopyWay::GlobalToShared;
  bool isStore = site->way == CopyWay::SharedToGlobal;
  if (!isStore && !findTargets(*copy, to, barrier, mask))
    return;
  if (!isLoad &&
      !resolve(*thread, Space::SharedCluster, from, bytes, 16, site, false)
           .host)
    return;
  uint64_t global = isLoad ? from : to;
  if (isLoad || isStore) {
    if (!resolve(*thread, Space::Global, global, bytes, 16, site, isStore).host)
      return;
    copy->pieces.push_back({0, global, bytes});
  } else {
    copy->pieces.push_back({0, 0, bytes});
  }
  copy->sharedAddress = from;
  start(copy);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

static void fillElement(Copy &copy, const TensorMap &map) {
  using ptx::TypeClass;
  unsigned bits = 8 * tensorElementBytes(map.element);
  copy.elementBytes = bits / 8;
  uint64_t nan = 0;
  switch (map.element) {
  case TensorElement::F16:
    copy.element = {TypeClass::Float, 16, 1};
    nan = 0x7fff;
    break;
  case TensorElement::BF16:
    copy.element = {TypeClass::BFloat, 16, 1};
    nan = 0x7fff;
    break;
  case TensorElement::F64:
    copy.element = {TypeClass::Float, 64, 1};
    nan = 0x7fffffffffffffff;
    break;
  case TensorElement::F32:
  case TensorElement::F32Ftz:
  case TensorElement::TF32:
  case TensorElement::TF32Ftz:
    copy.element = {TypeClass::Float, 32, 1};
    nan = 0x7fffffff;
    break;
  case TensorElement::S32:
  case TensorElement::S64:
    copy.element = {TypeClass::Signed, bits, 1};
    break;
  default:
    copy.element = {TypeClass::Unsigned, bits, 1};
  }
  if (map.fill == TensorFill::NaN)
    std::memcpy(copy.fill, &nan, copy.elementBytes);
  static const unsigned masks[] = {0, 1, 3, 7};
  copy.swizzleMask = masks[static_cast<unsigned>(map.swizzle)];
}

/// Cuts the box at `coordinates` into rows, and rows at the tensor's edges.
static void cutBox(Copy &copy, const TensorMap &map, const int64_t *coordinates,
                   bool keepsFilling) {
  unsigned size = copy.elementBytes;
  uint32_t counts[5] = {1, 1, 1, 1, 1};
  for (unsigned i = 0; i < map.rank; ++i)
    counts[i] =
        i ? (map.box[i] + map.elementStrides[i] - 1) / map.elementStrides[i]
          : map.box[0];
  int64_t first = coordinates[0];
  int64_t extent = int64_t(map.extents[0]);
  int64_t low = std::clamp<int64_t>(-first, 0, counts[0]);
  int64_t high = std::clamp<int64_t>(extent - first, low, counts[0]);
  uint64_t rows = uint64_t(counts[1]) * counts[2] * counts[3] * counts[4];
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t rest = row, start = row * counts[0] * size;
    uint64_t address = map.base;
    bool inside = true;
    for (unsigned i = 1; i < map.rank; ++i) {
      int64_t at = coordinates[i] +
                   int64_t(rest % counts[i]) * int64_t(map.elementStrides[i]);
      rest /= counts[i];
      inside &= at >= 0 && at < int64_t(map.extents[i]);
      address += uint64_t(at) * map.strides[i - 1];
    }
    auto add = [&](int64_t from, int64_t to, bool isInside) {
      if (to <= from || (!isInside && !keepsFilling))
        return;
      copy.pieces.push_back(
          {start + uint64_t(from) * size,
           isInside ? address + uint64_t(first + from) * size : 0,
           uint32_t(to - from) * size});
    };
    add(0, inside ? low : counts[0], false);
    if (!inside)
      continue;
    add(low, high, true);
    add(high, counts[0], false);
  }
}

void tile::emulator::tileEmuBulkTensor(Thread *thread, const BulkSite *site,
                                       uint64_t shared, uint64_t mapAddress,
                                       const int64_t *coordinates,
                                       uint64_t barrier, uint32_t mask) {
  Place where =
      resolve(*thread, Space::Generic, mapAddress, 128, 64, site, false);
  if (!where.host)
    return;
  TensorMap map;
  if (!decodeTensorMap(where.host, map) || map.rank != site->rank) {
    report(*thread, ReportKind::InvalidOperand,
           "the operand is no tensor map of rank " + std::to_string(site->rank),
           site);
    return;
  }
  if (shared % 128) {
    report(*thread, ReportKind::Misaligned,
           "the shared address of a tensor copy must be a multiple of 128, "
           "got " +
               std::to_string(shared),
           site);
    return;
  }
  auto copy = std::make_shared<Copy>();
  copy->thread = thread;
  copy->site = site;
  map.elementStrides[0] = 1; // ignored without interleaving
  copy->bytes = map.boxBytes();
  fillElement(*copy, map);
  bool isLoad = site->way == CopyWay::GlobalToShared;
  if (isLoad && !findTargets(*copy, shared, barrier, mask))
    return;
  if (!isLoad && !resolve(*thread, Space::SharedCluster, shared, copy->bytes,
                          16, site, false)
                      .host)
    return;
  copy->sharedAddress = shared;
  cutBox(*copy, map, coordinates, isLoad);
  start(copy);
}

/// Starts an operation on a few bytes of shared memory that reports to a
/// barrier.
static void
startRemote(Thread *thread, uint64_t address, const MemorySite *site,
            uint64_t barrierAddress,
            const std::function<void(AsyncOp &, const Place &)> &perform) {
  Place place = resolve(*thread, Space::SharedCluster, address, site->bytes,
                        site->alignment, site, true);
  MBarrier *barrier =
      findBarrier(*thread, Space::SharedCluster, barrierAddress, site);
  if (!place.host || !barrier)
    return;
  AsyncOpRef op = createBulkOp(*thread, site);
  // Asynchronous, but through the generic proxy.
  op->mark.flags &= static_cast<uint8_t>(~markAsync);
  op->writeStep = [thread, site, place, barrier, perform](AsyncOp &self) {
    perform(self, place);
    completeTransactions(*thread, *barrier, site->bytes, self, site);
  };
  expectArrival(*thread, address & 0xffffffffu, *op);
  startAsync(*thread, op);
}

/// st.async: a small store to another block that completes on its barrier.
void tile::emulator::tileEmuStoreAsync(Thread *thread, uint64_t address,
                                       const MemorySite *site,
                                       const uint8_t *data,
                                       uint64_t barrierAddress) {
  std::array<uint8_t, 64> bytes;
  std::memcpy(bytes.data(), data, site->bytes);
  startRemote(thread, address, site, barrierAddress,
              [thread, site, bytes](AsyncOp &self, const Place &place) {
                checkWrite(*thread, self.actor(true), place, site->bytes, site,
                           bytes.data());
                std::memcpy(place.host, bytes.data(), site->bytes);
              });
}

void tile::emulator::tileEmuReduceAsync(Thread *thread, uint64_t address,
                                        const MemorySite *site,
                                        const uint8_t *data,
                                        uint64_t barrierAddress) {
  uint64_t value = 0;
  std::memcpy(&value, data, site->bytes);
  startRemote(thread, address, site, barrierAddress,
              [thread, site, value](AsyncOp &self, const Place &place) {
                // Relaxed, in the scope of the cluster.
                Actor actor = self.actor(true);
                actor.mark.flags |= markStrong;
                checkRead(*thread, actor, place, site->bytes, site);
                checkWrite(*thread, actor, place, site->bytes, site, nullptr);
                uint64_t old = 0;
                std::memcpy(&old, place.host, site->bytes);
                old = combineAtomically(site->atomicOp, site->type, old, value);
                std::memcpy(place.host, &old, site->bytes);
              });
}
