//===- SyncSites.h - Sites of synchronising instructions -------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering tells the runtime about barriers, fences, warp collectives
// and matrix instructions.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_SYNCSITES_H
#define TILE_LIB_EMULATOR_SYNCSITES_H

#include "Site.h"
#include "llvm/ADT/BitVector.h"
#include <map>

namespace tile::emulator {

enum class BarrierAction : uint8_t { Sync, Arrive, RedAnd, RedOr, RedPopc };

struct BarrierSite : Site {
  BarrierAction action = BarrierAction::Sync;
  bool isAligned = true;
  bool hasCount = false;
  bool isRelaxed = false;
};

enum class FenceKind : uint8_t { Thread, AsyncProxy, BarrierInit };

struct FenceSite : Site {
  FenceKind kind = FenceKind::Thread;
};

struct RegisterCountSite : Site {
  bool isIncrease = false;
  unsigned registers = 0;
};

/// shfl, vote, match, redux: `mode` picks the variant within the opcode.
struct WarpSite : CollectiveSite {
  unsigned mode = 0;
  ptx::Type type;
  bool isAbsolute = false, keepsNaN = false;
};

enum ShuffleMode : unsigned {
  shuffleUp,
  shuffleDown,
  shuffleButterfly,
  shuffleIndex
};
enum VoteMode : unsigned { voteAll, voteAny, voteUniform, voteBallot };
enum ReduxMode : unsigned {
  reduxAdd,
  reduxMin,
  reduxMax,
  reduxAnd,
  reduxOr,
  reduxXor
};

/// ldmatrix, stmatrix, movmatrix.
struct MatrixMoveSite : CollectiveSite {
  MemorySite memory;
  unsigned matrices = 1;
  bool isTransposed = false;
};

enum class MatrixKind : uint8_t { Float, Integer, Double, BitXor, BitAnd };

/// mma.sync. Element types: `a` and `b` as in the instruction.
struct MmaSite : CollectiveSite {
  unsigned m = 16, n = 8, k = 16;
  MatrixKind kind = MatrixKind::Float;
  ptx::Type d, a, b, c;
  bool saturates = false;
  unsigned aRegisters = 0, bRegisters = 0, cRegisters = 0;
};

/// wgmma.mma_async. Places are words of the thread's asynchronous frame.
/// Arguments: frame, descriptor of A, descriptor of B, scale of D.
struct WgmmaSite : CollectiveSite {
  unsigned n = 8, k = 16;
  MatrixKind kind = MatrixKind::Float;
  ptx::Type d, a, b;
  bool saturates = false;
  bool aInRegisters = false;
  bool negatesA = false, negatesB = false;
  bool transposesA = false, transposesB = false;
  std::vector<uint16_t> dPlaces, aPlaces;
  llvm::BitVector dSet, aSet;            // the same, over the frame
  std::map<unsigned, std::string> names; // of the registers, by place
};

void performWarpBarrier(Gathering &);
void performShuffle(Gathering &);
void performVote(Gathering &);
void performMatch(Gathering &);
void performRedux(Gathering &);
void performElect(Gathering &);
void performLoadMatrix(Gathering &);
void performStoreMatrix(Gathering &);
void performMoveMatrix(Gathering &);
void performMma(Gathering &);
void performWgmma(Gathering &);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_SYNCSITES_H
