//===- ThreadLevel.h - Statements that speak of threads ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A statement of a block is done once. Where a program speaks of threads and
// warps (gpu.thread_id, nvvm.elect.sync, ...), what depends on them is each
// thread's own.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_THREADLEVEL_H
#define TILE_TRANSFORMS_THREADLEVEL_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace tile {

class ThreadLevel {
public:
  /// Whether threads may hold different values.
  bool dependsOnThread(mlir::Value value);
  /// Whether the op, or a condition or loop around it, takes such a value.
  bool runsOnEveryThread(mlir::Operation *op);
  /// Whether threads may part at a condition or loop.
  bool parts(mlir::Operation *op);

private:
  bool compute(mlir::Value value);
  /// Whether threads may put different values into their own copies of a local
  /// buffer.
  bool isWrittenByThreads(mlir::Value buffer);

  llvm::DenseMap<mlir::Value, bool> known;
  /// Those that do not, in the order in which that was found.
  llvm::SmallVector<mlir::Value> independent;
};

} // namespace tile

#endif // TILE_TRANSFORMS_THREADLEVEL_H
