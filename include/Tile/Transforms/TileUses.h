//===- TileUses.h - How loops use tiles on the chip -------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of which each lane of a loop uses the element of its own place alone,
// so that the elements may be values of the lanes instead, and tiles whose
// elements nobody reads any more.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_TILEUSES_H
#define TILE_TRANSFORMS_TILEUSES_H

#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"

namespace tile {

/// The accesses of a loop to a tile: loads anywhere in its body, stores in the
/// body itself, in the order of the program.
struct TileUses {
  llvm::SmallVector<mlir::memref::LoadOp> loads;
  llvm::SmallVector<mlir::memref::StoreOp> stores;

  /// Whether an element is stored before it is loaded.
  bool isMade() const;
};

/// The tiles, whole allocations that no view is of, whose elements each lane of
/// `loop` uses by its own place.
llvm::MapVector<mlir::Value, TileUses> findTileUses(ParallelOp loop);

/// Whether `op` or what is in it uses `tile`, which no view is of.
bool touches(mlir::Operation *op, mlir::Value tile);

/// Whether a copy has all of `tile` on that side.
bool takesWhole(CopyOp copy, mlir::Value tile);

/// Whether the elements that `tile`, which no view is of, holds after `op`, an
/// op of a launch, are never read.
bool isDeadAfter(mlir::Operation *op, mlir::Value tile);

} // namespace tile

#endif // TILE_TRANSFORMS_TILEUSES_H
