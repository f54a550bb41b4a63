//===- Contraction.cpp - Products of matrices -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block owns a tile of C over one loop of A and one of B; it walks along K
// and multiplies with `tile.gemm`. Which loop plays M, N or K follows from the
// indexing maps, so that transposed operands, outputs and any number of batches
// are one case. Loops beyond those three run block by block where they are
// parallel and one by one where they are summed over.
//
//===----------------------------------------------------------------------===//

#include "Nest.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tile;
using namespace tile::linalg_to_tile;

namespace {
/// What the computation multiplies, behind conversions.
struct Factors {
  bool isUnsignedA = false, isUnsignedB = false;
};

/// The roles of the loops.
struct Roles {
  unsigned m, n, k;
  /// Parallel ones in the order of the output, and summed ones.
  SmallVector<unsigned> parallel, summed;
};
} // namespace

/// `value` as a converted argument of the block.
static BlockArgument getConverted(Value value, bool &isUnsigned) {
  if (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      return {};
    isUnsigned = isa<arith::ExtUIOp>(op);
    value = op->getOperand(0);
  }
  return dyn_cast<BlockArgument>(value);
}

/// Matches `c + convert(a) * convert(b)`, in any order.
static FailureOr<Factors> matchComputation(linalg::LinalgOp op) {
  Block *block = op.getBlock();
  Operation *sum = block->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return failure();
  BlockArgument c = block->getArgument(2);
  Value product = sum->getOperand(0) == c   ? sum->getOperand(1)
                  : sum->getOperand(1) == c ? sum->getOperand(0)
                                            : Value();
  Operation *multiply = product ? product.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply))
    return failure();
  Factors factors;
  BlockArgument x = getConverted(multiply->getOperand(0), factors.isUnsignedA);
  BlockArgument y = getConverted(multiply->getOperand(1), factors.isUnsignedB);
  if (!x || !y)
    return failure();
  if (x.getArgNumber() == 1 && y.getArgNumber() == 0)
    std::swap(factors.isUnsignedA, factors.isUnsignedB);
  else if (x.getArgNumber() != 0 || y.getArgNumber() != 1)
    return failure();
  return factors;
}

/// The type in which tiles of these are multiplied, or null. f16 and bf16
/// results are accumulated in f32 and rounded once.
static Type getAccumulator(Type a, Type b, Type c) {
  auto isFloat8 = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  if ((a.isF16() && b.isF16()) || (a.isBF16() && b.isBF16()) ||
      (isFloat8(a) && isFloat8(b)) || (a.isF32() && b.isF32()))
    return c.isF32() || c == a ? Float32Type::get(c.getContext()) : Type();
  if (a.isF64() && b.isF64() && c.isF64())
    return c;
  return a.isInteger(8) && b.isInteger(8) && c.isInteger(32) ? c : Type();
}

/// Chooses the loops: of those that only one operand shares with the output the
/// one nearest to the output's end.
static FailureOr<Roles> chooseRoles(linalg::LinalgOp op) {
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || dims->m.empty() || dims->n.empty() || dims->k.empty())
    return failure();
  AffineMap output = op.getMatchingIndexingMap(&op.getDpsInitsMutable()[0]);
  auto positionOf = [&](unsigned loop) {
    return *output.getResultPosition(getAffineDimExpr(loop, op.getContext()));
  };
  auto last = [&](ArrayRef<unsigned> loops) {
    return *llvm::max_element(loops, [&](unsigned x, unsigned y) {
      return positionOf(x) < positionOf(y);
    });
  };
  Roles roles{last(dims->m), last(dims->n), dims->k.back(), {}, {}};
  for (unsigned i = 0, rank = output.getNumResults(); i < rank; ++i)
    if (unsigned loop = output.getDimPosition(i);
        loop != roles.m && loop != roles.n)
      roles.parallel.push_back(loop);
  for (unsigned loop : dims->k)
    if (loop != roles.k)
      roles.summed.push_back(loop);
  size_t used = roles.parallel.size() + roles.summed.size() + 3;
  if (used != op.getNumLoops())
    return failure();
  return roles;
}

namespace {
/// One operand as a matrix over two loops, the others fixed to where the block
/// is.
class Matrix {
public:
  Matrix(linalg::LinalgOp op, OpOperand &operand, unsigned first,
         unsigned second)
      : buffer(operand.get()), map(op.getMatchingIndexingMap(&operand)) {
    auto position = [&](unsigned loop) {
      return *map.getResultPosition(getAffineDimExpr(loop, op.getContext()));
    };
    isTransposed = position(first) > position(second);
    rows = isTransposed ? second : first;
    columns = isTransposed ? first : second;
  }

  /// The two loops in the order in which the buffer has them.
  SmallVector<unsigned> loops() const { return {rows, columns}; }

  /// The buffer with the two loops as its only dimensions and the offsets of
  /// the tile in it.
  std::pair<Value, SmallVector<OpFoldResult>> tile(Nest &nest) const {
    ImplicitLocOpBuilder &b = nest.builder();
    unsigned rank = map.getNumResults();
    SmallVector<OpFoldResult> all;
    for (unsigned i = 0; i < rank; ++i)
      all.push_back(nest.origins()[map.getDimPosition(i)]);
    // A tile has ones in front by itself.
    if (map.getDimPosition(rank - 2) == rows &&
        map.getDimPosition(rank - 1) == columns)
      return {buffer, all};
    SmallVector<OpFoldResult> offsets, sizes;
    SmallVector<int64_t> shape;
    auto type = cast<MemRefType>(buffer.getType());
    for (unsigned i = 0; i < rank; ++i) {
      unsigned loop = map.getDimPosition(i);
      bool isKept = loop == rows || loop == columns;
      offsets.push_back(isKept ? OpFoldResult(b.getIndexAttr(0)) : all[i]);
      if (isKept)
        shape.push_back(type.getDimSize(i));
      sizes.push_back(
          !isKept ? OpFoldResult(b.getIndexAttr(1))
          : type.isDynamicDim(i)
              ? OpFoldResult(b.createOrFold<memref::DimOp>(buffer, i))
              : OpFoldResult(b.getIndexAttr(type.getDimSize(i))));
    }
    SmallVector<OpFoldResult> strides(rank, b.getIndexAttr(1));
    auto viewType = memref::SubViewOp::inferRankReducedResultType(
        shape, type, offsets, sizes, strides);
    Value view = memref::SubViewOp::create(b, cast<MemRefType>(viewType),
                                           buffer, offsets, sizes, strides);
    return {view, {nest.origins()[rows], nest.origins()[columns]}};
  }

  bool isTransposed;

private:
  Value buffer;
  AffineMap map;
  unsigned rows, columns;
};
} // namespace

LogicalResult linalg_to_tile::lowerContraction(RewriterBase &rewriter,
                                               linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return rewriter.notifyMatchFailure(op, "is no product of two operands");
  FailureOr<Factors> factors = matchComputation(op);
  if (failed(factors))
    return rewriter.notifyMatchFailure(op, "computes something else");
  FailureOr<Roles> roles = chooseRoles(op);
  if (failed(roles))
    return rewriter.notifyMatchFailure(op, "is no product of matrices");
  OpOperand &inA = *op.getDpsInputOperand(0), &inB = *op.getDpsInputOperand(1);
  OpOperand &out = op.getDpsInitsMutable()[0];
  auto elementOf = [](OpOperand &operand) {
    return getElementTypeOrSelf(operand.get().getType());
  };
  Type type = getAccumulator(elementOf(inA), elementOf(inB), elementOf(out));
  if (!type)
    return rewriter.notifyMatchFailure(op, "no gemm multiplies these types");

  Nest nest(op);
  Tunables tunables(op);
  auto setTile = [&](unsigned loop, StringRef role) {
    Loop &it = nest.loops()[loop];
    it.tile = tunables.get(role, it.staticExtent, 64, 16);
  };
  setTile(roles->m, "m");
  setTile(roles->n, "n");
  setTile(roles->k, "k");

  Matrix a(op, inA, roles->m, roles->k), b(op, inB, roles->k, roles->n);
  // Where the output has N in front of M, its transpose is computed from the
  // transposes of A and B.
  Matrix c(op, out, roles->m, roles->n);
  SmallVector<unsigned> parallel = roles->parallel;
  llvm::append_range(parallel, c.loops());
  nest.launch(parallel);
  ImplicitLocOpBuilder &builder = nest.builder();
  Value sums = nest.allocate(c.loops(), type);
  Value tileA = nest.allocate(a.loops(), elementOf(inA), /*shared=*/true);
  Value tileB = nest.allocate(b.loops(), elementOf(inB), /*shared=*/true);
  auto fetch = [&](const Matrix &matrix, Value tile) {
    auto [buffer, offsets] = matrix.tile(nest);
    CopyOp::create(builder, buffer, offsets, tile, ArrayRef<OpFoldResult>());
  };
  fetch(c, sums);
  SmallVector<Operation *> serial;
  for (unsigned loop : roles->summed)
    serial.push_back(nest.runAlong(loop));
  Operation *loop = nest.runAlong(roles->k);
  fetch(a, tileA);
  fetch(b, tileB);
  bool swapped = c.isTransposed;
  auto gemm = GemmOp::create(
      builder, swapped ? tileB : tileA, swapped ? tileA : tileB, sums,
      /*transpose_a=*/swapped ? !b.isTransposed : a.isTransposed,
      /*transpose_b=*/swapped ? !a.isTransposed : b.isTransposed,
      /*clear=*/false, /*policy=*/GemmPolicyAttr());
  gemm.setUnsignedA(swapped ? factors->isUnsignedB : factors->isUnsignedA);
  gemm.setUnsignedB(swapped ? factors->isUnsignedA : factors->isUnsignedB);
  nest.leave(loop);
  for (Operation *outer : llvm::reverse(serial))
    nest.leave(outer);
  auto [buffer, offsets] = c.tile(nest);
  CopyOp::create(builder, sums, ArrayRef<OpFoldResult>(), buffer, offsets);
  rewriter.eraseOp(op);
  return success();
}
