//===- SplitCopies.cpp - Loops over the parts of large copies ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/GPUPasses.h"
#include "Tile/Transforms/LoopLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_TILESPLITCOPIES
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

/// The number of elements, or one more than may be unrolled.
static int64_t countElements(ArrayRef<int64_t> tile) {
  if (llvm::is_contained(tile, 0))
    return 0;
  int64_t elements = 1;
  for (int64_t extent : tile) {
    if (extent > mostStraightElements)
      return mostStraightElements + 1;
    elements = std::min(elements * extent, mostStraightElements + 1);
  }
  return elements;
}

namespace {
/// Of a tile that is copied, the part that one copy or loop stands for.
struct Side {
  SmallVector<OpFoldResult> offsets;
  SmallVector<int64_t> tile;

  /// The outermost dimension that is more than one element long.
  int64_t getLongDim() const {
    return llvm::find_if(tile, [](int64_t extent) { return extent != 1; }) -
           tile.begin();
  }
};

class Splitter {
public:
  explicit Splitter(CopyOp copy) : copy(copy), b(copy.getLoc(), copy) {}

  void run();

private:
  void emit(const Side &source, const Side &target);
  /// `size` elements along the outermost long dimension from `start` on.
  Side take(Side side, Value start, int64_t size);

  CopyOp copy;
  ImplicitLocOpBuilder b;
};
} // namespace

Side Splitter::take(Side side, Value start, int64_t size) {
  int64_t dim = side.getLongDim();
  OpFoldResult &offset = side.offsets[dim];
  Value before = getValueOrCreateConstantIndexOp(b, b.getLoc(), offset);
  offset = b.createOrFold<arith::AddIOp>(before, start);
  side.tile[dim] = size;
  return side;
}

void Splitter::emit(const Side &source, const Side &target) {
  if (countElements(source.tile) <= mostStraightElements) {
    auto part =
        CopyOp::create(b, copy.getSource(), source.offsets, copy.getTarget(),
                       target.offsets, source.tile, target.tile);
    part.getPadMutable().assign(copy.getPad() ? ValueRange(copy.getPad())
                                              : ValueRange());
    part.setCacheAttr(copy.getCacheAttr());
    part.setSaturate(copy.getSaturate());
    part.setIsUnsigned(copy.getIsUnsigned());
    part.setEngine(copy.getEngine());
    return;
  }
  int64_t dim = source.getLongDim(), extent = source.tile[dim];
  ArrayRef<int64_t> inner = ArrayRef(source.tile).drop_front(dim + 1);
  int64_t size =
      std::max<int64_t>(1, mostStraightElements / countElements(inner));
  int64_t rest = extent % size;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto loop = scf::ForOp::create(b, constant(0), constant(extent - rest),
                                 constant(size));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value start = loop.getInductionVar();
    emit(take(source, start, size), take(target, start, size));
  }
  if (rest) {
    Value start = constant(extent - rest);
    emit(take(source, start, rest), take(target, start, rest));
  }
}

void Splitter::run() {
  emit({copy.getMixedSourceOffsets(), *copy.getSourceTile()},
       {copy.getMixedTargetOffsets(), *copy.getTargetTile()});
  copy.erase();
}

namespace {
struct SplitCopiesPass : tile::impl::TileSplitCopiesBase<SplitCopiesPass> {
  void runOnOperation() override {
    SmallVector<CopyOp> large;
    getOperation()->walk([&](CopyOp copy) {
      if (isGlobal(copy.getSourceType()) && isGlobal(copy.getTargetType()) &&
          countElements(*copy.getSourceTile()) > mostStraightElements)
        large.push_back(copy);
    });
    for (CopyOp copy : large)
      Splitter(copy).run();
    numSplit += large.size();
  }
};
} // namespace
