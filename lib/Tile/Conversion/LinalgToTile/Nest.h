//===- Nest.h - A linalg op as blocks over tiles ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of this folder share: the loops of a linalg op, the tunables
// that say how much of each a block takes, the launch over blocks, and the op's
// scalar computation at a point of the loops. Tiles may reach over the ends of
// their loops: reads beyond a buffer give zero and writes are dropped, so only
// what is reduced needs to know where a loop ends.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_LINALGTOTILE_NEST_H
#define TILE_CONVERSION_LINALGTOTILE_NEST_H

#include "Tile/IR/TileDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tile::linalg_to_tile {

/// True for what the dialect's buffers may hold.
bool isElement(mlir::Type type);

/// Makes the tunables of one op, named after it: `matmul_m`, or `matmul_2_m`
/// where the function has a `matmul_m` already.
class Tunables {
public:
  explicit Tunables(mlir::Operation *op);
  /// A power of two, by default `preferred` or what covers `extent` if that is
  /// less. Extents of one need no tunable.
  mlir::Value get(llvm::StringRef role, int64_t extent, int64_t preferred,
                  int64_t least = 1);

private:
  mlir::func::FuncOp function;
  std::string prefix;
};

/// One loop of the op.
struct Loop {
  mlir::Value extent;
  /// The extent where the types tell, else `ShapedType::kDynamic`.
  int64_t staticExtent;
  /// How much of it a block takes at a time; null for one.
  mlir::Value tile;
};

/// A launch under construction.
class Nest {
public:
  /// Reads the loops of `op`; what it computes goes in front of `op`.
  explicit Nest(mlir::linalg::LinalgOp op);
  /// The same for an op whose loops run over `buffer`.
  Nest(mlir::Operation *op, mlir::Value buffer);

  mlir::ImplicitLocOpBuilder &builder() { return b; }
  llvm::MutableArrayRef<Loop> loops() { return nest; }

  /// Opens the launch, with a block for each tile of the loops `parallel`, and
  /// moves into it. The loops' origins in the block stand in `origins` then.
  void launch(llvm::ArrayRef<unsigned> parallel);
  llvm::ArrayRef<mlir::Value> origins() { return starts; }
  void setOrigin(unsigned loop, mlir::Value origin) { starts[loop] = origin; }
  /// Back to behind the launch.
  void finish();

  /// A serial loop over `loop`, in steps of its tile; moves into it.
  mlir::Operation *runAlong(unsigned loop);
  /// Behind the loop again.
  void leave(mlir::Operation *loop) { b.setInsertionPointAfter(loop); }

  mlir::Value constant(int64_t value);
  /// The extent of a tile: a value or the constant one.
  mlir::OpFoldResult tileOf(unsigned loop);
  /// A fragment with an extent for each of `dims`.
  mlir::Value allocate(llvm::ArrayRef<unsigned> dims, mlir::Type element,
                       bool shared = false);
  /// An elementwise loop over the tiles of `dims`; `body` gets the position in
  /// the tile and in the op's whole iteration space.
  void forEach(llvm::ArrayRef<unsigned> dims,
               llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange,
                                       mlir::ValueRange)>
                   body);
  /// Whether `point` lies before the ends of `dims`; null without dims.
  mlir::Value isInside(mlir::OpBuilder &builder, llvm::ArrayRef<unsigned> dims,
                       mlir::ValueRange point);

private:
  mlir::Operation *op;
  mlir::ImplicitLocOpBuilder b;
  llvm::SmallVector<Loop> nest;
  llvm::SmallVector<mlir::Value> starts;
  mlir::Operation *launched = nullptr;
};

/// The element of `operand` that belongs to `point`.
mlir::Value loadAt(mlir::OpBuilder &b, mlir::linalg::LinalgOp op,
                   mlir::OpOperand &operand, mlir::ValueRange point);
void storeAt(mlir::OpBuilder &b, mlir::linalg::LinalgOp op,
             mlir::OpOperand &operand, mlir::ValueRange point,
             mlir::Value value);

/// Runs the op's scalar computation at `point`, in which its outputs hold
/// `outputs`, and gives what it yields. Ops of `except` are left out.
llvm::SmallVector<mlir::Value>
computeAt(mlir::OpBuilder &b, mlir::linalg::LinalgOp op, mlir::ValueRange point,
          mlir::IRMapping &mapping, mlir::Operation *except = nullptr);

/// True where the computation may run for points that do not exist, on zeros.
bool mayRunAnywhere(mlir::linalg::LinalgOp op);

/// The loops of one kind, in order.
llvm::SmallVector<unsigned> loopsOf(mlir::linalg::LinalgOp op,
                                    mlir::utils::IteratorType kind);

// Each lowers `op`, or leaves it alone and fails.

/// A product of matrices, in any number of batches.
mlir::LogicalResult lowerContraction(mlir::RewriterBase &rewriter,
                                     mlir::linalg::LinalgOp op);
/// Sums and the like along one or more loops, by `tile.reduce`.
mlir::LogicalResult lowerReduction(mlir::RewriterBase &rewriter,
                                   mlir::linalg::LinalgOp op);
/// Any op whose outputs have an element for each point of the parallel loops;
/// its reductions run serially for each element.
mlir::LogicalResult lowerPointwise(mlir::RewriterBase &rewriter,
                                   mlir::linalg::LinalgOp op);
mlir::LogicalResult lowerSoftmax(mlir::RewriterBase &rewriter,
                                 mlir::linalg::SoftmaxOp op);

} // namespace tile::linalg_to_tile

#endif // TILE_CONVERSION_LINALGTOTILE_NEST_H
