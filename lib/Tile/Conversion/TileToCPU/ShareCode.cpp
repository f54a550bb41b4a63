//===- ShareCode.cpp - Functions for what is done again ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gemm and a copy of a global buffer become hundreds of operations, most for
// edges and for what is not a multiple of a register. Programs repeat them:
// gradients of attention take nine gemms of three kinds. Ops of one kind, which
// differ in their buffers and offsets alone, share a function each, so that the
// passes behind this one and LLVM go through it once. What stands alone stays
// where it is.
//
//===----------------------------------------------------------------------===//

#include "ShareCode.h"
#include "Prefetch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

/// Operands that are constants count among the op's attributes.
static Attribute getConstant(Value value) {
  Attribute constant;
  return matchPattern(value, m_Constant(&constant)) ? constant : Attribute();
}

/// Whether all that is known of a global buffer is its type.
static bool isPlain(Value buffer) {
  Operation *op = buffer.getDefiningOp();
  return !op || isa<AllocGlobalOp, memref::AllocOp>(op);
}

static bool mayShare(Operation *op) {
  if (isa<GemmOp>(op))
    return true;
  auto copy = dyn_cast<CopyOp>(op);
  if (!copy)
    return false;
  // Reports name the place of the op.
  if (op->getParentOfType<LaunchOp>().getBounds() == Bounds::Trap)
    return false;
  bool isOfGlobal = false;
  for (Value buffer : {copy.getSource(), copy.getTarget()})
    if (isGlobal(cast<MemRefType>(buffer.getType()))) {
      isOfGlobal = true;
      if (!isPlain(buffer))
        return false;
    }
  return isOfGlobal;
}

/// All that decides what becomes of `op`, but for its variable operands.
static ArrayAttr getKind(Operation *op) {
  MLIRContext *context = op->getContext();
  Builder b(context);
  auto launch = op->getParentOfType<LaunchOp>();
  SmallVector<Attribute> parts{
      op->getName().getIdentifier(), op->getAttrDictionary(),
      b.getI64IntegerAttr(static_cast<int64_t>(launch.getBounds())),
      arith::FastMathFlagsAttr::get(context, launch.getFastmath())};
  for (Value operand : op->getOperands()) {
    parts.push_back(TypeAttr::get(operand.getType()));
    Attribute constant = getConstant(operand);
    parts.push_back(constant ? constant : b.getUnitAttr());
  }
  if (auto copy = dyn_cast<CopyOp>(op))
    if (std::optional<unsigned> dim = findNextTile(launch, copy))
      parts.push_back(b.getI64IntegerAttr(*dim));
  return b.getArrayAttr(parts);
}

SharedCode::SharedCode(ArrayRef<LaunchOp> launches) {
  for (LaunchOp launch : launches)
    launch.getBody().walk([&](Operation *op) {
      if (mayShare(op))
        ++functions[getKind(op)].uses;
    });
}

/// Makes the function, whose first arguments are the variable operands of `op`
/// and whose others are scratch memory.
static LogicalResult build(RewriterBase &rewriter, LaunchContext &context,
                           Operation *op, SharedCode::Function &function,
                           LowerTileOp lower) {
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = op->getLoc();
  auto module = op->getParentOfType<ModuleOp>();
  std::string name = "tile_" + op->getName().stripDialect().str();
  auto definition = func::FuncOp::create(
      loc, name, rewriter.getFunctionType(TypeRange(), TypeRange()));
  definition.setPrivate();
  // Inlined again, nothing would be saved.
  definition->setAttr("passthrough", rewriter.getStrArrayAttr({"noinline"}));
  SymbolTable(module).insert(definition);
  Block *body = definition.addEntryBlock();
  rewriter.setInsertionPointToEnd(body);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (!mapping.contains(operand) && getConstant(operand))
      rewriter.clone(*operand.getDefiningOp(), mapping);
  Operation *copy = op->cloneWithoutRegions();
  rewriter.insert(copy);
  for (OpOperand &operand : copy->getOpOperands()) {
    if (Value constant = mapping.lookupOrNull(operand.get()))
      operand.set(constant);
    else
      operand.set(body->addArgument(operand.get().getType(), loc));
  }
  func::ReturnOp::create(rewriter, loc);

  bool streams = std::exchange(context.streams, false);
  std::optional<unsigned> ahead;
  if (auto global = dyn_cast<CopyOp>(op))
    ahead = findNextTile(context.launch, global);
  if (failed(lower(rewriter, context, copy, ahead)) ||
      failed(lowerPackedAccesses(rewriter, definition)))
    return failure();
  function.streams = std::exchange(context.streams, streams);

  for (auto scratch :
       llvm::make_early_inc_range(body->getOps<AllocFragmentOp>())) {
    function.scratch.push_back(scratch.getType());
    rewriter.replaceOp(scratch, body->addArgument(scratch.getType(), loc));
  }
  stripMemorySpaces(definition);
  definition.setType(
      rewriter.getFunctionType(body->getArgumentTypes(), TypeRange()));
  function.definition = definition;
  return success();
}

FailureOr<bool> SharedCode::lower(RewriterBase &rewriter,
                                  LaunchContext &context, Operation *op,
                                  LowerTileOp lower) {
  if (!mayShare(op))
    return false;
  Function &function = functions[getKind(op)];
  if (function.uses < 2)
    return false;
  if (!function.definition) {
    if (failed(build(rewriter, context, op, function, lower)))
      return failure();
    definitions.push_back(function.definition);
  }
  context.streams |= function.streams;

  OpBuilder::InsertionGuard guard(rewriter);
  // Ops run one after another, so that a launch needs the memory once.
  if (function.user != context.launch) {
    function.user = context.launch;
    function.memory.clear();
    rewriter.setInsertionPointToStart(&context.launch.getBody().front());
    for (MemRefType type : function.scratch)
      function.memory.push_back(
          AllocFragmentOp::create(rewriter, op->getLoc(), type, ValueRange()));
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (!getConstant(operand))
      operands.push_back(operand);
  llvm::append_range(operands, function.memory);
  rewriter.setInsertionPoint(op);
  func::CallOp::create(rewriter, op->getLoc(), function.definition.getSymName(),
                       TypeRange(), operands);
  rewriter.eraseOp(op);
  return true;
}
