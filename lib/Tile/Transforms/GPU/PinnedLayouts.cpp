//===- PinnedLayouts.cpp - Layouts that a program gives ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program may pin the layout of a buffer. Inference takes it as given and
// lets it spread; where an op needs the buffer in another layout it gets a
// converted copy, as everywhere. Only where two pinned buffers meet in one op
// that cannot have both as they are, somebody has to decide, and that is not
// the compiler.
//
//===----------------------------------------------------------------------===//

#include "LayoutInference.h"
#include "Tile/IR/Layouts.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tile;
using layout::FragmentLayout;

/// "[1, 2]"
static std::string print(ArrayRef<int64_t> coordinate) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(coordinate, stream);
  stream << ']';
  return text;
}

static LogicalResult checkFragment(AllocFragmentOp alloc, int64_t threads) {
  auto type = cast<MemRefType>(alloc.getBuffer().getType());
  std::optional<FragmentLayout> layout = getFragmentLayout(type);
  if (!layout)
    return success();
  if (layout->tile() != getTileShape(type.getShape()))
    return alloc.emitOpError("expects a layout of its own shape, got one of ")
           << print(layout->tile()) << " for " << print(type.getShape());
  if (layout->numThreads() != threads)
    return alloc.emitOpError("expects a layout for the ")
           << threads << " threads that work on it, got one for "
           << layout->numThreads();
  return success();
}

LogicalResult LayoutInference::checkPinned() {
  WalkResult result = launch.walk([&](AllocFragmentOp alloc) {
    return failed(checkFragment(alloc, threads)) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void LayoutInference::seedFromPinned() {
  launch.walk([&](AllocFragmentOp alloc) {
    Value buffer = alloc.getBuffer();
    if (auto layout = getFragmentLayout(cast<MemRefType>(buffer.getType()))) {
      assign(buffer, *layout);
      pinned.insert(buffer);
    }
  });
}

void LayoutInference::choosePolicy(GemmOp gemm) {
  if (gemm.getPolicy() || !isPinned(gemm.getC()))
    return;
  for (GemmPolicy policy :
       {GemmPolicy::Square, GemmPolicy::FullRow, GemmPolicy::FullCol}) {
    gemm.setPolicy(policy);
    std::optional<GemmPlan> plan = planGemm(gemm, threads, chip);
    if (plan && plan->layoutC() == known.find(gemm.getC())->second)
      return;
  }
  gemm.removePolicyAttr();
}

LogicalResult LayoutInference::reportConflict(Operation *op, Value one,
                                              Value other) {
  InFlightDiagnostic diag = op->emitOpError(
      "cannot have both buffers in the layouts that they are pinned to; leave "
      "one of them to the compiler, or copy it to a buffer of another layout");
  for (Value buffer : {one, other})
    diag.attachNote(buffer.getLoc())
        << "pinned to \"" << known.find(buffer)->second.str() << '"';
  return diag;
}

LogicalResult LayoutInference::checkCoverage() {
  llvm::StringSet<> seen;
  for (auto &[fragment, layout] : known) {
    if (!seen.insert(layout.str()).second)
      continue;
    if (std::optional<layout::Coordinate> hole = layout.coverage().firstHole)
      return emitError(fragment.getLoc())
             << "this buffer's layout leaves its element " << print(*hole)
             << " without a register: \"" << layout.str() << '"';
  }
  return success();
}
