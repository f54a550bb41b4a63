//===- TileToCPU.cpp - The conversion pass ----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShareCode.h"
#include "Tile/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace tile {
#define GEN_PASS_DEF_CONVERTTILETOCPU
#include "Tile/Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// What a function says of its own check holds for the signature it has here,
/// which later conversions change.
static void dropEntryAttributes(FunctionOpInterface function) {
  auto isOurs = [](NamedAttribute attribute) {
    return isa_and_nonnull<TileDialect>(attribute.getNameDialect());
  };
  for (NamedAttribute attribute :
       llvm::to_vector(function->getDiscardableAttrs()))
    if (isOurs(attribute))
      function->removeDiscardableAttr(attribute.getName());
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    for (NamedAttribute attribute : llvm::to_vector(function.getArgAttrs(i)))
      if (isOurs(attribute))
        function.removeArgAttr(i, attribute.getName());
}

namespace {
struct ConvertTileToCPU : tile::impl::ConvertTileToCPUBase<ConvertTileToCPU> {
  using ConvertTileToCPUBase::ConvertTileToCPUBase;

  void runOnOperation() override {
    if (vectorBytes != 16 && vectorBytes != 32 && vectorBytes != 64) {
      getOperation().emitError("expects vector-bytes to be 16, 32 or 64, got ")
          << vectorBytes.getValue();
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    SmallVector<LaunchOp> launches;
    // Functions that have something to lower; references have not.
    SetVector<Operation *> functions;
    getOperation().walk([&](Operation *op) {
      if (auto launch = dyn_cast<LaunchOp>(op))
        launches.push_back(launch);
      Operation *function = op->getParentOfType<FunctionOpInterface>();
      if (function && isa<LaunchOp, AllocGlobalOp, AssertOp, PrintOp>(op))
        functions.insert(function);
    });
    for (Operation *function : functions)
      if (failed(cpu::lowerHostOps(rewriter, function)))
        return signalPassFailure();
    for (LaunchOp launch : launches)
      if (failed(cpu::prepareLaunch(launch)))
        return signalPassFailure();
    cpu::SharedCode shared(launches);
    for (LaunchOp launch : launches) {
      cpu::LaunchContext context;
      context.launch = launch;
      context.vectorBytes = vectorBytes;
      if (failed(cpu::lowerLaunch(rewriter, context, shared)))
        return signalPassFailure();
      ++numLaunches;
      numVectorized += context.numVectorized;
      numScalar += context.numScalar;
    }
    functions.insert_range(shared.getDefinitions());
    numShared += shared.getDefinitions().size();
    getOperation().walk(dropEntryAttributes);
    cpu::guardSteps(rewriter, getOperation());
    for (Operation *function : functions)
      if (failed(cpu::lowerMath(function, vectorBytes)))
        return signalPassFailure();
  }
};
} // namespace
