//===- ExpandCopies.cpp - Copies between strided buffers --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Conversion/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tile {
#define GEN_PASS_DEF_EXPANDCOPIES
#include "Tile/Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;

/// True where the buffer is dense, or where nothing is known of it.
static bool hasNoLayout(Value buffer) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  return !type || type.getLayout().isIdentity();
}

namespace {
struct ExpandCopies : tile::impl::ExpandCopiesBase<ExpandCopies> {
  void runOnOperation() override {
    getOperation()->walk([](memref::CopyOp copy) {
      Value source = copy.getSource(), target = copy.getTarget();
      if ((hasNoLayout(source) && hasNoLayout(target)) ||
          !isa<MemRefType>(source.getType()) ||
          !isa<MemRefType>(target.getType()))
        return;
      OpBuilder builder(copy);
      linalg::CopyOp::create(builder, copy.getLoc(), source, target);
      copy.erase();
    });
  }
};
} // namespace
