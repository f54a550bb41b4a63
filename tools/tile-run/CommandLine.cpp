//===- CommandLine.cpp - The options of tile-run ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Tile/Driver/Cache.h"
#include "Tile/Emulator/Emulator.h"
#include "llvm/Config/llvm-config.h"

using namespace tile::driver;
using llvm::createStringError;
using llvm::StringRef;

bool CommandLine::parse(int argc, char **argv) {
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "tile-run " TILE_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  });
  return cl::ParseCommandLineOptions(
      argc, argv, "compiles a tile program, runs it, checks and times it\n",
      &llvm::errs());
}

static llvm::Expected<NameValues> split(const cl::list<std::string> &texts) {
  NameValues pairs;
  for (StringRef text : texts) {
    auto [name, value] = text.split('=');
    if (name.empty() || value.empty())
      return createStringError("--" + texts.ArgStr + ": expected " +
                               texts.ValueStr + ", got '" + text + "'");
    pairs.emplace_back(name.str(), value.str());
  }
  return pairs;
}

llvm::Expected<NameValues> CommandLine::getSaves() const {
  return split(saves);
}

llvm::Expected<ExampleOptions> CommandLine::makeOptions() const {
  ExampleOptions options;
  // Code for GPUs is what artifacts hold; without a GPU the emulator runs it.
  if (emitsArtifact())
    options.compile.target = Target::CUDA;
  else if (options.compile.target = getDefaultTarget();
           isArtifact() && options.compile.target == Target::CPU)
    options.compile.target = Target::Emulator;
  if (targetName.getNumOccurrences()) {
    llvm::Expected<Target> target = parseTarget(targetName);
    if (!target)
      return target.takeError();
    options.compile.target = *target;
  }
  if (device.getNumOccurrences()) {
    if (isPTX())
      return createStringError("--device: PTX kernels run in the emulator");
    if (!targetName.getNumOccurrences())
      options.compile.target = Target::CUDA;
    options.compile.device = device;
    if (llvm::Error error =
            checkDevice(options.compile.target, options.compile.device))
      return error;
  }
  llvm::Expected<NameValues> values = split(tunables);
  if (!values)
    return values.takeError();
  for (const auto &[name, text] : *values) {
    int64_t value;
    if (StringRef(text).getAsInteger(0, value))
      return createStringError("--set " + name +
                               ": expected an integer, got '" + text + "'");
    options.compile.tunables.emplace_back(name, value);
  }
  // Those of PTX kernels need no names.
  if (!isPTX())
    if (llvm::Error error = split(arguments).moveInto(options.arguments))
      return error;
  if (llvm::Error error = split(expected).moveInto(options.expected))
    return error;
  options.seed = seed;
  if (reference.getNumOccurrences() && reference.empty())
    return createStringError("--reference: expected the name of a function; "
                             "--no-reference runs none");
  options.compile.chip = chip;
  options.compile.emulation.seed = seed;
  if (seeds == 0)
    return createStringError("--seeds: expected one or more, got 0");
  options.compile.emulation.seeds = seeds;
  std::optional<uint32_t> mask =
      tile::emulator::checks::parse(checks.getValue());
  if (!mask)
    return createStringError("--checks: expected some of race, proxy, uninit, "
                             "register and converge, or all or none, got '" +
                             checks + "'");
  options.compile.emulation.checks = *mask;
  if (!noCache)
    options.compile.cacheDirectory = cacheDirectory.getNumOccurrences()
                                         ? cacheDirectory.getValue()
                                         : getDefaultCacheDirectory();
  options.reference = reference;
  options.useReference = !noReference;
  if (tolerance.getNumOccurrences()) {
    llvm::Expected<ToleranceSpec> spec = ToleranceSpec::parse(tolerance);
    if (!spec)
      return spec.takeError();
    options.tolerance = *spec;
  }
  options.benchRuns = bench;
  return options;
}
