//===- CompiledProgram.cpp - Programs compiled ahead of time ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/CompiledProgram.h"
#include "Backends.h"
#include "GPUCode.h"
#include "RuntimeErrors.h"
#include "Tile/Driver/NearestName.h"
#include "Tile/Driver/SignatureJSON.h"

using namespace tile;
using namespace tile::driver;
using llvm::createStringError;
using llvm::StringRef;
namespace json = llvm::json;

static std::string getSignatureSection(StringRef function) {
  return ("signature/" + function).str();
}

llvm::Expected<std::vector<std::vector<KernelResources>>>
tile::driver::addToArtifact(const Program &program, StringRef function,
                            const CompileOptions &options,
                            llvm::ArrayRef<std::string> chips,
                            runtime::Artifact &artifact) {
  if (options.target == Target::CPU)
    return createStringError("an artifact holds code for GPUs; expected the "
                             "target cuda, got cpu");
  llvm::Expected<Signature> signature = program.getSignature(function);
  if (!signature)
    return signature.takeError();
  llvm::Expected<FunctionFacts> facts = program.getFacts(function);
  if (!facts)
    return facts.takeError();
  std::vector<std::vector<KernelResources>> resources;
  for (const std::string &chip : chips) {
    CompileOptions one = options;
    one.chip = chip;
    llvm::Expected<runtime::Artifact> made =
        program.compileToArtifact(function, one);
    if (!made)
      return made.takeError();
    for (const std::string &name : made->list(""))
      if (name != kDiagnosticsSection)
        artifact.set(name, *made->find(name));
    resources.push_back(readResources(*made, function, chip));
  }
  json::Object description{{"parameters", toJSON(signature->parameters)},
                           {"flops", json::fixUTF8(facts->flops)},
                           {"bytes", json::fixUTF8(facts->bytes)}};
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(description));
  artifact.set(getSignatureSection(function), std::move(text));
  return resources;
}

llvm::Expected<CompiledProgram> CompiledProgram::load(StringRef path) {
  llvm::Expected<runtime::Artifact> artifact =
      toExpected(runtime::Artifact::read(path.str()));
  if (!artifact)
    return artifact.takeError();
  return CompiledProgram(std::move(*artifact));
}

std::vector<std::string> CompiledProgram::getFunctions() const {
  return artifact.list(getSignatureSection(""));
}

static llvm::Expected<json::Object> describe(const runtime::Artifact &artifact,
                                             StringRef function) {
  const std::string *text = artifact.find(getSignatureSection(function));
  if (!text)
    return unknownName("function", function,
                       artifact.list(getSignatureSection("")));
  llvm::Expected<json::Value> value = json::parse(*text);
  if (value && value->getAsObject())
    return std::move(*value->getAsObject());
  if (!value)
    llvm::consumeError(value.takeError());
  return createStringError("the artifact does not say what '" + function +
                           "' takes; compile it again");
}

llvm::Expected<Signature>
CompiledProgram::getSignature(StringRef function) const {
  llvm::Expected<json::Object> description = describe(artifact, function);
  if (!description)
    return description.takeError();
  const json::Array *parameters = description->getArray("parameters");
  if (!parameters)
    return createStringError("the artifact does not say what '" + function +
                             "' takes; compile it again");
  Signature signature;
  signature.function = function.str();
  if (llvm::Error error =
          parseParameters(*parameters).moveInto(signature.parameters))
    return createStringError("the artifact on '" + function +
                             "': " + toString(std::move(error)));
  return signature;
}

llvm::Expected<FunctionFacts>
CompiledProgram::getFacts(StringRef function) const {
  llvm::Expected<json::Object> description = describe(artifact, function);
  if (!description)
    return description.takeError();
  FunctionFacts facts;
  facts.flops = description->getString("flops").value_or("").str();
  facts.bytes = description->getString("bytes").value_or("").str();
  return facts;
}

llvm::Expected<std::shared_ptr<const Kernel>>
CompiledProgram::load(StringRef function, const CompileOptions &options) const {
  llvm::Expected<Signature> signature = getSignature(function);
  if (!signature)
    return signature.takeError();
  if (options.target == Target::CPU)
    return createStringError("an artifact holds code for GPUs; expected the "
                             "target cuda or emulator, got cpu");
  if (!options.tunables.empty())
    return createStringError(
        "tunables are fixed when a program is compiled; an artifact has none");
  if (llvm::Error error = checkDevice(options.target, options.device))
    return error;
  auto executable =
      getBackend(options.target).load(artifact, *signature, options);
  if (!executable)
    return executable.takeError();
  return std::make_shared<const Kernel>(
      options.target, std::move(*signature), std::move(*executable),
      std::vector<Stage>(), std::vector<PhaseTime>(), "");
}
