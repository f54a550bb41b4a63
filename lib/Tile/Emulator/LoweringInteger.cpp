//===- LoweringInteger.cpp - Integer arithmetic ----------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA sections "Integer Arithmetic Instructions" and "Extended-Precision
// Integer Arithmetic". Opcodes shared with floats decide here by their type.
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::StringRef;
using llvm::Value;
using llvm::Intrinsic::ID;
namespace Intrinsic = llvm::Intrinsic;

Value *FunctionLowering::mapLanes(
    Type type, llvm::ArrayRef<Value *> operands,
    llvm::function_ref<Value *(llvm::ArrayRef<Value *>)> body) {
  if (type.lanes == 1)
    return body(operands);
  Value *packed = constant(0, type.bits);
  unsigned width = type.laneBits();
  for (unsigned lane = 0; lane < type.lanes; ++lane) {
    llvm::SmallVector<Value *, 3> parts;
    for (Value *operand : operands)
      parts.push_back(
          B.CreateTrunc(B.CreateLShr(operand, lane * width), intType(width)));
    Value *result = B.CreateZExt(body(parts), intType(type.bits));
    packed = B.CreateOr(packed, B.CreateShl(result, lane * width));
  }
  return packed;
}

void FunctionLowering::lowerAdd(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  if (type->isFloat())
    return lowerFloatBinary(I, *type, "add");
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  if (I.take("cc")) {
    Value *sum = B.CreateAdd(a, b);
    B.CreateStore(B.CreateICmpULT(sum, a), carry);
    return write(I, 0, sum);
  }
  bool saturate = I.take("sat");
  write(I, 0, mapLanes(*type, {a, b}, [&](llvm::ArrayRef<Value *> v) {
          return saturate
                     ? B.CreateBinaryIntrinsic(Intrinsic::sadd_sat, v[0], v[1])
                     : B.CreateAdd(v[0], v[1]);
        }));
}

void FunctionLowering::lowerSub(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  if (type->isFloat())
    return lowerFloatBinary(I, *type, "sub");
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  if (I.take("cc"))
    // The flag is a borrow for subtraction.
    B.CreateStore(B.CreateICmpULT(a, b), carry);
  bool saturate = I.take("sat");
  write(I, 0, mapLanes(*type, {a, b}, [&](llvm::ArrayRef<Value *> v) {
          return saturate
                     ? B.CreateBinaryIntrinsic(Intrinsic::ssub_sat, v[0], v[1])
                     : B.CreateSub(v[0], v[1]);
        }));
}

void FunctionLowering::lowerAddc(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  bool setsCarry = I.take("cc");
  llvm::Type *wide = intType(type->bits + 1);
  Value *sum = B.CreateAdd(B.CreateZExt(readTyped(I, 1, *type), wide),
                           B.CreateZExt(readTyped(I, 2, *type), wide));
  sum =
      B.CreateAdd(sum, B.CreateZExt(B.CreateLoad(B.getInt1Ty(), carry), wide));
  if (setsCarry)
    B.CreateStore(B.CreateTrunc(B.CreateLShr(sum, type->bits), B.getInt1Ty()),
                  carry);
  write(I, 0, B.CreateTrunc(sum, intType(type->bits)));
}

void FunctionLowering::lowerSubc(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  bool setsCarry = I.take("cc");
  llvm::Type *wide = intType(type->bits + 1);
  Value *difference = B.CreateSub(B.CreateZExt(readTyped(I, 1, *type), wide),
                                  B.CreateZExt(readTyped(I, 2, *type), wide));
  difference = B.CreateSub(
      difference, B.CreateZExt(B.CreateLoad(B.getInt1Ty(), carry), wide));
  if (setsCarry)
    B.CreateStore(
        B.CreateTrunc(B.CreateLShr(difference, type->bits), B.getInt1Ty()),
        carry);
  write(I, 0, B.CreateTrunc(difference, intType(type->bits)));
}

void FunctionLowering::lowerMadc(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  bool high = I.take("hi"), setsCarry = I.take("cc");
  I.take("lo");
  llvm::Type *wide = intType(2 * type->bits);
  auto extend = [&](Value *v) {
    return type->isSigned() ? B.CreateSExt(v, wide) : B.CreateZExt(v, wide);
  };
  Value *product = B.CreateMul(extend(readTyped(I, 1, *type)),
                               extend(readTyped(I, 2, *type)));
  if (high)
    product = B.CreateLShr(product, type->bits);
  llvm::Type *plus = intType(type->bits + 1);
  Value *sum = B.CreateAdd(
      B.CreateZExt(B.CreateTrunc(product, intType(type->bits)), plus),
      B.CreateZExt(readTyped(I, 3, *type), plus));
  sum =
      B.CreateAdd(sum, B.CreateZExt(B.CreateLoad(B.getInt1Ty(), carry), plus));
  if (setsCarry)
    B.CreateStore(B.CreateTrunc(B.CreateLShr(sum, type->bits), B.getInt1Ty()),
                  carry);
  write(I, 0, B.CreateTrunc(sum, intType(type->bits)));
}

void FunctionLowering::lowerMul(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  if (type->isFloat())
    return lowerFloatBinary(I, *type, "mul");
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  int part = I.takeOneOf({"lo", "hi", "wide"});
  if (part <= 0)
    return write(I, 0, B.CreateMul(a, b));
  llvm::Type *wide = intType(2 * type->bits);
  Value *product =
      type->isSigned()
          ? B.CreateMul(B.CreateSExt(a, wide), B.CreateSExt(b, wide))
          : B.CreateMul(B.CreateZExt(a, wide), B.CreateZExt(b, wide));
  write(I, 0,
        part == 2 ? product
                  : B.CreateTrunc(B.CreateLShr(product, type->bits),
                                  intType(type->bits)));
}

void FunctionLowering::lowerMad(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  if (type->isFloat())
    return lowerFloatFma(I, *type);
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  int part = I.takeOneOf({"lo", "hi", "wide"});
  bool setsCarry = I.take("cc"), saturate = I.take("sat");
  llvm::Type *wide = intType(2 * type->bits);
  auto extend = [&](Value *v) {
    return type->isSigned() ? B.CreateSExt(v, wide) : B.CreateZExt(v, wide);
  };
  Value *product = B.CreateMul(extend(a), extend(b));
  if (part == 2) {
    Type sum{type->kind, 2 * type->bits, 1};
    return write(I, 0, B.CreateAdd(product, readTyped(I, 3, sum)));
  }
  Value *c = readTyped(I, 3, *type);
  if (part == 1)
    product = B.CreateLShr(product, type->bits);
  product = B.CreateTrunc(product, intType(type->bits));
  Value *sum = saturate
                   ? B.CreateBinaryIntrinsic(Intrinsic::sadd_sat, product, c)
                   : B.CreateAdd(product, c);
  if (setsCarry)
    B.CreateStore(B.CreateICmpULT(sum, c), carry);
  write(I, 0, sum);
}

void FunctionLowering::lowerMul24(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  bool high = I.take("hi");
  bool saturate = I.take("sat");
  I.take("lo");
  auto narrow = [&](Value *v) {
    v = B.CreateShl(B.CreateZExt(v, B.getInt64Ty()), 40);
    return type->isSigned() ? B.CreateAShr(v, 40) : B.CreateLShr(v, 40);
  };
  Value *product = B.CreateMul(narrow(readTyped(I, 1, *type)),
                               narrow(readTyped(I, 2, *type)));
  if (high)
    product = B.CreateLShr(product, 16);
  product = B.CreateTrunc(product, B.getInt32Ty());
  if (I->opcode == "mad24") {
    Value *c = readTyped(I, 3, *type);
    product = saturate
                  ? B.CreateBinaryIntrinsic(Intrinsic::sadd_sat, product, c)
                  : B.CreateAdd(product, c);
  }
  write(I, 0, product);
}

void FunctionLowering::lowerDiv(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  if (type->isFloat())
    return lowerFloatBinary(I, *type, "div");
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  // Division by zero is unspecified in PTX; it must not trap the host.
  Value *zero = constant(0, type->bits), *ones = constant(~0ull, type->bits);
  Value *isZero = B.CreateICmpEQ(b, zero);
  if (!type->isSigned()) {
    Value *safe = B.CreateSelect(isZero, constant(1, type->bits), b);
    return write(I, 0, B.CreateSelect(isZero, ones, B.CreateUDiv(a, safe)));
  }
  Value *isNegation = B.CreateICmpEQ(b, ones);
  Value *safe = B.CreateSelect(B.CreateOr(isZero, isNegation),
                               constant(1, type->bits), b);
  Value *quotient =
      B.CreateSelect(isNegation, B.CreateNeg(a), B.CreateSDiv(a, safe));
  write(I, 0, B.CreateSelect(isZero, ones, quotient));
}

void FunctionLowering::lowerRem(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  Value *zero = constant(0, type->bits), *one = constant(1, type->bits);
  Value *isZero = B.CreateICmpEQ(b, zero);
  Value *avoid = isZero;
  if (type->isSigned())
    avoid = B.CreateOr(isZero, B.CreateICmpEQ(b, constant(~0ull, type->bits)));
  Value *safe = B.CreateSelect(avoid, one, b);
  Value *remainder =
      type->isSigned() ? B.CreateSRem(a, safe) : B.CreateURem(a, safe);
  write(I, 0, B.CreateSelect(isZero, a, remainder));
}

void FunctionLowering::lowerAbs(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  if (type->isFloat())
    return lowerFloatUnary(I, *type, "abs");
  write(I, 0,
        B.CreateBinaryIntrinsic(Intrinsic::abs, readTyped(I, 1, *type),
                                B.getFalse()));
}

void FunctionLowering::lowerNeg(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  if (type->isFloat())
    return lowerFloatUnary(I, *type, "neg");
  write(I, 0, B.CreateNeg(readTyped(I, 1, *type)));
}

void FunctionLowering::lowerMin(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  if (type->isFloat())
    return lowerFloatMinMax(I, *type, false);
  bool relu = I.take("relu");
  ID id = type->isSigned() ? Intrinsic::smin : Intrinsic::umin;
  write(I, 0,
        mapLanes(*type, {readTyped(I, 1, *type), readTyped(I, 2, *type)},
                 [&](llvm::ArrayRef<Value *> v) {
                   Value *m = B.CreateBinaryIntrinsic(id, v[0], v[1]);
                   return relu ? B.CreateBinaryIntrinsic(
                                     Intrinsic::smax, m,
                                     constant(0, type->laneBits()))
                               : m;
                 }));
}

void FunctionLowering::lowerMax(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  if (type->isFloat())
    return lowerFloatMinMax(I, *type, true);
  bool relu = I.take("relu");
  ID id = type->isSigned() ? Intrinsic::smax : Intrinsic::umax;
  write(I, 0,
        mapLanes(*type, {readTyped(I, 1, *type), readTyped(I, 2, *type)},
                 [&](llvm::ArrayRef<Value *> v) {
                   Value *m = B.CreateBinaryIntrinsic(id, v[0], v[1]);
                   return relu ? B.CreateBinaryIntrinsic(
                                     Intrinsic::smax, m,
                                     constant(0, type->laneBits()))
                               : m;
                 }));
}

void FunctionLowering::lowerSad(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  Value *isLess =
      type->isSigned() ? B.CreateICmpSLT(a, b) : B.CreateICmpULT(a, b);
  Value *distance =
      B.CreateSelect(isLess, B.CreateSub(b, a), B.CreateSub(a, b));
  write(I, 0, B.CreateAdd(readTyped(I, 3, *type), distance));
}

void FunctionLowering::lowerPopc(Inst &I) {
  if (std::optional<Type> type = requireType(I))
    write(I, 0,
          B.CreateZExtOrTrunc(
              B.CreateUnaryIntrinsic(Intrinsic::ctpop, readTyped(I, 1, *type)),
              B.getInt32Ty()));
}

void FunctionLowering::lowerClz(Inst &I) {
  if (std::optional<Type> type = requireType(I))
    write(I, 0,
          B.CreateZExtOrTrunc(B.CreateBinaryIntrinsic(Intrinsic::ctlz,
                                                      readTyped(I, 1, *type),
                                                      B.getFalse()),
                              B.getInt32Ty()));
}

void FunctionLowering::lowerBfind(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  bool shift = I.take("shiftamt");
  Value *a = readTyped(I, 1, *type);
  if (type->isSigned())
    a = B.CreateXor(a, B.CreateAShr(a, type->bits - 1));
  Value *leading = B.CreateZExtOrTrunc(
      B.CreateBinaryIntrinsic(Intrinsic::ctlz, a, B.getFalse()),
      B.getInt32Ty());
  Value *place =
      shift ? leading : B.CreateSub(B.getInt32(type->bits - 1), leading);
  Value *none = B.CreateICmpEQ(a, constant(0, type->bits));
  write(I, 0, B.CreateSelect(none, B.getInt32(~0u), place));
}

void FunctionLowering::lowerBrev(Inst &I) {
  if (std::optional<Type> type = requireType(I))
    write(
        I, 0,
        B.CreateUnaryIntrinsic(Intrinsic::bitreverse, readTyped(I, 1, *type)));
}

void FunctionLowering::lowerBfe(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  const char *name =
      type->isSigned() ? "tileEmuExtractSigned" : "tileEmuExtractUnsigned";
  Value *value =
      callRuntime(name, B.getInt64Ty(),
                  {B.CreateZExt(readTyped(I, 1, *type), B.getInt64Ty()),
                   read(I, 2, 32), read(I, 3, 32), B.getInt32(type->bits)});
  write(I, 0, B.CreateTrunc(value, intType(type->bits)));
}

void FunctionLowering::lowerBfi(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  auto wide = [&](unsigned operand) {
    return B.CreateZExt(readTyped(I, operand, *type), B.getInt64Ty());
  };
  Value *value = callRuntime("tileEmuInsertBits", B.getInt64Ty(),
                             {wide(1), wide(2), read(I, 3, 32), read(I, 4, 32),
                              B.getInt32(type->bits)});
  write(I, 0, B.CreateTrunc(value, intType(type->bits)));
}

void FunctionLowering::lowerBmsk(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  int mode = I.takeOneOf({"clamp", "wrap"});
  write(I, 0,
        callRuntime("tileEmuBitMask", B.getInt32Ty(),
                    {read(I, 1, 32), read(I, 2, 32), B.getInt32(mode == 1)}));
}

void FunctionLowering::lowerSzext(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  int mode = I.takeOneOf({"clamp", "wrap"});
  write(I, 0,
        callRuntime("tileEmuSignOrZeroExtend", B.getInt32Ty(),
                    {read(I, 1, 32), read(I, 2, 32), B.getInt32(mode == 1),
                     B.getInt32(type->isSigned())}));
}

void FunctionLowering::lowerFns(Inst &I) {
  if (requireType(I))
    write(I, 0,
          callRuntime("tileEmuFindNthSet", B.getInt32Ty(),
                      {read(I, 1, 32), read(I, 2, 32), read(I, 3, 32)}));
}

/// Sum of products of bytes of `a` with bytes or halves of `b`.
void FunctionLowering::lowerDp4a(Inst &I) {
  std::optional<Type> a = requireType(I), b = requireType(I);
  if (!a || !b)
    return;
  Value *x = read(I, 1, 32), *y = read(I, 2, 32), *sum = read(I, 3, 32);
  auto byte = [&](Value *v, unsigned lane, bool isSigned) {
    Value *part = B.CreateTrunc(B.CreateLShr(v, 8 * lane), B.getInt8Ty());
    return isSigned ? B.CreateSExt(part, B.getInt32Ty())
                    : B.CreateZExt(part, B.getInt32Ty());
  };
  for (unsigned lane = 0; lane < 4; ++lane)
    sum = B.CreateAdd(sum, B.CreateMul(byte(x, lane, a->isSigned()),
                                       byte(y, lane, b->isSigned())));
  write(I, 0, sum);
}

void FunctionLowering::lowerDp2a(Inst &I) {
  std::optional<Type> a = requireType(I), b = requireType(I);
  int part = I.takeOneOf({"lo", "hi"});
  if (!a || !b)
    return;
  if (part < 0)
    return fail(I, "expected .lo or .hi");
  Value *x = read(I, 1, 32), *y = read(I, 2, 32), *sum = read(I, 3, 32);
  auto piece = [&](Value *v, unsigned shift, unsigned bits, bool isSigned) {
    Value *p = B.CreateTrunc(B.CreateLShr(v, shift), intType(bits));
    return isSigned ? B.CreateSExt(p, B.getInt32Ty())
                    : B.CreateZExt(p, B.getInt32Ty());
  };
  for (unsigned lane = 0; lane < 2; ++lane)
    sum = B.CreateAdd(
        sum, B.CreateMul(piece(x, 16 * lane, 16, a->isSigned()),
                         piece(y, 16 * part + 8 * lane, 8, b->isSigned())));
  write(I, 0, sum);
}
