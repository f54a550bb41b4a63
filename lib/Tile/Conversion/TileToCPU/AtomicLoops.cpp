//===- AtomicLoops.cpp - Updates without an instruction ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream lowers the products among memref.atomic_rmw not at all, and
// memref.generic_atomic_rmw for integers only: processors exchange bits. Here
// both become a loop that computes the new element from the old one and tries
// to exchange their bits until nobody came between. So do all updates of bf16:
// LLVM's own loop passes the old element through an instruction that changes
// subnormal numbers, and then never finds it in memory.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

static unsigned getWidth(Value buffer) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

static Value getAddress(ImplicitLocOpBuilder &b, Value buffer,
                        ValueRange indices) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
  Value element = metadata.getOffset();
  for (auto [index, stride] : llvm::zip(indices, metadata.getStrides()))
    element = arith::AddIOp::create(b, element,
                                    arith::MulIOp::create(b, index, stride));
  int64_t bytes = std::max<int64_t>(getWidth(buffer) / 8, 1);
  Value distance =
      arith::MulIOp::create(b, element, constantIndex(b, b.getLoc(), bytes));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  Value address = arith::AddIOp::create(b, base, distance);
  address = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                  address);
}

/// Emits the loop; gives the old element.
static Value buildLoop(ImplicitLocOpBuilder &b, Value buffer,
                       ValueRange indices,
                       function_ref<Value(OpBuilder &, Value)> update) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  Type bits = b.getIntegerType(getWidth(buffer));
  auto cast = [&](Value value, Type type) -> Value {
    if (value.getType() == type)
      return value;
    if (element.isIndex())
      return arith::IndexCastOp::create(b, type, value);
    return arith::BitcastOp::create(b, type, value);
  };
  Value address = getAddress(b, buffer, indices);
  Value first = cast(memref::LoadOp::create(b, buffer, indices), bits);
  auto loop = scf::WhileOp::create(b, TypeRange(bits), ValueRange(first));
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, bits, b.getLoc());
  Value old = before->getArgument(0);
  Value wanted = cast(update(b, cast(old, element)), bits);
  auto exchange = LLVM::AtomicCmpXchgOp::create(
      b, address, old, wanted, LLVM::AtomicOrdering::acq_rel,
      LLVM::AtomicOrdering::monotonic);
  Value found = LLVM::ExtractValueOp::create(b, exchange, 0);
  Value done = LLVM::ExtractValueOp::create(b, exchange, 1);
  Value again =
      arith::XOrIOp::create(b, done, arith::ConstantIntOp::create(b, 1, 1));
  scf::ConditionOp::create(b, again, found);
  Block *after = b.createBlock(&loop.getAfter(), {}, bits, b.getLoc());
  scf::YieldOp::create(b, after->getArguments());
  b.setInsertionPointAfter(loop);
  return cast(loop.getResult(0), element);
}

static bool needsLoop(memref::AtomicRMWOp op) {
  using Kind = arith::AtomicRMWKind;
  return op.getKind() == Kind::mulf || op.getKind() == Kind::muli ||
         op.getType().isBF16();
}

static Value lower(ImplicitLocOpBuilder &b, memref::AtomicRMWOp op) {
  return buildLoop(b, op.getMemref(), op.getIndices(),
                   [&](OpBuilder &, Value old) -> Value {
                     if (op.getKind() == arith::AtomicRMWKind::assign)
                       return op.getValue();
                     return arith::getReductionOp(op.getKind(), b, b.getLoc(),
                                                  old, op.getValue());
                   });
}

static Value lower(ImplicitLocOpBuilder &b, memref::GenericAtomicRMWOp op) {
  return buildLoop(
      b, op.getMemref(), op.getIndices(), [&](OpBuilder &, Value old) {
        IRMapping mapping;
        Block &body = op.getRegion().front();
        mapping.map(body.getArgument(0), old);
        for (Operation &inner : body.without_terminator())
          b.clone(inner, mapping);
        return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
      });
}

void cpu::lowerAtomicLoops(RewriterBase &rewriter, Operation *root) {
  root->walk([&](Operation *op) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    if (auto simple = dyn_cast<memref::AtomicRMWOp>(op);
        simple && needsLoop(simple))
      rewriter.replaceOp(op, lower(b, simple));
    else if (auto generic = dyn_cast<memref::GenericAtomicRMWOp>(op);
             generic && isa<FloatType>(generic.getType()))
      rewriter.replaceOp(op, lower(b, generic));
  });
}
