//===- LoweringFloat.cpp - Floating-point arithmetic -----------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA sections "Floating Point Instructions" and "Half Precision Floating
// Point Instructions". Halves compute in float and round once: that is exact
// for sums, products and quotients, since 24 >= 2 * 11 + 2 bits; their fma goes
// through a function that rounds to odd first. Rounding modes other than
// nearest-even are left to functions that switch the host's mode.
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::StringRef;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

FunctionLowering::FloatMode FunctionLowering::takeFloatMode(Inst &I) {
  FloatMode mode;
  mode.rounding = std::max(0, I.takeOneOf({"rn", "rz", "rm", "rp"}));
  mode.ftz = I.take("ftz");
  mode.sat = I.take("sat");
  mode.relu = I.take("relu");
  return mode;
}

/// Subnormal single precision bits to a zero of the same sign.
Value *FunctionLowering::flush(Value *bits) {
  Value *exponent = B.CreateAnd(bits, B.getInt32(0x7f800000));
  Value *isTiny = B.CreateICmpEQ(exponent, B.getInt32(0));
  return B.CreateSelect(isTiny, B.CreateAnd(bits, B.getInt32(0x80000000)),
                        bits);
}

Value *FunctionLowering::toCompute(Value *bits, Type lane) {
  if (lane.bits == 64)
    return B.CreateBitCast(bits, B.getDoubleTy());
  if (lane.bits == 32)
    return B.CreateBitCast(bits, B.getFloatTy());
  if (lane.kind == TypeClass::BFloat)
    return B.CreateBitCast(B.CreateShl(B.CreateZExt(bits, B.getInt32Ty()), 16),
                           B.getFloatTy());
  return callRuntime("tileEmuHalfToFloat", B.getFloatTy(),
                     {B.CreateZExt(bits, B.getInt32Ty())});
}

/// Bits of the value in the lane's format; NaN is the one the hardware makes.
Value *FunctionLowering::fromCompute(Value *value, Type lane) {
  if (lane.bits == 64)
    return B.CreateBitCast(value, B.getInt64Ty());
  if (lane.bits == 32) {
    Value *isNaN = B.CreateFCmpUNO(value, value);
    return B.CreateSelect(isNaN, B.getInt32(0x7fffffff),
                          B.CreateBitCast(value, B.getInt32Ty()));
  }
  const char *name = lane.kind == TypeClass::BFloat ? "tileEmuFloatToBfloat"
                                                    : "tileEmuFloatToHalf";
  return B.CreateTrunc(callRuntime(name, B.getInt32Ty(), {value}),
                       B.getInt16Ty());
}

Value *FunctionLowering::floatOperand(Value *bits, Type lane,
                                      const FloatMode &mode) {
  if (mode.ftz && lane.bits == 32)
    bits = flush(bits);
  else if (mode.ftz && lane.kind == TypeClass::Float && lane.bits == 16)
    bits = B.CreateTrunc(callRuntime("tileEmuFlushHalf", B.getInt32Ty(),
                                     {B.CreateZExt(bits, B.getInt32Ty())}),
                         B.getInt16Ty());
  return toCompute(bits, lane);
}

Value *FunctionLowering::finishFloat(Value *value, Type lane,
                                     const FloatMode &mode) {
  auto number = [&](double x) {
    return llvm::ConstantFP::get(value->getType(), x);
  };
  if (mode.sat) {
    // NaN becomes +0: maximumnum prefers the number.
    value = B.CreateBinaryIntrinsic(Intrinsic::maximumnum, value, number(0.0));
    value = B.CreateBinaryIntrinsic(Intrinsic::minimumnum, value, number(1.0));
  }
  if (mode.relu) {
    Value *isNaN = B.CreateFCmpUNO(value, value);
    Value *clamped =
        B.CreateBinaryIntrinsic(Intrinsic::maximumnum, value, number(0.0));
    value = B.CreateSelect(isNaN, value, clamped);
  }
  Value *bits = fromCompute(value, lane);
  if (mode.ftz && lane.bits == 32)
    bits = flush(bits);
  else if (mode.ftz && lane.kind == TypeClass::Float && lane.bits == 16)
    bits = B.CreateTrunc(callRuntime("tileEmuFlushHalf", B.getInt32Ty(),
                                     {B.CreateZExt(bits, B.getInt32Ty())}),
                         B.getInt16Ty());
  return bits;
}

void FunctionLowering::lowerFloatBinary(Inst &I, Type type, StringRef op) {
  FloatMode mode = takeFloatMode(I);
  // The approximate divisions may be as exact as the true one.
  if (op == "div")
    I.takeOneOf({"approx", "full"});
  // add.f32.f16 and kin: mixed precision, the first operand is widened.
  std::optional<Type> second = I.takeType();
  Type first = second.value_or(type);
  Value *a = readTyped(I, 1, first), *b = readTyped(I, 2, type);
  Value *result;
  auto compute = [&](Value *x, Value *y) -> Value * {
    llvm::Type *t = x->getType();
    if (mode.rounding) {
      std::string name = ("tileEmuRounded" + op).str();
      name += t->isDoubleTy() ? "64" : "32";
      return callRuntime(name, t, {x, y, B.getInt32(mode.rounding)});
    }
    if (op == "add")
      return B.CreateFAdd(x, y);
    if (op == "sub")
      return B.CreateFSub(x, y);
    if (op == "mul")
      return B.CreateFMul(x, y);
    return B.CreateFDiv(x, y);
  };
  if (second) {
    Value *x = toCompute(a, first);
    result = finishFloat(compute(x, floatOperand(b, type, mode)), type, mode);
  } else {
    result = mapLanes(type, {a, b}, [&](llvm::ArrayRef<Value *> v) {
      Type lane = type.lane();
      return finishFloat(compute(floatOperand(v[0], lane, mode),
                                 floatOperand(v[1], lane, mode)),
                         lane, mode);
    });
  }
  write(I, 0, result);
}

void FunctionLowering::lowerFma(Inst &I) {
  if (std::optional<Type> type = requireType(I))
    lowerFloatFma(I, *type);
}

void FunctionLowering::lowerFloatFma(Inst &I, Type type) {
  FloatMode mode = takeFloatMode(I);
  if (I.take("oob"))
    return fail(I, "modifier '.oob' is not modelled here");
  std::optional<Type> second = I.takeType();
  Type factors = second.value_or(type);
  if (second && (type.bits != 32 || factors.lanes != 1))
    return fail(I, "this mix of types is not modelled");
  Value *a = readTyped(I, 1, factors), *b = readTyped(I, 2, factors);
  Value *c = readTyped(I, 3, type);
  Type lane = type.lane();
  auto compute = [&](Value *x, Value *y, Value *z) -> Value * {
    llvm::Type *t = x->getType();
    if (lane.bits == 16) {
      const char *name = lane.kind == TypeClass::BFloat ? "tileEmuFmaBfloat"
                                                        : "tileEmuFmaHalf";
      // Already rounded to the format, so rounding again changes nothing.
      return callRuntime(name, t, {x, y, z});
    }
    if (mode.rounding) {
      const char *name =
          t->isDoubleTy() ? "tileEmuRoundedfma64" : "tileEmuRoundedfma32";
      return callRuntime(name, t, {x, y, z, B.getInt32(mode.rounding)});
    }
    return B.CreateIntrinsic(Intrinsic::fma, {t}, {x, y, z});
  };
  if (second)
    return write(
        I, 0,
        finishFloat(compute(toCompute(a, factors), toCompute(b, factors),
                            floatOperand(c, type, mode)),
                    type, mode));
  write(I, 0, mapLanes(type, {a, b, c}, [&](llvm::ArrayRef<Value *> v) {
          return finishFloat(compute(floatOperand(v[0], lane, mode),
                                     floatOperand(v[1], lane, mode),
                                     floatOperand(v[2], lane, mode)),
                             lane, mode);
        }));
}

void FunctionLowering::lowerFloatMinMax(Inst &I, Type type, bool isMax) {
  FloatMode mode = takeFloatMode(I);
  bool keepNaN = I.take("NaN");
  bool xorSign = I.take("xorsign");
  if (xorSign && !I.take("abs"))
    return fail(I, "expected .abs behind .xorsign");
  bool absolute = !xorSign && I.take("abs");
  if (I.count() == 4 && (type.bits != 32 || type.lanes != 1))
    return fail(I, "three inputs are for .f32 only");
  Type lane = type.lane();
  auto choose = [&](Value *x, Value *y) {
    auto id = isMax     ? keepNaN ? Intrinsic::maximum : Intrinsic::maximumnum
              : keepNaN ? Intrinsic::minimum
                        : Intrinsic::minimumnum;
    return B.CreateBinaryIntrinsic(id, x, y);
  };
  llvm::SmallVector<Value *, 3> operands;
  for (unsigned i = 1; i < std::max(3u, I.count()); ++i)
    operands.push_back(readTyped(I, i, type));
  write(I, 0, mapLanes(type, operands, [&](llvm::ArrayRef<Value *> v) {
          Value *sign = nullptr, *result = nullptr;
          for (Value *bits : v) {
            Value *x = floatOperand(bits, lane, mode);
            if (xorSign) {
              sign = sign ? B.CreateXor(sign, bits) : bits;
            }
            if (xorSign || absolute)
              x = B.CreateUnaryIntrinsic(Intrinsic::fabs, x);
            result = result ? choose(result, x) : x;
          }
          Value *bits = finishFloat(result, lane, mode);
          if (!xorSign)
            return bits;
          Value *signBit = constant(1ull << (lane.bits - 1), lane.bits);
          return B.CreateOr(bits, B.CreateAnd(sign, signBit));
        }));
}

void FunctionLowering::lowerFloatUnary(Inst &I, Type type, StringRef op) {
  FloatMode mode = takeFloatMode(I);
  Type lane = type.lane();
  Value *a = readTyped(I, 1, type);
  write(I, 0, mapLanes(type, {a}, [&](llvm::ArrayRef<Value *> v) -> Value * {
          Value *bits = v[0];
          if (mode.ftz && lane.bits == 32)
            bits = flush(bits);
          Value *sign = constant(1ull << (lane.bits - 1), lane.bits);
          if (op != "neg")
            return B.CreateAnd(bits, B.CreateNot(sign));
          Value *negated = B.CreateXor(bits, sign);
          if (lane.bits != 16)
            return negated;
          // The hardware negates halves by arithmetic: a NaN becomes its own.
          Value *magnitude = B.CreateAnd(bits, B.CreateNot(sign));
          uint64_t infinity = lane.kind == TypeClass::BFloat ? 0x7f80 : 0x7c00;
          return B.CreateSelect(
              B.CreateICmpUGT(magnitude, constant(infinity, 16)),
              constant(0x7fff, 16), negated);
        }));
}

void FunctionLowering::lowerMathFunction(Inst &I) {
  FloatMode mode = takeFloatMode(I);
  bool approximate = I.take("approx");
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  StringRef op = I->opcode;
  if (!approximate && op != "rcp" && op != "sqrt")
    return fail(I, "exists with .approx only");
  Type lane = type->lane();
  Value *a = readTyped(I, 1, *type);
  std::string name = "tileEmuMath_" + op.str();
  write(I, 0, mapLanes(*type, {a}, [&](llvm::ArrayRef<Value *> v) {
          Value *x = floatOperand(v[0], lane, mode);
          bool isDouble = x->getType()->isDoubleTy();
          Value *result =
              callRuntime(name + (isDouble ? "64" : "32"), x->getType(),
                          {x, B.getInt32(approximate ? 0 : mode.rounding)});
          return finishFloat(result, lane, mode);
        }));
}

void FunctionLowering::lowerTestp(Inst &I) {
  int test = I.takeOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  std::optional<Type> type = requireType(I);
  if (!type || test < 0)
    return fail(I, "expected a test, such as .finite, and a type");
  static const llvm::FPClassTest classes[] = {
      llvm::fcFinite,
      llvm::fcInf,
      static_cast<llvm::FPClassTest>(llvm::fcAllFlags & ~llvm::fcNan),
      llvm::fcNan,
      llvm::fcNormal,
      llvm::fcSubnormal};
  Value *x = toCompute(readTyped(I, 1, *type), *type);
  write(I, 0, B.createIsFPClass(x, classes[test]));
}

void FunctionLowering::lowerCopysign(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  // copysign d, a, b: the sign of a, the magnitude of b.
  Value *sign = constant(1ull << (type->bits - 1), type->bits);
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  write(I, 0,
        B.CreateOr(B.CreateAnd(a, sign), B.CreateAnd(b, B.CreateNot(sign))));
}
