//===- TileOps.td - All ops of the tile dialect -------------*- tablegen -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The roll-up of the themed files, for TableGen.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_TILEOPS_TD
#define TILE_IR_TILEOPS_TD

include "Tile/IR/TileKernelOps.td"
include "Tile/IR/TileMemoryOps.td"
include "Tile/IR/TileAsyncOps.td"
include "Tile/IR/TileAtomicOps.td"
include "Tile/IR/TileComputeOps.td"
include "Tile/IR/TileDebugOps.td"
include "Tile/IR/TileLoopOps.td"

#endif // TILE_IR_TILEOPS_TD
