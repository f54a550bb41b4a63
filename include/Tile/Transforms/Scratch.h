//===- Scratch.h - How threads meet inside an op ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some ops bring values from thread to thread through scratch, shared memory
// behind the buffers: they write it, meet, and read it. convert-tile-to-gpu
// emits that. That nobody reads scratch any more from an op before is
// tile-insert-sync's affair, which asks here who uses it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_SCRATCH_H
#define TILE_TRANSFORMS_SCRATCH_H

#include "Tile/IR/TileDialect.h"
#include "Tile/Layout/FragmentLayout.h"

namespace tile {

/// The digits of the thread number along a dimension, as steps of butterflies
/// between lanes and as digits (place, extent) that meet in shared memory.
struct ReductionSteps {
  llvm::SmallVector<int64_t> lanes;
  llvm::SmallVector<std::pair<int64_t, int64_t>> digits;

  /// None where threads do not divide the tile by such digits.
  static std::optional<ReductionSteps> get(const layout::FragmentLayout &layout,
                                           int64_t dim);
};

/// How the threads of a reduction combine what they hold.
struct ReductionPlan {
  /// Of the source, and of the target as the rest of the source's dimensions.
  layout::FragmentLayout source, target;
  int64_t dim;
  /// What is left of the source's layout.
  layout::FragmentLayout::Slice slice;
  std::optional<ReductionSteps> steps;
  /// Of the slice, by register of the target.
  std::optional<std::vector<int64_t>> registers;

  /// None where fragments have no layouts yet.
  static std::optional<ReductionPlan> get(ReduceOp op);

  /// Whether all of the tile goes to scratch.
  bool goesThroughMemory() const { return !steps || !registers; }
  bool usesScratch() const {
    return goesThroughMemory() || !steps->digits.empty();
  }
};

enum class ScratchUse {
  None,
  /// It may be read when the op is done.
  Possible,
  /// Likewise; all threads have met since the op began.
  Certain
};
ScratchUse getScratchUse(mlir::Operation *op);

/// Whether what a thread writes to scratch before the threads meet in `next`
/// is only what it alone has read since they last met in `before`.
bool keepsScratchApart(mlir::Operation *before, mlir::Operation *next);

} // namespace tile

#endif // TILE_TRANSFORMS_SCRATCH_H
