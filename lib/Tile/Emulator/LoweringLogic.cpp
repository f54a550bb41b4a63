//===- LoweringLogic.cpp - Logic, shifts, moves, comparisons ---*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA sections "Logic and Shift Instructions", "Comparison and Selection
// Instructions", and the data movement that stays in registers.
//===----------------------------------------------------------------------===//
#include "Lowering.h"

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::StringRef;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

void FunctionLowering::lowerLogic(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  StringRef op = I->opcode;
  write(I, 0,
        op == "and"  ? B.CreateAnd(a, b)
        : op == "or" ? B.CreateOr(a, b)
                     : B.CreateXor(a, b));
}

void FunctionLowering::lowerNot(Inst &I) {
  if (std::optional<Type> type = requireType(I))
    write(I, 0, B.CreateNot(readTyped(I, 1, *type)));
}

void FunctionLowering::lowerCnot(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  Value *isZero =
      B.CreateICmpEQ(readTyped(I, 1, *type), constant(0, type->bits));
  write(I, 0, B.CreateZExt(isZero, intType(type->bits)));
}

void FunctionLowering::lowerLop3(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  int combine = I.takeOneOf({"or", "and"});
  if (!expectCount(I, combine < 0 ? 5 : 6, combine < 0 ? 5 : 6))
    return;
  if (!I.operand(4).is(Operand::Kind::Integer))
    return fail(I, "the truth table must be a literal");
  Value *a = read(I, 1, 32), *b = read(I, 2, 32), *c = read(I, 3, 32);
  Value *result = B.getInt32(0);
  for (unsigned row = 0; row < 8; ++row) {
    if (!(I.operand(4).bits >> row & 1))
      continue;
    Value *term = row & 4 ? a : B.CreateNot(a);
    term = B.CreateAnd(term, row & 2 ? b : B.CreateNot(b));
    term = B.CreateAnd(term, row & 1 ? c : B.CreateNot(c));
    result = B.CreateOr(result, term);
  }
  if (combine < 0)
    return write(I, 0, result);
  // lop3.BoolOp d|p, ..., q: p = (d != 0) op q.
  if (!I.operand(0).is(Operand::Kind::Pair))
    return fail(I, "expected a destination pair d|p");
  Value *isSet = B.CreateICmpNE(result, B.getInt32(0));
  Value *q = readPredicate(I, 5);
  write(I, I.operand(0).elements[0], result);
  write(I, I.operand(0).elements[1],
        combine == 0 ? B.CreateOr(isSet, q) : B.CreateAnd(isSet, q));
}

/// PTX clamps shift amounts to the width; LLVM leaves that undefined.
void FunctionLowering::lowerShift(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  Value *a = readTyped(I, 1, *type);
  Value *amount = read(I, 2, 32);
  Value *inRange = B.CreateICmpULT(amount, B.getInt32(type->bits));
  Value *safe = B.CreateZExtOrTrunc(
      B.CreateSelect(inRange, amount, B.getInt32(type->bits - 1)),
      intType(type->bits));
  bool left = I->opcode == "shl";
  if (!left && type->isSigned())
    return write(I, 0, B.CreateAShr(a, safe));
  Value *shifted = left ? B.CreateShl(a, safe) : B.CreateLShr(a, safe);
  write(I, 0, B.CreateSelect(inRange, shifted, constant(0, type->bits)));
}

void FunctionLowering::lowerFunnelShift(Inst &I) {
  int direction = I.takeOneOf({"l", "r"});
  int mode = I.takeOneOf({"clamp", "wrap"});
  if (!requireType(I))
    return;
  if (direction < 0 || mode < 0)
    return fail(I, "expected .l or .r, and .clamp or .wrap");
  Value *low = B.CreateZExt(read(I, 1, 32), B.getInt64Ty());
  Value *high = B.CreateZExt(read(I, 2, 32), B.getInt64Ty());
  Value *amount = read(I, 3, 32);
  amount = mode == 1 ? B.CreateAnd(amount, B.getInt32(31))
                     : B.CreateBinaryIntrinsic(Intrinsic::umin, amount,
                                               B.getInt32(32));
  amount = B.CreateZExt(amount, B.getInt64Ty());
  Value *both = B.CreateOr(low, B.CreateShl(high, 32));
  Value *result = direction == 0 ? B.CreateLShr(B.CreateShl(both, amount), 32)
                                 : B.CreateLShr(both, amount);
  write(I, 0, B.CreateTrunc(result, B.getInt32Ty()));
}

void FunctionLowering::lowerPrmt(Inst &I) {
  if (!requireType(I))
    return;
  int mode = I.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  write(I, 0,
        callRuntime("tileEmuPermuteBytes", B.getInt32Ty(),
                    {read(I, 1, 32), read(I, 2, 32), read(I, 3, 32),
                     B.getInt32(mode + 1)}));
}

/// Also packs and unpacks: mov.b32 {h, l}, r and back.
void FunctionLowering::lowerMov(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type || !expectCount(I, 2, 2))
    return;
  const Operand &to = I.operand(0), &from = I.operand(1);
  if (from.is(Operand::Kind::Vector)) {
    unsigned width = type->bits / static_cast<unsigned>(from.elements.size());
    if (width * from.elements.size() != type->bits)
      return fail(I, "the parts do not fill ." + typeName(*type));
    Value *packed = constant(0, type->bits);
    for (size_t i = 0; i < from.elements.size(); ++i)
      packed = B.CreateOr(
          packed, B.CreateShl(B.CreateZExt(read(I, from.elements[i], width),
                                           intType(type->bits)),
                              i * width));
    return write(I, to, packed);
  }
  Value *value = readTyped(I, from, *type);
  if (!to.is(Operand::Kind::Vector))
    return write(I, to, value);
  unsigned width = type->bits / static_cast<unsigned>(to.elements.size());
  if (width * to.elements.size() != type->bits)
    return fail(I, "the parts do not fill ." + typeName(*type));
  for (size_t i = 0; i < to.elements.size(); ++i)
    write(I, to.elements[i],
          B.CreateTrunc(B.CreateLShr(value, i * width), intType(width)));
}

void FunctionLowering::lowerSelp(Inst &I) {
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  write(I, 0, B.CreateSelect(readPredicate(I, 3), a, b));
}

void FunctionLowering::lowerSlct(Inst &I) {
  bool ftz = I.take("ftz");
  std::optional<Type> type = requireType(I), selector = requireType(I);
  if (!type || !selector)
    return;
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  Value *c = readTyped(I, 3, *selector);
  Value *takeA;
  if (selector->isFloat()) {
    if (ftz)
      c = flush(c);
    takeA = B.CreateFCmpOGE(toCompute(c, *selector),
                            llvm::ConstantFP::get(B.getFloatTy(), 0.0));
  } else {
    takeA = B.CreateICmpSGE(c, constant(0, selector->bits));
  }
  write(I, 0, B.CreateSelect(takeA, a, b));
}

static const std::initializer_list<StringRef> comparisonNames = {
    "eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
    "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

int FunctionLowering::takeComparison(Inst &I) {
  int comparison = I.takeOneOf(comparisonNames);
  if (comparison < 0)
    fail(I, "expected a comparison, such as .lt");
  return comparison;
}

Value *FunctionLowering::compare(Inst &I, int comparison, Type type, Value *a,
                                 Value *b, bool ftz) {
  using P = llvm::CmpInst::Predicate;
  static const P floats[] = {
      P::FCMP_OEQ,           P::FCMP_ONE,           P::FCMP_OLT,
      P::FCMP_OLE,           P::FCMP_OGT,           P::FCMP_OGE,
      P::BAD_FCMP_PREDICATE, P::BAD_FCMP_PREDICATE, P::BAD_FCMP_PREDICATE,
      P::BAD_FCMP_PREDICATE, P::FCMP_UEQ,           P::FCMP_UNE,
      P::FCMP_ULT,           P::FCMP_ULE,           P::FCMP_UGT,
      P::FCMP_UGE,           P::FCMP_ORD,           P::FCMP_UNO};
  if (type.isFloat()) {
    if (floats[comparison] == P::BAD_FCMP_PREDICATE) {
      fail(I, "this comparison is for unsigned integers");
      return B.getFalse();
    }
    if (ftz && type.laneBits() == 32) {
      a = flush(a);
      b = flush(b);
    }
    return B.CreateFCmp(floats[comparison], toCompute(a, type),
                        toCompute(b, type));
  }
  bool isSigned = type.isSigned();
  switch (comparison) {
  case 0:
    return B.CreateICmpEQ(a, b);
  case 1:
    return B.CreateICmpNE(a, b);
  case 2:
    return isSigned ? B.CreateICmpSLT(a, b) : B.CreateICmpULT(a, b);
  case 3:
    return isSigned ? B.CreateICmpSLE(a, b) : B.CreateICmpULE(a, b);
  case 4:
    return isSigned ? B.CreateICmpSGT(a, b) : B.CreateICmpUGT(a, b);
  case 5:
    return isSigned ? B.CreateICmpSGE(a, b) : B.CreateICmpUGE(a, b);
  case 6:
    return B.CreateICmpULT(a, b);
  case 7:
    return B.CreateICmpULE(a, b);
  case 8:
    return B.CreateICmpUGT(a, b);
  case 9:
    return B.CreateICmpUGE(a, b);
  default:
    fail(I, "this comparison is for floats");
    return B.getFalse();
  }
}

static Value *combine(llvm::IRBuilder<> &B, int op, Value *a, Value *b) {
  return op == 0   ? B.CreateAnd(a, b)
         : op == 1 ? B.CreateOr(a, b)
                   : B.CreateXor(a, b);
}

void FunctionLowering::lowerSetp(Inst &I) {
  int comparison = takeComparison(I);
  int boolOp = I.takeOneOf({"and", "or", "xor"});
  bool ftz = I.take("ftz");
  std::optional<Type> type = requireType(I);
  if (!type || comparison < 0 ||
      !expectCount(I, boolOp < 0 ? 3 : 4, boolOp < 0 ? 3 : 4))
    return;
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  const Operand &to = I.operand(0);
  if (type->lanes == 2) {
    // Packed halves: one predicate a lane.
    if (!to.is(Operand::Kind::Pair))
      return fail(I, "expected a destination pair p|q");
    for (unsigned lane = 0; lane < 2; ++lane) {
      auto part = [&](Value *v) {
        return B.CreateTrunc(B.CreateLShr(v, 16 * lane), B.getInt16Ty());
      };
      Value *result =
          compare(I, comparison, type->lane(), part(a), part(b), ftz);
      if (boolOp >= 0)
        result = combine(B, boolOp, result, readPredicate(I, 3));
      write(I, to.elements[lane], result);
    }
    return;
  }
  Value *result = compare(I, comparison, *type, a, b, ftz);
  Value *other = B.CreateNot(result);
  if (boolOp >= 0) {
    Value *c = readPredicate(I, 3);
    result = combine(B, boolOp, result, c);
    other = combine(B, boolOp, other, c);
  }
  if (!to.is(Operand::Kind::Pair))
    return write(I, to, result);
  write(I, to.elements[0], result);
  write(I, to.elements[1], other);
}

void FunctionLowering::lowerSet(Inst &I) {
  int comparison = takeComparison(I);
  int boolOp = I.takeOneOf({"and", "or", "xor"});
  bool ftz = I.take("ftz");
  std::optional<Type> to = requireType(I), type = requireType(I);
  if (!to || !type || comparison < 0)
    return;
  Value *a = readTyped(I, 1, *type), *b = readTyped(I, 2, *type);
  // True is all ones for integers and 1.0 for floats.
  auto trueOf = [&](Type t) -> uint64_t {
    if (!t.isFloat())
      return ~0ull;
    return t.bits == 32                  ? 0x3f800000
           : t.kind == TypeClass::BFloat ? 0x3f80
                                         : 0x3c00;
  };
  bool isPacked = type->lanes == 2;
  Type lane = type->lane();
  Type resultLane = isPacked ? Type{to->kind, 16, 1} : *to;
  if (isPacked && to->bits != 32)
    return fail(I, "a packed comparison gives 32 bits");
  Value *packed = constant(0, to->bits);
  for (unsigned i = 0; i < type->lanes; ++i) {
    auto part = [&](Value *v) {
      return isPacked ? B.CreateTrunc(B.CreateLShr(v, 16 * i), B.getInt16Ty())
                      : v;
    };
    Value *result = compare(I, comparison, lane, part(a), part(b), ftz);
    if (boolOp >= 0)
      result = combine(B, boolOp, result, readPredicate(I, 3));
    Value *word =
        B.CreateSelect(result, constant(trueOf(resultLane), resultLane.bits),
                       constant(0, resultLane.bits));
    packed = B.CreateOr(packed,
                        B.CreateShl(B.CreateZExt(word, intType(to->bits)),
                                    resultLane.bits == to->bits ? 0 : 16 * i));
  }
  write(I, 0, packed);
}
