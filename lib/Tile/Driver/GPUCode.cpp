//===- GPUCode.cpp - What GPU targets share ---------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GPUCode.h"
#include "Tile/Driver/Pipelines.h"
#include "Tile/Target/CUDA/DeviceCode.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::driver;
using llvm::createStringError;

llvm::Expected<Chip> tile::driver::chooseChip(const CompileOptions &options,
                                              StringRef otherwise) {
  StringRef name = options.chip.empty() ? otherwise : StringRef(options.chip);
  if (std::optional<Chip> chip = getChip(name))
    return *chip;
  return createStringError("there is no chip '" + name +
                           "'; there are: " + getChipNames());
}

static std::string getSection(StringRef kind, StringRef function,
                              StringRef chip) {
  return (kind + "/" + function + "/" + chip).str();
}

llvm::Expected<std::string>
tile::driver::chooseCode(const runtime::Artifact &artifact, StringRef function,
                         const CompileOptions &options, StringRef otherwise) {
  std::vector<std::string> chips =
      artifact.list(getSection("ptx", function, ""));
  if (chips.empty())
    return std::string();
  if (!options.chip.empty()) {
    if (llvm::is_contained(chips, options.chip))
      return options.chip;
    return createStringError("there is no code of '" + function + "' for " +
                             options.chip +
                             "; there is for: " + llvm::join(chips, ", "));
  }
  return llvm::is_contained(chips, otherwise) ? otherwise.str() : chips.back();
}

static std::string print(ArrayRef<cuda::ResourceReport> reports) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const cuda::ResourceReport &report : reports)
    stream << report.kernel << ' ' << report.registers << ' '
           << report.sharedBytes << ' ' << report.spillStores << ' '
           << report.spillLoads << ' ' << report.stackBytes << '\n';
  return text;
}

std::vector<KernelResources>
tile::driver::readResources(const runtime::Artifact &artifact,
                            StringRef function, StringRef chip) {
  std::vector<KernelResources> resources;
  const std::string *text =
      artifact.find(getSection("resources", function, chip));
  if (!text)
    return resources;
  for (StringRef line : llvm::split(*text, '\n')) {
    SmallVector<StringRef, 6> words;
    line.split(words, ' ');
    if (words.size() != 6)
      continue;
    KernelResources &each = resources.emplace_back();
    each.kernel = words[0].str();
    int64_t *numbers[] = {&each.registers, &each.sharedBytes, &each.spillStores,
                          &each.spillLoads, &each.stackBytes};
    for (auto [number, word] : llvm::zip(numbers, llvm::drop_begin(words)))
      if (word.getAsInteger(10, *number))
        *number = 0;
  }
  return resources;
}

/// The pipeline, with its stages.
static llvm::Error lower(ModuleOp module, const Signature &signature,
                         const CompileOptions &options, const Chip &chip,
                         StageRecorder &recorder) {
  TileToCUDAOptions pipeline;
  pipeline.chip = chip.name.str();
  for (const auto &[name, value] : options.tunables)
    pipeline.values.push_back(name + "=" + std::to_string(value));
  PassManager passes(module.getContext());
  buildTileToCUDA(passes, pipeline);
  recorder.watch(passes);
  if (failed(passes.run(module)))
    return createStringError("'" + signature.function +
                             "' does not compile for " + chip.name);
  if (recorder.wantsStages()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    recorder.addStage("mlir", "mlir", text + "\n");
  }
  return llvm::Error::success();
}

llvm::Error tile::driver::compileForGPU(ModuleOp module,
                                        const Signature &signature,
                                        const CompileOptions &options,
                                        const Chip &chip, StringRef ptxas,
                                        StageRecorder &recorder,
                                        runtime::Artifact &artifact) {
  if (llvm::Error error = lower(module, signature, options, chip, recorder))
    return error;
  const std::string &name = signature.function;
  auto function = module.lookupSymbol<func::FuncOp>(name);
  FailureOr<std::string> plan = cuda::exportPlan(function);
  if (failed(plan))
    return createStringError("'" + name + "' has no launch plan");
  artifact.set("plan/" + name, std::move(*plan));
  // A function that launches nothing has no code on the device.
  auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(name + "_kernels");
  if (!kernels)
    return llvm::Error::success();

  std::string llvmIR;
  auto emit = [&] {
    PhaseTimer timer(recorder, "emit-ptx");
    return cuda::emitPTX(kernels, chip,
                         recorder.wantsStages() ? &llvmIR : nullptr);
  };
  llvm::Expected<std::string> ptx = emit();
  if (!ptx)
    return ptx.takeError();
  if (recorder.wantsStages()) {
    recorder.addStage("llvm", "ll", std::move(llvmIR));
    recorder.addStage("ptx", "ptx", *ptx);
  }
  artifact.set(getSection("ptx", name, chip.name), *ptx);
  if (ptxas.empty())
    return llvm::Error::success();

  auto assemble = [&] {
    PhaseTimer timer(recorder, "ptxas");
    return cuda::assemble(*ptx, chip, ptxas);
  };
  llvm::Expected<cuda::MachineCode> code = assemble();
  if (!code)
    return code.takeError();
  if (recorder.wantsStages())
    recorder.addStage("cubin", "cubin", code->cubin);
  artifact.set(getSection("cubin", name, chip.name), std::move(code->cubin));
  artifact.set(getSection("resources", name, chip.name),
               print(code->resources));
  return llvm::Error::success();
}

/// A scalar as plans take it.
static void setScalar(runtime::PlanArgument &argument,
                      const ArgumentView &view) {
  const void *data = reinterpret_cast<const void *>(view.data);
  uint64_t bits = runtime::loadBits(view.type, data, view.offset);
  if (!runtime::isFloat(view.type)) {
    argument.integer = runtime::decodeInt(view.type, bits);
    return;
  }
  argument.real = runtime::decode(view.type, bits);
  // A plan hands on narrow floats as bits.
  argument.integer = static_cast<int64_t>(bits);
}

llvm::Expected<std::vector<runtime::PlanArgument>>
tile::driver::makePlanArguments(const Signature &signature,
                                ArrayRef<ArgumentView> views,
                                ArrayRef<uint64_t> addresses) {
  std::vector<runtime::PlanArgument> arguments(views.size());
  for (size_t i = 0; i < views.size(); ++i) {
    const ArgumentView &view = views[i];
    if (signature.parameters[i].isScalar) {
      setScalar(arguments[i], view);
      continue;
    }
    int64_t bits = view.offset * runtime::getStorageBits(view.type);
    if (bits % 8 != 0)
      return createStringError("argument '" + signature.parameters[i].name +
                               "' begins in the middle of a byte");
    arguments[i].address =
        addresses.empty() ? view.data + bits / 8 : addresses[i];
    arguments[i].shape = view.shape.vec();
    arguments[i].strides = view.strides.vec();
  }
  return arguments;
}

std::vector<MemoryRange>
tile::driver::findMemory(const Signature &signature,
                         ArrayRef<ArgumentView> arguments) {
  std::vector<MemoryRange> ranges;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    auto [begin, end] = argument.getByteRange();
    if (signature.parameters[i].isScalar || begin == end)
      continue;
    ranges.push_back(
        {begin, end, {i}, signature.parameters[i].isWritten, argument.isEmpty});
  }
  llvm::sort(ranges, [](const MemoryRange &x, const MemoryRange &y) {
    return std::pair(x.begin, x.arguments[0]) <
           std::pair(y.begin, y.arguments[0]);
  });
  std::vector<MemoryRange> merged;
  for (MemoryRange &range : ranges) {
    if (merged.empty() || merged.back().end <= range.begin) {
      merged.push_back(std::move(range));
      continue;
    }
    MemoryRange &last = merged.back();
    last.end = std::max(last.end, range.end);
    last.arguments.append(range.arguments);
    last.isWritten |= range.isWritten;
    last.isEmpty &= range.isEmpty;
  }
  return merged;
}
