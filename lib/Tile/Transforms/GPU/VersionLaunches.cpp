//===- VersionLaunches.cpp - A launch for wide accesses ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The test is made once, on the host, so that neither kernel branches over the
// width of its accesses.
//
//===----------------------------------------------------------------------===//

#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/GPUPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tile;

namespace tile {
#define GEN_PASS_DEF_TILEVERSIONLAUNCHES
#include "Tile/Transforms/GPUPasses.h.inc"
} // namespace tile

static constexpr int64_t widestAccess = 16;

/// The global buffers that copies of the launch touch and that the function
/// takes as they are.
static SetVector<Value> getCopiedBuffers(LaunchOp launch) {
  SetVector<Value> buffers;
  launch.walk([&](Operation *op) {
    if (!isa<CopyOp, CopyAsyncOp, AtomicAddOp>(op))
      return;
    for (Value side : op->getOperands()) {
      if (!isa<MemRefType>(side.getType()))
        continue;
      Value root = getRootBuffer(side);
      if (isGlobal(side.getType()) &&
          (isa<BlockArgument>(root) || root.getDefiningOp<AllocGlobalOp>()) &&
          isa<MemRefType>(root.getType()) &&
          !launch.getBody().isAncestor(root.getParentRegion()))
        buffers.insert(root);
    }
  });
  return buffers;
}

/// What has to be a multiple of the width, in bytes, all or-ed together.
static Value getBits(ImplicitLocOpBuilder &b, ArrayRef<Value> buffers) {
  Value bits = arith::ConstantIndexOp::create(b, 0);
  auto include = [&](Value value) {
    bits = arith::OrIOp::create(b, bits, value);
  };
  auto includeElements = [&](Value count, int64_t width) {
    if (width >= 8) {
      Value bytes = arith::ConstantIndexOp::create(b, width / 8);
      include(arith::MulIOp::create(b, count, bytes));
    } else if (width == 1) {
      include(count);
    } else {
      // Two in a byte; an odd number is no multiple of anything.
      Value one = arith::ConstantIndexOp::create(b, 1);
      include(arith::ShRUIOp::create(b, count, one));
      include(arith::AndIOp::create(b, count, one));
    }
  };
  for (Value buffer : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    Type element = type.getElementType();
    int64_t width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
    include(memref::ExtractAlignedPointerAsIndexOp::create(b, buffer));
    includeElements(metadata.getOffset(), width);
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)))
      continue;
    for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
      if (ShapedType::isDynamic(strides[dim]))
        includeElements(metadata.getStrides()[dim], width);
    if (type.getRank() && type.isDynamicDim(type.getRank() - 1))
      includeElements(metadata.getSizes()[type.getRank() - 1], width);
  }
  return bits;
}

static bool versionLaunch(LaunchOp launch) {
  if (launch.getAlignment())
    return false;
  SetVector<Value> buffers = getCopiedBuffers(launch);
  if (buffers.empty())
    return false;
  ImplicitLocOpBuilder b(launch.getLoc(), launch);
  Value bits = getBits(b, buffers.getArrayRef());
  Value mask = arith::ConstantIndexOp::create(b, widestAccess - 1);
  Value rest = arith::AndIOp::create(b, bits, mask);
  Value isAligned = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest,
                                          arith::ConstantIndexOp::create(b, 0));
  auto condition = scf::IfOp::create(b, isAligned, /*withElseRegion=*/true);
  b.setInsertionPointToStart(&condition.getThenRegion().front());
  auto aligned = cast<LaunchOp>(b.clone(*launch));
  aligned.setAlignment(widestAccess);
  launch->moveBefore(&condition.getElseRegion().front(),
                     condition.getElseRegion().front().begin());
  return true;
}

namespace {
struct VersionLaunchesPass
    : tile::impl::TileVersionLaunchesBase<VersionLaunchesPass> {
  void runOnOperation() override {
    SmallVector<LaunchOp> launches;
    getOperation()->walk([&](LaunchOp launch) { launches.push_back(launch); });
    for (LaunchOp launch : launches)
      numVersioned += versionLaunch(launch);
  }
};
} // namespace
