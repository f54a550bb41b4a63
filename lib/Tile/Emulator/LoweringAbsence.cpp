//===- LoweringAbsence.cpp - Registers without a value ---------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A register that may be read before it is written carries a second one with a
// set bit for each bit that has no value. Pure instructions compute with such
// bits and pass their absence on, as compilers pack pairs of which one half is
// never looked at; everything else (memory, addresses, branches, other threads)
// takes them as a fault. Where an instruction is not followed bit by bit, one
// absent bit of a source makes the whole result absent.
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "RegisterAnalysis.h"

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::StringRef;
using llvm::Value;

Value *FunctionLowering::absentBits(const Inst &I, const Operand &operand,
                                    unsigned bits) {
  if (operand.is(Operand::Kind::Register) && !isUnusedSource(*I, operand)) {
    auto absence = absences.find(operand.reg);
    if (absence != absences.end())
      return B.CreateZExtOrTrunc(
          B.CreateLoad(absence->second->getAllocatedType(), absence->second),
          intType(bits));
  }
  return constant(0, bits);
}

/// Reports where one of the low `bits` of a register has no value, if `isRead`
/// then says so, or always.
void FunctionLowering::checkPresent(Inst &I, const Operand &operand,
                                    unsigned bits, Value *isRead) {
  if (!operand.is(Operand::Kind::Register) || !absences.count(operand.reg))
    return;
  Value *isAbsent =
      B.CreateICmpNE(absentBits(I, operand, bits), constant(0, bits));
  if (isRead)
    isAbsent = B.CreateAnd(isAbsent, isRead);
  auto *site = image.addSite<RegisterSite>();
  fillSite(*site, I);
  site->name = function.registers[operand.reg].name;
  llvm::BasicBlock *bad = llvm::BasicBlock::Create(context, "", llvmFunction);
  llvm::BasicBlock *go = llvm::BasicBlock::Create(context, "", llvmFunction);
  B.CreateCondBr(isAbsent, bad, go);
  B.SetInsertPoint(bad);
  callRuntime("tileEmuUninitializedRegister", B.getVoidTy(),
              {thread, sitePointer(site)});
  B.CreateBr(go);
  B.SetInsertPoint(go);
}

/// An operand's value, without the checks of its reading, which come with the
/// instruction itself.
Value *FunctionLowering::valueBits(Inst &I, const Operand &operand,
                                   unsigned bits) {
  if (!operand.is(Operand::Kind::Register))
    return read(I, operand, bits);
  llvm::Type *type = intType(function.registers[operand.reg].type.bits);
  Value *value = B.CreateLoad(type, registerSlot(operand.reg));
  if (operand.negated)
    value = B.CreateNot(value);
  return B.CreateZExtOrTrunc(value, intType(bits));
}

std::vector<const Operand *> FunctionLowering::destinationsOf(const Inst &I) {
  const Operand &first = I.operand(0);
  if (!first.is(Operand::Kind::Pair))
    return elementsOf(first);
  return {&first.elements[0], &first.elements[1]};
}

/// A bit of `and` is absent unless one side is a present zero; of `or`, a
/// present one.
Value *FunctionLowering::absentLogic(Inst &I, unsigned bits) {
  Value *a = absentBits(I, I.operand(1), bits);
  Value *b = absentBits(I, I.operand(2), bits);
  Value *either = B.CreateOr(a, b);
  if (I->opcode == "xor")
    return either;
  Value *x = valueBits(I, I.operand(1), bits);
  Value *y = valueBits(I, I.operand(2), bits);
  if (I->opcode == "or") {
    x = B.CreateNot(x);
    y = B.CreateNot(y);
  }
  return B.CreateAnd(either, B.CreateAnd(B.CreateOr(a, x), B.CreateOr(b, y)));
}

/// Shifts by a literal move the absent bits along.
Value *FunctionLowering::absentShift(Inst &I, unsigned bits) {
  Value *absent = absentBits(I, I.operand(1), bits);
  uint64_t amount = std::min<uint64_t>(I.operand(2).bits, bits);
  bool isLeft = I->opcode == "shl";
  bool isSigned = llvm::any_of(
      I->modifiers, [](StringRef word) { return word.starts_with("s"); });
  if (amount == bits)
    return isSigned && !isLeft ? B.CreateAShr(absent, bits - 1)
                               : constant(0, bits);
  return isLeft     ? B.CreateShl(absent, amount)
         : isSigned ? B.CreateAShr(absent, amount)
                    : B.CreateLShr(absent, amount);
}

/// Of `prmt` in its default mode with a literal selector.
Value *FunctionLowering::absentBytes(Inst &I) {
  Value *sources[] = {absentBits(I, I.operand(1), 32),
                      absentBits(I, I.operand(2), 32)};
  Value *absent = constant(0, 32);
  for (unsigned digit = 0; digit < 4; ++digit) {
    uint64_t pick = I.operand(3).bits >> (4 * digit) & 15;
    Value *byte = B.CreateTrunc(
        B.CreateLShr(sources[pick >> 2 & 1], 8 * (pick & 3)), B.getInt8Ty());
    if (pick & 8) // the sign, eight times
      byte = B.CreateAShr(byte, 7);
    absent = B.CreateOr(
        absent, B.CreateShl(B.CreateZExt(byte, B.getInt32Ty()), 8 * digit));
  }
  return absent;
}

/// Before an instruction: of each of its results, the bits that will have no
/// value. Empty where that is none of its business.
llvm::SmallVector<Value *, 4> FunctionLowering::findAbsentResults(Inst &I) {
  llvm::SmallVector<Value *, 4> results;
  if (absences.empty() || !isPure(*I) || I.count() < 2)
    return results;
  std::vector<const Operand *> destinations = destinationsOf(I);
  if (llvm::none_of(destinations, [&](const Operand *to) {
        return to->is(Operand::Kind::Register) && absences.count(to->reg);
      }))
    return results;
  auto widthOf = [&](const Operand &operand) {
    return operand.is(Operand::Kind::Register)
               ? function.registers[operand.reg].type.bits
               : 32;
  };
  unsigned bits = widthOf(*destinations[0]);
  StringRef op = I->opcode;
  auto isLiteral = [&](unsigned operand) {
    return I.count() > operand && I.operand(operand).is(Operand::Kind::Integer);
  };
  // Between integers of any width, without saturation.
  bool isResize = op == "cvt" && I->modifiers.size() == 2 &&
                  llvm::all_of(I->modifiers, [](StringRef word) {
                    std::optional<Type> type = parseTypeName(word);
                    return type && type->isInteger() && type->lanes == 1;
                  });
  if (op == "mov" || op == "not" || isResize) {
    // The parts of the source in a row, cut into those of the destination.
    unsigned total = 0;
    Value *whole = constant(0, 128);
    for (const Operand *from : elementsOf(I.operand(1))) {
      unsigned width = widthOf(*from);
      whole = B.CreateOr(
          whole,
          B.CreateShl(B.CreateZExt(absentBits(I, *from, width), intType(128)),
                      total));
      total += width;
    }
    if (isResize) {
      // Bits beyond a type are zeros, or its sign.
      for (StringRef word : llvm::reverse(I->modifiers)) {
        Type type = *parseTypeName(word);
        whole = B.CreateTrunc(whole, intType(type.bits));
        whole = type.isSigned() ? B.CreateSExt(whole, intType(128))
                                : B.CreateZExt(whole, intType(128));
      }
    }
    unsigned at = 0;
    for (const Operand *to : destinations) {
      unsigned width = widthOf(*to);
      results.push_back(B.CreateTrunc(B.CreateLShr(whole, at), intType(width)));
      at += width;
    }
    return results;
  }
  if (op == "selp" && I.count() == 4) {
    Value *unknown =
        B.CreateSExt(absentBits(I, I.operand(3), 1), intType(bits));
    results.push_back(
        B.CreateOr(unknown, B.CreateSelect(valueBits(I, I.operand(3), 1),
                                           absentBits(I, I.operand(1), bits),
                                           absentBits(I, I.operand(2), bits))));
    return results;
  }
  if ((op == "and" || op == "or" || op == "xor") && I.count() == 3) {
    results.push_back(absentLogic(I, bits));
    return results;
  }
  if ((op == "shl" || op == "shr") && I.count() == 3 && isLiteral(2)) {
    results.push_back(absentShift(I, bits));
    return results;
  }
  if (op == "prmt" && I.count() == 4 && isLiteral(3) &&
      (I->modifiers.size() == 1 && I->modifiers[0] == "b32")) {
    results.push_back(absentBytes(I));
    return results;
  }
  Value *any = B.getFalse();
  for (unsigned i = 1; i < I.count(); ++i)
    for (const Operand *from : elementsOf(I.operand(i)))
      any = B.CreateOr(any,
                       B.CreateIsNotNull(absentBits(I, *from, widthOf(*from))));
  for (const Operand *to : destinations)
    results.push_back(B.CreateSExt(any, intType(widthOf(*to))));
  return results;
}

void FunctionLowering::storeAbsentResults(Inst &I,
                                          llvm::ArrayRef<Value *> absent) {
  if (absent.empty())
    return;
  for (auto [to, bits] : llvm::zip(destinationsOf(I), absent)) {
    if (!to->is(Operand::Kind::Register))
      continue;
    auto absence = absences.find(to->reg);
    if (absence != absences.end())
      B.CreateStore(
          B.CreateZExtOrTrunc(bits, absence->second->getAllocatedType()),
          absence->second);
  }
}
