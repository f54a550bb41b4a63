//===- Scratch.cpp - How threads meet inside an op --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/Scratch.h"
#include "Tile/IR/Layouts.h"
#include "Tile/IR/Updates.h"

using namespace mlir;
using namespace tile;
using layout::FragmentLayout;

std::optional<ReductionSteps> ReductionSteps::get(const FragmentLayout &layout,
                                                  int64_t dim) {
  const layout::FragmentModes *modes = layout.modes();
  if (!modes || !layout.isBoxTile())
    return std::nullopt;
  ReductionSteps steps;
  int64_t place = 1;
  for (const layout::Mode &mode : modes->threads) {
    int64_t start = place;
    place *= mode.extent;
    if (!mode.strides[dim])
      continue;
    for (auto [other, stride] : llvm::enumerate(mode.strides))
      if (int64_t(other) != dim && stride)
        return std::nullopt;
    // Lanes exchange in powers of two. A digit may begin among the lanes and
    // end among the warps.
    int64_t step = start, rest = mode.extent;
    while (rest % 2 == 0 && step * 2 <= layout::warpSize &&
           (step & (step - 1)) == 0) {
      steps.lanes.push_back(step);
      step *= 2;
      rest /= 2;
    }
    if (rest > 1)
      steps.digits.emplace_back(step, rest);
  }
  if (place != layout.numThreads())
    return std::nullopt;
  return steps;
}

std::optional<ReductionPlan> ReductionPlan::get(ReduceOp op) {
  std::optional<FragmentLayout> source = getFragmentLayout(op.getSourceType());
  std::optional<FragmentLayout> target = getFragmentLayout(op.getTargetType());
  if (!source || !target)
    return std::nullopt;
  int64_t dim = op.getDim();
  if (op.getSourceType().getRank() == 1) {
    // As a row, so that the reduced dimension is one of two.
    source = *source->reshape({1, source->numElements()});
    dim = 1;
  }
  FragmentLayout::Slice slice = source->slice(dim);
  auto held = target->reshape(slice.layout.tile());
  assert(held && "the verifier compared the shapes");
  std::optional<std::vector<int64_t>> registers =
      held->registersFrom(slice.layout);
  return ReductionPlan{
      *source, *held, dim, slice, ReductionSteps::get(*source, dim), registers};
}

ScratchUse tile::getScratchUse(Operation *op) {
  if (isa<ScanOp>(op))
    return ScratchUse::Certain;
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    std::optional<ReductionPlan> plan = ReductionPlan::get(reduce);
    if (!plan)
      return ScratchUse::Possible;
    return plan->usesScratch() ? ScratchUse::Certain : ScratchUse::None;
  }
  // One thread updates and all learn what was there before.
  return getUpdatedBuffer(op) && !op->use_empty() ? ScratchUse::Possible
                                                  : ScratchUse::None;
}

/// Elements have the same places for scans of one shape along one dimension.
bool tile::keepsScratchApart(Operation *before, Operation *next) {
  auto last = dyn_cast<ScanOp>(before), scan = dyn_cast<ScanOp>(next);
  if (!last || !scan || last.getDim() != scan.getDim() ||
      last.getReverse() != scan.getReverse() ||
      last.getTargetType().getElementType() !=
          scan.getTargetType().getElementType())
    return false;
  std::optional<FragmentLayout> read = getFragmentLayout(last.getTargetType());
  std::optional<FragmentLayout> written =
      getFragmentLayout(scan.getSourceType());
  return read && written && *read == *written &&
         !read->coverage().isReplicated();
}
