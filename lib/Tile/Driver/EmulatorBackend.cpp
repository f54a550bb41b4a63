//===- EmulatorBackend.cpp - A GPU's code on this machine -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the PTX that a GPU would get. What the emulator finds wrong with a run
// is the run's error.
//
//===----------------------------------------------------------------------===//

#include "Backends.h"
#include "GPUCode.h"
#include "RuntimeErrors.h"
#include "Tile/Emulator/Emulator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <mutex>

using namespace tile;
using namespace tile::driver;
using llvm::ArrayRef;
using llvm::createStringError;
using runtime::KernelLaunch;

namespace {

/// Memory of the arguments, in the order of its addresses. Arguments that
/// overlap, which they may where the program says so, are one buffer.
class Buffers {
public:
  Buffers(const Signature &signature, ArrayRef<ArgumentView> arguments);

  ArrayRef<emulator::Buffer> get() const { return buffers; }
  /// Remembers the contents of what the kernel writes.
  void save();
  /// Puts them back.
  void restore();
  /// Adds memory that only the kernels of this call see.
  runtime::Result<uint64_t> addWorkspace(uint64_t bytes);
  /// Adds a word, zero, for each report.
  runtime::Result<llvm::MutableArrayRef<uint32_t>> addReports(size_t count);
  /// What a launch was given may have been written by it.
  void markWritten(const KernelLaunch &launch);

private:
  std::vector<emulator::Buffer> buffers;
  /// Which of them begin without contents.
  std::vector<bool> isEmpty;
  std::vector<std::vector<char>> contents;
  std::vector<runtime::Array> workspaces;
};

/// A kernel's PTX, compiled for this machine.
class EmulatedCode {
public:
  static llvm::Expected<std::shared_ptr<const EmulatedCode>>
  load(const runtime::Artifact &artifact, const Signature &signature,
       std::string chip, const EmulationOptions &options);

  llvm::Error run(ArrayRef<ArgumentView> arguments) const;
  llvm::StringRef getChip() const { return chip; }
  std::string takeOutput() const {
    std::lock_guard lock(mutex);
    return std::exchange(output, {});
  }

private:
  EmulatedCode(runtime::LaunchPlan plan, Signature signature)
      : plan(std::move(plan)), signature(std::move(signature)) {}
  llvm::Expected<bool> runOne(const KernelLaunch &launch, uint64_t seed,
                              Buffers &buffers, std::string &faults) const;

  runtime::LaunchPlan plan;
  Signature signature;
  EmulationOptions options;
  std::string chip;
  /// Null where the function launches nothing. May be used by several threads.
  std::unique_ptr<emulator::Module> module;
  mutable std::mutex mutex;
  mutable std::string output;
};

class EmulatorCall : public Call {
public:
  EmulatorCall(std::shared_ptr<const EmulatedCode> code,
               ArrayRef<runtime::Array> arguments,
               const llvm::BitVector &isEmpty)
      : code(std::move(code)), arrays(arguments.begin(), arguments.end()),
        views(arrays.begin(), arrays.end()) {
    for (auto [index, view] : llvm::enumerate(views))
      view.isEmpty = index < isEmpty.size() && isEmpty.test(index);
  }

  llvm::Expected<double> run() override {
    auto start = std::chrono::steady_clock::now();
    if (llvm::Error error = code->run(views))
      return error;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }
  llvm::Error fetch() override { return llvm::Error::success(); }

private:
  std::shared_ptr<const EmulatedCode> code;
  llvm::SmallVector<runtime::Array> arrays;
  llvm::SmallVector<ArgumentView> views;
};

class EmulatorExecutable : public Executable {
public:
  explicit EmulatorExecutable(std::shared_ptr<const EmulatedCode> code)
      : code(std::move(code)) {}

  llvm::Expected<std::unique_ptr<Call>>
  bind(ArrayRef<runtime::Array> arguments,
       const llvm::BitVector &isEmpty) const override {
    return std::make_unique<EmulatorCall>(code, arguments, isEmpty);
  }
  llvm::Error launch(ArrayRef<ArgumentView> arguments, void *) const override {
    return code->run(arguments);
  }
  std::string takeOutput() const override { return code->takeOutput(); }
  llvm::StringRef getChip() const override { return code->getChip(); }

private:
  std::shared_ptr<const EmulatedCode> code;
};

} // namespace

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Buffers::Buffers(const Signature &signature, ArrayRef<ArgumentView> arguments) {
  for (const MemoryRange &range : findMemory(signature, arguments)) {
    emulator::Buffer &buffer = buffers.emplace_back();
    buffer.data = reinterpret_cast<void *>(range.begin);
    buffer.bytes = range.end - range.begin;
    // Halves of bytes are swapped two bytes at a time.
    if (runtime::getStorageBits(arguments[range.arguments[0]].type) < 8)
      buffer.bytes = llvm::alignTo(buffer.bytes, 2);
    for (size_t i : range.arguments)
      buffer.name +=
          (buffer.name.empty() ? "" : " and ") + signature.parameters[i].name;
    buffer.elementBytes =
        std::max(8u,
                 runtime::getStorageBits(arguments[range.arguments[0]].type)) /
        8;
    buffer.isReadOnly = !range.isWritten;
    buffer.isInitialized = !range.isEmpty;
    isEmpty.push_back(range.isEmpty);
  }
}

runtime::Result<uint64_t> Buffers::addWorkspace(uint64_t bytes) {
  constexpr uint64_t alignment = 256;
  auto memory = runtime::Array::allocate(runtime::DType::I8,
                                         {int64_t(bytes + alignment)});
  if (!memory)
    return runtime::Error{"a workspace: " + memory.message()};
  workspaces.push_back(std::move(*memory));
  emulator::Buffer buffer;
  buffer.data = reinterpret_cast<void *>(llvm::alignTo(
      reinterpret_cast<uintptr_t>(workspaces.back().data()), alignment));
  buffer.bytes = bytes;
  buffer.name = "workspace " + std::to_string(workspaces.size() - 1);
  buffer.isInitialized = false;
  isEmpty.push_back(true);
  buffers.push_back(buffer);
  return reinterpret_cast<uintptr_t>(buffer.data);
}

runtime::Result<llvm::MutableArrayRef<uint32_t>>
Buffers::addReports(size_t count) {
  if (!count)
    return llvm::MutableArrayRef<uint32_t>();
  runtime::Result<uint64_t> address = addWorkspace(count * sizeof(uint32_t));
  if (!address)
    return address.error();
  auto *words = reinterpret_cast<uint32_t *>(*address);
  std::fill_n(words, count, 0);
  buffers.back().name = "reports";
  buffers.back().isInitialized = true;
  isEmpty.back() = false;
  return llvm::MutableArrayRef<uint32_t>(words, count);
}

void Buffers::save() {
  for (const emulator::Buffer &buffer : buffers) {
    const char *data = static_cast<const char *>(buffer.data);
    contents.emplace_back(data, data + (buffer.isReadOnly ? 0 : buffer.bytes));
  }
}

void Buffers::restore() {
  for (size_t i = 0; i < buffers.size(); ++i) {
    llvm::copy(contents[i], static_cast<char *>(buffers[i].data));
    buffers[i].isInitialized = !isEmpty[i];
  }
}

void Buffers::markWritten(const KernelLaunch &launch) {
  for (emulator::Buffer &buffer : buffers) {
    auto begin = reinterpret_cast<uintptr_t>(buffer.data);
    for (const KernelLaunch::Parameter &parameter : launch.parameters)
      if (parameter.bytes == sizeof(void *) && parameter.bits >= begin &&
          parameter.bits < begin + buffer.bytes)
        buffer.isInitialized = true;
  }
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static llvm::Error toError(const emulator::Diagnostics &problems,
                           const llvm::Twine &what) {
  std::string text;
  for (const emulator::Diagnostic &problem : problems)
    text += (text.empty() ? "" : "\n") + problem.str();
  return createStringError(what + ": " + text);
}

llvm::Expected<std::shared_ptr<const EmulatedCode>>
EmulatedCode::load(const runtime::Artifact &artifact,
                   const Signature &signature, std::string chip,
                   const EmulationOptions &options) {
  const std::string *text = artifact.find("plan/" + signature.function);
  if (!text)
    return createStringError("there is no launch plan of '" +
                             signature.function + "'");
  llvm::Expected<runtime::LaunchPlan> plan =
      toExpected(runtime::LaunchPlan::parse(*text));
  if (!plan)
    return plan.takeError();
  std::shared_ptr<EmulatedCode> code(
      new EmulatedCode(std::move(*plan), signature));
  code->options = options;
  code->chip = std::move(chip);
  const std::string *ptx =
      artifact.find("ptx/" + signature.function + "/" + code->chip);
  if (!ptx)
    return code;
  emulator::Diagnostics problems;
  code->module = emulator::Module::parse(*ptx, problems);
  if (!code->module)
    return toError(problems, "the PTX of '" + signature.function +
                                 "' is not what the emulator knows");
  // All that may be wrong with the code shows now, not when it runs.
  for (const std::string &entry : code->module->entries())
    if (!code->module->check(entry, options.checks & emulator::checks::All,
                             problems))
      return toError(problems,
                     "the emulator cannot run kernel '" + entry + "'");
  return code;
}

/// Runs one launch; whether it went well.
llvm::Expected<bool> EmulatedCode::runOne(const KernelLaunch &launch,
                                          uint64_t seed, Buffers &buffers,
                                          std::string &faults) const {
  emulator::LaunchConfig config;
  config.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
  config.block = {launch.block[0], launch.block[1], launch.block[2]};
  config.dynamicSharedBytes = launch.sharedBytes;
  config.seed = seed;
  config.checks = options.checks & emulator::checks::All;
  config.buffers = buffers.get();
  for (const KernelLaunch::Parameter &parameter : launch.parameters) {
    const auto *bytes = reinterpret_cast<const uint8_t *>(&parameter.bits);
    config.arguments.push_back(
        {std::vector<uint8_t>(bytes, bytes + parameter.bytes)});
  }
  emulator::Diagnostics problems;
  std::optional<emulator::LaunchResult> result =
      module->launch(launch.kernel, config, problems);
  if (!result)
    return ::toError(problems, "kernel '" + launch.kernel + "'");
  {
    std::lock_guard lock(mutex);
    output += result->output;
  }
  buffers.markWritten(launch);
  // The language lets iterations write one value to one element.
  llvm::erase_if(result->reports, [](const emulator::Report &report) {
    return report.kind == emulator::ReportKind::SameValueWrites;
  });
  for (const emulator::Report &report : result->reports)
    faults += report.str();
  if (!result->reports.empty() && options.seeds > 1)
    faults += "with seed " + std::to_string(seed) + "\n";
  return result->reports.empty() && result->completed;
}

llvm::Error EmulatedCode::run(ArrayRef<ArgumentView> arguments) const {
  auto planArguments = makePlanArguments(signature, arguments);
  if (!planArguments)
    return planArguments.takeError();
  Buffers buffers(signature, arguments);
  llvm::Expected<llvm::MutableArrayRef<uint32_t>> words =
      toExpected(buffers.addReports(plan.getReports().size()));
  if (!words)
    return words.takeError();
  llvm::Expected<runtime::PlannedCall> call = toExpected(plan.evaluate(
      *planArguments,
      [&](uint64_t bytes) -> runtime::Result<uint64_t> {
        return buffers.addWorkspace(bytes);
      },
      reinterpret_cast<uintptr_t>(words->data())));
  if (!call)
    return call.takeError();
  if (options.seeds > 1)
    buffers.save();
  for (unsigned i = 0; i < options.seeds; ++i) {
    if (i != 0)
      buffers.restore();
    for (const KernelLaunch &launch : call->launches) {
      std::string faults;
      llvm::Expected<bool> isRight =
          runOne(launch, options.seed + i, buffers, faults);
      if (!isRight)
        return isRight.takeError();
      if (!*isRight)
        return createStringError(llvm::StringRef(faults).rtrim());
    }
    if (runtime::Status status = plan.judge(*call, words->data()); !status)
      return toError(status);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral defaultChip = "sm_80";

static llvm::Expected<std::string> describe(const CompileOptions &options) {
  llvm::Expected<Chip> chip = chooseChip(options, defaultChip);
  if (!chip)
    return chip.takeError();
  return chip->name.str();
}

static llvm::Error compile(mlir::ModuleOp module, const Signature &signature,
                           const CompileOptions &options,
                           StageRecorder &recorder,
                           runtime::Artifact &artifact) {
  llvm::Expected<Chip> chip = chooseChip(options, defaultChip);
  if (!chip)
    return chip.takeError();
  return compileForGPU(module, signature, options, *chip, /*ptxas=*/"",
                       recorder, artifact);
}

static llvm::Expected<std::unique_ptr<Executable>>
load(const runtime::Artifact &artifact, const Signature &signature,
     const CompileOptions &options) {
  llvm::Expected<std::string> chip =
      chooseCode(artifact, signature.function, options, defaultChip);
  if (!chip)
    return chip.takeError();
  auto code = EmulatedCode::load(artifact, signature, std::move(*chip),
                                 options.emulation);
  if (!code)
    return code.takeError();
  return std::make_unique<EmulatorExecutable>(std::move(*code));
}

const Backend tile::driver::emulatorBackend = {describe, compile, load};
