//===- Uniformity.h - What depends on the thread ---------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The control flow graph of a function, and which of its branches lanes of one
// warp may take differently. In doubt a value counts as the same in all lanes:
// what is loaded from one address is.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_UNIFORMITY_H
#define TILE_LIB_EMULATOR_UNIFORMITY_H

#include "Program.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::emulator {

/// Each label starts a block, an empty one where another follows at once: so
/// does ptxas, to judge by the loops whose threads meet at such a label.
struct ControlFlow {
  struct Block {
    int first, end; // instructions
    llvm::SmallVector<int, 2> successors, predecessors;
  };
  /// A loop, which may have several entries; inner ones are listed as well.
  struct Cycle {
    llvm::BitVector blocks;
    llvm::SmallVector<int, 1> entries;
  };
  const ptx::Function &function;
  std::vector<Block> blocks; // in the order of the text
  std::vector<int> order;    // those that are reached, in reverse postorder
  std::vector<Cycle> cycles;

  explicit ControlFlow(const ptx::Function &function);

  /// Of a block; null where it is empty.
  const ptx::Instruction *lastOf(int block) const {
    const Block &b = blocks[block];
    return b.end > b.first ? &function.code[b.end - 1] : nullptr;
  }

private:
  void findCycles();
};

/// Which way threads came to a block from the branch that parted them: the
/// number of blocks plus that of the edge they took there, or the block where
/// ways met before. -1 where none leads.
class Ways {
public:
  /// Follows the edges out of `branch` inside `region` until they are back at
  /// it or at `end` (-1: nowhere).
  Ways(const ControlFlow &flow, int branch, const llvm::BitVector &region,
       int end);

  /// Where ways met.
  llvm::ArrayRef<int> joins() const { return met; }

  /// The way by which the edge from `block` to `successor` is reached.
  int of(int block, int successor) const;
  /// Whether those that took different edges come to the block on different
  /// ways from the given predecessors.
  bool meetAt(int block, llvm::ArrayRef<int> predecessors) const;

private:
  const ControlFlow &flow;
  int branch, end;
  std::vector<int> ways, met;
};

/// The blocks whose last instruction lanes of one warp may leave differently.
llvm::BitVector findDivergentBranches(const ControlFlow &flow);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_UNIFORMITY_H
