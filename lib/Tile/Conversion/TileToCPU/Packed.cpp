//===- Packed.cpp - Two elements a byte -------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A global buffer of i4 holds element 2n in the lower and element 2n + 1 in the
// upper half of byte n; extents, offsets and strides count elements. LLVM would
// give each i4 a byte of its own, as on-chip buffers have it here, so accesses
// of global ones go to the bytes. Two blocks, or two lanes, may store the two
// halves of one byte at the same time, which is why a store is two atomic
// steps, each of which leaves the other half alone.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::cpu;

bool cpu::isPacked(MemRefType type) {
  return isGlobal(type) && type.getElementType().isInteger(4);
}

namespace {
/// Where an element lies: the address of its byte, and by how many bits it is
/// shifted there (i8).
struct Place {
  Value address, shift;
};
} // namespace

static Place getPlace(ImplicitLocOpBuilder &b, const GlobalAccess &access) {
  auto metadata = memref::ExtractStridedMetadataOp::create(b, access.buffer);
  Value element = metadata.getOffset();
  for (auto [index, stride] : llvm::zip(access.indices, metadata.getStrides()))
    element = arith::AddIOp::create(b, element,
                                    arith::MulIOp::create(b, index, stride));
  Value one = constantIndex(b, b.getLoc(), 1);
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, access.buffer);
  Value byte =
      arith::AddIOp::create(b, base, arith::ShRSIOp::create(b, element, one));
  byte = arith::IndexCastOp::create(b, b.getI64Type(), byte);
  Value address = LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), byte);
  Value half = arith::AndIOp::create(b, element, one);
  half = arith::IndexCastOp::create(b, b.getI8Type(), half);
  Value two = arith::ConstantIntOp::create(b, 2, 8);
  return {address, arith::ShLIOp::create(b, half, two)};
}

static Value load(ImplicitLocOpBuilder &b, const Place &place) {
  Value byte = LLVM::LoadOp::create(b, b.getI8Type(), place.address);
  byte = arith::ShRUIOp::create(b, byte, place.shift);
  return arith::TruncIOp::create(b, b.getIntegerType(4), byte);
}

static void store(ImplicitLocOpBuilder &b, const Place &place, Value value) {
  auto constant = [&](int64_t bits) -> Value {
    return arith::ConstantIntOp::create(b, bits, 8);
  };
  Value mask = arith::ShLIOp::create(b, constant(0x0f), place.shift);
  Value others = arith::XOrIOp::create(b, mask, constant(-1));
  Value bits = arith::ExtUIOp::create(b, b.getI8Type(), value);
  bits = arith::ShLIOp::create(b, bits, place.shift);
  LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::_and, place.address, others,
                            LLVM::AtomicOrdering::monotonic);
  LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::_or, place.address, bits,
                            LLVM::AtomicOrdering::monotonic);
}

LogicalResult cpu::lowerPackedAccesses(RewriterBase &rewriter,
                                       Operation *root) {
  SmallVector<Operation *> accesses;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != root && isa<LaunchOp>(op))
      return WalkResult::skip();
    std::optional<GlobalAccess> access = getGlobalAccess(op);
    if (access && isPacked(cast<MemRefType>(access->buffer.getType())))
      accesses.push_back(op);
    return WalkResult::advance();
  });
  OpBuilder::InsertionGuard guard(rewriter);
  for (Operation *op : accesses) {
    rewriter.setInsertionPoint(op);
    ImplicitLocOpBuilder b(op->getLoc(), rewriter);
    if (isa<memref::AtomicRMWOp, memref::GenericAtomicRMWOp>(op))
      return op->emitOpError("cannot combine elements of i4 in memory, which "
                             "share a byte; use i32");
    Place place = getPlace(b, *getGlobalAccess(op));
    if (isa<memref::LoadOp>(op)) {
      rewriter.replaceOp(op, load(b, place));
      continue;
    }
    store(b, place, cast<memref::StoreOp>(op).getValue());
    rewriter.eraseOp(op);
  }
  return success();
}
