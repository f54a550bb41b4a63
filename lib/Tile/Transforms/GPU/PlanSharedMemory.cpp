//===- PlanSharedMemory.cpp - Give each shared buffer its place -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedPlan.h"
#include "Tile/IR/Layouts.h"
#include "Tile/Transforms/GPUPasses.h"

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_TILEPLANSHAREDMEMORY
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

static void reportTable(LaunchOp launch, const SharedPlan &plan,
                        const Chip &chip) {
  InFlightDiagnostic diag = launch.emitOpError("needs ")
                            << plan.getBytes()
                            << " bytes of shared memory, but a block of "
                            << chip.name << " has " << chip.sharedBytes;
  // What is in use where most is.
  const SharedPlan::Buffer *top = nullptr;
  for (const SharedPlan::Buffer &buffer : plan.getBuffers())
    if (!top || buffer.end() > top->end())
      top = &buffer;
  for (SharedPlan::Buffer buffer : plan.getBuffers())
    diag.attachNote(buffer.alloc.getLoc())
        << buffer.bytes << " bytes at " << buffer.place << " for "
        << buffer.alloc.getBuffer().getType()
        << (buffer.life.meets(top->life) ? ""
                                         : ", at another time than the last");
}

namespace {
struct PlanSharedMemoryPass
    : tile::impl::TilePlanSharedMemoryBase<PlanSharedMemoryPass> {
  using TilePlanSharedMemoryBase::TilePlanSharedMemoryBase;

  void runOnOperation() override {
    std::optional<Chip> found = getChip(chip, getOperation());
    if (!found)
      return signalPassFailure();
    Builder builder(&getContext());
    WalkResult result = getOperation()->walk([&](LaunchOp launch) {
      SharedPlan plan(launch);
      if (plan.getBytes() > found->sharedBytes) {
        reportTable(launch, plan, *found);
        return WalkResult::interrupt();
      }
      for (SharedPlan::Buffer buffer : plan.getBuffers())
        buffer.alloc.setPlaceAttr(builder.getI64IntegerAttr(buffer.place));
      numBytesSaved += plan.getSaved();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
