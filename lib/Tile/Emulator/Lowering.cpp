//===- Lowering.cpp - From a PTX function to LLVM IR -----------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of a lowered function: slots, blocks, predication, and the table
// that finds the handler of an opcode. A device function takes its thread, its
// parameter block and the block its results go to, so direct and indirect
// calls are alike; an entry takes only the thread.
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "RegisterAnalysis.h"
#include "ThreadState.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Verifier.h"
#include <cstddef>

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::BasicBlock;
using llvm::StringRef;

bool Inst::take(StringRef modifier) {
  for (size_t i = 0; i < instruction.modifiers.size() && i < 64; ++i)
    if (!(taken >> i & 1) && instruction.modifiers[i] == modifier) {
      taken |= uint64_t(1) << i;
      return true;
    }
  return false;
}

int Inst::takeOneOf(std::initializer_list<StringRef> words) {
  int index = 0;
  for (StringRef word : words) {
    if (take(word))
      return index;
    ++index;
  }
  return -1;
}

std::optional<Type> Inst::takeType() {
  for (size_t i = 0; i < instruction.modifiers.size() && i < 64; ++i) {
    if (taken >> i & 1)
      continue;
    if (std::optional<Type> type = parseTypeName(instruction.modifiers[i])) {
      taken |= uint64_t(1) << i;
      return type;
    }
  }
  return std::nullopt;
}

std::optional<StringRef> Inst::takePrefix(StringRef prefix) {
  for (size_t i = 0; i < instruction.modifiers.size() && i < 64; ++i)
    if (!(taken >> i & 1) && instruction.modifiers[i].starts_with(prefix)) {
      taken |= uint64_t(1) << i;
      return instruction.modifiers[i];
    }
  return std::nullopt;
}

StringRef Inst::leftOver() const {
  for (size_t i = 0; i < instruction.modifiers.size(); ++i)
    if (i >= 64 || !(taken >> i & 1))
      return instruction.modifiers[i];
  return "";
}

FunctionLowering::FunctionLowering(KernelImage &image, llvm::Module &module,
                                   const Program &program, int function,
                                   Diagnostics &diagnostics)
    : image(image), module(module), context(module.getContext()),
      program(program), function(program.functions[function]),
      functionIndex(function), diagnostics(diagnostics), B(context) {}

FunctionLowering::~FunctionLowering() = default;

FunctionLowering::Handler FunctionLowering::findHandler(StringRef opcode) {
#define PTX_OPCODE(word, handler)                                              \
  if (opcode == #word)                                                         \
    return &FunctionLowering::handler;
#include "Opcodes.def"
  return nullptr;
}

void FunctionLowering::fail(const Inst &I, const llvm::Twine &message) {
  if (diagnostics.size() < 20)
    diagnostics.push_back(
        {I->line, "'" + I->spelled() + "': " + message.str()});
}

bool FunctionLowering::run() {
  size_t before = diagnostics.size();
  llvm::Type *pointer = B.getPtrTy();
  llvm::SmallVector<llvm::Type *> parameters(function.isEntry ? 1 : 3, pointer);
  auto *type = llvm::FunctionType::get(B.getVoidTy(), parameters, false);
  llvmFunction = llvm::cast<llvm::Function>(
      module.getOrInsertFunction(function.name, type).getCallee());
  llvmFunction->addFnAttr("no-trapping-math", "true");
  thread = llvmFunction->getArg(0);

  BasicBlock *entry = BasicBlock::Create(context, "entry", llvmFunction);
  B.SetInsertPoint(entry);
  createRegisters();
  createBlocks();
  for (current = 0; current < static_cast<int>(function.code.size()); ++current)
    lowerInstruction(current);
  // A label behind the last instruction, or a body that runs off its end.
  if (BasicBlock *last = blocks.back()) {
    if (!B.GetInsertBlock()->getTerminator())
      B.CreateBr(last);
    B.SetInsertPoint(last);
  }
  if (!B.GetInsertBlock()->getTerminator())
    leaveFunction();
  localBytes = llvm::alignTo(localBytes, 4096);
  localEnd->setOperand(1, B.getInt64(localBytes));
  image.localBytes = std::max(image.localBytes, localBytes);
  if (diagnostics.size() != before)
    return false;
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyFunction(*llvmFunction, &stream)) {
    diagnostics.push_back({function.line, "internal: " + problem});
    return false;
  }
  return true;
}

void FunctionLowering::createRegisters() {
  readBytes = findReadBytes(function);
  std::vector<int> asyncRegisters = findAsyncRegisters(function);
  if (!asyncRegisters.empty()) {
    for (size_t i = 0; i < asyncRegisters.size(); ++i)
      asyncPlace[asyncRegisters[i]] = static_cast<unsigned>(i);
    // The words, then a byte each that says it was used since the fence.
    auto *frame = B.CreateAlloca(
        llvm::ArrayType::get(B.getInt8Ty(), 5 * asyncRegisters.size()));
    frame->setAlignment(llvm::Align(16));
    asyncFrame = frame;
    image.stackBytes += 5 * asyncRegisters.size();
    clearTouchedFlags();
  }
  slots.resize(function.registers.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    if (asyncPlace.count(static_cast<int>(i)))
      continue;
    slots[i] = B.CreateAlloca(intType(function.registers[i].type.bits));
    // A value for what is never written: a fault, but not undefined here.
    B.CreateStore(llvm::ConstantInt::get(slots[i]->getAllocatedType(), 0),
                  slots[i]);
  }
  if (asyncFrame)
    for (size_t i = 0; i < asyncRegisters.size(); ++i)
      B.CreateStore(B.getInt32(0), registerSlot(asyncRegisters[i]));
  if (image.checks & checkUninitialized)
    for (int reg : findMaybeUninitialized(function)) {
      llvm::Type *type = intType(function.registers[reg].type.bits);
      absences[reg] = B.CreateAlloca(type);
      B.CreateStore(llvm::Constant::getAllOnesValue(type), absences[reg]);
    }
  carry = B.CreateAlloca(B.getInt1Ty());
  B.CreateStore(B.getFalse(), carry);
  scratchArea = B.CreateAlloca(llvm::ArrayType::get(B.getInt64Ty(), 256));
  scratchArea->setAlignment(llvm::Align(16));
  image.stackBytes += 2048 + 8 * slots.size();
  Value *top = B.CreateConstGEP1_64(B.getInt8Ty(), thread,
                                    offsetof(ThreadState, localTop));
  localFrame = B.CreateLoad(B.getPtrTy(), top);
  localEnd = llvm::GetElementPtrInst::Create(
      B.getInt8Ty(), localFrame, {B.getInt64(0)}, "", B.GetInsertBlock());
  B.CreateStore(localEnd, top);
  for (size_t i = 0; i < program.variables.size(); ++i) {
    const Variable &variable = program.variables[i];
    if (variable.function != functionIndex || variable.isParameter ||
        (variable.space != Space::Local && variable.space != Space::Param))
      continue;
    localVariables[static_cast<int>(i)] =
        takeLocal(variable.bytes(), variable.alignment);
  }
}

void FunctionLowering::leaveFunction() {
  B.CreateStore(localFrame,
                B.CreateConstGEP1_64(B.getInt8Ty(), thread,
                                     offsetof(ThreadState, localTop)));
  B.CreateRetVoid();
}

llvm::Value *FunctionLowering::takeLocal(uint64_t bytes, uint64_t alignment) {
  // Frames start at multiples of 4096, the greatest alignment there is.
  localBytes = llvm::alignTo(localBytes, std::max<uint64_t>(alignment, 16));
  llvm::IRBuilderBase::InsertPointGuard guard(B);
  B.SetInsertPoint(localEnd);
  Value *place = B.CreateConstGEP1_64(B.getInt8Ty(), localFrame, localBytes);
  localBytes += std::max<uint64_t>(bytes, 1);
  return place;
}

void FunctionLowering::createBlocks() {
  int count = static_cast<int>(function.code.size());
  blocks.assign(count + 1, nullptr);
  auto mark = [&](int position) {
    if (position >= 0 && position <= count && !blocks[position])
      blocks[position] = BasicBlock::Create(context, "", llvmFunction);
  };
  for (const Label &label : function.labels)
    mark(label.position);
  // What follows a branch starts a block, reachable or not.
  for (int i = 0; i < count; ++i) {
    StringRef opcode = function.code[i].opcode;
    if (opcode == "bra" || opcode == "brx" || opcode == "ret" ||
        opcode == "exit" || opcode == "trap")
      mark(i + 1);
  }
}

void FunctionLowering::callForBackEdges(int position) {
  bool isLoop = false;
  for (int i = position; i < static_cast<int>(function.code.size()); ++i) {
    const Instruction &branch = function.code[i];
    if (branch.opcode == "brx")
      isLoop |= !branch.operands.empty();
    if (branch.opcode == "bra" && !branch.operands.empty() &&
        branch.operands[0].is(Operand::Kind::Label) &&
        branch.operands[0].symbol >= 0 &&
        function.labels[branch.operands[0].symbol].position == position)
      isLoop = true;
    if (isLoop)
      break;
  }
  if (!isLoop)
    return;
  Value *slot =
      B.CreateConstGEP1_64(B.getInt8Ty(), thread, offsetof(ThreadState, fuel));
  Value *left = B.CreateSub(B.CreateLoad(B.getInt64Ty(), slot), B.getInt64(1));
  B.CreateStore(left, slot);
  BasicBlock *empty = BasicBlock::Create(context, "", llvmFunction);
  BasicBlock *go = BasicBlock::Create(context, "", llvmFunction);
  B.CreateCondBr(B.CreateICmpSLT(left, B.getInt64(0)), empty, go);
  B.SetInsertPoint(empty);
  Site *site = image.addSite<Site>();
  fillSite(
      *site,
      Inst(
          function.code[std::min<size_t>(position, function.code.size() - 1)]));
  callRuntime("tileEmuOutOfFuel", B.getVoidTy(), {thread, sitePointer(site)});
  B.CreateBr(go);
  B.SetInsertPoint(go);
}

void FunctionLowering::lowerInstruction(int index) {
  if (BasicBlock *block = blocks[index]) {
    if (!B.GetInsertBlock()->getTerminator())
      B.CreateBr(block);
    B.SetInsertPoint(block);
    callForBackEdges(index);
  }
  const Instruction &instruction = function.code[index];
  Inst I(instruction);
  Handler handler = findHandler(instruction.opcode);
  if (!handler)
    return fail(I, "opcode '" + instruction.opcode + "' is not modelled");
  BasicBlock *after = nullptr;
  if (instruction.predicate >= 0) {
    Operand guard;
    guard.kind = Operand::Kind::Register;
    guard.reg = instruction.predicate;
    if (isPure(instruction))
      checkPresent(I, guard, 1);
    Value *condition = read(I, guard, 1);
    if (instruction.predicateNegated)
      condition = B.CreateNot(condition);
    BasicBlock *then = BasicBlock::Create(context, "", llvmFunction);
    after = BasicBlock::Create(context, "", llvmFunction);
    B.CreateCondBr(condition, then, after);
    B.SetInsertPoint(then);
  }
  size_t before = diagnostics.size();
  llvm::SmallVector<Value *, 4> absent = findAbsentResults(I);
  (this->*handler)(I);
  storeAbsentResults(I, absent);
  StringRef leftOver = I.leftOver();
  if (diagnostics.size() == before && !leftOver.empty())
    fail(I, "modifier '." + leftOver + "' is not modelled here");
  if (after) {
    if (!B.GetInsertBlock()->getTerminator())
      B.CreateBr(after);
    B.SetInsertPoint(after);
  }
}
