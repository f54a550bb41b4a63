//===- Host.cpp - The host side of a tile program ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

/// What 47 bits of an address reach.
static constexpr int64_t kMaxWorkspaceBytes = int64_t(1) << 47;

namespace {
/// Allocates workspaces and ends the function where one is not to be had.
class WorkspaceLowering {
public:
  WorkspaceLowering(RewriterBase &rewriter, Operation *function)
      : rewriter(rewriter), function(cast<FunctionOpInterface>(function)) {
    for (Block &block : this->function.getFunctionBody())
      if (block.back().hasTrait<OpTrait::ReturnLike>())
        ends.push_back(&block.back());
  }

  void lower(AllocGlobalOp op);
  /// Workspaces are freed where the function ends.
  void free() {
    for (Operation *end : ends)
      freeBefore(end);
  }

private:
  Value isTooLarge(AllocGlobalOp op, ValueRange sizes);
  void leaveIf(Value condition, AllocGlobalOp op, StringRef message);
  void freeBefore(Operation *end) {
    rewriter.setInsertionPoint(end);
    for (Value buffer : buffers)
      memref::DeallocOp::create(rewriter, buffer.getLoc(), buffer);
  }

  RewriterBase &rewriter;
  FunctionOpInterface function;
  SmallVector<Operation *> ends;
  SmallVector<Value> buffers;
};
} // namespace

/// More bytes than an address has bits for, tested factor by factor since the
/// product may wrap. Null where no extent is dynamic: the verifier of the type
/// has seen the others.
Value WorkspaceLowering::isTooLarge(AllocGlobalOp op, ValueRange sizes) {
  Location loc = op.getLoc();
  MemRefType type = op.getBuffer().getType();
  Value limit = constantIndex(rewriter, loc, kMaxWorkspaceBytes);
  Value one = constantIndex(rewriter, loc, 1);
  Value bytes = constantIndex(
      rewriter, loc,
      std::min(getSizeInBytes(MemRefType::get(
                   llvm::to_vector(llvm::make_filter_range(
                       type.getShape(),
                       [](int64_t n) { return !ShapedType::isDynamic(n); })),
                   type.getElementType())),
               kMaxWorkspaceBytes + 1));
  Value result = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sgt,
                                       bytes, limit);
  for (Value size : sizes) {
    // An extent of zero makes the others irrelevant, but not harmless: strides
    // are computed from them.
    Value divisor = arith::MaxSIOp::create(rewriter, loc, bytes, one);
    Value most = arith::DivUIOp::create(rewriter, loc, limit, divisor);
    Value beyond = arith::CmpIOp::create(rewriter, loc,
                                         arith::CmpIPredicate::sgt, size, most);
    result = arith::OrIOp::create(rewriter, loc, result, beyond);
    bytes = arith::MulIOp::create(rewriter, loc, divisor, size);
  }
  return result;
}

/// Reports and returns where `condition` holds; what stands behind `op` goes
/// into a block of its own.
void WorkspaceLowering::leaveIf(Value condition, AllocGlobalOp op,
                                StringRef message) {
  Location loc = op.getLoc();
  Block *block = op->getBlock();
  Block *rest = rewriter.splitBlock(block, rewriter.getInsertionPoint());
  Block *leave = rewriter.createBlock(rest);
  Operation *end = ends.front();
  SmallVector<Value> results;
  for (Type type : end->getOperandTypes())
    results.push_back(ub::PoisonOp::create(rewriter, loc, type));
  Operation *copy = rewriter.clone(*end);
  copy->setOperands(results);
  freeBefore(copy);
  buildReport(rewriter, loc, op, message);
  rewriter.setInsertionPointToEnd(block);
  cf::CondBranchOp::create(rewriter, loc, condition, leave, rest);
  rewriter.setInsertionPointToStart(rest);
}

void WorkspaceLowering::lower(AllocGlobalOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value zero = constantIndex(rewriter, loc, 0);
  SmallVector<Value> sizes;
  for (Value size : op.getDynamicSizes())
    sizes.push_back(rewriter.createOrFold<arith::MaxSIOp>(loc, size, zero));
  leaveIf(isTooLarge(op, sizes), op,
          "a workspace of that size is more than memory can hold");
  Value buffer =
      memref::AllocOp::create(rewriter, loc, op.getBuffer().getType(), sizes,
                              rewriter.getI64IntegerAttr(kAlignment));
  leaveIf(isNull(rewriter, loc, buffer), op,
          "there is no memory for a workspace of that size");
  buffers.push_back(buffer);
  rewriter.replaceOp(op, buffer);
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
  WorkspaceLowering workspaces(rewriter, function);
  for (Operation *op : ops) {
    LogicalResult lowered =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case([&](AllocGlobalOp o) {
              workspaces.lower(o);
              return success();
            })
            .Case([&](AssertOp o) { return lowerAssert(rewriter, o); })
            .Case([&](PrintOp o) {
              return lowerPrint(rewriter, /*launch=*/{}, o);
            });
    if (failed(lowered))
      return failure();
  }
  workspaces.free();
  return lowerPackedAccesses(rewriter, function);
}
