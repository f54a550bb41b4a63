//===- Compile.cpp - Compiling one function of a program --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backends.h"
#include "CHeader.h"
#include "CapturedDiagnostics.h"
#include "SessionState.h"
#include "Tile/Driver/Cache.h"
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

/// A module of `entries` and the symbols they need, which are private there:
/// what else the file holds costs nothing and cannot fail.
static llvm::Expected<OwningOpRef<ModuleOp>>
extract(ModuleOp from, ArrayRef<func::FuncOp> entries) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(from.getLoc());
  module->getOperation()->setAttrs(from->getAttrDictionary());
  llvm::SmallSetVector<Operation *, 8> needed;
  for (func::FuncOp entry : entries)
    needed.insert(entry);
  for (size_t i = 0; i < needed.size(); ++i) {
    Operation *copy = needed[i]->clone();
    module->push_back(copy);
    if (auto function = dyn_cast<func::FuncOp>(copy))
      dropExampleAttributes(function);
    SymbolTable::setSymbolVisibility(
        copy, i < entries.size() ? SymbolTable::Visibility::Public
                                 : SymbolTable::Visibility::Private);
    std::optional<SymbolTable::UseRange> uses =
        SymbolTable::getSymbolUses(copy);
    if (!uses)
      return createStringError("'" +
                               SymbolTable::getSymbolName(copy).getValue() +
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

/// All that decides what the artifact of `module` holds.
static llvm::Expected<std::string>
getCacheKey(ModuleOp module, StringRef function, const FunctionFacts &facts,
            const CompileOptions &options, const Backend &backend) {
  // With locations, for they are in the code: in messages of assertions and in
  // line tables.
  std::string program;
  llvm::raw_string_ostream stream(program);
  module->print(stream, OpPrintingFlags().enableDebugInfo().useLocalScope());
  std::string tunables;
  for (const driver::Tunable &tunable : facts.tunables) {
    int64_t value = tunable.defaultValue;
    for (const auto &[name, chosen] : options.tunables)
      if (name == tunable.name)
        value = chosen;
    tunables += tunable.name + "=" + std::to_string(value) + "\n";
  }
  llvm::Expected<std::string> machine = backend.describe(options);
  if (!machine)
    return machine.takeError();
  return Cache::getKey({getCompilerIdentity(), program, function, tunables,
                        driver::getName(options.target), *machine});
}

const Backend &tile::driver::getBackend(Target target) {
  switch (target) {
  case Target::CPU:
    return cpuBackend;
  case Target::CUDA:
    return cudaBackend;
  case Target::Emulator:
    return emulatorBackend;
  }
  llvm_unreachable("every target has been named");
}

/// Adds what the artifact consists of to the stages, as far as it is not there.
static void addCodeStages(const runtime::Artifact &artifact,
                          std::vector<Stage> &stages) {
  const std::pair<StringRef, StringRef> kinds[] = {
      {"obj", "o"}, {"ptx", "ptx"}, {"cubin", "cubin"}};
  for (const auto &[kind, extension] : kinds) {
    if (llvm::any_of(stages, [&, kind = kind](const Stage &stage) {
          return stage.name == kind;
        }))
      continue;
    std::string prefix = (kind + "/").str();
    for (const std::string &name : artifact.list(prefix))
      stages.push_back(
          {kind.str(), extension.str(), *artifact.find(prefix + name)});
  }
}

/// What becomes of a function on its way.
struct Program::Compilation {
  Signature signature;
  StageRecorder recorder;
  runtime::Artifact artifact;
  bool isCached = false;

  explicit Compilation(const CompileOptions &options) : recorder(options) {}
};

llvm::Expected<std::string>
Program::getCodeKey(StringRef name, const CompileOptions &options) const {
  llvm::Expected<func::FuncOp> function = state->lookup(name);
  if (!function)
    return function.takeError();
  llvm::Expected<FunctionFacts> facts = getFacts(name);
  if (!facts)
    return facts.takeError();
  std::lock_guard lock(state->session->mutex);
  llvm::Expected<OwningOpRef<ModuleOp>> module =
      extract(getModule(), *function);
  if (!module)
    return module.takeError();
  return getCacheKey(**module, name, *facts, options,
                     driver::getBackend(options.target));
}

llvm::Error Program::compileCode(StringRef name, const CompileOptions &options,
                                 Compilation &compilation) const {
  llvm::Expected<func::FuncOp> function = state->lookup(name);
  if (!function)
    return function.takeError();
  if (llvm::Error error = getSignature(name).moveInto(compilation.signature))
    return error;
  llvm::Expected<FunctionFacts> facts = getFacts(name);
  if (!facts)
    return facts.takeError();
  if (llvm::Error error = checkTunables(*facts, options))
    return error;
  if (llvm::Error error = checkDevice(options.target, options.device))
    return error;

  const Backend &backend = driver::getBackend(options.target);
  StageRecorder &recorder = compilation.recorder;
  std::lock_guard lock(state->session->mutex);
  CapturedDiagnostics diagnostics(state->source, &state->session->context);
  llvm::Expected<OwningOpRef<ModuleOp>> module =
      extract(getModule(), *function);
  if (!module)
    return module.takeError();
  std::optional<Cache> cache;
  std::string key;
  if (!options.cacheDirectory.empty() && !getCompilerIdentity().empty()) {
    PhaseTimer timer(recorder, "look-up");
    cache.emplace(options.cacheDirectory);
    if (llvm::Error error =
            getCacheKey(**module, name, *facts, options, backend).moveInto(key))
      return error;
    if (!recorder.wantsStages())
      if (std::optional<runtime::Artifact> found = cache->find(key)) {
        compilation.artifact = std::move(*found);
        compilation.isCached = true;
        return llvm::Error::success();
      }
  }
  if (recorder.wantsStages()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    (*module)->print(stream);
    recorder.addStage("source", "mlir", text + "\n");
  }
  if (llvm::Error error =
          backend.compile(**module, compilation.signature, options, recorder,
                          compilation.artifact))
    return diagnostics.takeError(toString(std::move(error)));
  std::string reported = diagnostics.take();
  compilation.artifact.set(kDiagnosticsSection, reported);
  if (cache)
    if (llvm::Error error = cache->store(key, compilation.artifact))
      compilation.artifact.set(kDiagnosticsSection,
                               reported + (reported.empty() ? "" : "\n") +
                                   "warning: " + toString(std::move(error)));
  return llvm::Error::success();
}

llvm::Expected<runtime::Artifact>
Program::compileToArtifact(StringRef name,
                           const CompileOptions &options) const {
  Compilation compilation(options);
  if (llvm::Error error = compileCode(name, options, compilation))
    return error;
  return std::move(compilation.artifact);
}

llvm::Expected<std::shared_ptr<const Kernel>>
Program::compile(StringRef name, const CompileOptions &options) const {
  Compilation compilation(options);
  if (llvm::Error error = compileCode(name, options, compilation))
    return error;
  StageRecorder &recorder = compilation.recorder;
  const runtime::Artifact &artifact = compilation.artifact;
  auto load = [&] {
    PhaseTimer timer(recorder, "load");
    return driver::getBackend(options.target)
        .load(artifact, compilation.signature, options);
  };
  llvm::Expected<std::unique_ptr<Executable>> executable = load();
  if (!executable)
    return executable.takeError();
  std::vector<Stage> stages = recorder.takeStages();
  addCodeStages(artifact, stages);
  const std::string *reported = artifact.find(kDiagnosticsSection);
  return std::make_shared<const Kernel>(
      options.target, std::move(compilation.signature), std::move(*executable),
      std::move(stages), recorder.takeTimes(), reported ? *reported : "",
      compilation.isCached);
}

llvm::Expected<ObjectFile>
Program::compileObject(llvm::ArrayRef<std::string> functions,
                       const CompileOptions &options) const {
  if (options.target != Target::CPU)
    return createStringError("object files for C programs are made for cpu");
  std::vector<Signature> signatures;
  SmallVector<func::FuncOp> entries;
  for (const std::string &name : functions) {
    llvm::Expected<func::FuncOp> function = state->lookup(name);
    if (!function)
      return function.takeError();
    llvm::Expected<Signature> signature = getSignature(name);
    if (!signature)
      return signature.takeError();
    if (llvm::Error error = checkForC(*signature))
      return error;
    entries.push_back(*function);
    signatures.push_back(std::move(*signature));
  }

  std::lock_guard lock(state->session->mutex);
  CapturedDiagnostics diagnostics(state->source, &state->session->context);
  llvm::Expected<OwningOpRef<ModuleOp>> module = extract(getModule(), entries);
  if (!module)
    return module.takeError();
  auto object = compileObjectForCPU(**module, signatures, options);
  if (!object)
    return diagnostics.takeError(toString(object.takeError()));
  return ObjectFile{std::string(object->begin(), object->end()),
                    printCHeader(signatures)};
}
