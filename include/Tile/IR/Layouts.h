//===- Layouts.h - Layouts of on-chip buffers -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layouts that memory spaces carry, as values of the layout algebra.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_LAYOUTS_H
#define TILE_IR_LAYOUTS_H

#include "Tile/IR/TileDialect.h"
#include "Tile/Layout/SharedLayout.h"

namespace tile {

/// The layout a fragment's type carries; none before inference.
std::optional<layout::FragmentLayout> getFragmentLayout(mlir::MemRefType type);
/// The same buffer, laid out as `layout` says.
mlir::MemRefType withFragmentLayout(mlir::MemRefType type,
                                    const layout::FragmentLayout &layout);

/// Distances between neighbours of a whole shared buffer, in elements.
llvm::SmallVector<int64_t> getSharedStrides(mlir::MemRefType type);
/// What is done to those offsets; none before inference.
layout::Swizzle getSharedSwizzle(mlir::MemRefType type);
/// Elements that a shared buffer spans, gaps included.
int64_t getSharedSpan(mlir::MemRefType type);
/// The same in bytes, and what its place must be a multiple of.
int64_t getSharedBytes(mlir::MemRefType type);
int64_t getSharedAlignment(mlir::MemRefType type);

} // namespace tile

#endif // TILE_IR_LAYOUTS_H
