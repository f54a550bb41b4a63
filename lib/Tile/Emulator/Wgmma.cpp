//===- Wgmma.cpp - wgmma.mma_async and its waits ---------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA section "Asynchronous Warpgroup Level Matrix Instructions". The four
// warps meet to issue; the operation reads shared memory and registers when it
// is executed, which is at once or as late as a wait allows, in order. One
// agent a warpgroup stands for its tensor core in the order of accesses.
//===----------------------------------------------------------------------===//
#include "Machine.h"
#include "MatrixElements.h"
#include "NumberFormat.h"
#include "RuntimeFunctions.h"
#include "WgmmaOperands.h"
#include <cmath>
#include <cstring>

using namespace tile::emulator;

namespace tile::emulator {
struct MatrixOp {
  const WgmmaSite *site;
  Block *block;
  uint32_t warpgroup;
  Thread *threads[128];
  uint32_t *frames[128];
  uint64_t descriptorA, descriptorB;
  bool addsToD;
  Mark mark;
  Knowledge knowledge; // what the threads knew when they issued
  Knowledge completed; // and with this operation
  bool isDone = false;
};
} // namespace tile::emulator

/// Row of a fragment's element: 16 rows a warp, as mma's.
static unsigned rowOf(unsigned t, unsigned half) {
  return t / 32 * 16 + t % 32 / 4 + 8 * half;
}

static void readRegistersA(const MatrixOp &op, OperandPanel &a) {
  const WgmmaSite &site = *op.site;
  unsigned width = 256 / site.k, perRegister = 32 / width;
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned r = 0; r < 4; ++r) {
      uint32_t word = op.frames[t][site.aPlaces[r]];
      for (unsigned e = 0; e < perRegister; ++e)
        a.at(rowOf(t, r % 2), perRegister * (t % 4 + 4 * (r / 2)) + e) =
            word >> (e * width) % 32;
    }
}

/// Visits the sums by (row, column, thread, index of the sum).
template <typename Visit>
static void forSums(const WgmmaSite &site, Visit visit) {
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned i = 0; i < site.n / 2; ++i)
      visit(rowOf(t, i / 2 % 2), i / 4 * 8 + 2 * (t % 4) + i % 2, t, i);
}

static void multiplyFloatPanels(const MatrixOp &op, const OperandPanel &a,
                                const OperandPanel &b) {
  const WgmmaSite &site = *op.site;
  unsigned n = site.n, k = site.k;
  std::vector<float> x(64 * k), y(k * n), sums(64 * n, 0.0f);
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned p = 0; p < k; ++p) {
      float v = matrixFloat(a.at(i, p), site.a);
      x[i * k + p] = site.negatesA ? -v : v;
    }
  for (unsigned j = 0; j < n; ++j)
    for (unsigned p = 0; p < k; ++p) {
      float v = matrixFloat(b.at(j, p), site.b);
      y[p * n + j] = site.negatesB ? -v : v;
    }
  bool isHalf = site.d.bits == 16;
  if (op.addsToD)
    forSums(site, [&](unsigned row, unsigned column, unsigned t, unsigned i) {
      uint32_t word = op.frames[t][site.dPlaces[isHalf ? i / 2 : i]];
      sums[row * n + column] = isHalf
                                   ? halfToFloat(uint16_t(word >> 16 * (i % 2)))
                                   : __builtin_bit_cast(float, word);
    });
  multiplyFloats(64, n, k, x.data(), y.data(), sums.data());
  forSums(site, [&](unsigned row, unsigned column, unsigned t, unsigned i) {
    float value = sums[row * n + column];
    uint32_t &word = op.frames[t][site.dPlaces[isHalf ? i / 2 : i]];
    if (!isHalf) {
      word =
          std::isnan(value) ? 0x7fffffff : __builtin_bit_cast(uint32_t, value);
      return;
    }
    uint32_t half = floatToHalf(value);
    word = i % 2 ? (word & 0xffff) | half << 16 : half;
  });
}

static void multiplyIntegerPanels(const MatrixOp &op, const OperandPanel &a,
                                  const OperandPanel &b) {
  const WgmmaSite &site = *op.site;
  bool isBit = site.kind == MatrixKind::BitAnd;
  unsigned n = site.n, k = site.k;
  std::vector<int32_t> x(64 * k), y(k * n);
  std::vector<int64_t> sums(64 * n, 0);
  auto value = [&](uint32_t bits, ptx::Type type) {
    return isBit ? int32_t(bits & 1) : matrixInteger(bits, type);
  };
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned p = 0; p < k; ++p)
      x[i * k + p] = value(a.at(i, p), site.a);
  for (unsigned j = 0; j < n; ++j)
    for (unsigned p = 0; p < k; ++p)
      y[p * n + j] = value(b.at(j, p), site.b);
  if (op.addsToD)
    forSums(site, [&](unsigned row, unsigned column, unsigned t, unsigned i) {
      sums[row * n + column] = int32_t(op.frames[t][site.dPlaces[i]]);
    });
  multiplyIntegers(64, n, k, x.data(), y.data(), sums.data());
  forSums(site, [&](unsigned row, unsigned column, unsigned t, unsigned i) {
    op.frames[t][site.dPlaces[i]] =
        uint32_t(saturateSum(sums[row * n + column], site.saturates));
  });
}

static void execute(MatrixOp &op) {
  const WgmmaSite &site = *op.site;
  Thread &thread = *op.threads[0];
  Actor actor{op.mark, &op.knowledge};
  OperandPanel a(64, site.k), b(site.n, site.k);
  op.isDone = true;
  if (site.aInRegisters)
    readRegistersA(op, a);
  else
    readSharedOperand(thread, actor, site, op.descriptorA, site.transposesA,
                      "A", a);
  readSharedOperand(thread, actor, site, op.descriptorB, site.transposesB, "B",
                    b);
  if (site.kind == MatrixKind::Float)
    multiplyFloatPanels(op, a, b);
  else
    multiplyIntegerPanels(op, a, b);
}

/// Executes the warpgroup's operations up to and with `op`.
static void executeUpTo(const std::shared_ptr<MatrixOp> &op) {
  auto &queue = op->block->matrixQueues[op->warpgroup];
  while (!op->isDone && !queue.empty()) {
    std::shared_ptr<MatrixOp> next = queue.front();
    queue.pop_front();
    execute(*next);
  }
}

/// A wgmma.fence must stand before the first wgmma, and again after a register
/// it uses was read or written by anything else.
static void checkFence(Thread &thread, const WgmmaSite &site,
                       const uint32_t *frame) {
  if (!thread.matrixFences)
    return report(thread, ReportKind::RegisterInFlight,
                  "no wgmma.fence came before the first wgmma; its registers "
                  "are not ordered",
                  &site);
  auto *touched = reinterpret_cast<const uint8_t *>(frame + site.dSet.size());
  for (const auto &[place, name] : site.names)
    if (touched[place])
      return report(thread, ReportKind::RegisterInFlight,
                    "register " + name +
                        " was used since the last wgmma.fence; another is "
                        "missing before this wgmma",
                    &site);
}

void tile::emulator::performWgmma(Gathering &g) {
  const auto &site = static_cast<const WgmmaSite &>(g.site);
  Thread &first = *g.threads[0];
  Block &block = *first.block;
  Cluster &cluster = *first.cluster;
  auto op = std::make_shared<MatrixOp>();
  op->site = &site;
  op->block = &block;
  op->warpgroup = first.warp->index / 4;
  op->descriptorA = g.arguments[0][1];
  op->descriptorB = g.arguments[0][2];
  op->addsToD = g.arguments[0][3] & 1;
  KnowledgeBuilder builder;
  for (unsigned t = 0; t < 128; ++t) {
    Thread &thread = *g.threads[t];
    op->threads[t] = &thread;
    op->frames[t] = reinterpret_cast<uint32_t *>(g.arguments[t][0]);
    for (unsigned i = 1; i < 4; ++i)
      if (g.arguments[t][i] != g.arguments[0][i])
        report(thread, ReportKind::InvalidOperand,
               "descriptors and scale-d must be the same in all threads of "
               "the warpgroup",
               &site);
    checkFence(thread, site, op->frames[t]);
    release(thread, builder);
    thread.openMatrixOps.push_back(op);
    ++thread.matrixOpsPending;
  }
  uint32_t warpgroups = static_cast<uint32_t>(block.matrixQueues.size());
  op->knowledge = builder.freeze();
  op->mark = first.mark(&site, markAsync);
  op->mark.agent = static_cast<uint16_t>(
      cluster.firstMatrixAgent + block.rank * warpgroups + op->warpgroup);
  // The operations of a warpgroup follow one another: count on.
  op->mark.time = ++block.matrixTimes[op->warpgroup];
  builder.join(op->knowledge);
  builder.ordered.set(op->mark.cluster, op->mark.agent, op->mark.time);
  op->completed = builder.freeze();
  block.matrixQueues[op->warpgroup].push_back(op);
  if (cluster.random() % 2)
    executeUpTo(op);
}

void tile::emulator::tileEmuWgmmaFence(Thread *thread, const Site *, uint32_t) {
  ++thread->matrixFences;
}

void tile::emulator::tileEmuWgmmaCommit(Thread *thread, const Site *,
                                        uint32_t) {
  thread->matrixGroups.push_back(std::move(thread->openMatrixOps));
  thread->openMatrixOps.clear();
}

void tile::emulator::finishMatrixOps(Thread &thread, size_t groupsLeft) {
  ++thread.cluster->events;
  std::shared_ptr<MatrixOp> last;
  while (thread.matrixGroups.size() > groupsLeft) {
    for (const auto &op : thread.matrixGroups.front()) {
      executeUpTo(op);
      --thread.matrixOpsPending;
      last = op;
    }
    thread.matrixGroups.pop_front();
  }
  // Later operations know what earlier ones did, being in order.
  if (last)
    acquire(thread, last->completed);
}

void tile::emulator::tileEmuWgmmaWait(Thread *thread, const Site *,
                                      uint32_t pending) {
  finishMatrixOps(*thread, pending);
}

void tile::emulator::tileEmuCheckInFlight(Thread *thread,
                                          const RegisterSite *site) {
  auto uses = [&](const MatrixOp &op) {
    return op.site->dSet.test(site->place) ||
           (site->isWrite && op.site->aSet.test(site->place));
  };
  const MatrixOp *found = nullptr;
  for (const auto &op : thread->openMatrixOps)
    if (uses(*op))
      found = op.get();
  for (const auto &group : thread->matrixGroups)
    for (const auto &op : group)
      if (uses(*op))
        found = op.get();
  if (!found)
    return;
  report(*thread->launch, ReportKind::RegisterInFlight,
         "register " + site->name +
             (site->isWrite ? " is overwritten" : " is read") +
             " while a wgmma is using it; a wgmma.wait_group is missing "
             "before",
         partyOf(*thread, site), partyOf(*thread, found->site), "",
         {site->number + 1, found->site->number + 1, 0, 0});
}
