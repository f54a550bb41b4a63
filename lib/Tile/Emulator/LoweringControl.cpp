//===- LoweringControl.cpp - Branches, calls, barriers, fences -*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA sections "Control Flow Instructions" and "Parallel Synchronization
// and Communication Instructions", as far as they concern whole threads.
//===----------------------------------------------------------------------===//
#include "Lowering.h"
#include "SyncSites.h"
#include "ThreadState.h"
#include "llvm/Support/MathExtras.h"
#include <cstddef>

using namespace tile::emulator;
using namespace tile::emulator::ptx;
using llvm::BasicBlock;
using llvm::StringRef;
using llvm::Value;

void FunctionLowering::lowerBra(Inst &I) {
  I.take("uni");
  if (!expectCount(I, 1, 1))
    return;
  const Operand &target = I.operand(0);
  if (!target.is(Operand::Kind::Label) || target.symbol < 0 ||
      function.labels[target.symbol].position < 0)
    return fail(I, "expected a label");
  B.CreateBr(blocks[function.labels[target.symbol].position]);
}

void FunctionLowering::lowerBrx(Inst &I) {
  I.take("idx");
  I.take("uni");
  if (!expectCount(I, 2, 2) || !I.operand(1).is(Operand::Kind::Label))
    return fail(I, "expected an index and a list of branch targets");
  const std::vector<int> *targets = nullptr;
  for (const auto &list : function.branchTargets)
    if (list.first == I.operand(1).symbol)
      targets = &list.second;
  if (!targets)
    return fail(I, "the second operand names no .branchtargets");
  BasicBlock *outside = BasicBlock::Create(context, "", llvmFunction);
  llvm::SwitchInst *choice = B.CreateSwitch(read(I, 0, 32), outside);
  for (size_t i = 0; i < targets->size(); ++i)
    choice->addCase(B.getInt32(static_cast<unsigned>(i)),
                    blocks[function.labels[(*targets)[i]].position]);
  B.SetInsertPoint(outside);
  Site *site = image.addSite<Site>();
  fillSite(*site, I);
  callRuntime("tileEmuTrap", B.getVoidTy(), {thread, sitePointer(site)});
  B.CreateUnreachable();
}

void FunctionLowering::lowerRet(Inst &I) {
  I.take("uni");
  leaveFunction();
}

void FunctionLowering::lowerExit(Inst &) {
  callRuntime("tileEmuExit", B.getVoidTy(), {thread});
  B.CreateUnreachable();
}

void FunctionLowering::lowerTrap(Inst &I) {
  Site *site = image.addSite<Site>();
  fillSite(*site, I);
  callRuntime("tileEmuTrap", B.getVoidTy(), {thread, sitePointer(site)});
  B.CreateUnreachable();
}

void FunctionLowering::lowerNothing(Inst &I) { I.takeAll(); }

void FunctionLowering::lowerNanosleep(Inst &I) {
  requireType(I);
  callRuntime("tileEmuYield", B.getVoidTy(), {thread});
}

/// Lays the operands of a call out as the callee's parameter block. Where the
/// callee is unknown (an indirect call) the layout follows from the operands,
/// by the same rule.
FunctionLowering::CallBlock
FunctionLowering::layOutCall(Inst &I, const Operand &tuple,
                             const std::vector<int> *declared) {
  CallBlock block{nullptr, {}};
  uint64_t bytes = 0;
  if (declared && declared->size() != tuple.elements.size())
    fail(I, "the callee has " + llvm::Twine(declared->size()) +
                " parameters, the call " + llvm::Twine(tuple.elements.size()));
  for (size_t i = 0; i < tuple.elements.size(); ++i) {
    const Operand &operand = tuple.elements[i];
    uint64_t size = 8, alignment = 8;
    if (declared && i < declared->size()) {
      const Variable &parameter = program.variables[(*declared)[i]];
      size = parameter.bytes();
      alignment = parameter.alignment;
    } else if (operand.is(Operand::Kind::Symbol)) {
      size = program.variables[operand.symbol].bytes();
      alignment = program.variables[operand.symbol].alignment;
    } else if (operand.is(Operand::Kind::Register)) {
      size = alignment = function.registers[operand.reg].type.bytes();
    }
    bytes = llvm::alignTo(bytes, alignment);
    block.places.push_back({bytes, size});
    bytes += size;
  }
  block.base = takeLocal(bytes, 16);
  return block;
}

void FunctionLowering::lowerCall(Inst &I) {
  I.take("uni");
  const Operand &results = I.operand(0), &callee = I.operand(1),
                &arguments = I.operand(2);
  const Function *known = callee.is(Operand::Kind::Function)
                              ? &program.functions[callee.symbol]
                              : nullptr;
  size_t before = diagnostics.size();
  CallBlock in = layOutCall(I, arguments, known ? &known->parameters : nullptr);
  CallBlock out = layOutCall(I, results, known ? &known->returns : nullptr);
  if (diagnostics.size() != before)
    return;
  for (size_t i = 0; i < arguments.elements.size(); ++i) {
    const Operand &argument = arguments.elements[i];
    auto [offset, bytes] = in.places[i];
    Value *place = B.CreateConstGEP1_64(B.getInt8Ty(), in.base, offset);
    auto variable = argument.is(Operand::Kind::Symbol)
                        ? localVariables.find(argument.symbol)
                        : localVariables.end();
    if (variable != localVariables.end())
      B.CreateMemCpy(place, llvm::MaybeAlign(1), variable->second,
                     llvm::MaybeAlign(1), bytes);
    else
      B.CreateAlignedStore(read(I, argument, unsigned(8 * bytes)), place,
                           llvm::Align(1));
  }
  if (known && !known->hasBody) {
    if (!lowerKnownCallee(I, known->name, in, out))
      return;
  } else {
    llvm::SmallVector<llvm::Type *> types(3, B.getPtrTy());
    auto *type = llvm::FunctionType::get(B.getVoidTy(), types, false);
    Site *site = image.addSite<Site>();
    fillSite(*site, I);
    Value *target;
    if (known) {
      callRuntime("tileEmuEnterCall", B.getVoidTy(),
                  {thread, sitePointer(site)});
      target = module.getOrInsertFunction(known->name, type).getCallee();
    } else {
      target = callRuntime("tileEmuIndirectCall", B.getPtrTy(),
                           {thread, read(I, callee, 64), sitePointer(site)});
    }
    B.CreateCall(type, target, {thread, in.base, out.base});
  }
  for (size_t i = 0; i < results.elements.size(); ++i) {
    const Operand &result = results.elements[i];
    auto [offset, bytes] = out.places[i];
    Value *place = B.CreateConstGEP1_64(B.getInt8Ty(), out.base, offset);
    auto variable = result.is(Operand::Kind::Symbol)
                        ? localVariables.find(result.symbol)
                        : localVariables.end();
    if (variable != localVariables.end())
      B.CreateMemCpy(variable->second, llvm::MaybeAlign(1), place,
                     llvm::MaybeAlign(1), bytes);
    else
      write(I, result,
            B.CreateAlignedLoad(intType(unsigned(8 * bytes)), place,
                                llvm::Align(1)));
  }
}

/// The functions the device's system library has.
bool FunctionLowering::lowerKnownCallee(Inst &I, StringRef callee,
                                        const CallBlock &in,
                                        const CallBlock &out) {
  Site *site = image.addSite<Site>();
  fillSite(*site, I);
  if (callee == "vprintf" && in.places.size() == 2 && out.places.size() == 1) {
    callRuntime("tileEmuPrintf", B.getVoidTy(),
                {thread, sitePointer(site), in.base, out.base});
    return true;
  }
  if (callee == "__assertfail" && in.places.size() >= 3) {
    callRuntime("tileEmuAssertFail", B.getVoidTy(),
                {thread, sitePointer(site), in.base});
    return true;
  }
  fail(I, "function '" + callee + "' has no body and is not modelled");
  return false;
}

void FunctionLowering::lowerBarrier(Inst &I) {
  if (I.take("warp")) {
    auto *site = image.addSite<CollectiveSite>();
    if (!I.take("sync"))
      return fail(I, "expected .sync");
    site->perform = performWarpBarrier;
    site->maskArgument = 0;
    llvm::SmallVector<Value *, 1> none;
    return collective(I, site, {read(I, 0, 32)}, none);
  }
  if (I.take("cluster"))
    return lowerClusterBarrier(I);
  auto *site = image.addSite<BarrierSite>();
  fillSite(*site, I);
  I.take("cta");
  site->isAligned = I->opcode == "bar" || I.take("aligned");
  int action = I.takeOneOf({"sync", "arrive", "red"});
  unsigned first = 0, conditionAt = 0;
  Value *condition = B.getInt32(0);
  if (action == 2) {
    static const BarrierAction actions[] = {
        BarrierAction::RedAnd, BarrierAction::RedOr, BarrierAction::RedPopc};
    int op = I.takeOneOf({"and", "or", "popc"});
    requireType(I);
    if (op < 0)
      return fail(I, "expected .and, .or or .popc");
    site->action = actions[op];
    first = 1;
    conditionAt = I.count() - 1;
    condition = B.CreateZExt(readPredicate(I, conditionAt), B.getInt32Ty());
  } else if (action < 0) {
    return fail(I, "expected .sync, .arrive or .red");
  } else {
    site->action = action == 0 ? BarrierAction::Sync : BarrierAction::Arrive;
  }
  unsigned last = conditionAt ? conditionAt : I.count();
  if (last <= first)
    return fail(I, "expected the number of a barrier");
  site->hasCount = last > first + 1;
  if (site->action == BarrierAction::Arrive && !site->hasCount)
    return fail(I, "expected a thread count");
  Value *result = callRuntime(
      "tileEmuBarrier", B.getInt32Ty(),
      {thread, sitePointer(site), read(I, first, 32),
       site->hasCount ? read(I, first + 1, 32) : B.getInt32(0), condition});
  if (first)
    write(I, 0,
          site->action == BarrierAction::RedPopc
              ? result
              : B.CreateTrunc(result, B.getInt1Ty()));
}

void FunctionLowering::lowerClusterBarrier(Inst &I) {
  auto *site = image.addSite<BarrierSite>();
  fillSite(*site, I);
  site->isAligned = I.take("aligned");
  int action = I.takeOneOf({"arrive", "wait"});
  if (action < 0)
    return fail(I, "expected .arrive or .wait");
  site->action = action == 0 ? BarrierAction::Arrive : BarrierAction::Sync;
  int order = I.takeOneOf({"release", "relaxed", "acquire"});
  site->isRelaxed = order == 1;
  image.usesClusters = true;
  callRuntime("tileEmuClusterBarrier", B.getVoidTy(),
              {thread, sitePointer(site)});
}

void FunctionLowering::lowerFence(Inst &I) {
  auto *site = image.addSite<FenceSite>();
  fillSite(*site, I);
  if (I.take("mbarrier_init")) {
    I.take("release");
    I.take("cluster");
    site->kind = FenceKind::BarrierInit;
  } else if (I.take("proxy")) {
    if (I.take("async")) {
      I.takeOneOf({"global", "shared::cta", "shared::cluster"});
      site->kind = FenceKind::AsyncProxy;
    } else if (I.take("alias")) {
      site->kind = FenceKind::Thread;
    } else if (I.take("tensormap::generic")) {
      I.takeAll();
      site->kind = FenceKind::Thread;
    } else {
      return fail(I, "expected .async, .alias or .tensormap::generic");
    }
  } else {
    site->kind = FenceKind::Thread;
    I.takeOneOf({"sc", "acq_rel", "acquire", "release"});
    if (I.takeOneOf({"cta", "cluster", "gpu", "sys", "gl"}) < 0)
      return fail(I, "expected a scope");
  }
  callRuntime("tileEmuFence", B.getVoidTy(), {thread, sitePointer(site)});
}

/// Order between grids; one launch at a time leaves nothing to wait for.
void FunctionLowering::lowerGriddepcontrol(Inst &I) {
  if (I.takeOneOf({"launch_dependents", "wait"}) < 0)
    fail(I, "expected .launch_dependents or .wait");
}

void FunctionLowering::lowerSetmaxnreg(Inst &I) {
  auto *site = image.addSite<RegisterCountSite>();
  int direction = I.takeOneOf({"inc", "dec"});
  if (direction < 0 || !I.take("sync") || !I.take("aligned") || !requireType(I))
    return fail(I, "expected .inc or .dec, .sync, .aligned and .u32");
  if (!expectCount(I, 1, 1) || !I.operand(0).is(Operand::Kind::Integer))
    return fail(I, "the register count must be a literal");
  uint64_t count = I.operand(0).bits;
  if (count < 24 || count > 256 || count % 8)
    return fail(I, "the register count must be a multiple of 8 from 24 to "
                   "256, got " +
                       llvm::Twine(count));
  site->isIncrease = direction == 0;
  site->registers = static_cast<unsigned>(count);
  fillSite(*site, I);
  callRuntime("tileEmuSetMaxRegisters", B.getVoidTy(),
              {thread, sitePointer(site)});
}
