//===- LoopLayouts.cpp - How elementwise loops meet fragments ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/LoopLayouts.h"
#include "Tile/IR/Layouts.h"
#include "Tile/IR/Updates.h"
#include "Tile/Layout/Fragments.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tile;
using layout::Coordinate;
using layout::FragmentLayout;

Coordinate tile::getTileShape(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return {1};
  return Coordinate(shape.begin(), shape.end());
}

std::optional<LoopAccess> tile::getLoopAccess(ParallelOp loop, Value buffer,
                                              ValueRange indices) {
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  LoopAccess access;
  for (auto [extent, index] : llvm::zip(shape, indices)) {
    auto argument = dyn_cast<BlockArgument>(index);
    if (argument && argument.getOwner() == &loop.getBody().front()) {
      int64_t dim = argument.getArgNumber();
      if (llvm::is_contained(access.dims, dim) ||
          loop.getStaticExtents()[dim] != extent)
        return std::nullopt;
      access.dims.push_back(dim);
      continue;
    }
    if (extent != 1 || getConstantIntValue(index) != 0)
      return std::nullopt;
    access.dims.push_back(LoopAccess::unit);
  }
  return access;
}

/// A reshape that keeps the number of elements; layouts allow every one.
static FragmentLayout reshape(const FragmentLayout &layout, Coordinate shape) {
  layout::Expected<FragmentLayout> result = layout.reshape(std::move(shape));
  assert(result && "a reshape keeps the number of elements");
  return *result;
}

FragmentLayout::Slice tile::sliceLayout(const FragmentLayout &layout,
                                        int64_t dim) {
  if (layout.rank() > 1)
    return layout.slice(dim);
  // A layout has at least one dimension.
  return reshape(layout, {1, layout.numElements()}).slice(1);
}

FragmentLayout::Slice tile::getAccessLayout(const FragmentLayout &loop,
                                            const LoopAccess &access,
                                            ArrayRef<int64_t> shape) {
  FragmentLayout::Slice result{loop, {}};
  for (int64_t reg = 0; reg < loop.numRegisters(); ++reg)
    result.registerOf.push_back(reg);
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < loop.rank(); ++dim)
    kept.push_back(dim);
  for (int64_t dim = loop.rank() - 1; dim >= 0; --dim) {
    if (llvm::is_contained(access.dims, dim))
      continue;
    FragmentLayout::Slice slice = sliceLayout(result.layout, dim);
    for (int64_t &reg : result.registerOf)
      reg = slice.registerOf[reg];
    result.layout = slice.layout;
    kept.erase(kept.begin() + dim);
  }
  // What is left follows the order of the loop's dimensions.
  std::vector<int64_t> order;
  for (int64_t dim : access.dims)
    if (dim != LoopAccess::unit)
      order.push_back(llvm::find(kept, dim) - kept.begin());
  if (order.size() > 1)
    result.layout = result.layout.permuteDims(order);
  result.layout = reshape(result.layout, getTileShape(shape));
  return result;
}

std::optional<std::vector<int64_t>>
tile::getAccessRegisters(const FragmentLayout &loop, const LoopAccess &access,
                         ArrayRef<int64_t> shape,
                         const FragmentLayout &fragment) {
  FragmentLayout::Slice wanted = getAccessLayout(loop, access, shape);
  std::optional<std::vector<int64_t>> from =
      wanted.layout.registersFrom(fragment);
  if (!from)
    return std::nullopt;
  std::vector<int64_t> registers;
  for (int64_t reg : wanted.registerOf)
    registers.push_back((*from)[reg]);
  return registers;
}

bool tile::reachesAllCopies(const FragmentLayout &loop,
                            const LoopAccess &access, ArrayRef<int64_t> shape,
                            const FragmentLayout &fragment) {
  FragmentLayout::Slice wanted = getAccessLayout(loop, access, shape);
  return fragment.registersFrom(wanted.layout).has_value();
}

/// The loop's layout for which `access` reaches registers laid out as
/// `fragment`, where the access spans the whole box.
static std::optional<FragmentLayout>
getSpanningLayout(ParallelOp loop, const LoopAccess &access,
                  const FragmentLayout &fragment) {
  ArrayRef<int64_t> box = loop.getStaticExtents();
  // Dimensions of the box that the access leaves out must have one point.
  Coordinate squeezed;
  SmallVector<int64_t> order;
  for (int64_t dim : access.dims)
    if (dim != LoopAccess::unit) {
      squeezed.push_back(box[dim]);
      order.push_back(dim);
    }
  for (auto [dim, extent] : llvm::enumerate(box))
    if (extent != 1 && !llvm::is_contained(order, int64_t(dim)))
      return std::nullopt;
  if (squeezed.empty())
    squeezed = {1};
  int64_t elements = 1;
  for (int64_t extent : squeezed)
    elements *= extent;
  if (elements != fragment.numElements())
    return std::nullopt;
  FragmentLayout layout = reshape(fragment, squeezed);
  if (order.size() > 1) {
    // Dimension i of the loop's box is the buffer's dimension at which it is
    // the index.
    std::vector<int64_t> inverse;
    SmallVector<int64_t> sorted(order);
    llvm::sort(sorted);
    for (int64_t dim : sorted)
      inverse.push_back(llvm::find(order, dim) - order.begin());
    layout = layout.permuteDims(inverse);
  }
  return reshape(layout, getTileShape(box));
}

/// Whether the loop reads memory that it writes. Of the threads that hold a
/// lane's element one writes for all; another one that reads would race with
/// it.
static bool readsWhatItWrites(ParallelOp loop) {
  llvm::SmallPtrSet<Value, 4> read, written;
  loop.walk([&](Operation *op) {
    auto isMemory = [](MemRefType type) {
      return !isFragment(type) && getSpace(type) != Space::Local;
    };
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (isMemory(load.getMemRefType()))
        read.insert(getRootBuffer(load.getMemRef()));
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (isMemory(store.getMemRefType()))
        written.insert(getRootBuffer(store.getMemRef()));
    } else if (Value buffer = getUpdatedBuffer(op)) {
      written.insert(getRootBuffer(buffer));
      if (!op->use_empty())
        read.insert(getRootBuffer(buffer));
    }
  });
  return llvm::any_of(read,
                      [&](Value buffer) { return written.contains(buffer); });
}

std::optional<FragmentLayout> tile::suggestLoopLayout(ParallelOp loop,
                                                      LayoutOf layoutOf) {
  std::optional<FragmentLayout> read, written;
  bool takesOneThread = readsWhatItWrites(loop);
  auto consider = [&](Value buffer, ValueRange indices,
                      std::optional<FragmentLayout> &best) {
    if (best || !isFragment(buffer.getType()))
      return;
    std::optional<FragmentLayout> known = layoutOf(buffer);
    if (!known)
      return;
    if (std::optional<LoopAccess> access = getLoopAccess(loop, buffer, indices))
      best = getSpanningLayout(loop, *access, *known);
    if (best && takesOneThread && best->coverage().isReplicated())
      best = std::nullopt;
  };
  loop.walk([&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      consider(load.getMemRef(), load.getIndices(), read);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      consider(store.getMemRef(), store.getIndices(), written);
  });
  // Of a read and a written layout the one with less held twice is better: a
  // replicated loop does the same work on several threads.
  if (read && written && read->numRegisters() < written->numRegisters())
    return read;
  return written ? written : read;
}

FragmentLayout tile::getDealtLayout(ArrayRef<int64_t> shape, int64_t threads,
                                    int64_t vector) {
  Coordinate tile = getTileShape(shape);
  int64_t elements = 1;
  for (int64_t extent : tile)
    elements *= extent;
  while (vector > 1 && (tile.back() % vector || elements < threads * vector))
    vector /= 2;
  layout::Expected<FragmentLayout> result =
      layout::blockedFragment(tile, threads, vector);
  assert(result && "every tile can be dealt out");
  return *result;
}

bool tile::fitsRegisters(MemRefType type, int64_t threads) {
  constexpr int64_t limitBytes = 2048;
  Type element = type.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return type.getNumElements() * std::max<int64_t>(8, bits) / 8 / threads <=
         limitBytes;
}

FragmentLayout tile::getLoopLayout(ParallelOp loop, int64_t threads) {
  std::optional<FragmentLayout> suggested =
      suggestLoopLayout(loop, [](Value buffer) {
        return getFragmentLayout(cast<MemRefType>(buffer.getType()));
      });
  return suggested ? *suggested : getPlainLoopLayout(loop, threads);
}

FragmentLayout tile::getPlainLoopLayout(ParallelOp loop, int64_t threads) {
  ArrayRef<int64_t> extents = loop.getStaticExtents();
  if (!readsWhatItWrites(loop))
    return getDealtLayout(extents, threads, 1);
  // Threads without a lane stay idle.
  int64_t points = 1;
  for (int64_t extent : extents)
    points *= extent;
  layout::FragmentModes modes;
  modes.threads = {{threads, {1}}};
  modes.registers = {{(points + threads - 1) / threads, {threads}}};
  layout::Expected<FragmentLayout> sequence =
      FragmentLayout::strided({points}, threads, std::move(modes));
  assert(sequence && "points in a row can be dealt out");
  return reshape(*sequence, getTileShape(extents));
}
