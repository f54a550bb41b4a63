//===- LoweringConvert.cpp - cvt -------------------------------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA section "cvt" and "cvt.pack". Narrowing to any small format is one
// runtime function over a description of the format.
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "NumberFormat.h"

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::StringRef;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

static NumberFormat formatOf(Type type) {
  switch (type.kind) {
  case TypeClass::BFloat:
    return NumberFormat::BFloat16;
  case TypeClass::E4M3:
    return NumberFormat::E4M3;
  case TypeClass::E5M2:
    return NumberFormat::E5M2;
  case TypeClass::TFloat:
    return NumberFormat::TF32;
  default:
    return NumberFormat::Half;
  }
}

Value *FunctionLowering::convertToInteger(Inst &I, Value *value, Type from,
                                          Type to, bool saturate) {
  llvm::Type *target = intType(to.bits);
  if (to.bits == from.bits && !saturate)
    return value;
  if (!saturate)
    return from.isSigned() ? B.CreateSExtOrTrunc(value, target)
                           : B.CreateZExtOrTrunc(value, target);
  // Through a type wide enough for either range.
  llvm::Type *wide = intType(128);
  Value *v =
      from.isSigned() ? B.CreateSExt(value, wide) : B.CreateZExt(value, wide);
  llvm::APInt low = to.isSigned()
                        ? llvm::APInt::getSignedMinValue(to.bits).sext(128)
                        : llvm::APInt(128, 0);
  llvm::APInt high = to.isSigned()
                         ? llvm::APInt::getSignedMaxValue(to.bits).zext(128)
                         : llvm::APInt::getMaxValue(to.bits).zext(128);
  v = B.CreateBinaryIntrinsic(Intrinsic::smax, v,
                              llvm::ConstantInt::get(wide, low));
  v = B.CreateBinaryIntrinsic(Intrinsic::smin, v,
                              llvm::ConstantInt::get(wide, high));
  (void)I;
  return B.CreateTrunc(v, target);
}

/// cvt.rn.f16x2.f32 d, a, b: a in the upper half. Also fp8 pairs.
void FunctionLowering::lowerNarrowPair(Inst &I, Type to, Type from,
                                       int rounding) {
  bool saturate = I.take("satfinite"), relu = I.take("relu");
  Type lane = to.lane();
  auto narrow = [&](Value *x) {
    return B.CreateTrunc(
        callRuntime("tileEmuNarrow", B.getInt32Ty(),
                    {x, B.getInt32(unsigned(formatOf(lane))),
                     B.getInt32(rounding),
                     B.getInt32((saturate ? narrowSaturate : 0u) |
                                (relu ? narrowRelu : 0u))}),
        intType(lane.bits));
  };
  Value *high, *low;
  if (from.lanes == 2) {
    // f16x2 or bf16x2 to an fp8 pair.
    Value *pair = readTyped(I, 1, from);
    low = toCompute(B.CreateTrunc(pair, B.getInt16Ty()), from.lane());
    high = toCompute(B.CreateTrunc(B.CreateLShr(pair, 16), B.getInt16Ty()),
                     from.lane());
  } else {
    high = toCompute(readTyped(I, 1, from), from);
    low = toCompute(readTyped(I, 2, from), from);
  }
  Value *packed = B.CreateOr(
      B.CreateShl(B.CreateZExt(narrow(high), intType(to.bits)), lane.bits),
      B.CreateZExt(narrow(low), intType(to.bits)));
  write(I, 0, packed);
}

/// fp8 pairs to f16x2.
void FunctionLowering::lowerWidenPair(Inst &I, Type to, Type from) {
  bool relu = I.take("relu");
  Value *pair = readTyped(I, 1, from);
  Value *packed = constant(0, 32);
  for (unsigned lane = 0; lane < 2; ++lane) {
    Value *byte = B.CreateAnd(
        B.CreateZExt(B.CreateLShr(pair, 8 * lane), B.getInt32Ty()), 0xff);
    Value *x = callRuntime("tileEmuWiden", B.getFloatTy(),
                           {byte, B.getInt32(unsigned(formatOf(from)))});
    FloatMode mode;
    mode.relu = relu;
    packed = B.CreateOr(
        packed, B.CreateShl(B.CreateZExt(finishFloat(x, to.lane(), mode),
                                         B.getInt32Ty()),
                            16 * lane));
  }
  write(I, 0, packed);
}

void FunctionLowering::lowerCvt(Inst &I) {
  if (I.take("pack")) {
    // cvt.pack.sat.convertType.abType{.b32} d, a, b{, c}.
    I.take("sat");
    std::optional<Type> to = requireType(I), from = requireType(I);
    std::optional<Type> rest = I.takeType();
    if (!to || !from)
      return;
    Value *a = convertToInteger(I, readTyped(I, 1, *from), *from, *to, true);
    Value *b = convertToInteger(I, readTyped(I, 2, *from), *from, *to, true);
    Value *packed =
        B.CreateOr(B.CreateShl(B.CreateZExt(a, B.getInt32Ty()), to->bits),
                   B.CreateZExt(b, B.getInt32Ty()));
    if (rest)
      packed = B.CreateOr(packed, B.CreateShl(read(I, 3, 32), 2 * to->bits));
    return write(I, 0, packed);
  }
  int rounding = I.takeOneOf({"rn", "rz", "rm", "rp", "rna"});
  int integral = I.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  bool ftz = I.take("ftz"), saturate = I.take("sat");
  std::optional<Type> to = requireType(I), from = requireType(I);
  if (!to || !from)
    return;
  if (to->lanes == 2 && from->bits <= 32) {
    if (from->kind == TypeClass::E4M3 || from->kind == TypeClass::E5M2)
      return lowerWidenPair(I, *to, *from);
    return lowerNarrowPair(I, *to, *from, std::max(rounding, 0));
  }
  if (to->kind == TypeClass::TFloat) {
    bool finite = I.take("satfinite"), relu = I.take("relu");
    Value *x = toCompute(readTyped(I, 1, *from), *from);
    return write(I, 0,
                 callRuntime("tileEmuNarrow", B.getInt32Ty(),
                             {x, B.getInt32(unsigned(NumberFormat::TF32)),
                              B.getInt32(std::max(rounding, 0)),
                              B.getInt32((finite ? narrowSaturate : 0u) |
                                         (relu ? narrowRelu : 0u))}));
  }
  // Sources and destinations may sit in wider registers; the destination is
  // then extended as its type says.
  auto writeInteger = [&](Value *value) {
    const Operand &d = I.operand(0);
    if (d.is(Operand::Kind::Register)) {
      unsigned width = function.registers[d.reg].type.bits;
      if (width > to->bits && to->isSigned())
        value = B.CreateSExt(value, intType(width));
    }
    write(I, 0, value);
  };
  if (!expectCount(I, 2, 2))
    return;
  Value *bits = readTyped(I, 1, *from);
  if (!from->isFloat() && !to->isFloat())
    return writeInteger(convertToInteger(I, bits, *from, *to, saturate));
  if (!from->isFloat()) {
    // A 64-bit integer may need two roundings to float; do it in one.
    llvm::Type *wide = B.getInt64Ty();
    Value *v =
        from->isSigned() ? B.CreateSExt(bits, wide) : B.CreateZExt(bits, wide);
    const char *name =
        from->isSigned() ? "tileEmuSignedToFloat" : "tileEmuUnsignedToFloat";
    FloatMode mode;
    mode.sat = saturate;
    if (to->bits == 64) {
      Value *x = callRuntime((std::string(name) + "64"), B.getDoubleTy(),
                             {v, B.getInt32(std::max(rounding, 0))});
      return write(I, 0, finishFloat(x, *to, mode));
    }
    if (to->bits == 32) {
      Value *x = callRuntime((std::string(name) + "32"), B.getFloatTy(),
                             {v, B.getInt32(std::max(rounding, 0))});
      return write(I, 0, finishFloat(x, *to, mode));
    }
    // To a half: exact in double up to 53 bits, far beyond a half's range.
    Value *x = callRuntime((std::string(name) + "64"), B.getDoubleTy(),
                           {v, B.getInt32(1)});
    Value *half =
        callRuntime("tileEmuNarrowDouble", B.getInt32Ty(),
                    {x, B.getInt32(unsigned(formatOf(*to))),
                     B.getInt32(std::max(rounding, 0)), B.getInt32(0)});
    return write(I, 0, half);
  }
  FloatMode mode;
  mode.ftz = ftz && from->bits == 32;
  Value *x = floatOperand(bits, *from, mode);
  if (integral >= 0 || !to->isFloat()) {
    static const llvm::Intrinsic::ID roundings[] = {
        Intrinsic::roundeven, Intrinsic::trunc, Intrinsic::floor,
        Intrinsic::ceil};
    if (integral < 0)
      return fail(I, "expected an integer rounding, such as .rzi");
    x = B.CreateUnaryIntrinsic(roundings[integral], x);
  }
  if (!to->isFloat()) {
    auto id = to->isSigned() ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
    return writeInteger(
        B.CreateIntrinsic(id, {intType(to->bits), x->getType()}, {x}));
  }
  // Float to float.
  FloatMode finish;
  finish.sat = saturate;
  finish.ftz = ftz && to->bits == 32;
  finish.relu = I.take("relu");
  bool finite = I.take("satfinite");
  if (to->bits == 64)
    return write(
        I, 0,
        finishFloat(from->bits == 64 ? x : B.CreateFPExt(x, B.getDoubleTy()),
                    *to, finish));
  if (to->bits == 32) {
    if (from->bits == 64)
      x = callRuntime("tileEmuDoubleToFloat", B.getFloatTy(),
                      {x, B.getInt32(std::max(rounding, 0))});
    return write(I, 0, finishFloat(x, *to, finish));
  }
  if (saturate) {
    FloatMode clamp;
    clamp.sat = true;
    Type wide{TypeClass::Float, from->bits == 64 ? 64u : 32u, 1};
    x = toCompute(finishFloat(x, wide, clamp), wide);
  }
  unsigned flags =
      (finite ? narrowSaturate : 0u) | (finish.relu ? narrowRelu : 0u);
  const char *name =
      x->getType()->isDoubleTy() ? "tileEmuNarrowDouble" : "tileEmuNarrow";
  write(I, 0,
        callRuntime(name, B.getInt32Ty(),
                    {x, B.getInt32(unsigned(formatOf(*to))),
                     B.getInt32(std::max(rounding, 0)), B.getInt32(flags)}));
}
