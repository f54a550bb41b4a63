//===- Options.cpp - Options of compilation from JSON -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "Tile/Driver/Cache.h"
#include "Tile/Driver/NearestName.h"
#include "Tile/Emulator/Emulator.h"
#include "llvm/Support/JSON.h"

using namespace tile;
using namespace tile::driver;
using llvm::createStringError;
using llvm::StringRef;
namespace json = llvm::json;

static llvm::Error expected(StringRef key, StringRef what,
                            const json::Value &got) {
  std::string text;
  llvm::raw_string_ostream(text) << got;
  return createStringError("option '" + key + "': expected " + what + ", got " +
                           text);
}

static llvm::Error parseTarget(const json::Value &value,
                               CompileOptions &options) {
  std::optional<StringRef> name = value.getAsString();
  if (!name)
    return expected("target", "the name of one", value);
  return driver::parseTarget(*name).moveInto(options.target);
}

static llvm::Error parseChip(const json::Value &value,
                             CompileOptions &options) {
  std::optional<StringRef> name = value.getAsString();
  if (!name)
    return expected("chip", "a name such as \"sm_90\"", value);
  options.chip = name->str();
  return llvm::Error::success();
}

static llvm::Error parseDevice(const json::Value &value,
                               CompileOptions &options) {
  std::optional<int64_t> number = value.getAsInteger();
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max())
    return expected("device", "the number of a GPU, from 0 on", value);
  options.device = static_cast<int>(*number);
  return llvm::Error::success();
}

static llvm::Error parseTunables(const json::Value &value,
                                 CompileOptions &options) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return expected("tunables", "an object of names and integers", value);
  for (const auto &[name, choice] : *object) {
    std::optional<int64_t> number = choice.getAsInteger();
    if (!number)
      return expected(("tunables." + StringRef(name)).str(), "an integer",
                      choice);
    options.tunables.emplace_back(StringRef(name).str(), *number);
  }
  return llvm::Error::success();
}

static llvm::Error parseKeepStages(const json::Value &value,
                                   CompileOptions &options) {
  std::optional<bool> keep = value.getAsBoolean();
  if (!keep)
    return expected("keepStages", "true or false", value);
  options.keepStages = *keep;
  return llvm::Error::success();
}

static llvm::Error parseCache(const json::Value &value,
                              CompileOptions &options) {
  if (std::optional<bool> keep = value.getAsBoolean())
    options.cacheDirectory = *keep ? getDefaultCacheDirectory() : "";
  else if (std::optional<StringRef> directory = value.getAsString())
    options.cacheDirectory = directory->str();
  else
    return expected("cache", "true, false or a directory", value);
  return llvm::Error::success();
}

static llvm::Error parseSeeds(const json::Value &value,
                              CompileOptions &options) {
  std::optional<int64_t> count = value.getAsInteger();
  if (!count || *count < 1 || *count > 1000000)
    return expected("seeds", "a number from 1 to 1000000", value);
  options.emulation.seeds = static_cast<unsigned>(*count);
  return llvm::Error::success();
}

static llvm::Error parseSeed(const json::Value &value,
                             CompileOptions &options) {
  std::optional<uint64_t> seed = value.getAsUINT64();
  if (!seed)
    return expected("seed", "an integer of zero or more", value);
  options.emulation.seed = *seed;
  return llvm::Error::success();
}

static llvm::Error parseChecks(const json::Value &value,
                               CompileOptions &options) {
  const json::Array *names = value.getAsArray();
  if (!names)
    return expected("checks", "an array of names", value);
  options.emulation.checks = emulator::checks::None;
  for (const json::Value &name : *names) {
    std::optional<StringRef> text = name.getAsString();
    std::optional<uint32_t> check =
        text ? emulator::checks::parse(std::string_view(*text)) : std::nullopt;
    if (!check)
      return expected("checks",
                      "race, proxy, uninit, register, converge, all or none",
                      name);
    options.emulation.checks |= *check;
  }
  return llvm::Error::success();
}

llvm::Expected<CompileOptions> tile::c::parseOptions(const char *text) {
  CompileOptions options;
  if (!text) {
    options.target = getDefaultTarget();
    return options;
  }
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError("the options are no JSON: " +
                             toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object)
    return createStringError("the options are no JSON object");
  using Parser = llvm::Error(const json::Value &, CompileOptions &);
  const std::pair<StringRef, Parser *> known[] = {
      {"target", ::parseTarget},       {"chip", parseChip},
      {"device", parseDevice},         {"tunables", parseTunables},
      {"keepStages", parseKeepStages}, {"cache", parseCache},
      {"seeds", parseSeeds},           {"seed", parseSeed},
      {"checks", ::parseChecks},
  };
  if (!object->get("target"))
    options.target = object->get("device") ? Target::CUDA : getDefaultTarget();
  for (const auto &member : *object) {
    StringRef key = member.first;
    auto entry = llvm::find_if(
        known, [&](const auto &each) { return each.first == key; });
    if (entry == std::end(known)) {
      std::vector<std::string> names;
      for (const auto &each : known)
        names.push_back(each.first.str());
      return unknownName("option", key, names);
    }
    if (llvm::Error error = entry->second(member.second, options))
      return error;
  }
  return options;
}
