//===- KeepConvergent.cpp - Where the threads of a warp meet ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Conversion/GPUPasses.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace tile {
#define GEN_PASS_DEF_TILEKEEPCONVERGENT
#include "Tile/Conversion/GPUPasses.h.inc"
} // namespace tile

using namespace mlir;

bool tile::isConvergentPTX(StringRef text) {
  return text.contains(".sync") || text.contains(".aligned") ||
         text.starts_with(meetingPoint);
}

/// Whether a warp must run the op as one.
static bool isConvergent(Operation *op) {
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op))
    return tile::isConvergentPTX(assembly.getAsmString());
  if (auto intrinsic = dyn_cast<LLVM::CallIntrinsicOp>(op))
    return tile::isConvergentPTX(intrinsic.getIntrin());
  if (isa<gpu::ShuffleOp>(op))
    return true;
  return isa_and_nonnull<gpu::GPUDialect, NVVM::NVVMDialect>(
             op->getDialect()) &&
         !isPure(op);
}

static bool isBarrier(Operation *op) {
  return isa<gpu::BarrierOp, NVVM::BarrierOp, NVVM::Barrier0Op>(op);
}

/// Whether it brings the threads of a warp together, all of them.
static bool isMeeting(Operation *op) {
  return isBarrier(op) || isa<gpu::ShuffleOp, NVVM::SyncWarpOp, NVVM::MmaOp,
                              NVVM::LdMatrixOp, NVVM::StMatrixOp>(op);
}

/// Whether a warp may come to `place` in parts.
static bool mayBeApart(Operation *place) {
  for (Operation *op = place->getPrevNode(); op; op = op->getPrevNode()) {
    if (isMeeting(op))
      return false;
    if (op->getNumRegions())
      return true;
  }
  Operation *parent = place->getParentOp();
  // Whatever stands in a condition around a barrier is reached by whole warps.
  return isa<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(parent) &&
         mayBeApart(parent);
}

static void meet(OpBuilder &b, Location loc, const Twine &where) {
  LLVM::InlineAsmOp::create(b, loc, TypeRange(), ValueRange(),
                            (tile::meetingPoint + where).str(), "",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::TailCallKind::None, LLVM::AsmDialectAttr(),
                            /*operand_attrs=*/ArrayAttr());
}

/// Makes the threads of each warp wait for one another.
static void meetInFact(OpBuilder &b, Location loc) {
  Value all = LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(-1));
  NVVM::SyncWarpOp::create(b, loc, all);
}

namespace {
struct KeepConvergentPass
    : tile::impl::TileKeepConvergentBase<KeepConvergentPass> {
  using TileKeepConvergentBase::TileKeepConvergentBase;
  void runOnOperation() override {
    getOperation().walk([](LoopLikeOpInterface loop) {
      bool matters = false, hasBarrier = false;
      loop->walk([&](Operation *op) {
        matters |= isConvergent(op);
        hasBarrier |= isBarrier(op);
      });
      if (!matters)
        return;
      // Blocks that say the same are merged: these do not.
      auto keep = [&](Operation *place, const Twine &where) {
        bool isApart = hasBarrier && mayBeApart(place);
        OpBuilder b(place);
        meet(b, loop.getLoc(), where);
        if (isApart)
          meetInFact(b, loop.getLoc());
      };
      keep(loop, "before a loop");
      for (Region *region : loop.getLoopRegions())
        keep(region->back().getTerminator(), "before its next round");
      if (auto whileLoop = dyn_cast<scf::WhileOp>(*loop)) {
        OpBuilder b = OpBuilder::atBlockBegin(whileLoop.getBeforeBody());
        meet(b, loop.getLoc(), "at its test");
      }
    });
  }
};
} // namespace
