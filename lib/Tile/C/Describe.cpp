//===- Describe.cpp - Programs and kernels as JSON --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "Tile/Driver/SignatureJSON.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::driver;
namespace json = llvm::json;

/// Names and diagnostics quote sources, which may be in any encoding.
static json::Value text(llvm::StringRef text) { return json::fixUTF8(text); }

static std::string print(json::Object object) {
  std::string result;
  llvm::raw_string_ostream(result) << json::Value(std::move(object));
  return result;
}

static json::Object describeFunction(const Program &program,
                                     llvm::StringRef name) {
  json::Object function{{"name", text(name)}};
  if (llvm::Expected<FunctionFacts> facts = program.getFacts(name)) {
    json::Array tunables;
    for (const Tunable &tunable : facts->tunables)
      tunables.push_back(json::Object{{"name", text(tunable.name)},
                                      {"choices", json::Array(tunable.choices)},
                                      {"default", tunable.defaultValue}});
    function["tunables"] = std::move(tunables);
    function["reference"] = text(facts->reference);
    function["flops"] = text(facts->flops);
    function["bytes"] = text(facts->bytes);
  } else {
    llvm::consumeError(facts.takeError());
  }
  if (llvm::Expected<Signature> signature = program.getSignature(name))
    function["parameters"] = toJSON(signature->parameters);
  else
    function["error"] = text(toString(signature.takeError()));
  return function;
}

std::string tile::c::describe(const Program &program) {
  json::Array functions;
  for (const std::string &name : program.getEntries())
    functions.push_back(describeFunction(program, name));
  return print(json::Object{{"functions", std::move(functions)}});
}

std::string tile::c::describe(const Kernel &kernel) {
  json::Array stages, times, resources;
  for (const Stage &stage : kernel.getStages())
    stages.push_back(json::Object{{"name", text(stage.name)},
                                  {"extension", text(stage.extension)}});
  for (const PhaseTime &time : kernel.getTimes())
    times.push_back(
        json::Object{{"name", text(time.name)}, {"seconds", time.seconds}});
  for (const KernelResources &each : kernel.getResources())
    resources.push_back(json::Object{
        {"kernel", text(each.kernel)},
        {"registers", each.registers},
        {"sharedBytes", each.sharedBytes},
        {"spillStores", each.spillStores},
        {"spillLoads", each.spillLoads},
        {"stackBytes", each.stackBytes},
        {"occupancy", each.occupancy ? json::Value(*each.occupancy) : nullptr},
    });
  llvm::StringRef chip = kernel.getChip();
  return print(json::Object{
      {"function", text(kernel.getSignature().function)},
      {"target", text(getName(kernel.getTarget()))},
      {"chip", chip.empty() ? json::Value(nullptr) : text(chip)},
      {"parameters", toJSON(kernel.getSignature().parameters)},
      {"stages", std::move(stages)},
      {"times", std::move(times)},
      {"resources", std::move(resources)},
      {"diagnostics", text(kernel.getDiagnostics())},
      {"fromCache", kernel.isFromCache()},
  });
}
