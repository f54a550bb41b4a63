//===- TuneRecord.cpp - Tunings on disk, and for people ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneRecord.h"
#include "Tile/Runtime/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace tile;
using namespace tile::driver;
using llvm::StringRef;
namespace json = llvm::json;

static constexpr const char *section = "tuning";

llvm::Expected<TuneRecord> TuneRecord::make(const Program &program,
                                            StringRef function,
                                            const TuneOptions &options) {
  TuneRecord record;
  const ExampleOptions &example = options.example;
  if (example.compile.cacheDirectory.empty() || getCompilerIdentity().empty())
    return record;
  llvm::Expected<std::string> code =
      program.getCodeKey(function, example.compile);
  if (!code)
    return code.takeError();
  llvm::Expected<Signature> signature = program.getSignature(function);
  if (!signature)
    return signature.takeError();
  // Extents decide which combination is the best.
  std::string arguments;
  for (const Parameter &parameter : signature->parameters)
    arguments += parameter.defaultSpec + "\n";
  for (const auto &[name, spec] : example.arguments)
    arguments += name + "=" + spec + "\n";
  // GPUs of one architecture differ in memory and in multiprocessors.
  std::string device = example.compile.target == Target::CUDA
                           ? getDeviceName(example.compile.device)
                           : "";
  record.cache.emplace(example.compile.cacheDirectory);
  record.key = Cache::getKey({"tuning", *code, device, arguments});
  return record;
}

static std::optional<TuneCandidate> parse(const json::Object &object) {
  TuneCandidate candidate;
  auto state = object.getInteger("state");
  auto seconds = object.getNumber("seconds");
  auto reason = object.getString("reason");
  const json::Array *tunables = object.getArray("tunables");
  const json::Array *resources = object.getArray("resources");
  if (!state || *state < 0 ||
      *state > static_cast<int64_t>(TuneCandidate::State::Measured) ||
      !seconds || !reason || !tunables || !resources)
    return std::nullopt;
  candidate.state = static_cast<TuneCandidate::State>(*state);
  candidate.seconds = *seconds;
  candidate.reason = reason->str();
  for (const json::Value &value : *tunables) {
    const json::Object *tunable = value.getAsObject();
    auto name = tunable ? tunable->getString("name") : std::nullopt;
    auto number = tunable ? tunable->getInteger("value") : std::nullopt;
    if (!name || !number)
      return std::nullopt;
    candidate.tunables.emplace_back(name->str(), *number);
  }
  for (const json::Value &value : *resources) {
    const json::Object *each = value.getAsObject();
    if (!each)
      return std::nullopt;
    KernelResources &kernel = candidate.resources.emplace_back();
    kernel.kernel = each->getString("kernel").value_or("").str();
    kernel.registers = each->getInteger("registers").value_or(0);
    kernel.sharedBytes = each->getInteger("sharedBytes").value_or(0);
    kernel.spillStores = each->getInteger("spillStores").value_or(0);
  }
  return candidate;
}

std::optional<TuneReport> TuneRecord::find() const {
  std::optional<runtime::Artifact> artifact;
  if (cache)
    artifact = cache->find(key);
  const std::string *text = artifact ? artifact->find(section) : nullptr;
  if (!text)
    return std::nullopt;
  llvm::Expected<json::Value> value = json::parse(*text);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  const json::Array *list = value->getAsArray();
  if (!list)
    return std::nullopt;
  TuneReport report;
  for (const json::Value &each : *list) {
    const json::Object *object = each.getAsObject();
    std::optional<TuneCandidate> candidate =
        object ? parse(*object) : std::nullopt;
    if (!candidate)
      return std::nullopt;
    report.candidates.push_back(std::move(*candidate));
  }
  return report;
}

void TuneRecord::store(const TuneReport &report) const {
  if (!cache)
    return;
  json::Array list;
  for (const TuneCandidate &candidate : report.candidates) {
    json::Array tunables, resources;
    for (const auto &[name, value] : candidate.tunables)
      tunables.push_back(
          json::Object{{"name", json::fixUTF8(name)}, {"value", value}});
    for (const KernelResources &each : candidate.resources)
      resources.push_back(json::Object{{"kernel", json::fixUTF8(each.kernel)},
                                       {"registers", each.registers},
                                       {"sharedBytes", each.sharedBytes},
                                       {"spillStores", each.spillStores}});
    list.push_back(json::Object{
        {"tunables", std::move(tunables)},
        {"state", static_cast<int64_t>(candidate.state)},
        {"reason", json::fixUTF8(candidate.reason)},
        {"seconds", candidate.seconds},
        {"resources", std::move(resources)},
    });
  }
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(list));
  runtime::Artifact artifact;
  artifact.set(section, std::move(text));
  llvm::consumeError(cache->store(key, artifact));
}

/// The first line of a reason, without its place in the source.
static std::string shorten(StringRef reason) {
  StringRef line = reason.trim().split('\n').first;
  if (size_t at = line.find("error: "); at != StringRef::npos)
    line = line.drop_front(at + 7);
  return line.str();
}

std::string tile::driver::formatTuning(const TuneReport &report) {
  runtime::Table table;
  table.addColumn("tunables");
  table.addColumn("time", runtime::Table::Align::Right);
  table.addColumn("registers", runtime::Table::Align::Right);
  table.addColumn("shared", runtime::Table::Align::Right);
  table.addColumn("spills", runtime::Table::Align::Right);
  table.addColumn("");
  size_t untried = 0;
  for (const TuneCandidate &candidate : report.candidates) {
    if (candidate.state == TuneCandidate::State::Untried) {
      ++untried;
      continue;
    }
    bool isMeasured = candidate.state == TuneCandidate::State::Measured;
    int64_t registers = 0, shared = 0, spills = 0;
    for (const KernelResources &each : candidate.resources) {
      registers = std::max(registers, each.registers);
      shared = std::max(shared, each.sharedBytes);
      spills = std::max(spills, each.spillStores);
    }
    auto show = [&](int64_t number) {
      return candidate.resources.empty() ? "-" : std::to_string(number);
    };
    table.addRow(
        {candidate.print(),
         isMeasured ? runtime::formatDuration(candidate.seconds) : "-",
         show(registers), show(shared), show(spills),
         (candidate.state == TuneCandidate::State::Wrong ? "WRONG: " : "") +
             shorten(candidate.reason)});
  }
  std::string text = table.print();
  if (untried)
    text += "(no time for " + std::to_string(untried) + " more)\n";
  return text;
}
