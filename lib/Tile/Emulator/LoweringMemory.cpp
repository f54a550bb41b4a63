//===- LoweringMemory.cpp - Loads, stores, atomics, addresses --*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every access to memory that other threads can see is a call of the runtime,
// which checks it and answers with a host address. Only parameters and call
// blocks named by their variable are reached directly, where their bounds are
// known here.
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "ThreadState.h"
#include <cstddef>

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::StringRef;
using llvm::Value;

Space FunctionLowering::takeSpace(Inst &I) {
  static const Space spaces[] = {
      Space::Const,         Space::Global, Space::Local,
      Space::Param,         Space::Param,  Space::Param,
      Space::SharedCluster, Space::Shared, Space::Shared};
  int index =
      I.takeOneOf({"const", "global", "local", "param", "param::entry",
                   "param::func", "shared::cluster", "shared::cta", "shared"});
  return index < 0 ? Space::Generic : spaces[index];
}

/// Hints change where data is cached, never what is read.
void FunctionLowering::takeCacheHints(Inst &I) {
  while (I.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"}) >= 0 ||
         I.takePrefix("L1::") || I.takePrefix("L2::") ||
         I.takePrefix("level::"))
    ;
}

void FunctionLowering::takeOrder(Inst &I, MemorySite &site) {
  if (I.take("volatile") || I.take("mmio")) {
    site.order = Order::Relaxed;
    site.scope = Scope::Sys;
  }
  static const Order orders[] = {Order::Weak, Order::Relaxed, Order::Acquire,
                                 Order::Release, Order::AcqRel};
  int order = I.takeOneOf({"weak", "relaxed", "acquire", "release", "acq_rel"});
  if (order >= 0)
    site.order = orders[order];
  static const Scope scopes[] = {Scope::Cta, Scope::Cluster, Scope::Gpu,
                                 Scope::Sys};
  int scope = I.takeOneOf({"cta", "cluster", "gpu", "sys"});
  if (scope >= 0)
    site.scope = scopes[scope];
}

unsigned FunctionLowering::takeVector(Inst &I) {
  static const unsigned counts[] = {2, 4, 8};
  int index = I.takeOneOf({"v2", "v4", "v8"});
  return index < 0 ? 1 : counts[index];
}

/// The variable an operand names directly, if it is private to the thread and
/// the access stays inside it.
const Variable *FunctionLowering::directVariable(Inst &I,
                                                 const Operand &operand,
                                                 unsigned bytes) {
  if (!operand.is(Operand::Kind::Address) ||
      !operand.elements[0].is(Operand::Kind::Symbol))
    return nullptr;
  const Variable &variable = program.variables[operand.elements[0].symbol];
  if (variable.space != Space::Param && variable.space != Space::Local)
    return nullptr;
  if (operand.offset < 0 ||
      uint64_t(operand.offset) + bytes > variable.bytes()) {
    fail(I, "the access reaches outside '" + variable.name + "' of " +
                llvm::Twine(variable.bytes()) + " bytes");
    return nullptr;
  }
  return &variable;
}

void FunctionLowering::writeExtended(Inst &I, const Operand &operand,
                                     Value *value, Type type) {
  if (operand.is(Operand::Kind::Register) && type.isSigned()) {
    unsigned width = function.registers[operand.reg].type.bits;
    if (width > type.bits)
      value = B.CreateSExt(value, intType(width));
  }
  write(I, operand, value);
}

void FunctionLowering::loadElements(Inst &I, Value *pointer, unsigned operand,
                                    Type type, unsigned count) {
  if (!expect(I, operand))
    return;
  std::vector<const Operand *> parts = elementsOf(I.operand(operand));
  if (parts.size() != count)
    return fail(I, "expected " + llvm::Twine(count) + " registers, got " +
                       llvm::Twine(parts.size()));
  llvm::SmallVector<Value *, 8> values;
  for (unsigned i = 0; i < count; ++i)
    values.push_back(B.CreateAlignedLoad(
        intType(type.bits),
        B.CreateConstGEP1_64(B.getInt8Ty(), pointer, i * type.bytes()),
        llvm::Align(1)));
  for (unsigned i = 0; i < count; ++i)
    writeExtended(I, *parts[i], values[i], type);
}

void FunctionLowering::storeElements(Inst &I, Value *pointer, unsigned operand,
                                     Type type, unsigned count) {
  if (!expect(I, operand))
    return;
  std::vector<const Operand *> parts = elementsOf(I.operand(operand));
  if (parts.size() != count)
    return fail(I, "expected " + llvm::Twine(count) + " values, got " +
                       llvm::Twine(parts.size()));
  for (unsigned i = 0; i < count; ++i)
    B.CreateAlignedStore(
        readTyped(I, *parts[i], type),
        B.CreateConstGEP1_64(B.getInt8Ty(), pointer, i * type.bytes()),
        llvm::Align(1));
}

/// The bytes of a load that somebody wants, the first in bit zero. Versions of
/// PTX before 8.3 have no pragma that says it.
uint32_t FunctionLowering::getUsedBytes(Inst &I, Type type) {
  if (~I->usedBytes != 0 || !expect(I, 0))
    return I->usedBytes;
  uint64_t used = 0;
  for (auto [i, part] : llvm::enumerate(elementsOf(I.operand(0))))
    if (part->is(Operand::Kind::Register))
      used |= (readBytes[part->reg] & ((uint64_t(1) << type.bytes()) - 1))
              << i * type.bytes();
  // A load of nothing that is used is as its author wants it.
  return used ? static_cast<uint32_t>(used) : I->usedBytes;
}

void FunctionLowering::lowerLd(Inst &I) {
  auto *site = image.addSite<MemorySite>();
  fillSite(*site, I);
  site->space = takeSpace(I);
  takeOrder(I, *site);
  takeCacheHints(I);
  I.take("unified");
  unsigned count = takeVector(I);
  std::optional<Type> type = requireType(I);
  if (!type || !expectCount(I, 2, 3))
    return;
  site->type = *type;
  site->bytes = site->alignment = static_cast<uint16_t>(count * type->bytes());
  // What nobody wants is read within its word and checked by nobody.
  uint32_t used = getUsedBytes(I, *type);
  site->bytes = std::min<uint16_t>(
      site->bytes, static_cast<uint16_t>(32 - llvm::countl_zero(used)));
  site->gaps = ~used & llvm::maskTrailingOnes<uint32_t>(site->bytes);
  if (directVariable(I, I.operand(1), site->bytes)) {
    Value *pointer =
        B.CreateIntToPtr(address(I, 1, Space::Param), B.getPtrTy());
    return loadElements(I, pointer, 0, *type, count);
  }
  const char *name =
      site->order == Order::Weak ? "tileEmuLoad" : "tileEmuLoadStrong";
  Value *pointer =
      callRuntime(name, B.getPtrTy(),
                  {thread, address(I, 1, site->space), sitePointer(site)});
  loadElements(I, pointer, 0, *type, count);
}

void FunctionLowering::lowerSt(Inst &I) {
  auto *site = image.addSite<MemorySite>();
  fillSite(*site, I);
  bool isAsync = I.take("async");
  if (isAsync && !I.take("mbarrier::complete_tx::bytes"))
    return fail(I, "expected .mbarrier::complete_tx::bytes");
  site->space = takeSpace(I);
  takeOrder(I, *site);
  takeCacheHints(I);
  unsigned count = takeVector(I);
  std::optional<Type> type = requireType(I);
  if (!type || !expectCount(I, 2, 3))
    return;
  site->type = *type;
  site->bytes = site->alignment = static_cast<uint16_t>(count * type->bytes());
  if (!isAsync && directVariable(I, I.operand(0), site->bytes)) {
    Value *pointer =
        B.CreateIntToPtr(address(I, 0, Space::Param), B.getPtrTy());
    return storeElements(I, pointer, 1, *type, count);
  }
  Value *data = scratch(site->bytes);
  storeElements(I, data, 1, *type, count);
  if (isAsync) {
    site->space = Space::SharedCluster;
    callRuntime("tileEmuStoreAsync", B.getVoidTy(),
                {thread, address(I, 0, Space::SharedCluster), sitePointer(site),
                 data, address(I, 2, Space::SharedCluster)});
    return;
  }
  const char *name =
      site->order == Order::Weak ? "tileEmuStore" : "tileEmuStoreStrong";
  callRuntime(name, B.getVoidTy(),
              {thread, address(I, 0, site->space), sitePointer(site), data});
}

void FunctionLowering::lowerAtom(Inst &I) { lowerAtomicLike(I, true); }
void FunctionLowering::lowerRed(Inst &I) {
  if (I.take("async"))
    lowerReduceAsync(I);
  else
    lowerAtomicLike(I, false);
}

/// Into the shared memory of a block of the cluster, whose barrier hears of it.
void FunctionLowering::lowerReduceAsync(Inst &I) {
  auto *site = image.addSite<MemorySite>();
  fillSite(*site, I);
  takeOrder(I, *site);
  if (!I.take("mbarrier::complete_tx::bytes"))
    return fail(I, "expected .mbarrier::complete_tx::bytes");
  Space space = takeSpace(I);
  if (space != Space::Generic && space != Space::SharedCluster)
    return fail(I, "expected .shared::cluster");
  site->space = Space::SharedCluster;
  int op = I.takeOneOf({"and", "or", "xor", "add", "inc", "dec", "min", "max"});
  std::optional<Type> type = requireType(I);
  if (!type || !expectCount(I, 3, 3))
    return;
  if (op < 0)
    return fail(I, "expected an operation, such as .add");
  if (type->isFloat() || (type->bits != 32 && type->bits != 64))
    return fail(I, "type ." + typeName(*type) + " does not fit here");
  site->atomicOp = static_cast<AtomicOp>(op);
  site->type = *type;
  site->bytes = site->alignment = static_cast<uint16_t>(type->bytes());
  Value *data = scratch(site->bytes);
  storeElements(I, data, 1, *type, 1);
  callRuntime("tileEmuReduceAsync", B.getVoidTy(),
              {thread, address(I, 0, Space::SharedCluster), sitePointer(site),
               data, address(I, 2, Space::SharedCluster)});
}

void FunctionLowering::lowerAtomicLike(Inst &I, bool returns) {
  auto *site = image.addSite<MemorySite>();
  fillSite(*site, I);
  site->order = Order::Relaxed;
  site->space = takeSpace(I);
  takeOrder(I, *site);
  takeCacheHints(I);
  unsigned count = takeVector(I);
  I.take("noftz");
  int op = I.takeOneOf(
      {"and", "or", "xor", "add", "inc", "dec", "min", "max", "exch", "cas"});
  std::optional<Type> type = requireType(I);
  if (!type)
    return;
  if (op < 0)
    return fail(I, "expected an atomic operation, such as .add");
  site->atomicOp = static_cast<AtomicOp>(op);
  if (type->bits > 64 && site->atomicOp != AtomicOp::Exch &&
      site->atomicOp != AtomicOp::Cas)
    return fail(I, "type ." + typeName(*type) + " is for .exch and .cas");
  site->type = *type;
  site->bytes = site->alignment = static_cast<uint16_t>(count * type->bytes());
  unsigned first = returns ? 1 : 0;
  bool isCas = site->atomicOp == AtomicOp::Cas;
  if (!expectCount(I, first + (isCas ? 3 : 2), first + (isCas ? 4 : 3)))
    return;
  Value *arguments = scratch(0);
  Value *results = scratchSlot(arguments, 128);
  unsigned slot = 0;
  for (unsigned i = first + 1; i < first + (isCas ? 3u : 2u); ++i) {
    std::vector<const Operand *> parts = elementsOf(I.operand(i));
    if (parts.size() != count)
      return fail(I, "expected " + llvm::Twine(count) + " values");
    for (const Operand *part : parts) {
      Value *value = readTyped(I, *part, *type);
      for (unsigned at = 0; at < type->bits; at += 64)
        B.CreateStore(
            B.CreateZExtOrTrunc(B.CreateLShr(value, at), B.getInt64Ty()),
            scratchSlot(arguments, slot++));
    }
  }
  callRuntime("tileEmuAtomic", B.getVoidTy(),
              {thread, address(I, first, site->space), sitePointer(site),
               arguments, results});
  if (!returns)
    return;
  std::vector<const Operand *> parts = elementsOf(I.operand(0));
  if (parts.size() != count)
    return fail(I, "expected " + llvm::Twine(count) + " registers");
  slot = 0;
  for (unsigned i = 0; i < count; ++i) {
    Value *value = constant(0, type->bits);
    for (unsigned at = 0; at < type->bits; at += 64) {
      Value *word = B.CreateLoad(B.getInt64Ty(), scratchSlot(results, slot++));
      value = B.CreateOr(
          value,
          B.CreateShl(B.CreateZExtOrTrunc(word, intType(type->bits)), at));
    }
    writeExtended(I, *parts[i], value, *type);
  }
}

/// Generic addresses are host addresses; only the shared windows are numbered
/// differently.
void FunctionLowering::lowerCvta(Inst &I) {
  bool to = I.take("to");
  Space space = takeSpace(I);
  std::optional<Type> type = requireType(I);
  if (!type || !expectCount(I, 2, 2))
    return;
  Value *value = read(I, 1, 64);
  if (space == Space::Shared || space == Space::SharedCluster) {
    Value *window = threadField(offsetof(ThreadState, sharedWindow), 64);
    if (to)
      value = B.CreateSub(value, window);
    else
      value = B.CreateAdd(B.CreateAnd(value, B.getInt64(0xffffffffu)), window);
  }
  write(I, 0, B.CreateTrunc(value, intType(type->bits)));
}

void FunctionLowering::lowerIsspacep(Inst &I) {
  Space space = takeSpace(I);
  if (!expectCount(I, 2, 2))
    return;
  Value *result = callRuntime(
      "tileEmuIsInSpace", B.getInt32Ty(),
      {thread, read(I, 1, 64), B.getInt32(static_cast<unsigned>(space))});
  write(I, 0, B.CreateTrunc(result, B.getInt1Ty()));
}

void FunctionLowering::lowerMapa(Inst &I) {
  Space space = takeSpace(I);
  std::optional<Type> type = requireType(I);
  if (!type || !expectCount(I, 3, 3))
    return;
  Value *a = read(I, 1, 64), *rank = read(I, 2, 64);
  Value *window = space == Space::Generic
                      ? threadField(offsetof(ThreadState, sharedWindow), 64)
                      : static_cast<Value *>(B.getInt64(0));
  Value *offset = B.CreateAnd(B.CreateSub(a, window), B.getInt64(0xffffff));
  Value *mapped = B.CreateAdd(
      window, B.CreateOr(B.CreateShl(rank, sharedRankShift), offset));
  write(I, 0, B.CreateTrunc(mapped, intType(type->bits)));
}

void FunctionLowering::lowerGetctarank(Inst &I) {
  Space space = takeSpace(I);
  std::optional<Type> type = requireType(I);
  if (!type || !expectCount(I, 2, 2))
    return;
  Value *a = read(I, 1, 64);
  if (space == Space::Generic)
    a = B.CreateSub(a, threadField(offsetof(ThreadState, sharedWindow), 64));
  write(I, 0, B.CreateTrunc(B.CreateLShr(a, sharedRankShift), B.getInt32Ty()));
}

/// Prefetches and cache priorities have no effect on values.
void FunctionLowering::lowerPrefetch(Inst &I) { I.takeAll(); }

void FunctionLowering::lowerCreatepolicy(Inst &I) {
  I.takeAll();
  write(I, 0, B.getInt64(0));
}
