//===- LoopLayouts.h - How elementwise loops meet fragments -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An elementwise loop runs each point of its box on the thread and in the
// register slot that a fragment layout of the box says. These functions choose
// that layout and tell which register an access in the loop reaches, if it
// reaches one on every thread. Inference and lowering share them.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_LOOPLAYOUTS_H
#define TILE_TRANSFORMS_LOOPLAYOUTS_H

#include "Tile/IR/TileDialect.h"
#include "Tile/Layout/FragmentLayout.h"

namespace tile {

/// The shape as a layout's tile: a buffer of rank zero has one element.
layout::Coordinate getTileShape(llvm::ArrayRef<int64_t> shape);

/// An access whose indices are induction variables of a loop, each at most once
/// and with the buffer's extent, or zero along an extent of one: for each
/// dimension of the buffer the induction variable's number, or `unit`.
struct LoopAccess {
  static constexpr int64_t unit = -1;
  llvm::SmallVector<int64_t> dims;
};
std::optional<LoopAccess> getLoopAccess(ParallelOp loop, mlir::Value buffer,
                                        mlir::ValueRange indices);

/// What remains of `layout` without dimension `dim`, and where its registers
/// go.
layout::FragmentLayout::Slice sliceLayout(const layout::FragmentLayout &layout,
                                          int64_t dim);

/// The layout that a buffer of `shape` must have so that each point of the loop
/// finds its element on its own thread, and for each register slot of the loop
/// the register of that layout.
layout::FragmentLayout::Slice
getAccessLayout(const layout::FragmentLayout &loop, const LoopAccess &access,
                llvm::ArrayRef<int64_t> shape);
/// For each register slot of the loop, the register of a buffer laid out as
/// `fragment`; none if that differs between threads or lies on another one.
std::optional<std::vector<int64_t>>
getAccessRegisters(const layout::FragmentLayout &loop, const LoopAccess &access,
                   llvm::ArrayRef<int64_t> shape,
                   const layout::FragmentLayout &fragment);
/// True where a store through `access` reaches every copy of each element that
/// it writes.
bool reachesAllCopies(const layout::FragmentLayout &loop,
                      const LoopAccess &access, llvm::ArrayRef<int64_t> shape,
                      const layout::FragmentLayout &fragment);

/// The layout of a fragment where it is known.
using LayoutOf =
    llvm::function_ref<std::optional<layout::FragmentLayout>(mlir::Value)>;
/// The layout that the fragments of a loop suggest: that of a written one that
/// spans the box, else of a read one. None where no such layout is known.
std::optional<layout::FragmentLayout> suggestLoopLayout(ParallelOp loop,
                                                        LayoutOf layoutOf);
/// The layout of a loop once its fragments have theirs: the suggested one, else
/// neighbouring elements on neighbouring threads.
layout::FragmentLayout getLoopLayout(ParallelOp loop, int64_t threads);
/// The latter. A loop that reads memory it writes has each lane on one thread.
layout::FragmentLayout getPlainLoopLayout(ParallelOp loop, int64_t threads);

/// Elements dealt out in row-major order, as many neighbours to a thread as
/// `vector` says, fewer where that would leave threads without work.
layout::FragmentLayout getDealtLayout(llvm::ArrayRef<int64_t> shape,
                                      int64_t threads, int64_t vector);

/// A thread's part of a tile becomes straight code; that of a tile with more
/// elements, 1024 of each of 32 threads, would be too much of it.
constexpr int64_t mostStraightElements = 32 * 1024;

/// Whether threads that hold a buffer of this static type together have
/// registers for it: beyond, they would spill to memory that is slower than
/// shared memory.
bool fitsRegisters(mlir::MemRefType type, int64_t threads);

} // namespace tile

#endif // TILE_TRANSFORMS_LOOPLAYOUTS_H
