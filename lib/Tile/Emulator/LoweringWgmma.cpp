//===- LoweringWgmma.cpp - Warpgroup matrix instructions -------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA section "Asynchronous Warpgroup Level Matrix Instructions".
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "SyncSites.h"

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::StringRef;
using llvm::Value;

/// Behind each register's word in the frame: used since the last fence?
void FunctionLowering::clearTouchedFlags() {
  if (asyncFrame)
    B.CreateMemSet(
        B.CreateConstGEP1_64(B.getInt8Ty(), asyncFrame, 4 * asyncPlace.size()),
        B.getInt8(0), asyncPlace.size(), llvm::MaybeAlign(1));
}

void FunctionLowering::lowerWgmma(Inst &I) {
  if (I.take("mma_async"))
    return lowerWgmmaMultiply(I);
  Site *site = image.addSite<Site>();
  fillSite(*site, I);
  int action = I.takeOneOf({"fence", "commit_group", "wait_group"});
  if (action < 0 || !I.take("sync") || !I.take("aligned"))
    return fail(I, "expected .fence, .commit_group, .wait_group or "
                   ".mma_async, and .sync.aligned");
  Value *pending = B.getInt32(0);
  if (action == 2) {
    if (!expectCount(I, 1, 1) || !I.operand(0).is(Operand::Kind::Integer))
      return fail(I, "the number of groups must be a literal");
    pending = B.getInt32(static_cast<unsigned>(I.operand(0).bits));
  }
  static const char *const names[] = {"tileEmuWgmmaFence", "tileEmuWgmmaCommit",
                                      "tileEmuWgmmaWait"};
  callRuntime(names[action], B.getVoidTy(),
              {thread, sitePointer(site), pending});
  if (action == 0)
    clearTouchedFlags();
}

void FunctionLowering::lowerWgmmaMultiply(Inst &I) {
  auto *site = image.addSite<WgmmaSite>();
  if (I.take("sp"))
    return fail(I, "modifier '.sp' is not modelled here");
  if (!I.take("sync") || !I.take("aligned"))
    return fail(I, "expected .sync.aligned");
  std::optional<StringRef> shape = I.takePrefix("m64n");
  unsigned n = 0, k = 0;
  StringRef rest = shape.value_or("");
  if (!rest.consume_front("m64n") || rest.consumeInteger(10, n) ||
      !rest.consume_front("k") || rest.getAsInteger(10, k))
    return fail(I, "expected a shape, such as .m64n128k16");
  bool isBit = I.take("and");
  if (isBit && !I.take("popc"))
    return fail(I, "expected .popc");
  site->saturates = I.take("satfinite");
  std::optional<Type> d = requireType(I), a = requireType(I),
                      b = requireType(I);
  if (!d || !a || !b)
    return;
  site->n = n;
  site->k = k;
  site->d = *d;
  site->a = *a;
  site->b = *b;
  unsigned width = a->kind == TypeClass::TFloat ? 32 : a->bits;
  bool isFloat = a->isFloat();
  site->kind = isBit     ? MatrixKind::BitAnd
               : isFloat ? MatrixKind::Float
                         : MatrixKind::Integer;
  bool known = n >= 8 && n <= 256 && n % 8 == 0 && k * width == 256 &&
               (isFloat ? d->bits == 32 || *d == Type{TypeClass::Float, 16, 1}
                        : d->bits == 32 && (width == 8 || isBit));
  if (!known)
    return fail(I, "this shape is not modelled for these types");
  // d, a, b, scale-d, then literals: scale-a, scale-b (floats), and the
  // transpositions (16-bit types; of a only where it is a descriptor).
  if (!expectCount(I, 4, 8))
    return;
  auto placesOf = [&](unsigned operand, std::vector<uint16_t> &places) {
    for (const Operand *part : elementsOf(I.operand(operand))) {
      if (!part->is(Operand::Kind::Register) ||
          function.registers[part->reg].type.bits != 32)
        return fail(I, "operand " + llvm::Twine(operand + 1) +
                           " must be a vector of 32-bit registers");
      places.push_back(static_cast<uint16_t>(asyncPlace.lookup(part->reg)));
    }
  };
  placesOf(0, site->dPlaces);
  unsigned sums = n / 2 / (d->bits == 16 ? 2 : 1);
  if (site->dPlaces.size() != sums)
    return fail(I, "the accumulator has " + llvm::Twine(site->dPlaces.size()) +
                       " registers, expected " + llvm::Twine(sums));
  site->aInRegisters = I.operand(1).is(Operand::Kind::Vector);
  if (site->aInRegisters) {
    placesOf(1, site->aPlaces);
    if (site->aPlaces.size() != 4)
      return fail(I, "operand A has " + llvm::Twine(site->aPlaces.size()) +
                         " registers, expected 4");
  }
  llvm::SmallVector<int64_t, 4> literals;
  for (unsigned i = 4; i < I.count(); ++i) {
    if (!I.operand(i).is(Operand::Kind::Integer))
      return fail(I, "operand " + llvm::Twine(i + 1) + " must be a literal");
    literals.push_back(static_cast<int64_t>(I.operand(i).bits));
  }
  unsigned expected = !isFloat      ? 0
                      : width == 16 ? (site->aInRegisters ? 3 : 4)
                                    : 2;
  if (literals.size() != expected)
    return fail(I, "expected " + llvm::Twine(expected) +
                       " literals behind scale-d, got " +
                       llvm::Twine(literals.size()));
  if (isFloat) {
    for (unsigned i = 0; i < 2; ++i)
      if (literals[i] != 1 && literals[i] != -1)
        return fail(I, "the scales of A and B must be 1 or -1");
    site->negatesA = literals[0] == -1;
    site->negatesB = literals[1] == -1;
    if (width == 16) {
      site->transposesA = !site->aInRegisters && literals[2];
      site->transposesB = literals.back() != 0;
    }
  }
  if (site->aInRegisters)
    for (const Operand *part : elementsOf(I.operand(1)))
      read(I, *part, 32); // for its check of initialisation only
  // What is added to must have a value.
  if (Value *adds = expect(I, 3) ? read(I, 3, 1) : nullptr)
    for (const Operand *part : elementsOf(I.operand(0)))
      checkPresent(I, *part, 32, adds);
  site->dSet.resize(asyncPlace.size());
  site->aSet.resize(asyncPlace.size());
  for (const ptx::Operand *part : elementsOf(I.operand(0)))
    site->names[asyncPlace.lookup(part->reg)] =
        function.registers[part->reg].name;
  for (uint16_t place : site->dPlaces)
    site->dSet.set(place);
  if (site->aInRegisters)
    for (const ptx::Operand *part : elementsOf(I.operand(1)))
      site->names[asyncPlace.lookup(part->reg)] =
          function.registers[part->reg].name;
  for (uint16_t place : site->aPlaces)
    site->aSet.set(place);
  site->perform = performWgmma;
  site->isAligned = true;
  site->isWarpgroup = true;
  llvm::SmallVector<Value *, 1> none;
  collective(I, site,
             {B.CreatePtrToInt(asyncFrame, B.getInt64Ty()),
              site->aInRegisters ? static_cast<Value *>(B.getInt64(0))
                                 : read(I, 1, 64),
              read(I, 2, 64), read(I, 3, 1)},
             none);
  for (const Operand *part : elementsOf(I.operand(0))) {
    auto absence = absences.find(part->reg);
    if (absence != absences.end())
      B.CreateStore(B.getInt32(0), absence->second);
  }
}
