//===- ShareCode.h - Functions for what is done again -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_TILETOCPU_SHARECODE_H
#define TILE_CONVERSION_TILETOCPU_SHARECODE_H

#include "Lowering.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace tile::cpu {

/// Lowers one op in place. `ahead` is the dimension of a copy's source along
/// which the next tile lies.
using LowerTileOp = llvm::function_ref<mlir::LogicalResult(
    mlir::RewriterBase &, LaunchContext &, mlir::Operation *,
    std::optional<unsigned> ahead)>;

/// The functions that several ops of a module share.
class SharedCode {
public:
  /// Counts what the launches, as yet not lowered, have in common.
  explicit SharedCode(llvm::ArrayRef<LaunchOp> launches);

  /// Replaces `op` by a call where others do the same; the first has the
  /// function made by `lower`. Gives false where it stands alone.
  mlir::FailureOr<bool> lower(mlir::RewriterBase &rewriter,
                              LaunchContext &context, mlir::Operation *op,
                              LowerTileOp lower);

  struct Function {
    unsigned uses = 0;
    mlir::func::FuncOp definition;
    /// It stores around the caches.
    bool streams = false;
    /// Arguments behind the operands: memory for its own use.
    llvm::SmallVector<mlir::MemRefType, 2> scratch;
    /// The launch that called it last, and the memory of that launch.
    LaunchOp user;
    llvm::SmallVector<mlir::Value, 2> memory;
  };

  /// In the order in which they were made.
  llvm::ArrayRef<mlir::func::FuncOp> getDefinitions() const {
    return definitions;
  }

private:
  llvm::DenseMap<mlir::ArrayAttr, Function> functions;
  llvm::SmallVector<mlir::func::FuncOp> definitions;
};

} // namespace tile::cpu

#endif // TILE_CONVERSION_TILETOCPU_SHARECODE_H
