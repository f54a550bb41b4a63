//===- Program.cpp - What a source file offers ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Program.h"
#include "NearestName.h"
#include "SessionState.h"
#include "Tile/IR/EntryAttributes.h"

using namespace mlir;
using namespace tile;
using namespace tile::driver;

char SourceError::ID;

Program::Program(std::unique_ptr<State> state) : state(std::move(state)) {}
Program::Program(Program &&) = default;
Program &Program::operator=(Program &&) = default;
Program::~Program() = default;

StringRef Program::getName() const { return state->name; }
ModuleOp Program::getModule() const { return *state->module; }

llvm::Expected<func::FuncOp> Program::State::lookup(StringRef name) const {
  std::vector<std::string> known;
  for (func::FuncOp function : ModuleOp(*module).getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (function.getSymName() == name)
      return function;
    known.push_back(function.getSymName().str());
  }
  return unknownName("function", name, known);
}

/// A function that is there to be run, not to be called by others.
static bool isEntry(func::FuncOp function) {
  if (!function.isPublic() || function.isExternal())
    return false;
  if (function->hasAttr(kReference))
    return true;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, kDefault))
      return true;
  return function.walk([](LaunchOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

std::vector<std::string> Program::getEntries() const {
  std::vector<std::string> entries;
  for (auto function : getModule().getOps<func::FuncOp>())
    if (isEntry(function))
      entries.push_back(function.getSymName().str());
  return entries;
}

llvm::Expected<Signature> Program::getSignature(StringRef name) const {
  llvm::Expected<func::FuncOp> function = state->lookup(name);
  if (!function)
    return function.takeError();
  return driver::getSignature(*function,
                              state->argumentNames.lookup(*function));
}

llvm::Expected<FunctionFacts> Program::getFacts(StringRef name) const {
  llvm::Expected<func::FuncOp> function = state->lookup(name);
  if (!function)
    return function.takeError();
  FunctionFacts facts;
  Operation *op = *function;
  if (auto reference = op->getAttrOfType<FlatSymbolRefAttr>(kReference))
    facts.reference = reference.getValue().str();
  facts.tolerance = op->getAttrOfType<ToleranceAttr>(kTolerance);
  if (auto flops = op->getAttrOfType<StringAttr>(kFlops))
    facts.flops = flops.str();
  if (auto bytes = op->getAttrOfType<StringAttr>(kBytes))
    facts.bytes = bytes.str();
  for (auto tunable : function->getOps<TunableOp>())
    facts.tunables.push_back({tunable.getName().str(),
                              tunable.getChoices().vec(),
                              static_cast<int64_t>(tunable.getDefaultValue())});
  return facts;
}
