//===- AsyncSites.h - Sites of asynchronous instructions -------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering tells the runtime about mbarriers and asynchronous copies.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_ASYNCSITES_H
#define TILE_LIB_EMULATOR_ASYNCSITES_H

#include "Site.h"

namespace tile::emulator {

enum class MBarrierAction : uint8_t {
  Init,
  Invalidate,
  ExpectTx,
  CompleteTx,
  Arrive,
  ArriveExpectTx,
  TestWait,
  TryWait
};

struct MBarrierSite : Site {
  MBarrierAction action = MBarrierAction::Arrive;
  ptx::Space space = ptx::Space::Generic;
  bool isRelaxed = false;
  bool byParity = false;
  bool drops = false;
  bool noComplete = false;
  bool isVoid = false; // the state is not wanted
};

/// cp.async of 4, 8 or 16 bytes.
struct AsyncCopySite : Site {
  unsigned bytes = 16;
};

enum class CopyWay : uint8_t { GlobalToShared, SharedToGlobal, SharedToShared };

struct BulkSite : Site {
  CopyWay way = CopyWay::GlobalToShared;
  unsigned rank = 0; // of the tensor; 0 for a plain copy
  bool isMulticast = false;
  bool isReduction = false;
  bool usesBarrier = false; // completes on an mbarrier, else a bulk group
  AtomicOp reduction = AtomicOp::Add;
  ptx::Type type; // of a plain reduction's elements
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_ASYNCSITES_H
