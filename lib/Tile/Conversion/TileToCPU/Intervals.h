//===- Intervals.h - What integers a value can be ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic of an elementwise loop is taken for arithmetic of whole
// numbers in two places: the test in front of the loop looks at the ends of a
// range only, and comparisons of consecutive lanes are narrowed. Both are right
// only where nothing wraps around. This analysis says where that is certain,
// and for which of the values that come from outside the loop it has to be
// assumed that they are not huge.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_TILETOCPU_INTERVALS_H
#define TILE_CONVERSION_TILETOCPU_INTERVALS_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace tile::cpu {

/// A launch has no more blocks, a persistent loop no more tiles and a buffer no
/// larger extents than this.
inline constexpr int64_t kMaxCount = int64_t(1) << 48;

/// Both ends included.
struct Interval {
  int64_t low, high;
};

class IntervalAnalysis {
public:
  /// Assumes no value.
  static constexpr unsigned kNoAssumption = 63;

  /// Intervals of what `scope` computes. A value from outside that may be huge
  /// for all that is known is assumed to lie in [-2^bits, 2^bits), or in
  /// [0, 2^bits) where they are to be `natural`.
  explicit IntervalAnalysis(mlir::Operation *scope,
                            unsigned bits = kNoAssumption, bool natural = false)
      : scope(scope), bits(bits), natural(natural) {}

  /// The interval of an index or integer. None if something that `scope`
  /// computes on the way to it may wrap around.
  std::optional<Interval> get(mlir::Value value);

  /// Assumes nothing of further values from now on.
  void freeze() { frozen = true; }

  /// The values of which something was assumed, and what.
  llvm::ArrayRef<mlir::Value> getAssumed() const {
    return assumed.getArrayRef();
  }
  Interval getAssumption() const {
    int64_t end = int64_t(1) << bits;
    return {natural ? 0 : -end, end - 1};
  }

private:
  bool isOutside(mlir::Value value) const;
  Interval getFact(mlir::Value value);
  Interval assume(mlir::Value value);
  std::optional<Interval> compute(mlir::Value value);
  std::optional<Interval> computeResult(mlir::Operation *op);
  std::optional<Interval> computeArgument(mlir::BlockArgument argument);
  std::optional<Interval> divide(mlir::Operation *op, Interval x, Interval y);
  std::optional<Interval> getExtent(mlir::Value buffer, mlir::Value dim);
  std::optional<Interval> get(mlir::OpFoldResult value);

  mlir::Operation *scope;
  unsigned bits;
  bool natural;
  bool frozen = false;
  llvm::DenseMap<mlir::Value, std::optional<Interval>> known;
  /// What holds of values from outside without any assumption.
  llvm::DenseMap<mlir::Value, Interval> facts;
  llvm::SetVector<mlir::Value> assumed;
  /// How many definitions outside the scope are being looked through.
  unsigned depth = 0;
};

} // namespace tile::cpu

#endif // TILE_CONVERSION_TILETOCPU_INTERVALS_H
