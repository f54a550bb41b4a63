//===- LoweringCollective.cpp - Warp collectives and mma -------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each collective hands its operands to the runtime, where the threads named
// by the mask meet.
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "SyncSites.h"

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Value;

void FunctionLowering::lowerShfl(Inst &I) {
  auto *site = image.addSite<WarpSite>();
  if (!I.take("sync"))
    return fail(I, "only the .sync form exists since sm_70");
  int mode = I.takeOneOf({"up", "down", "bfly", "idx"});
  if (mode < 0 || !requireType(I) || !expectCount(I, 5, 5))
    return fail(I, "expected .up, .down, .bfly or .idx");
  site->mode = unsigned(mode);
  site->perform = performShuffle;
  site->maskArgument = 3;
  site->results = 2;
  SmallVector<Value *, 2> results;
  collective(I, site,
             {read(I, 1, 32), read(I, 2, 32), read(I, 3, 32), read(I, 4, 32)},
             results);
  const Operand &to = I.operand(0);
  Value *value = B.CreateTrunc(results[0], B.getInt32Ty());
  if (!to.is(Operand::Kind::Pair))
    return write(I, to, value);
  write(I, to.elements[0], value);
  write(I, to.elements[1], B.CreateTrunc(results[1], B.getInt1Ty()));
}

void FunctionLowering::lowerVote(Inst &I) {
  auto *site = image.addSite<WarpSite>();
  if (!I.take("sync"))
    return fail(I, "only the .sync form exists since sm_70");
  int mode = I.takeOneOf({"all", "any", "uni", "ballot"});
  std::optional<Type> type = requireType(I);
  if (mode < 0 || !type || !expectCount(I, 3, 3))
    return fail(I, "expected .all, .any, .uni or .ballot");
  site->mode = unsigned(mode);
  site->perform = performVote;
  site->maskArgument = 1;
  site->results = 1;
  SmallVector<Value *, 1> results;
  collective(I, site, {readPredicate(I, 1), read(I, 2, 32)}, results);
  write(I, 0, B.CreateTrunc(results[0], intType(type->bits)));
}

void FunctionLowering::lowerMatch(Inst &I) {
  auto *site = image.addSite<WarpSite>();
  int mode = I.takeOneOf({"any", "all"});
  std::optional<Type> type = requireType(I);
  if (mode < 0 || !I.take("sync") || !type || !expectCount(I, 3, 3))
    return fail(I, "expected .any or .all, .sync and a type");
  site->mode = unsigned(mode);
  site->type = *type;
  site->perform = performMatch;
  site->maskArgument = 1;
  site->results = 2;
  SmallVector<Value *, 2> results;
  collective(I, site, {readTyped(I, 1, *type), read(I, 2, 32)}, results);
  const Operand &to = I.operand(0);
  Value *value = B.CreateTrunc(results[0], B.getInt32Ty());
  if (!to.is(Operand::Kind::Pair))
    return write(I, to, value);
  write(I, to.elements[0], value);
  write(I, to.elements[1], B.CreateTrunc(results[1], B.getInt1Ty()));
}

void FunctionLowering::lowerRedux(Inst &I) {
  auto *site = image.addSite<WarpSite>();
  if (!I.take("sync"))
    return fail(I, "expected .sync");
  int mode = I.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  site->isAbsolute = I.take("abs");
  site->keepsNaN = I.take("NaN");
  std::optional<Type> type = requireType(I);
  if (mode < 0 || !type || !expectCount(I, 3, 3))
    return fail(I, "expected an operation, such as .add");
  site->mode = unsigned(mode);
  site->type = *type;
  site->perform = performRedux;
  site->maskArgument = 1;
  site->results = 1;
  SmallVector<Value *, 1> results;
  collective(I, site, {readTyped(I, 1, *type), read(I, 2, 32)}, results);
  write(I, 0, B.CreateTrunc(results[0], B.getInt32Ty()));
}

void FunctionLowering::lowerElect(Inst &I) {
  auto *site = image.addSite<CollectiveSite>();
  if (!I.take("sync") || !expectCount(I, 2, 2) ||
      !I.operand(0).is(Operand::Kind::Pair))
    return fail(I, "expected .sync, a destination pair d|p and a mask");
  site->perform = performElect;
  site->maskArgument = 0;
  site->results = 2;
  SmallVector<Value *, 2> results;
  collective(I, site, {read(I, 1, 32)}, results);
  write(I, I.operand(0).elements[0], B.CreateTrunc(results[0], B.getInt32Ty()));
  write(I, I.operand(0).elements[1], B.CreateTrunc(results[1], B.getInt1Ty()));
}

/// Which threads happen to run together is up to the machine; here each runs
/// alone, which every correct program allows for.
void FunctionLowering::lowerActivemask(Inst &I) {
  requireType(I);
  write(I, 0, callRuntime("tileEmuActiveMask", B.getInt32Ty(), {thread}));
}

void FunctionLowering::lowerLdmatrix(Inst &I) {
  auto *site = image.addSite<MatrixMoveSite>();
  fillSite(site->memory, I);
  if (!I.take("sync") || !I.take("aligned") || !I.take("m8n8"))
    return fail(I, "expected .sync.aligned.m8n8; other shapes are not "
                   "modelled");
  static const unsigned counts[] = {1, 2, 4};
  int count = I.takeOneOf({"x1", "x2", "x4"});
  site->isTransposed = I.take("trans");
  site->memory.space = takeSpace(I);
  std::optional<Type> type = requireType(I);
  if (count < 0 || !type || type->bits != 16 || !expectCount(I, 2, 2))
    return fail(I, "expected .x1, .x2 or .x4 and .b16");
  site->matrices = counts[count];
  site->memory.bytes = site->memory.alignment = 16;
  site->memory.number = site->number;
  site->perform = performLoadMatrix;
  site->isAligned = true;
  site->results = site->matrices;
  SmallVector<Value *, 4> results;
  collective(I, site, {address(I, 1, site->memory.space)}, results);
  std::vector<const Operand *> parts = elementsOf(I.operand(0));
  if (parts.size() != site->matrices)
    return fail(I, "expected " + llvm::Twine(site->matrices) + " registers");
  for (size_t i = 0; i < parts.size(); ++i)
    write(I, *parts[i], B.CreateTrunc(results[i], B.getInt32Ty()));
}

void FunctionLowering::lowerStmatrix(Inst &I) {
  auto *site = image.addSite<MatrixMoveSite>();
  fillSite(site->memory, I);
  if (!I.take("sync") || !I.take("aligned") || !I.take("m8n8"))
    return fail(I, "expected .sync.aligned.m8n8; other shapes are not "
                   "modelled");
  static const unsigned counts[] = {1, 2, 4};
  int count = I.takeOneOf({"x1", "x2", "x4"});
  site->isTransposed = I.take("trans");
  site->memory.space = takeSpace(I);
  std::optional<Type> type = requireType(I);
  if (count < 0 || !type || type->bits != 16 || !expectCount(I, 2, 2))
    return fail(I, "expected .x1, .x2 or .x4 and .b16");
  site->matrices = counts[count];
  site->memory.bytes = site->memory.alignment = 16;
  site->memory.number = site->number;
  site->perform = performStoreMatrix;
  site->isAligned = true;
  std::vector<const Operand *> parts = elementsOf(I.operand(1));
  if (parts.size() != site->matrices)
    return fail(I, "expected " + llvm::Twine(site->matrices) + " registers");
  SmallVector<Value *, 5> arguments = {address(I, 0, site->memory.space)};
  for (const Operand *part : parts)
    arguments.push_back(read(I, *part, 32));
  SmallVector<Value *, 1> none;
  collective(I, site, arguments, none);
}

void FunctionLowering::lowerMovmatrix(Inst &I) {
  auto *site = image.addSite<MatrixMoveSite>();
  if (!I.take("sync") || !I.take("aligned") || !I.take("m8n8") ||
      !I.take("trans") || !requireType(I))
    return fail(I, "expected .sync.aligned.m8n8.trans.b16");
  site->perform = performMoveMatrix;
  site->isAligned = true;
  site->results = 1;
  SmallVector<Value *, 1> results;
  collective(I, site, {read(I, 1, 32)}, results);
  write(I, 0, B.CreateTrunc(results[0], B.getInt32Ty()));
}

/// Reads a shape such as m16n8k16.
static bool parseShape(StringRef text, unsigned &m, unsigned &n, unsigned &k) {
  return text.consume_front("m") && !text.consumeInteger(10, m) &&
         text.consume_front("n") && !text.consumeInteger(10, n) &&
         text.consume_front("k") && !text.consumeInteger(10, k) && text.empty();
}

void FunctionLowering::lowerMma(Inst &I) {
  auto *site = image.addSite<MmaSite>();
  if (!I.take("sync") || !I.take("aligned"))
    return fail(I, "expected .sync.aligned");
  std::optional<StringRef> shape = I.takePrefix("m");
  if (!shape || !parseShape(*shape, site->m, site->n, site->k))
    return fail(I, "expected a shape, such as .m16n8k16");
  if (!I.take("row") || !I.take("col"))
    return fail(I, "layouts other than .row.col are not modelled");
  site->saturates = I.take("satfinite");
  int bits = I.takeOneOf({"xor", "and"});
  if (bits >= 0 && !I.take("popc"))
    return fail(I, "expected .popc");
  I.take("rn");
  std::optional<Type> d = requireType(I), a = requireType(I),
                      b = requireType(I), c = requireType(I);
  if (!d || !a || !b || !c || !expectCount(I, 4, 4))
    return;
  site->d = *d;
  site->a = *a;
  site->b = *b;
  site->c = *c;
  unsigned k = site->k, width = a->bits;
  bool known = site->n == 8 && a->bits == b->bits;
  if (a->bits == 64) {
    site->kind = MatrixKind::Double;
    known &= (site->m == 8 && k == 4) ||
             (site->m == 16 && (k == 4 || k == 8 || k == 16));
  } else if (bits >= 0) {
    site->kind = bits == 0 ? MatrixKind::BitXor : MatrixKind::BitAnd;
    known &= width == 1 && d->bits == 32;
  } else if (a->isFloat()) {
    site->kind = MatrixKind::Float;
    known &= site->m == 16 && (d->bits == 32 || d->bits == 16) && *d == *c;
  } else {
    site->kind = MatrixKind::Integer;
    known &= (width == 8 || width == 4) && d->bits == 32;
  }
  // Registers of A and B hold 32 bits of one row or column each.
  unsigned perRegister = width >= 32 ? 1 : 32 / width;
  known &= (site->m == 8 || site->m == 16) && k % (4 * perRegister) == 0 &&
           k / (4 * perRegister) <= (a->bits == 64 ? 4u : 2u);
  if (!known)
    return fail(I, "this shape is not modelled for these types");
  site->aRegisters = site->m / 8 * (k / (4 * perRegister));
  site->bRegisters = k / (4 * perRegister);
  site->cRegisters = site->m / 8 * (d->bits == 16 ? 1 : 2);
  site->results = site->cRegisters;
  site->perform = performMma;
  site->isAligned = true;
  unsigned operandBits = a->bits == 64 ? 64 : 32;
  unsigned sumBits = d->bits == 64 ? 64 : 32;
  SmallVector<Value *, 16> arguments;
  const unsigned expected[] = {site->cRegisters, site->aRegisters,
                               site->bRegisters, site->cRegisters};
  for (unsigned operand = 0; operand < 4; ++operand) {
    std::vector<const Operand *> parts = elementsOf(I.operand(operand));
    if (parts.size() != expected[operand])
      return fail(I, "operand " + llvm::Twine(operand + 1) + " has " +
                         llvm::Twine(parts.size()) + " registers, expected " +
                         llvm::Twine(expected[operand]));
    if (operand)
      for (const Operand *part : parts) {
        unsigned partBits = operand == 3 ? sumBits : operandBits;
        Type literal{TypeClass::Float, partBits, 1};
        arguments.push_back(readTyped(I, *part, literal));
      }
  }
  SmallVector<Value *, 8> results;
  collective(I, site, arguments, results);
  std::vector<const Operand *> parts = elementsOf(I.operand(0));
  for (size_t i = 0; i < parts.size(); ++i)
    write(I, *parts[i], B.CreateTrunc(results[i], intType(sumBits)));
}
