//===- CUDABackend.cpp - Kernels on an NVIDIA GPU ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles on any machine; a device is needed where a kernel is to run.
//
//===----------------------------------------------------------------------===//

#include "Backends.h"
#include "GPUCode.h"
#include "RuntimeErrors.h"
#include "Tile/Runtime/CUDAModule.h"
#include "Tile/Target/CUDA/DeviceCode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace tile;
using namespace tile::driver;
using llvm::ArrayRef;
using llvm::createStringError;
using runtime::cuda::Device;
using runtime::cuda::Module;

namespace {

/// A kernel on the device.
struct LoadedKernel {
  const Device *device = nullptr;
  std::unique_ptr<Module> module;
  Signature signature;
};

/// The arguments in the device's memory.
class CUDACall : public Call {
public:
  static llvm::Expected<std::unique_ptr<Call>>
  make(std::shared_ptr<const LoadedKernel> kernel,
       ArrayRef<runtime::Array> arguments);

  llvm::Expected<double> run() override {
    return toExpected(kernel->module->launchTimed(arguments));
  }
  llvm::Error fetch() override;

private:
  CUDACall(std::shared_ptr<const LoadedKernel> kernel,
           ArrayRef<runtime::Array> arguments)
      : kernel(std::move(kernel)), arrays(arguments.begin(), arguments.end()) {}
  llvm::Error upload();

  std::shared_ptr<const LoadedKernel> kernel;
  llvm::SmallVector<runtime::Array> arrays;
  std::vector<MemoryRange> ranges;
  /// One a range.
  std::vector<runtime::cuda::Buffer> buffers;
  std::vector<runtime::PlanArgument> arguments;
};

class CUDAExecutable : public Executable {
public:
  CUDAExecutable(std::string chip, std::vector<KernelResources> resources)
      : chip(std::move(chip)), resources(std::move(resources)) {}

  void load(const runtime::Artifact &artifact, const Signature &signature,
            int index);

  llvm::Expected<std::unique_ptr<Call>>
  bind(ArrayRef<runtime::Array> arguments,
       const llvm::BitVector &) const override {
    if (!kernel)
      return createStringError(problem);
    return CUDACall::make(kernel, arguments);
  }
  llvm::Error launch(ArrayRef<ArgumentView> arguments,
                     void *stream) const override;
  llvm::StringRef getChip() const override { return chip; }
  std::vector<KernelResources> getResources() const override {
    return resources;
  }

private:
  std::string chip;
  std::vector<KernelResources> resources;
  /// Null where no device can run it, for the reason given.
  std::shared_ptr<const LoadedKernel> kernel;
  std::string problem;
};

} // namespace

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<Call>>
CUDACall::make(std::shared_ptr<const LoadedKernel> kernel,
               ArrayRef<runtime::Array> arguments) {
  std::unique_ptr<CUDACall> call(new CUDACall(std::move(kernel), arguments));
  if (llvm::Error error = call->upload())
    return error;
  return call;
}

llvm::Error CUDACall::upload() {
  llvm::SmallVector<ArgumentView> views(arrays.begin(), arrays.end());
  ranges = findMemory(kernel->signature, views);
  std::vector<uint64_t> addresses(views.size());
  for (const MemoryRange &range : ranges) {
    // Alignment decides which of a kernel's variants runs, so the device's copy
    // begins as far behind a multiple of 256, which allocations have, as the
    // host's.
    uint64_t shift = range.begin % 256;
    auto buffer = runtime::cuda::Buffer::allocate(
        *kernel->device, shift + range.end - range.begin);
    if (!buffer)
      return toError(buffer.error());
    if (runtime::Status status =
            buffer->upload(reinterpret_cast<const void *>(range.begin),
                           range.end - range.begin, shift);
        !status)
      return toError(status);
    for (size_t i : range.arguments)
      addresses[i] =
          buffer->address() + shift + views[i].getFirstElement() - range.begin;
    buffers.push_back(std::move(*buffer));
  }
  auto made = makePlanArguments(kernel->signature, views, addresses);
  if (!made)
    return made.takeError();
  arguments = std::move(*made);
  return llvm::Error::success();
}

llvm::Error CUDACall::fetch() {
  for (auto [range, buffer] : llvm::zip(ranges, buffers))
    if (range.isWritten)
      if (runtime::Status status =
              buffer.download(reinterpret_cast<void *>(range.begin),
                              range.end - range.begin, range.begin % 256);
          !status)
        return toError(status);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The executable
//===----------------------------------------------------------------------===//

void CUDAExecutable::load(const runtime::Artifact &artifact,
                          const Signature &signature, int index) {
  runtime::Result<const Device *> device = Device::get(index);
  if (!device) {
    problem = "'" + signature.function +
              "' cannot run here: " + device.message() +
              "; --target=emulator runs a GPU's code without one";
    return;
  }
  // Code for another GPU than this machine's can be printed all the same.
  auto module = Module::load(**device, artifact, signature.function, chip);
  if (!module) {
    problem = module.message();
    return;
  }
  for (KernelResources &each : resources)
    if (auto use = (*module)->getUse(each.kernel)) {
      each.occupancy = use->occupancy;
      each.sharedBytes = std::max(each.sharedBytes, use->sharedBytes);
    }
  kernel = std::make_shared<LoadedKernel>(
      LoadedKernel{*device, std::move(*module), signature});
}

llvm::Error CUDAExecutable::launch(ArrayRef<ArgumentView> arguments,
                                   void *stream) const {
  if (!kernel)
    return createStringError(problem);
  auto made = makePlanArguments(kernel->signature, arguments);
  if (!made)
    return made.takeError();
  return toError(kernel->module->launch(
      *made, static_cast<runtime::cuda::CUstream>(stream)));
}

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

static llvm::Expected<std::string> describe(const CompileOptions &options) {
  llvm::Expected<Chip> chip =
      chooseChip(options, getDefaultChip(options.device));
  if (!chip)
    return chip.takeError();
  // Asking ptxas for its version takes longer than the rest of the look-up; a
  // new ptxas is another file.
  std::string path = cuda::findPtxas();
  llvm::sys::fs::file_status status;
  std::string text = chip->name.str() + "\n" + path;
  if (!path.empty() && !llvm::sys::fs::status(path, status))
    text +=
        "\n" + std::to_string(status.getSize()) + "\n" +
        std::to_string(llvm::sys::toTimeT(status.getLastModificationTime()));
  return text;
}

static llvm::Error compile(mlir::ModuleOp module, const Signature &signature,
                           const CompileOptions &options,
                           StageRecorder &recorder,
                           runtime::Artifact &artifact) {
  llvm::Expected<Chip> chip =
      chooseChip(options, getDefaultChip(options.device));
  if (!chip)
    return chip.takeError();
  return compileForGPU(module, signature, options, *chip, cuda::findPtxas(),
                       recorder, artifact);
}

static llvm::Expected<std::unique_ptr<Executable>>
load(const runtime::Artifact &artifact, const Signature &signature,
     const CompileOptions &options) {
  llvm::Expected<std::string> chip = chooseCode(
      artifact, signature.function, options, getDefaultChip(options.device));
  if (!chip)
    return chip.takeError();
  auto executable = std::make_unique<CUDAExecutable>(
      *chip, readResources(artifact, signature.function, *chip));
  executable->load(artifact, signature, options.device.value_or(0));
  return executable;
}

const Backend tile::driver::cudaBackend = {describe, compile, load};
