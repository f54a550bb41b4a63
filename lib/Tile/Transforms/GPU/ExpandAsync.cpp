//===- ExpandAsync.cpp - Products that are waited for at once ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/GPUPasses.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_TILEEXPANDASYNC
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

namespace {
struct ExpandAsyncPass : tile::impl::TileExpandAsyncBase<ExpandAsyncPass> {
  void runOnOperation() override {
    SmallVector<GemmAsyncOp> products;
    SmallVector<GemmWaitOp> waits;
    getOperation()->walk([&](Operation *op) {
      if (auto product = dyn_cast<GemmAsyncOp>(op))
        products.push_back(product);
      if (auto wait = dyn_cast<GemmWaitOp>(op))
        waits.push_back(wait);
    });
    for (GemmAsyncOp product : products) {
      OpBuilder builder(product);
      // The two have the same operands and attributes.
      OperationState state(product.getLoc(), GemmOp::getOperationName());
      state.addOperands(product->getOperands());
      state.addAttributes(product->getAttrs());
      builder.create(state);
      product.erase();
    }
    for (GemmWaitOp wait : waits)
      wait.erase();
    numProducts += products.size();
  }
};
} // namespace
