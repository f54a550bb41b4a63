//===- Packed.cpp - Two elements in a byte ----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A global buffer of i4 is addressed by halves of bytes: an integer, twice the
// byte's address and one more for the upper half. So rows and views may begin
// in the middle of a byte. Chunks are whole bytes. A single half is stored by
// compare-and-swap, since another thread may be storing the other one.
//
//===----------------------------------------------------------------------===//

#include "ThreadCode.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using namespace tile::gpu_code;

Value ThreadCode::getHalfAddress(Value pointer) {
  Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), pointer);
  return arith::ShLIOp::create(
      b, address, arith::ConstantIntOp::create(b, b.getI64Type(), 1));
}

/// The byte that a half lies in.
static Value getByte(ImplicitLocOpBuilder &b, Value half) {
  Value one = arith::ConstantIntOp::create(b, b.getI64Type(), 1);
  Value address = arith::ShRUIOp::create(b, half, one);
  return LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), 1), address);
}

/// Bits below the half in its byte.
static Value getShift(ImplicitLocOpBuilder &b, Value half) {
  Value one = arith::ConstantIntOp::create(b, b.getI64Type(), 1);
  Value four = arith::ConstantIntOp::create(b, b.getI64Type(), 4);
  Value isUpper = arith::AndIOp::create(b, half, one);
  return arith::TruncIOp::create(b, b.getI8Type(),
                                 arith::MulIOp::create(b, isUpper, four));
}

static View getBytes(ImplicitLocOpBuilder &b) {
  View bytes;
  bytes.element = b.getI8Type();
  bytes.space = Space::Global;
  return bytes;
}

Values ThreadCode::loadHalves(Value address, int64_t count, Value predicate) {
  Type half = b.getIntegerType(4);
  Values loaded = loadChunk(getBytes(b), getByte(b, address),
                            std::max<int64_t>(1, count / 2), predicate);
  if (count == 1)
    return {arith::TruncIOp::create(
        b, half,
        arith::ShRUIOp::create(b, loaded.front(), getShift(b, address)))};
  Value four = arith::ConstantIntOp::create(b, b.getI8Type(), 4);
  Values result;
  for (Value byte : loaded) {
    result.push_back(arith::TruncIOp::create(b, half, byte));
    result.push_back(arith::TruncIOp::create(
        b, half, arith::ShRUIOp::create(b, byte, four)));
  }
  return result;
}

void ThreadCode::storeHalves(Value address, ValueRange values,
                             Value predicate) {
  Type byte = b.getI8Type();
  auto widen = [&](Value value) -> Value {
    return arith::ExtUIOp::create(b, byte, value);
  };
  if (values.size() > 1) {
    Value four = arith::ConstantIntOp::create(b, byte, 4);
    Values bytes;
    for (size_t i = 0; i < values.size(); i += 2)
      bytes.push_back(arith::OrIOp::create(
          b, widen(values[i]),
          arith::ShLIOp::create(b, widen(values[i + 1]), four)));
    storeChunk(getBytes(b), getByte(b, address), bytes, predicate);
    return;
  }
  OpBuilder::InsertionGuard guard(b);
  if (predicate) {
    auto condition = scf::IfOp::create(b, predicate, /*withElseRegion=*/false);
    b.setInsertionPointToStart(&condition.getThenRegion().front());
  }
  Value shift = getShift(b, address);
  Value mask = arith::ConstantIntOp::create(b, byte, 15);
  mask = arith::ShLIOp::create(b, mask, shift);
  Value ones = arith::ConstantIntOp::create(b, byte, -1);
  Value others = arith::XOrIOp::create(b, mask, ones);
  Value placed = arith::ShLIOp::create(b, widen(values.front()), shift);
  // What has not been written yet need not be read: any guess will do.
  Value guess = arith::ConstantIntOp::create(b, byte, 0);
  updateBits(getByte(b, address), byte, guess, [&](Value before) -> Value {
    Value rest = arith::AndIOp::create(b, before, others);
    return arith::OrIOp::create(b, rest, placed);
  });
}
