//===- Program.cpp - What a source file offers ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Program.h"
#include "CapturedDiagnostics.h"
#include "SessionState.h"
#include "Tile/Driver/NearestName.h"
#include "Tile/Driver/Registration.h"
#include "Tile/IR/EntryAttributes.h"
#include "Tile/Transforms/InlineCalls.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace tile;
using namespace tile::driver;
using llvm::createStringError;

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
static bool isEntry(func::FuncOp function,
                    const llvm::SetVector<func::FuncOp> &programs) {
  if (!function.isPublic() || function.isExternal())
    return false;
  if (function->hasAttr(kReference))
    return true;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, kDefault))
      return true;
  return programs.contains(function);
}

std::vector<std::string> Program::getEntries() const {
  std::vector<std::string> entries;
  llvm::SetVector<func::FuncOp> programs = findTilePrograms(getModule());
  for (auto function : getModule().getOps<func::FuncOp>())
    if (isEntry(function, programs))
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

llvm::Expected<std::string> Program::runPasses(StringRef pipeline) const {
  registerAllPasses();
  std::lock_guard lock(state->session->mutex);
  CapturedDiagnostics diagnostics(state->source, &state->session->context);
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  FailureOr<OpPassManager> parsed = parsePassPipeline(pipeline, stream);
  if (failed(parsed))
    return createStringError("the pipeline '" + pipeline +
                             "' does not parse: " + StringRef(problem).rtrim());
  if (parsed->getOpAnchorName() != ModuleOp::getOperationName())
    return createStringError("the pipeline '" + pipeline +
                             "': expected one on builtin.module, got one on " +
                             parsed->getOpAnchorName());
  PassManager passes(&state->session->context);
  static_cast<OpPassManager &>(passes) = std::move(*parsed);
  OwningOpRef<ModuleOp> copy(getModule().clone());
  if (failed(passes.run(*copy)))
    return diagnostics.takeError("the pipeline '" + pipeline + "' failed");
  std::string text;
  llvm::raw_string_ostream(text) << *copy << "\n";
  return text;
}
