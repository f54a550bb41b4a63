//===- BankConflicts.h - The cost of shared-memory accesses ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared memory has 32 banks of 4 bytes; a wavefront serves one word of each. A
// warp's access of up to 4 bytes a lane is one phase; of 8 bytes two, a
// half-warp each; of 16 bytes four, a quarter-warp each; so is each 8x8 matrix
// of ldmatrix and stmatrix. A phase takes as many wavefronts as the most
// burdened bank has different words; lanes that want the same word share it.
//
// The search tries layouts instead of picking one from a table, because a
// buffer usually has several users (a copy writes it, ldmatrix reads it, with
// .trans perhaps) and the best layout is the one that suits all of them.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_BANKCONFLICTS_H
#define TILE_LAYOUT_BANKCONFLICTS_H

#include "Tile/Layout/SharedLayout.h"

namespace tile::layout {

struct Wavefronts {
  int64_t actual = 0;
  /// What the same words would take if they were spread over all banks.
  int64_t ideal = 0;
  /// Of one warp each.
  int64_t instructions = 0;

  bool isConflictFree() const { return actual == ideal; }
  Wavefronts &operator+=(const Wavefronts &other) {
    actual += other.actual;
    ideal += other.ideal;
    instructions += other.instructions;
    return *this;
  }
};

/// One instruction of one warp: the byte address of each lane (negative where
/// the lane is off), `bytes` of 1, 2, 4, 8 or 16 each.
Wavefronts countWavefronts(const std::vector<int64_t> &addresses,
                           int64_t bytes);

/// How a fragment goes to or comes from shared memory. An ldmatrix or stmatrix
/// is an access of the fragment that ldmatrixAddresses gives, and needs its
/// rows of 16 bytes whole; a vector access falls apart where a layout breaks it
/// up.
enum class AccessKind { Vector, Matrix };

struct SharedAccess {
  AccessKind kind = AccessKind::Vector;
  FragmentLayout fragment;
  /// Neighbouring registers that one instruction moves, where the shared layout
  /// keeps them together: 16 bytes at most.
  int64_t vector = 1;
  /// How many lanes' addresses count: 8 for each matrix.
  int64_t lanes = warpSize;
  /// Weight in a search, such as the trip count of a loop.
  int64_t times = 1;
};

/// An access of as many neighbours as a thread has in consecutive registers, of
/// 16 bytes at most.
SharedAccess vectorAccess(const FragmentLayout &fragment, int64_t elementBits);
/// An ldmatrix or stmatrix over a whole tile, one instruction of `grid` after
/// the other, by one warp.
Expected<SharedAccess> matrixAccess(const Coordinate &tile, int64_t gridRows,
                                    int64_t gridColumns, int64_t elementBits);

/// The widest piece of `access.vector` that stays contiguous and aligned in the
/// shared layout for every lane: what one instruction can move.
int64_t pieceWidth(const ComposedLayout &shared, int64_t elementBits,
                   const SharedAccess &access);
/// All instructions of all warps, in pieces of that width.
Wavefronts countWavefronts(const ComposedLayout &shared, int64_t elementBits,
                           const SharedAccess &access);

/// Who must be able to address the buffer: threads in any way, threads by one
/// stride for each dimension and a swizzle (rows stay rows), TMA or wgmma.
enum class SharedEngine { Threads, Rows, Tma, Wgmma };

struct SharedChoice {
  ComposedLayout layout;
  /// Over all accesses, weighted.
  Wavefronts wavefronts;
  int64_t allocatedBytes = 0;
  /// What can use it besides the threads.
  bool isTmaLegal = false, isWgmmaLegal = false;
};

/// The layout of a tile with the fewest wavefronts over all accesses that
/// `engine` can address. Among equals one that TMA and wgmma can address wins,
/// then the smaller, then the simpler.
Expected<SharedChoice> searchSwizzle(const Coordinate &tile,
                                     int64_t elementBits,
                                     const std::vector<SharedAccess> &accesses,
                                     SharedEngine engine);

} // namespace tile::layout

#endif // TILE_LAYOUT_BANKCONFLICTS_H
