//===- Varying.h - Which values differ between lanes ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_TILETOCPU_VARYING_H
#define TILE_CONVERSION_TILETOCPU_VARYING_H

#include "Lowering.h"

namespace tile::cpu {

/// The values of an elementwise loop's body that may differ between lanes along
/// its last dimension; all others are the same in every lane.
class VaryingAnalysis {
public:
  explicit VaryingAnalysis(ParallelOp op);
  bool operator()(mlir::Value value) const { return varying.contains(value); }

private:
  void mark(mlir::Value value) { changed |= varying.insert(value).second; }
  void visit(mlir::Block &block);

  llvm::DenseSet<mlir::Value> varying;
  bool changed = false;
};

} // namespace tile::cpu

#endif // TILE_CONVERSION_TILETOCPU_VARYING_H
