//===- LaneAnalysis.h - Which accesses order the lanes ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An elementwise loop runs in lockstep: what one lane wrote in a statement,
// another may read in the next. This analysis finds the accesses by which lanes
// meet. Where there are none the loop is *independent*: its lanes may run one
// after the other, in any order, or all at once, each straight through the
// body.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_LANEANALYSIS_H
#define TILE_TRANSFORMS_LANEANALYSIS_H

#include "Tile/IR/TileDialect.h"
#include <memory>
#include <optional>

namespace tile {

class LaneForms;

/// Two accesses, at least one of them a write, by which two different lanes may
/// meet at one element in different statements (or in different iterations of
/// one). In lockstep `first` of all lanes comes before `second` of any.
struct LaneConflict {
  mlir::Operation *first;
  mlir::Operation *second;
};

/// A conflict of `loop`, or none if its lanes are independent. Dynamic extents
/// are taken to have any value.
std::optional<LaneConflict> findLaneConflict(ParallelOp loop);

inline bool isIndependent(ParallelOp loop) { return !findLaneConflict(loop); }

/// Reports the stores of `loop` in which two lanes certainly write different
/// values to one element.
llvm::LogicalResult checkLaneWrites(ParallelOp loop);

/// The analysis behind these, for taking a loop apart piece by piece.
class LaneAnalysis {
public:
  explicit LaneAnalysis(ParallelOp loop);
  ~LaneAnalysis();

  /// A conflict between accesses in `a` and accesses in `b`, two statements of
  /// one block.
  std::optional<LaneConflict> findConflict(mlir::Operation *a,
                                           mlir::Operation *b);

  /// A conflict between accesses inside `op`.
  std::optional<LaneConflict> findConflictWithin(mlir::Operation *op);

  /// See LaneForms: values that are the same for all lanes.
  bool isUniform(mlir::Value value) const;
  void addUniform(mlir::Value iv);

private:
  friend llvm::LogicalResult checkLaneWrites(ParallelOp loop);
  struct Access;

  void collect(mlir::Operation *op);
  void addMemRefAccess(mlir::Operation *op, mlir::Value memref,
                       std::optional<mlir::ValueRange> indices, bool reads,
                       bool writes);
  void resolveViews(Access &access);
  llvm::ArrayRef<Access> getAccesses(mlir::Operation *op) const;
  bool meet(const Access &a, const Access &b);
  bool meetsItself(const Access &access, mlir::Operation *scope);

  ParallelOp loop;
  std::unique_ptr<LaneForms> forms;
  /// In the order of the program, so that those inside an op stand together.
  std::vector<Access> accesses;
  llvm::DenseMap<mlir::Operation *, std::pair<unsigned, unsigned>> ranges;
};

} // namespace tile

#endif // TILE_TRANSFORMS_LANEANALYSIS_H
