//===- SharedLayouts.cpp - How shared buffers spread over banks -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects who touches a buffer and how (matrix loads of gemms, the registers
// of fragments, 16 bytes a thread of copies between memories) and searches the
// layout with the fewest bank conflicts over all of them. Layouts keep rows as
// they are: a stride for each dimension, and a swizzle or a padding.
//
// Conflicts are judged on the first rows only, since swizzles repeat.
//
//===----------------------------------------------------------------------===//

#include "LayoutInference.h"
#include "SharedPlan.h"
#include "Tile/IR/Layouts.h"
#include "Tile/Layout/MatrixTransfer.h"
#include "Tile/Layout/SharedLayout.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace tile;
using layout::Coordinate;
using layout::FragmentLayout;

/// The rows that are looked at: 16-byte pieces of rows of at least 32 bytes
/// meet all banks in 32 of them.
static constexpr int64_t mostRows = 32;

static int64_t getElementBits(MemRefType type) {
  Type element = type.getElementType();
  return element.isIndex()
             ? 64
             : std::max<int64_t>(8, element.getIntOrFloatBitWidth());
}

/// A reshape needs its source dense.
static bool isReshaped(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    if (isa<memref::SubViewOp, memref::CastOp, memref::TransposeOp>(user))
      return isReshaped(user->getResult(0));
    return isa<ViewLikeOpInterface, memref::ReshapeOp>(user);
  });
}

/// Rows whose length is a multiple of all banks together start in the same
/// bank; 16 bytes more per row make eight rows of a matrix load meet all banks,
/// and keep 16-byte accesses aligned. For buffers whose users are not known
/// well enough to search.
static SmallVector<int64_t> getPaddedStrides(MemRefType type) {
  constexpr int64_t bankBytes = 128, chunkBytes = 16;
  int64_t bytes = getElementBits(type) / 8;
  SmallVector<int64_t> strides(type.getRank());
  int64_t next = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    strides[dim] = next;
    next *= type.getDimSize(dim);
    bool isRow = dim == type.getRank() - 1 && type.getRank() > 1;
    // Shorter rows of 32 and 64 bytes run into each other every four and two.
    if (isRow && next * bytes % 32 == 0 &&
        (next * bytes % bankBytes == 0 || next * bytes < bankBytes))
      next += chunkBytes / bytes;
  }
  return strides;
}

/// Without room to spare, rows that fill all banks together, or a part of them
/// that divides them, still start in different banks where 16-byte pieces of a
/// row change places by the row's number. Other rows lie as they are.
static SharedAttr getDense(MemRefType type) {
  constexpr int64_t bankBytes = 128, chunkBytes = 16;
  int64_t bytes = getElementBits(type) / 8;
  int64_t rowBytes = type.getShape().back() * bytes;
  SmallVector<int64_t> swizzle;
  if (llvm::isPowerOf2_64(rowBytes) && rowBytes >= 2 * chunkBytes) {
    int64_t bits = llvm::Log2_64(std::min(rowBytes, bankBytes) / chunkBytes);
    int64_t base = llvm::Log2_64(chunkBytes / bytes);
    int64_t shift = llvm::Log2_64(std::max(rowBytes, bankBytes) / chunkBytes);
    if (type.getNumElements() % layout::Swizzle{bits, base, shift}.period() ==
        0)
      swizzle = {bits, base, shift};
  }
  return SharedAttr::get(type.getContext(), computeStrides(type.getShape()),
                         swizzle);
}

/// Adds the accesses to `buffer` and views of it that are as wide as `tile`,
/// the rows that are looked at. False where one is of another kind.
bool LayoutInference::collectAccesses(
    Value buffer, Coordinate tile,
    std::vector<layout::SharedAccess> &accesses) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bits = getElementBits(type);
  auto addVectors = [&](const FragmentLayout &fragment) {
    accesses.push_back(layout::vectorAccess(fragment, bits));
    return true;
  };
  auto addMatrices = [&] {
    auto access = layout::matrixAccess(tile, 1, 1, bits);
    if (!access)
      return false;
    accesses.push_back(*access);
    return true;
  };
  auto addFragment = [&](FragmentLayout fragment, bool isRead) {
    if (fragment.rank() != int64_t(tile.size()) ||
        fragment.tile().back() != tile.back())
      return false;
    if ((isRead || chip.hasStMatrix) &&
        layout::matrixTransfer(fragment, fragment.rank() - 1, bits))
      return addMatrices();
    auto part = fragment.subview(Coordinate(tile.size(), 0), tile);
    return part && addVectors(part->layout);
  };
  for (Operation *user : buffer.getUsers()) {
    if (isa<memref::SubViewOp>(user)) {
      // The versions of a ring: whole rows.
      auto view = cast<MemRefType>(user->getResult(0).getType());
      if (view.getShape().take_back(2) != type.getShape().take_back(2) ||
          !collectAccesses(user->getResult(0), tile, accesses))
        return false;
      continue;
    }
    if (auto gemm = dyn_cast<GemmOp>(user)) {
      if (!planGemm(gemm, threads, chip) || !addMatrices())
        return false;
      continue;
    }
    // The end of a ring's life.
    if (isa<memref::DeallocOp>(user))
      continue;
    if (isa<FillOp>(user)) {
      if (!addVectors(getDealtLayout(tile, layout::warpSize, 128 / bits)))
        return false;
      continue;
    }
    auto copy = dyn_cast<CopyOp>(user);
    if (!copy)
      return false;
    bool isRead = copy.getSource() == buffer;
    MemRefType other = isRead ? copy.getTargetType() : copy.getSourceType();
    if (isFragment(other)) {
      std::optional<FragmentLayout> fragment = getFragmentLayout(other);
      if (other.getRank() < 2 || !fragment || !addFragment(*fragment, isRead))
        return false;
      continue;
    }
    if (!addVectors(getDealtLayout(tile, layout::warpSize, 128 / bits)))
      return false;
  }
  return true;
}

void LayoutInference::layOut(AllocSharedOp alloc) {
  auto type = cast<MemRefType>(alloc.getBuffer().getType());
  if (!cast<SharedAttr>(type.getMemorySpace()).getStrides().empty() ||
      type.getRank() < 2 || isReshaped(alloc.getBuffer()))
    return;
  // The first rows, as many as repeat to fill the buffer.
  int64_t rows = type.getDimSize(type.getRank() - 2),
          columns = type.getShape().back();
  Coordinate tile = {std::min(rows & -rows, mostRows), columns};
  std::vector<layout::SharedAccess> accesses;
  SmallVector<int64_t> strides = getPaddedStrides(type);
  SmallVector<int64_t> swizzle;
  if (collectAccesses(alloc.getBuffer(), tile, accesses) && !accesses.empty()) {
    auto choice = layout::searchSwizzle(tile, getElementBits(type), accesses,
                                        layout::SharedEngine::Rows);
    if (choice) {
      const layout::ComposedLayout &best = choice->layout;
      int64_t row = best.layout.mode(0).stride().value();
      int64_t next = 1;
      for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
        strides[dim] = next;
        next *= dim == type.getRank() - 1 ? row : type.getDimSize(dim);
      }
      if (best.swizzle.bits)
        swizzle = {best.swizzle.bits, best.swizzle.base, best.swizzle.shift};
    }
  }
  setSpace(alloc.getBuffer(),
           SharedAttr::get(type.getContext(), strides, swizzle));
  if (strides.front() * type.getDimSize(0) > type.getNumElements())
    padded.push_back({alloc, getDense(type)});
}

void LayoutInference::fitSharedMemory(LaunchOp launch, ArrayRef<Padded> padded,
                                      const Chip &chip) {
  // Reductions across warps leave a few results of each thread behind the
  // buffers.
  constexpr int64_t scratchBytes = 16;
  int64_t room = chip.sharedBytes - scratchBytes * *launch.getStaticThreads();
  if (SharedPlan(launch).getBytes() <= room)
    return;
  for (Padded buffer : padded)
    setSpace(buffer.alloc.getBuffer(), buffer.dense);
}
