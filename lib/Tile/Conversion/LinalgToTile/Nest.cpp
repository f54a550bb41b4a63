//===- Nest.cpp - A linalg op as blocks over tiles --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nest.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::linalg_to_tile;

bool linalg_to_tile::isElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({1u, 4u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type,
             Float8E4M3FNType, Float8E5M2Type, IndexType>(type);
}

//===----------------------------------------------------------------------===//
// Tunables
//===----------------------------------------------------------------------===//

static bool isTaken(func::FuncOp function, StringRef prefix) {
  return llvm::any_of(
      function.getBody().front().getOps<TunableOp>(), [&](TunableOp tunable) {
        return tunable.getName().starts_with((prefix + "_").str());
      });
}

Tunables::Tunables(Operation *op)
    : function(op->getParentOfType<func::FuncOp>()),
      prefix(op->getName().stripDialect().str()) {
  std::replace(prefix.begin(), prefix.end(), '.', '_');
  std::string base = prefix;
  for (unsigned number = 2; isTaken(function, prefix); ++number)
    prefix = base + "_" + std::to_string(number);
}

Value Tunables::get(StringRef role, int64_t extent, int64_t preferred,
                    int64_t least) {
  if (extent == 1)
    return {};
  SmallVector<int64_t> choices;
  for (int64_t choice = least; choice <= 1024; choice *= 2)
    choices.push_back(choice);
  int64_t value = preferred;
  while (!ShapedType::isDynamic(extent) && value / 2 >= extent &&
         value / 2 >= least)
    value /= 2;
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToStart(&function.getBody().front());
  // Behind the others, so that they stand in the order of the ops.
  for (TunableOp tunable : function.getBody().front().getOps<TunableOp>())
    builder.setInsertionPointAfter(tunable);
  return TunableOp::create(builder, function.getLoc(), builder.getIndexType(),
                           (prefix + "_" + role).str(), choices, value);
}

//===----------------------------------------------------------------------===//
// Nest
//===----------------------------------------------------------------------===//

Nest::Nest(linalg::LinalgOp op) : op(op), b(op.getLoc(), op.getContext()) {
  b.setInsertionPoint(op);
  for (const Range &range : op.createLoopRanges(b, op.getLoc()))
    nest.push_back({getValueOrCreateConstantIndexOp(b, b.getLoc(), range.size),
                    ShapedType::kDynamic,
                    {}});
  for (auto [loop, extent] : llvm::zip(nest, op.getStaticLoopRanges()))
    loop.staticExtent = extent;
}

Nest::Nest(Operation *op, Value buffer)
    : op(op), b(op->getLoc(), op->getContext()) {
  b.setInsertionPoint(op);
  auto type = cast<MemRefType>(buffer.getType());
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    nest.push_back({b.createOrFold<memref::DimOp>(buffer, dim), extent, {}});
}

Value Nest::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

OpFoldResult Nest::tileOf(unsigned loop) {
  if (nest[loop].tile)
    return nest[loop].tile;
  return b.getIndexAttr(1);
}

/// A grid has three dimensions, of which the first counts fastest: the last two
/// loops take one each and the others share the third.
void Nest::launch(ArrayRef<unsigned> parallel) {
  Value one = constant(1);
  SmallVector<Value> counts;
  for (unsigned loop : parallel)
    counts.push_back(nest[loop].tile ? b.createOrFold<arith::CeilDivSIOp>(
                                           nest[loop].extent, nest[loop].tile)
                                     : nest[loop].extent);
  SmallVector<Value> grid;
  size_t own = std::min<size_t>(parallel.size(), 2);
  for (size_t i = 0; i < own; ++i)
    grid.push_back(counts[counts.size() - 1 - i]);
  ArrayRef<Value> shared = ArrayRef(counts).drop_back(own);
  Value product;
  for (Value count : shared)
    product = product ? b.createOrFold<arith::MulIOp>(product, count) : count;
  if (product)
    grid.push_back(product);
  if (grid.empty())
    grid.push_back(one);

  auto launch = LaunchOp::create(b, grid);
  launched = launch;
  b.setInsertionPoint(launch.getBody().front().getTerminator());
  starts.assign(nest.size(), Value());
  SmallVector<Value> ids(parallel.size());
  for (size_t i = 0; i < own; ++i)
    ids[ids.size() - 1 - i] = launch.getBlockIds()[i];
  if (product) {
    Value rest = launch.getBlockIds()[2];
    for (size_t i = shared.size(); i-- > 0;) {
      ids[i] = i == 0 ? rest : b.createOrFold<arith::RemUIOp>(rest, shared[i]);
      if (i != 0)
        rest = b.createOrFold<arith::DivUIOp>(rest, shared[i]);
    }
  }
  for (auto [loop, id] : llvm::zip(parallel, ids))
    starts[loop] = nest[loop].tile
                       ? b.createOrFold<arith::MulIOp>(id, nest[loop].tile)
                       : id;
  Value zero = constant(0);
  for (Value &start : starts)
    if (!start)
      start = zero;
}

void Nest::finish() { b.setInsertionPointAfter(launched); }

Operation *Nest::runAlong(unsigned loop) {
  Value zero = constant(0);
  if (!nest[loop].tile) {
    auto serial = scf::ForOp::create(b, zero, nest[loop].extent, constant(1));
    starts[loop] = serial.getInductionVar();
    b.setInsertionPointToStart(serial.getBody());
    return serial;
  }
  auto pipelined =
      PipelinedOp::create(b, zero, nest[loop].extent, nest[loop].tile,
                          std::optional<int64_t>(2), nullptr);
  starts[loop] = pipelined.getInductionVar();
  b.setInsertionPoint(pipelined.getBody().front().getTerminator());
  return pipelined;
}

Value Nest::allocate(ArrayRef<unsigned> dims, Type element, bool shared) {
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  for (unsigned loop : dims) {
    shape.push_back(nest[loop].tile ? ShapedType::kDynamic : 1);
    if (nest[loop].tile)
      sizes.push_back(nest[loop].tile);
  }
  if (dims.empty())
    shape.push_back(1);
  auto type = [&](Attribute space) {
    return MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  };
  if (shared)
    return AllocSharedOp::create(b, type(SharedAttr::get(b.getContext())),
                                 sizes);
  return AllocFragmentOp::create(b, type(FragmentAttr::get(b.getContext())),
                                 sizes);
}

void Nest::forEach(
    ArrayRef<unsigned> dims,
    function_ref<void(OpBuilder &, ValueRange, ValueRange)> body) {
  SmallVector<OpFoldResult> extents;
  for (unsigned loop : dims)
    extents.push_back(tileOf(loop));
  if (extents.empty())
    extents.push_back(b.getIndexAttr(1));
  ParallelOp::create(b, ArrayRef<OpFoldResult>(extents),
                     [&](OpBuilder &builder, Location loc, ValueRange at) {
                       SmallVector<Value> point(starts);
                       for (auto [loop, position] : llvm::zip(dims, at))
                         point[loop] = builder.createOrFold<arith::AddIOp>(
                             loc, starts[loop], position);
                       body(builder, at, point);
                     });
}

Value Nest::isInside(OpBuilder &builder, ArrayRef<unsigned> dims,
                     ValueRange point) {
  Value inside;
  for (unsigned loop : dims) {
    if (!nest[loop].tile)
      continue;
    Value test =
        arith::CmpIOp::create(builder, b.getLoc(), arith::CmpIPredicate::slt,
                              point[loop], nest[loop].extent);
    inside = inside ? arith::AndIOp::create(builder, b.getLoc(), inside, test)
                    : test;
  }
  return inside;
}

//===----------------------------------------------------------------------===//
// The op at a point
//===----------------------------------------------------------------------===//

static SmallVector<Value> indicesAt(OpBuilder &b, linalg::LinalgOp op,
                                    OpOperand &operand, ValueRange point) {
  SmallVector<Value> indices;
  for (AffineExpr expression : op.getMatchingIndexingMap(&operand).getResults())
    indices.push_back(affine::expandAffineExpr(b, op.getLoc(), expression,
                                               point, ValueRange()));
  return indices;
}

Value linalg_to_tile::loadAt(OpBuilder &b, linalg::LinalgOp op,
                             OpOperand &operand, ValueRange point) {
  if (op.isScalar(&operand))
    return operand.get();
  return memref::LoadOp::create(b, op.getLoc(), operand.get(),
                                indicesAt(b, op, operand, point));
}

void linalg_to_tile::storeAt(OpBuilder &b, linalg::LinalgOp op,
                             OpOperand &operand, ValueRange point,
                             Value value) {
  memref::StoreOp::create(b, op.getLoc(), value, operand.get(),
                          indicesAt(b, op, operand, point));
}

SmallVector<Value> linalg_to_tile::computeAt(OpBuilder &b, linalg::LinalgOp op,
                                             ValueRange point,
                                             IRMapping &mapping,
                                             Operation *except) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (!argument.use_empty() && !mapping.contains(argument))
      mapping.map(argument, loadAt(b, op, *input, point));
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (&inner == except)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(), point[index.getDim()]);
    else
      b.clone(inner, mapping);
  }
  SmallVector<Value> results;
  for (Value value : op.getBlock()->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

bool linalg_to_tile::mayRunAnywhere(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) {
                        // Upstream takes a remainder for defined everywhere.
                        return isa<linalg::IndexOp>(inner) ||
                               (isSpeculatable(&inner) &&
                                !isa<arith::RemSIOp, arith::RemUIOp>(inner));
                      });
}

SmallVector<unsigned> linalg_to_tile::loopsOf(linalg::LinalgOp op,
                                              utils::IteratorType kind) {
  SmallVector<unsigned> loops;
  for (auto [number, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == kind)
      loops.push_back(number);
  return loops;
}
