//===- ThreadState.h - What generated code reads of a thread ---*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a PTX thread that compiled kernels address by offset: special
// registers and the bases of memory windows. A standard-layout struct, filled
// when the thread is created.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_THREADSTATE_H
#define TILE_LIB_EMULATOR_THREADSTATE_H

#include <cstdint>

namespace tile::emulator {

/// Shared addresses are rank << 24 | offset, as the hardware's: an address of
/// the own window is also a shared::cluster address.
constexpr unsigned sharedRankShift = 24;
/// The first kilobyte belongs to the system on sm_90; leaving it out also
/// makes address 0 invalid.
constexpr uint32_t sharedReserved = 1024;
constexpr uint32_t sharedLimit = 228 * 1024;
constexpr unsigned maxClusterBlocks = 16;
constexpr uint64_t sharedWindowBytes = uint64_t(maxClusterBlocks)
                                       << sharedRankShift;

struct ThreadState {
  uint8_t *sharedWindow; // host address of the cluster's shared window
  uint8_t *parameters;   // host address of the kernel's parameter block
  uint8_t *stackLimit;   // calls below this are refused
  uint8_t *localTop;     // first free byte of the thread's local memory
  uint8_t *localLimit;   // its end
  uint64_t sharedBase;   // first shared address of this block
  uint64_t gridid;
  int64_t fuel; // backward branches left until the scheduler has a turn
  uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
  uint32_t clusterid[3], nclusterid[3], clusterCtaid[3], clusterNctaid[3];
  uint32_t clusterCtarank, clusterNctarank, isExplicitCluster;
  uint32_t laneid, warpid, nwarpid, smid, nsmid;
  uint32_t lanemaskEq, lanemaskLe, lanemaskLt, lanemaskGe, lanemaskGt;
  uint32_t totalSharedBytes, dynamicSharedBytes;
  uint32_t matrixOpsPending; // wgmma issued and not yet waited for
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_THREADSTATE_H
