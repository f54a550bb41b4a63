//===- Host.cpp - The host side of a tile program ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

/// Workspaces are freed where the function ends.
static LogicalResult lowerAllocGlobal(RewriterBase &rewriter,
                                      AllocGlobalOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value zero = constantIndex(rewriter, loc, 0);
  SmallVector<Value> sizes;
  for (Value size : op.getDynamicSizes())
    sizes.push_back(rewriter.createOrFold<arith::MaxSIOp>(loc, size, zero));
  Value buffer =
      memref::AllocOp::create(rewriter, loc, op.getBuffer().getType(), sizes,
                              rewriter.getI64IntegerAttr(kAlignment));
  auto function = cast<FunctionOpInterface>(op->getParentOp());
  rewriter.replaceOp(op, buffer);
  for (Block &block : function.getFunctionBody()) {
    if (!block.back().hasTrait<OpTrait::ReturnLike>())
      continue;
    rewriter.setInsertionPoint(&block.back());
    memref::DeallocOp::create(rewriter, loc, buffer);
  }
  return success();
}

LogicalResult cpu::lowerHostOps(RewriterBase &rewriter, Operation *function) {
  SmallVector<Operation *> ops;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<LaunchOp>(op))
      return WalkResult::skip();
    if (isa<AllocGlobalOp, AssertOp, PrintOp>(op))
      ops.push_back(op);
    return WalkResult::advance();
  });
  for (Operation *op : ops) {
    LogicalResult lowered =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case(
                [&](AllocGlobalOp o) { return lowerAllocGlobal(rewriter, o); })
            .Case([&](AssertOp o) { return lowerAssert(rewriter, o); })
            .Case([&](PrintOp o) {
              return lowerPrint(rewriter, /*launch=*/{}, o);
            });
    if (failed(lowered))
      return failure();
  }
  return lowerPackedAccesses(rewriter, function);
}
