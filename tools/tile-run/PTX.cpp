//===- PTX.cpp - Running a PTX kernel on this machine -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX of anyone's, without a launch plan: the command line says what a plan
// would.
//
//===----------------------------------------------------------------------===//

#include "PTX.h"
#include "PTXArguments.h"
#include "Tile/Runtime/Npy.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace tile;
using namespace tile::emulator;
using llvm::createStringError;
using llvm::StringRef;

static llvm::Error parseDim(const cl::opt<std::string> &option, Dim3 &dim) {
  llvm::SmallVector<StringRef, 3> parts;
  StringRef(option).split(parts, ',');
  uint32_t *fields[] = {&dim.x, &dim.y, &dim.z};
  bool isGood = parts.size() <= 3;
  for (size_t i = 0; i < parts.size() && isGood; ++i)
    isGood = !parts[i].getAsInteger(10, *fields[i]) && *fields[i] != 0;
  if (isGood)
    return llvm::Error::success();
  return createStringError("--" + option.ArgStr +
                           ": expected x[,y[,z]], got '" + option + "'");
}

static llvm::Error toError(const Diagnostics &problems, StringRef file) {
  std::string text;
  for (const Diagnostic &problem : problems)
    text += (text.empty() ? "" : "\n") + file.str() +
            (problem.line ? ":" + std::to_string(problem.line) : "") +
            ": error: " + problem.message;
  return llvm::make_error<driver::SourceError>(std::move(text));
}

static void print(const PTXArguments::Buffer &buffer) {
  int64_t count = buffer.value.getNumElements();
  llvm::outs() << buffer.name << ":";
  for (int64_t i = 0; i < count && i < 64; ++i)
    llvm::outs() << " " << llvm::format("%g", buffer.value.getDouble(i));
  llvm::outs() << (count > 64 ? " ...\n" : "\n");
}

namespace {
class PTXRun {
public:
  PTXRun(const CommandLine &line, const driver::ExampleOptions &options,
         const NameValues &saves)
      : line(line), options(options), saves(saves) {}

  llvm::Error load();
  /// Runs one schedule; true where the kernel did nothing wrong.
  llvm::Expected<bool> run(uint64_t seed, bool isLast);

private:
  llvm::Error show(const PTXArguments &arguments);

  const CommandLine &line;
  const driver::ExampleOptions &options;
  const NameValues &saves;
  std::unique_ptr<Module> module;
  std::string entry;
  LaunchConfig config;
};
} // namespace

llvm::Error PTXRun::load() {
  auto file = llvm::MemoryBuffer::getFile(line.inputFile);
  if (!file)
    return createStringError("cannot read '" + line.inputFile +
                             "': " + file.getError().message());
  Diagnostics problems;
  module = Module::parse(std::string_view((*file)->getBuffer()), problems);
  if (!module)
    return toError(problems, line.inputFile);
  if (line.entries.size() > 1)
    return createStringError("--entry: a PTX file runs one kernel at a time");
  std::vector<std::string> names = module->entries();
  if (line.entries.size() == 1)
    entry = line.entries[0];
  else if (names.size() == 1)
    entry = names[0];
  else
    return createStringError(
        line.inputFile + " has " + llvm::Twine(names.size()) +
        " kernels; choose one with --entry: " + llvm::join(names, ", "));
  if (llvm::Error error = parseDim(line.grid, config.grid))
    return error;
  if (llvm::Error error = parseDim(line.block, config.block))
    return error;
  if (line.cluster.getNumOccurrences()) {
    config.cluster.emplace();
    if (llvm::Error error = parseDim(line.cluster, *config.cluster))
      return error;
  }
  config.dynamicSharedBytes = line.sharedBytes;
  config.workers = line.workers;
  config.timeLimitSeconds = line.timeLimit;
  config.checks = options.compile.emulation.checks & checks::All;
  return llvm::Error::success();
}

llvm::Error PTXRun::show(const PTXArguments &arguments) {
  for (const std::string &name : line.printNames) {
    auto buffer = arguments.find(name);
    if (!buffer)
      return buffer.takeError();
    print(**buffer);
  }
  for (const auto &[name, path] : saves) {
    auto buffer = arguments.find(name);
    if (!buffer)
      return buffer.takeError();
    auto status = runtime::writeNpy(path, (*buffer)->value);
    if (!status)
      return createStringError("argument '" + name + "': " + status.message());
  }
  return llvm::Error::success();
}

llvm::Expected<bool> PTXRun::run(uint64_t seed, bool isLast) {
  PTXArguments arguments(options.seed);
  for (const std::string &text : line.buffers)
    if (llvm::Error error = arguments.add(text, /*isParameter=*/false))
      return error;
  for (const std::string &text : line.arguments)
    if (llvm::Error error = arguments.add(text, /*isParameter=*/true))
      return error;
  config.arguments = arguments.getParameters();
  config.buffers = arguments.getBuffers();
  config.seed = seed;
  Diagnostics problems;
  std::optional<LaunchResult> result = module->launch(entry, config, problems);
  if (!result)
    return toError(problems, line.inputFile);
  llvm::outs() << result->output;
  for (const Report &report : result->reports)
    llvm::outs() << report.str();
  bool isRight = result->reports.empty() && result->completed;
  if (!isRight)
    llvm::outs() << "with seed " << seed << "\n";
  if (!isRight || isLast)
    if (llvm::Error error = show(arguments))
      return error;
  return isRight;
}

llvm::Expected<bool> runPTX(const CommandLine &line,
                            const driver::ExampleOptions &options,
                            const NameValues &saves) {
  PTXRun run(line, options, saves);
  if (llvm::Error error = run.load())
    return error;
  const driver::EmulationOptions &emulation = options.compile.emulation;
  for (unsigned i = 0; i < emulation.seeds; ++i) {
    llvm::Expected<bool> isRight =
        run.run(emulation.seed + i, i + 1 == emulation.seeds);
    if (!isRight || !*isRight)
      return isRight;
  }
  return true;
}
