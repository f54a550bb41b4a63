//===- LoweringOperands.cpp - Operands and calls of the runtime -*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How operands become values: registers are loads of their slots, variables
// are addresses in their window, special registers are fields of the thread.
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "RegisterAnalysis.h"
#include "ThreadState.h"
#include <cstddef>
#include <cstring>

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::StringRef;
using llvm::Value;

llvm::Type *FunctionLowering::intType(unsigned bits) {
  return llvm::IntegerType::get(context, bits);
}

Value *FunctionLowering::constant(uint64_t value, unsigned bits) {
  return llvm::ConstantInt::get(context,
                                llvm::APInt(bits, value, /*isSigned=*/false,
                                            /*implicitTrunc=*/true));
}

bool FunctionLowering::expect(Inst &I, unsigned operand) {
  if (operand < I.count())
    return true;
  fail(I, "expected at least " + llvm::Twine(operand + 1) + " operands, got " +
              llvm::Twine(I.count()));
  return false;
}

bool FunctionLowering::expectCount(Inst &I, unsigned least, unsigned most) {
  if (I.count() >= least && I.count() <= most)
    return true;
  fail(I, "expected " + llvm::Twine(least) +
              (least == most ? llvm::Twine("") : " to " + llvm::Twine(most)) +
              " operands, got " + llvm::Twine(I.count()));
  return false;
}

std::optional<Type> FunctionLowering::requireType(Inst &I) {
  std::optional<Type> type = I.takeType();
  if (!type)
    fail(I, "expected a type, such as .f32");
  return type;
}

Value *FunctionLowering::registerSlot(int reg) {
  auto it = asyncPlace.find(reg);
  if (it == asyncPlace.end())
    return slots[reg];
  return B.CreateConstGEP1_64(B.getInt32Ty(), asyncFrame, it->second);
}

/// A register an asynchronous matrix instruction may still be using is not to
/// be touched; whether it is in flight is known when the kernel runs. Any touch
/// also asks for another wgmma.fence before the next wgmma that uses it.
void FunctionLowering::checkInFlight(Inst &I, int reg, bool isWrite) {
  if (!(image.checks & checkRegister) || !asyncPlace.count(reg) ||
      I->opcode == "wgmma")
    return;
  B.CreateStore(B.getInt8(1), B.CreateConstGEP1_64(B.getInt8Ty(), asyncFrame,
                                                   4 * asyncPlace.size() +
                                                       asyncPlace.lookup(reg)));
  auto *site = image.addSite<RegisterSite>();
  fillSite(*site, I);
  site->name = function.registers[reg].name;
  site->place = asyncPlace.lookup(reg);
  site->isWrite = isWrite;
  llvm::BasicBlock *busy = llvm::BasicBlock::Create(context, "", llvmFunction);
  llvm::BasicBlock *go = llvm::BasicBlock::Create(context, "", llvmFunction);
  Value *pending = threadField(offsetof(ThreadState, matrixOpsPending), 32);
  B.CreateCondBr(B.CreateICmpEQ(pending, B.getInt32(0)), go, busy);
  B.SetInsertPoint(busy);
  callRuntime("tileEmuCheckInFlight", B.getVoidTy(),
              {thread, sitePointer(site)});
  B.CreateBr(go);
  B.SetInsertPoint(go);
}

Value *FunctionLowering::readSpecial(const Operand &operand, unsigned bits) {
  Value *value = nullptr;
  int index = 0;
#define SPECIAL_REGISTER(word, field, count, width)                            \
  if (index++ == operand.symbol)                                               \
    value = threadField(offsetof(ThreadState, field) +                         \
                            (width == 64 ? 8 : 4) * operand.component,         \
                        width == 1 ? 32 : width);
#define SPECIAL_CALL(word, name, width)                                        \
  if (index++ == operand.symbol)                                               \
    value = callRuntime(#name, intType(width), {thread});
#include "SpecialRegisters.def"
  return B.CreateZExtOrTrunc(value, intType(bits));
}

Value *FunctionLowering::read(Inst &I, const Operand &operand, unsigned bits) {
  switch (operand.kind) {
  case Operand::Kind::Register: {
    unsigned width = function.registers[operand.reg].type.bits;
    if (!isPure(*I))
      checkPresent(I, operand, bits);
    checkInFlight(I, operand.reg, false);
    Value *value = B.CreateLoad(intType(width), registerSlot(operand.reg));
    if (operand.negated)
      value = B.CreateNot(value);
    return B.CreateZExtOrTrunc(value, intType(bits));
  }
  case Operand::Kind::Integer:
    return constant(operand.bits, bits);
  case Operand::Kind::Float:
    return constant(operand.bits, bits);
  case Operand::Kind::Special:
    return readSpecial(operand, bits);
  case Operand::Kind::Symbol:
    return B.CreateZExtOrTrunc(symbolAddress(I, operand.symbol, operand.offset),
                               intType(bits));
  case Operand::Kind::Function: {
    llvm::SmallVector<llvm::Type *> types(3, B.getPtrTy());
    auto *type = llvm::FunctionType::get(B.getVoidTy(), types, false);
    Value *callee =
        module.getOrInsertFunction(program.functions[operand.symbol].name, type)
            .getCallee();
    return B.CreateZExtOrTrunc(B.CreatePtrToInt(callee, B.getInt64Ty()),
                               intType(bits));
  }
  default:
    fail(I, "this kind of operand does not fit here");
    return poison(bits);
  }
}

Value *FunctionLowering::readTyped(Inst &I, unsigned operand, Type type) {
  if (!expect(I, operand))
    return poison(type.bits);
  return readTyped(I, I.operand(operand), type);
}

/// Like read, with literals converted to the type: a float literal may be
/// written with either precision.
Value *FunctionLowering::readTyped(Inst &I, const Operand &operand, Type type) {
  if (!operand.is(Operand::Kind::Float) || type.lanes != 1)
    return read(I, operand, type.bits);
  double number;
  if (operand.isSingle) {
    float single;
    uint32_t low = static_cast<uint32_t>(operand.bits);
    std::memcpy(&single, &low, 4);
    if (type.bits == 32)
      return constant(low, 32);
    number = single;
  } else {
    std::memcpy(&number, &operand.bits, 8);
  }
  if (type.bits == 64)
    return constant(
        operand.isSingle ? llvm::bit_cast<uint64_t>(number) : operand.bits, 64);
  if (type.bits == 32)
    return constant(llvm::bit_cast<uint32_t>(static_cast<float>(number)), 32);
  fail(I, "a float literal does not fit an operand of type ." + typeName(type));
  return poison(type.bits);
}

Value *FunctionLowering::readPredicate(Inst &I, unsigned operand) {
  if (!expect(I, operand))
    return B.getFalse();
  const Operand &o = I.operand(operand);
  if (o.is(Operand::Kind::Register) &&
      function.registers[o.reg].type.kind != TypeClass::Pred)
    fail(I, "operand " + llvm::Twine(operand + 1) + " must be a predicate");
  return read(I, o, 1);
}

void FunctionLowering::write(Inst &I, const Operand &operand, Value *value) {
  if (operand.is(Operand::Kind::Sink))
    return;
  if (!operand.is(Operand::Kind::Register))
    return fail(I, "expected a register as destination");
  unsigned width = function.registers[operand.reg].type.bits;
  checkInFlight(I, operand.reg, true);
  B.CreateStore(B.CreateZExtOrTrunc(value, intType(width)),
                registerSlot(operand.reg));
  auto absence = absences.find(operand.reg);
  if (absence != absences.end())
    B.CreateStore(constant(0, width), absence->second);
}

Value *FunctionLowering::symbolAddress(Inst &I, int symbol, int64_t offset) {
  const Variable &variable = program.variables[symbol];
  auto inMemory = [&](Value *pointer) {
    return B.CreateAdd(B.CreatePtrToInt(pointer, B.getInt64Ty()),
                       B.getInt64(offset));
  };
  switch (variable.space) {
  case Space::Shared: {
    Value *base = threadField(offsetof(ThreadState, sharedBase), 64);
    return B.CreateAdd(base,
                       B.getInt64(image.sharedOffsets.lookup(symbol) + offset));
  }
  case Space::Global:
  case Space::Const: {
    auto it = image.memory->variables.find(symbol);
    if (it == image.memory->variables.end()) {
      fail(I, "variable '" + variable.name + "' is external and not defined");
      return B.getInt64(0);
    }
    return B.getInt64(reinterpret_cast<uintptr_t>(it->second) + offset);
  }
  case Space::Param:
    if (variable.isParameter) {
      Value *block;
      if (function.isEntry)
        block = B.CreateLoad(
            B.getPtrTy(),
            B.CreateConstGEP1_64(B.getInt8Ty(), thread,
                                 offsetof(ThreadState, parameters)));
      else
        block = llvmFunction->getArg(
            llvm::is_contained(function.returns, symbol) ? 2 : 1);
      return inMemory(
          B.CreateConstGEP1_64(B.getInt8Ty(), block, variable.offset));
    }
    [[fallthrough]];
  case Space::Local: {
    auto it = localVariables.find(symbol);
    if (it != localVariables.end())
      return inMemory(it->second);
    [[fallthrough]];
  }
  default:
    fail(I, "variable '" + variable.name + "' has no address here");
    return B.getInt64(0);
  }
}

Value *FunctionLowering::addressOf(Inst &I, const Operand &operand,
                                   Space space) {
  if (!operand.is(Operand::Kind::Address)) {
    fail(I, "expected an address in brackets");
    return B.getInt64(0);
  }
  const Operand &base = operand.elements[0];
  Value *value;
  if (base.is(Operand::Kind::Symbol))
    value = symbolAddress(I, base.symbol, 0);
  else
    value = read(I, base, 64);
  value = B.CreateAdd(value, B.getInt64(operand.offset));
  // Addresses of the shared windows are 32 bits wide, whatever carries them.
  if (space == Space::Shared || space == Space::SharedCluster)
    value = B.CreateAnd(value, B.getInt64(0xffffffffu));
  return value;
}

Value *FunctionLowering::address(Inst &I, unsigned operand, Space space) {
  if (!expect(I, operand))
    return B.getInt64(0);
  return addressOf(I, I.operand(operand), space);
}

std::vector<const Operand *>
FunctionLowering::elementsOf(const Operand &operand) {
  std::vector<const Operand *> list;
  if (operand.is(Operand::Kind::Vector) || operand.is(Operand::Kind::Tuple))
    for (const Operand &element : operand.elements)
      list.push_back(&element);
  else
    list.push_back(&operand);
  return list;
}

Value *FunctionLowering::threadField(unsigned offset, unsigned bits) {
  return B.CreateLoad(intType(bits),
                      B.CreateConstGEP1_64(B.getInt8Ty(), thread, offset));
}

Value *FunctionLowering::callRuntime(StringRef name, llvm::Type *result,
                                     llvm::ArrayRef<Value *> arguments) {
  llvm::SmallVector<llvm::Type *> types;
  for (Value *argument : arguments)
    types.push_back(argument->getType());
  llvm::FunctionCallee callee = module.getOrInsertFunction(
      name, llvm::FunctionType::get(result, types, false));
  return B.CreateCall(callee, arguments);
}

Value *FunctionLowering::sitePointer(const Site *site) {
  return B.CreateIntToPtr(B.getInt64(reinterpret_cast<uintptr_t>(site)),
                          B.getPtrTy());
}

/// The scratch area is used between two calls only, so one serves all: the
/// first half carries arguments, the second results.
Value *FunctionLowering::scratch(unsigned bytes) {
  (void)bytes;
  return scratchArea;
}

Value *FunctionLowering::scratchSlot(Value *base, unsigned index) {
  return B.CreateConstGEP1_64(B.getInt64Ty(), base, index);
}

void FunctionLowering::fillSite(Site &site, const Inst &I) {
  site.line = I->line;
  site.location = I->location;
  site.spelled = I->spelled();
}

void FunctionLowering::collective(Inst &I, CollectiveSite *site,
                                  llvm::ArrayRef<Value *> arguments,
                                  llvm::SmallVectorImpl<Value *> &results) {
  fillSite(*site, I);
  site->arguments = static_cast<unsigned>(arguments.size());
  Value *base = scratch(2048);
  Value *resultBase = scratchSlot(base, 128);
  for (size_t i = 0; i < arguments.size(); ++i)
    B.CreateStore(B.CreateZExtOrTrunc(arguments[i], B.getInt64Ty()),
                  scratchSlot(base, static_cast<unsigned>(i)));
  callRuntime("tileEmuCollective", B.getVoidTy(),
              {thread, sitePointer(site), base, resultBase});
  for (unsigned i = 0; i < site->results; ++i)
    results.push_back(B.CreateLoad(B.getInt64Ty(), scratchSlot(resultBase, i)));
}
