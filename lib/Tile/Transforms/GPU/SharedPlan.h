//===- SharedPlan.h - Where each shared buffer lies -------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer is live from the first to the last op that touches it or a view of
// it, in program order; all of a loop long where it is touched inside a loop
// and named outside, since an iteration may read what the one before wrote.
// Copies in flight keep their buffer alive until all of them are waited for, or
// until a memref.dealloc says that none is left.
//
// Buffers whose lives do not meet may lie in the same place. The barrier
// between them is tile-insert-sync's affair: to it, such buffers are one.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_GPU_SHAREDPLAN_H
#define TILE_TRANSFORMS_GPU_SHAREDPLAN_H

#include "Tile/IR/TileDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {

class SharedPlan {
public:
  /// Positions in program order, both ends included.
  struct Range {
    int64_t first, last;

    bool meets(const Range &other) const {
      return first <= other.last && other.first <= last;
    }
  };

  struct Buffer {
    AllocSharedOp alloc;
    Range life;
    int64_t bytes, alignment, place = 0;

    int64_t end() const { return place + bytes; }
  };

  explicit SharedPlan(LaunchOp launch);

  llvm::ArrayRef<Buffer> getBuffers() const { return buffers; }
  /// What all of them take together.
  int64_t getBytes() const;
  /// Bytes that would be needed without reuse, less what is.
  int64_t getSaved() const;

private:
  void number(mlir::Operation *op);
  Range getUseRange(mlir::Operation *user, mlir::Block *home);
  void extendTo(Range &life, mlir::Operation *op);
  Range getLife(AllocSharedOp alloc);
  int64_t getWaitBehind(int64_t position, AllocSharedOp alloc);
  void place();

  LaunchOp launch;
  int64_t next = 0;
  llvm::DenseMap<mlir::Operation *, Range> ranges;
  llvm::SmallVector<Buffer> buffers;
};

} // namespace tile

#endif // TILE_TRANSFORMS_GPU_SHAREDPLAN_H
