//===- Loop.cpp - Elementwise loops of one thread ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop that touches fragments is unrolled over the register slots of its
// layout, since registers have no addresses. Any other runs as a loop in which
// neighbouring threads take neighbouring points.
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;
using layout::FragmentLayout;

/// For each access to a fragment, the register of each slot of the loop.
static FailureOr<DenseMap<Operation *, std::vector<int64_t>>>
resolveRegisters(ParallelOp op, const FragmentLayout &layout) {
  DenseMap<Operation *, std::vector<int64_t>> result;
  auto resolve = [&](Operation *access, Value buffer,
                     ValueRange indices) -> LogicalResult {
    auto type = cast<MemRefType>(buffer.getType());
    if (!isFragment(type))
      return success();
    std::optional<LoopAccess> dims = getLoopAccess(op, buffer, indices);
    std::optional<FragmentLayout> held = getFragmentLayout(type);
    std::optional<std::vector<int64_t>> registers;
    if (dims && held)
      registers = getAccessRegisters(layout, *dims, type.getShape(), *held);
    if (!registers)
      return access->emitOpError("reaches an element that lies on another "
                                 "thread; run tile-infer-layouts first");
    result[access] = std::move(*registers);
    return success();
  };
  WalkResult walk = op.walk([&](Operation *inner) {
    LogicalResult status = success();
    if (auto load = dyn_cast<memref::LoadOp>(inner))
      status = resolve(inner, load.getMemRef(), load.getIndices());
    else if (auto store = dyn_cast<memref::StoreOp>(inner))
      status = resolve(inner, store.getMemRef(), store.getIndices());
    return failed(status) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return result;
}

LogicalResult ThreadCode::emitParallel(ParallelOp op) {
  if (llvm::is_contained(op.getStaticExtents(), 0))
    return success();
  FragmentLayout layout = getLoopLayout(op, threads);
  auto registers = resolveRegisters(op, layout);
  if (failed(registers))
    return failure();
  if (registers->empty())
    return emitDealtLoop(op);

  Slots slots(b, threadId, layout);
  point.registers = std::move(*registers);
  point.isActive = true;
  Block &body = op.getBody().front();
  LogicalResult status = success();
  for (int64_t reg = 0; reg < layout.numRegisters() && succeeded(status);
       ++reg) {
    OpBuilder::InsertionGuard guard(b);
    point.reg = reg;
    point.mayStore = slots.isOwner(reg);
    if (Value isUsed = slots.isUsed(reg)) {
      auto condition = scf::IfOp::create(b, isUsed, /*withElseRegion=*/false);
      b.setInsertionPointToStart(&condition.getThenRegion().front());
    }
    for (auto [argument, index] :
         llvm::zip(op.getInductionVars(), slots.coordinates(reg)))
      map.map(argument, index);
    status = emitBlock(body);
    b.setLoc(op.getLoc());
  }
  point = LoopPoint();
  return status;
}

LogicalResult ThreadCode::emitDealtLoop(ParallelOp op) {
  int64_t points = 1;
  for (int64_t extent : op.getStaticExtents())
    points *= extent;
  Value first = arith::IndexCastUIOp::create(b, b.getIndexType(), threadId);
  auto loop = scf::ForOp::create(b, first, constant(points), constant(threads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value linear = loop.getInductionVar();
  for (int64_t dim = op.getRank() - 1; dim >= 0; --dim) {
    Value extent = constant(op.getStaticExtents()[dim]);
    map.map(op.getInductionVars()[dim],
            dim ? b.createOrFold<arith::RemUIOp>(linear, extent) : linear);
    if (dim)
      linear = b.createOrFold<arith::DivUIOp>(linear, extent);
  }
  point.isActive = true;
  LogicalResult status = emitBlock(op.getBody().front());
  point = LoopPoint();
  return status;
}
