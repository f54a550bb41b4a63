//===- LaneMachine.h - What an elementwise loop means -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A direct evaluation of small tile programs on integers: the oracle for what
// the passes make of elementwise loops. It follows the description of
// tile.parallel word by word and knows nothing of the passes.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_TRANSFORMS_LANEMACHINE_H
#define TILE_TEST_TRANSFORMS_LANEMACHINE_H

#include "Tile/IR/TileDialect.h"
#include <random>
#include <string>
#include <vector>

namespace tile::test {

/// In which order the lanes of a loop run.
enum class LaneOrder { Lockstep, Forward, Reverse, Shuffled };

class LaneMachine {
public:
  LaneMachine(LaneOrder order, unsigned seed) : order(order), random(seed) {}

  /// Runs one block of `launch`. The first `numBuffers` allocations in it start
  /// with contents that depend on their position only.
  void run(LaunchOp launch, unsigned numBuffers);

  /// What these buffers hold afterwards.
  std::vector<std::vector<int64_t>> buffers;

  /// Why the program has no meaning: lanes that contradict each other, an
  /// access outside a buffer, a read of what was never written.
  std::string fault;

private:
  struct Buffer {
    std::vector<int64_t> data;
    std::vector<bool> written;
  };
  using Numbers = std::vector<int64_t>;
  using Mask = std::vector<bool>;

  /// The values of a number of lanes that run together.
  struct Frame {
    Frame(Frame *parent, size_t lanes) : parent(parent), lanes(lanes) {}
    Frame *parent;
    size_t lanes;
    llvm::DenseMap<mlir::Value, Numbers> values;
    llvm::DenseMap<mlir::Value, std::vector<Buffer>> locals;
  };

  int64_t get(Frame &frame, mlir::Value value, size_t lane);
  Buffer &getBuffer(Frame &frame, mlir::Value memref, size_t lane);
  int64_t &access(Frame &frame, mlir::Value memref, mlir::ValueRange indices,
                  size_t lane, bool write);
  void assign(Frame &frame, mlir::ValueRange to, mlir::ValueRange from,
              const Mask &mask);
  void runBlock(mlir::Block &block, Frame &frame, const Mask &mask);
  void runOp(mlir::Operation *op, Frame &frame, const Mask &mask);
  void runScalar(mlir::Operation *op, Frame &frame, const Mask &mask);
  void runStore(mlir::Operation *op, Frame &frame, const Mask &mask);
  void runFor(mlir::Operation *op, Frame &frame, Mask mask);
  void runWhile(mlir::Operation *op, Frame &frame, Mask mask);
  void runIf(mlir::Operation *op, Frame &frame, const Mask &mask);
  void runParallel(ParallelOp op, Frame &frame);
  void runReduce(ReduceOp op, Frame &frame);
  void allocate(mlir::Operation *op, Frame &frame);

  LaneOrder order;
  std::mt19937 random;
  unsigned numBuffers = 0;
  std::vector<mlir::Value> named;
  llvm::DenseMap<mlir::Value, Buffer> memory;
};

} // namespace tile::test

#endif // TILE_TEST_TRANSFORMS_LANEMACHINE_H
