//===- Widen.cpp - Operands of gemms in the type of the products -*- C++
//-*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gemm of narrow floats computes in f32. An on-chip buffer that copies fill
// with elements as they are and that only gemms read may as well hold them in
// f32: the copy converts each element once on its way, and the gemm finds them
// ready. Every value of the narrow type is one of f32, so nothing changes.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

static bool isNarrowFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

/// Whether `user` would do the same with a wider `buffer`.
static bool takesWider(Operation *user, Value buffer) {
  Type element = getElementTypeOrSelf(buffer.getType());
  if (isa<FillOp>(user))
    return true;
  if (auto copy = dyn_cast<CopyOp>(user))
    return copy.getTarget() == buffer && copy.getSource() != buffer &&
           copy.getSourceType().getElementType() == element;
  auto gemm = dyn_cast<GemmOp>(user);
  if (!gemm || gemm.getC() == buffer)
    return false;
  Type c = gemm.getCType().getElementType();
  return c.isF32() || c.isF16();
}

void cpu::widenGemmOperands(LaunchOp launch) {
  SmallVector<Value> buffers;
  launch.getBody().walk([&](Operation *op) {
    if (!isa<AllocSharedOp, AllocFragmentOp>(op))
      return;
    Value buffer = op->getResult(0);
    auto isGemm = [](Operation *user) { return isa<GemmOp>(user); };
    if (isNarrowFloat(getElementTypeOrSelf(buffer.getType())) &&
        llvm::any_of(buffer.getUsers(), isGemm) &&
        llvm::all_of(buffer.getUsers(),
                     [&](Operation *user) { return takesWider(user, buffer); }))
      buffers.push_back(buffer);
  });
  for (Value buffer : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    OpBuilder b(launch.getContext());
    for (Operation *user : buffer.getUsers())
      if (auto fill = dyn_cast<FillOp>(user)) {
        b.setInsertionPoint(fill);
        fill.getValueMutable().assign(
            convertElement(b, fill.getLoc(), fill.getValue(), b.getF32Type()));
      }
    buffer.setType(MemRefType::get(type.getShape(), b.getF32Type(),
                                   type.getLayout(), type.getMemorySpace()));
  }
}
