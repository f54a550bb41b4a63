//===- Stream.cpp - Stores around the caches --------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ordinary store first reads the line it writes to. Where a result is larger
// than the caches near the cores, whoever reads it next does not find it there
// anyway, and writing it by streaming stores saves a third of the traffic of a
// copy. They need whole, aligned lines, which is tested in front of the loops;
// and other cores see them only behind a fence, which ends each block.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

/// The size from which results are streamed: some second-level caches' worth.
static constexpr int64_t kStreamBytes = int64_t(16) << 20;

Value cpu::mayStream(OpBuilder &b, Location loc, Value buffer,
                     ValueRange start) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bytes = getElementBits(type.getElementType()) / 8;
  if (!isGlobal(type) || !isContiguous(type) || bytes == 0)
    return {};
  if (type.hasStaticShape() && getSizeInBytes(type) < kStreamBytes)
    return {};
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, buffer);
  auto multiply = [&](Value x, Value y) {
    return b.createOrFold<arith::MulIOp>(loc, x, y);
  };
  Value width = constantIndex(b, loc, bytes);
  Value size = width, place = metadata.getOffset();
  // Bits below the line in any of the addresses that matter.
  Value bits = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  for (auto [dim, index] : llvm::enumerate(start)) {
    size = multiply(size, metadata.getSizes()[dim]);
    Value stride = metadata.getStrides()[dim];
    place = addIndex(b, loc, place, multiply(index, stride));
    if (dim + 1 != start.size())
      bits = arith::OrIOp::create(b, loc, bits, multiply(stride, width));
  }
  bits = arith::OrIOp::create(b, loc, bits, multiply(place, width));
  Value rest = arith::AndIOp::create(b, loc, bits,
                                     constantIndex(b, loc, kAlignment - 1));
  Value isAligned = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          rest, constantIndex(b, loc, 0));
  Value isLarge = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, size,
                                        constantIndex(b, loc, kStreamBytes));
  return arith::AndIOp::create(b, loc, isAligned, isLarge);
}

void cpu::buildStore(OpBuilder &b, Location loc, Value vector, Value buffer,
                     ValueRange indices, bool stream) {
  auto type = cast<VectorType>(vector.getType());
  int64_t bits = type.getNumElements() * getElementBits(type.getElementType());
  if (stream && bits % (8 * kAlignment) == 0) {
    vector::StoreOp::create(b, loc, vector, buffer, indices,
                            /*nontemporal=*/true, llvm::Align(kAlignment));
    return;
  }
  vector::StoreOp::create(b, loc, vector, buffer, indices);
}
