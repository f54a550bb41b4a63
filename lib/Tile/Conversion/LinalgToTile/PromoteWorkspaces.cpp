//===- PromoteWorkspaces.cpp - Allocations as workspaces --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nest.h"
#include "Tile/Conversion/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {
#define GEN_PASS_DEF_PROMOTEWORKSPACES
#include "Tile/Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Whether `buffer` or a view of it may outlive the function or be named by
/// something other than itself.
static bool leaves(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    if (user->hasTrait<OpTrait::IsTerminator>() || isa<func::CallOp>(user))
      return true;
    return llvm::any_of(user->getResults(), [](Value result) {
      return isa<BaseMemRefType>(result.getType()) && leaves(result);
    });
  });
}

namespace {
struct PromoteWorkspaces
    : tile::impl::PromoteWorkspacesBase<PromoteWorkspaces> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    IRRewriter rewriter(&getContext());
    Block &body = getOperation().getBody().front();
    for (auto alloc :
         llvm::make_early_inc_range(body.getOps<memref::AllocOp>())) {
      MemRefType type = alloc.getType();
      if (type.getMemorySpace() || !type.getLayout().isIdentity() ||
          !linalg_to_tile::isElement(type.getElementType()) || leaves(alloc))
        continue;
      SmallVector<Operation *> frees;
      for (Operation *user : alloc->getUsers())
        if (isa<memref::DeallocOp>(user))
          frees.push_back(user);
      for (Operation *free : frees)
        rewriter.eraseOp(free);
      rewriter.setInsertionPoint(alloc);
      rewriter.replaceOpWithNewOp<AllocGlobalOp>(alloc, type,
                                                 alloc.getDynamicSizes());
      ++numPromoted;
    }
  }
};
} // namespace
