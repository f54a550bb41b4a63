//===- TileOrder.h - Which tile comes when ----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_TILEORDER_H
#define TILE_TRANSFORMS_TILEORDER_H

#include "Tile/IR/TileDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tile {

/// Where tile number `number` lies in a box of planes, rows and columns (the
/// last dimension), of which the leading ones may be missing. `raster` may be
/// null, for the order of rows.
llvm::SmallVector<mlir::Value> locateTile(mlir::ImplicitLocOpBuilder &builder,
                                          mlir::Value number,
                                          llvm::ArrayRef<mlir::Value> extents,
                                          RasterAttr raster);

} // namespace tile

#endif // TILE_TRANSFORMS_TILEORDER_H
