//===- CheckStatic.cpp - What must be constant is ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds extents in launches that are still open after specialization and tells
// which values they hang on.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/Passes.h"
#include "Tile/Transforms/StaticTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile {
#define GEN_PASS_DEF_CHECKSTATIC
#include "Tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace tile;

/// The values at which the computation of `value` starts, constants aside:
/// arguments and results of ops that are no arithmetic.
static void collectOrigins(Value value, llvm::SetVector<Value> &seen,
                           llvm::SetVector<Value> &origins) {
  if (!seen.insert(value) || matchPattern(value, m_Constant()))
    return;
  Operation *op = value.getDefiningOp();
  bool computed = op && isPure(op) && op->getNumOperands() > 0 &&
                  op->getNumRegions() == 0 && !isa<memref::DimOp>(op);
  if (!computed) {
    origins.insert(value);
    return;
  }
  for (Value operand : op->getOperands())
    collectOrigins(operand, seen, origins);
}

static void attachOrigins(InFlightDiagnostic &diag, Value value) {
  llvm::SetVector<Value> seen, origins;
  collectOrigins(value, seen, origins);
  for (Value origin : origins) {
    Diagnostic &note = diag.attachNote(origin.getLoc()) << "it depends on ";
    if (auto argument = dyn_cast<BlockArgument>(origin))
      note << "argument #" << argument.getArgNumber() << " of '"
           << argument.getOwner()->getParentOp()->getName() << "'";
    else if (auto tunable = origin.getDefiningOp<TunableOp>())
      note << "the tunable \"" << tunable.getName()
           << "\", which tile-specialize fixes";
    else
      note << "the result of '" << origin.getDefiningOp()->getName() << "'";
  }
}

static LogicalResult reportOpen(Operation *op, const Twine &what,
                                ValueRange values) {
  InFlightDiagnostic diag =
      op->emitOpError() << what
                        << " is not constant; on a chip it must follow from "
                           "constants and tunables alone";
  for (Value value : values)
    if (!matchPattern(value, m_Constant()))
      attachOrigins(diag, value);
  return diag;
}

/// The operands of `op` that can make an extent of its result dynamic.
static ValueRange getSizeOperands(Operation *op) {
  if (auto view = dyn_cast<OffsetSizeAndStrideOpInterface>(op))
    return view.getSizes();
  if (isa<AllocSharedOp, AllocFragmentOp, AllocLocalOp>(op))
    return op->getOperands();
  return {};
}

static LogicalResult checkBuffers(Operation *op) {
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<MemRefType>(result.getType());
    if (!type || !isOnChip(type) || type.hasStaticShape())
      continue;
    unsigned dim = llvm::find_if(type.getShape(), ShapedType::isDynamic) -
                   type.getShape().begin();
    return reportOpen(op, "extent " + Twine(dim) + " of an on-chip buffer",
                      getSizeOperands(op));
  }
  return success();
}

/// Casts that fix different extents for one buffer.
static LogicalResult checkCast(memref::CastOp cast) {
  auto inner = cast.getSource().getDefiningOp<memref::CastOp>();
  auto to = dyn_cast<MemRefType>(cast.getType());
  if (!inner || !to || !isOnChip(to))
    return success();
  auto from = dyn_cast<MemRefType>(inner.getSource().getType());
  if (!from || memref::CastOp::areCastCompatible(from, to))
    return success();
  InFlightDiagnostic diag = cast.emitOpError("expects a buffer of type ")
                            << to << ", but here it is one of " << from;
  diag.attachNote(inner.getSource().getLoc()) << "the buffer is here";
  return diag;
}

LogicalResult tile::checkStatic(FunctionOpInterface function) {
  bool valid = true;
  // A cast that opens an extent hides nothing: its source is checked, and so
  // is what it is cast back to.
  function.walk([&](LaunchOp launch) {
    if (launch.getThreads())
      valid &= succeeded(
          reportOpen(launch, "'threads'", ValueRange(launch.getThreads())));
    launch.getBody().walk([&](Operation *op) {
      if (auto parallel = dyn_cast<ParallelOp>(op)) {
        if (!parallel.hasStaticExtents())
          valid &= succeeded(
              reportOpen(op, "an extent of the loop", parallel.getExtents()));
      } else if (auto loop = dyn_cast<PipelinedOp>(op)) {
        if (loop.getStages())
          valid &= succeeded(
              reportOpen(op, "'stages'", ValueRange(loop.getStages())));
      } else if (auto cast = dyn_cast<memref::CastOp>(op)) {
        valid &= succeeded(checkCast(cast));
      } else {
        valid &= succeeded(checkBuffers(op));
      }
    });
  });
  return success(valid);
}

namespace {
struct CheckStaticPass : tile::impl::CheckStaticBase<CheckStaticPass> {
  void runOnOperation() override {
    if (failed(checkStatic(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
