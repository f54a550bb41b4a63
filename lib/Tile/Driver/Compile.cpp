//===- Compile.cpp - Compiling one function of a program --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backends.h"
#include "CapturedDiagnostics.h"
#include "SessionState.h"
#include "Tile/Driver/NearestName.h"
#include "Tile/IR/EntryAttributes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;
using namespace tile::driver;
using llvm::createStringError;

/// What the driver has read already and what would drag the reference along.
static void dropExampleAttributes(func::FuncOp function) {
  for (StringRef name : {kReference, kTolerance, kFlops, kBytes})
    function->removeAttr(name);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.removeArgAttr(i, StringAttr::get(function.getContext(), kDefault));
}

/// A module of `entry` and the symbols it needs, which are private there: what
/// else the file holds costs nothing and cannot fail.
static llvm::Expected<OwningOpRef<ModuleOp>> extract(ModuleOp from,
                                                     func::FuncOp entry) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(from.getLoc());
  module->getOperation()->setAttrs(from->getAttrDictionary());
  llvm::SmallSetVector<Operation *, 8> needed;
  needed.insert(entry);
  for (size_t i = 0; i < needed.size(); ++i) {
    Operation *copy = needed[i]->clone();
    module->push_back(copy);
    if (auto function = dyn_cast<func::FuncOp>(copy))
      dropExampleAttributes(function);
    SymbolTable::setSymbolVisibility(copy,
                                     i == 0 ? SymbolTable::Visibility::Public
                                            : SymbolTable::Visibility::Private);
    std::optional<SymbolTable::UseRange> uses =
        SymbolTable::getSymbolUses(copy);
    if (!uses)
      return createStringError("'" + entry.getSymName() +
                               "' holds ops that are not registered");
    for (const SymbolTable::SymbolUse &use : *uses)
      if (Operation *symbol =
              from.lookupSymbol(use.getSymbolRef().getRootReference()))
        needed.insert(symbol);
  }
  return module;
}

static llvm::Error checkTunables(const FunctionFacts &facts,
                                 const CompileOptions &options) {
  std::vector<std::string> known;
  for (const driver::Tunable &tunable : facts.tunables)
    known.push_back(tunable.name);
  for (const std::pair<std::string, int64_t> &choice : options.tunables) {
    auto tunable = llvm::find_if(facts.tunables, [&](const auto &each) {
      return each.name == choice.first;
    });
    if (tunable == facts.tunables.end())
      return unknownName("tunable", choice.first, known);
    if (llvm::is_contained(tunable->choices, choice.second))
      continue;
    std::string choices;
    for (int64_t each : tunable->choices)
      choices += (choices.empty() ? "" : ", ") + std::to_string(each);
    return createStringError("tunable '" + choice.first +
                             "': expected one of " + choices + ", got " +
                             Twine(choice.second));
  }
  return llvm::Error::success();
}

static Backend *getBackend(Target target) {
  switch (target) {
  case Target::CPU:
    return compileForCPU;
  case Target::CUDA:
  case Target::Emulator:
    return nullptr;
  }
  llvm_unreachable("every target has been named");
}

llvm::Expected<std::shared_ptr<const Kernel>>
Program::compile(StringRef name, const CompileOptions &options) const {
  Backend *backend = getBackend(options.target);
  if (!backend)
    return createStringError("the target '" + driver::getName(options.target) +
                             "' is not built into this tile compiler; use cpu");
  llvm::Expected<func::FuncOp> function = state->lookup(name);
  if (!function)
    return function.takeError();
  llvm::Expected<Signature> signature = getSignature(name);
  if (!signature)
    return signature.takeError();
  llvm::Expected<FunctionFacts> facts = getFacts(name);
  if (!facts)
    return facts.takeError();
  if (llvm::Error error = checkTunables(*facts, options))
    return error;

  std::lock_guard lock(state->session->mutex);
  CapturedDiagnostics diagnostics(state->source, &state->session->context);
  llvm::Expected<OwningOpRef<ModuleOp>> module =
      extract(getModule(), *function);
  if (!module)
    return module.takeError();
  StageRecorder recorder(options);
  if (recorder.wantsStages()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    (*module)->print(stream);
    recorder.addStage("source", "mlir", text + "\n");
  }
  llvm::Expected<std::unique_ptr<Executable>> executable =
      backend(**module, *signature, options, recorder);
  if (!executable)
    return diagnostics.takeError(toString(executable.takeError()));
  return std::make_shared<const Kernel>(
      options.target, std::move(*signature), std::move(*executable),
      recorder.takeStages(), recorder.takeTimes(), diagnostics.take());
}
