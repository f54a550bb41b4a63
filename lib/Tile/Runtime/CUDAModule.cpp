//===- CUDAModule.cpp - Compiled programs on an NVIDIA GPU ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/CUDAModule.h"

#include <cstdlib>

using namespace tile::runtime;
using namespace tile::runtime::cuda;

//===----------------------------------------------------------------------===//
// Device and memory
//===----------------------------------------------------------------------===//

Result<Device> Device::open(int index) {
  Result<const Driver *> driver = Driver::get();
  if (!driver)
    return driver.error();
  Device device;
  device.driver = *driver;
  const Driver &api = **driver;
  CUdevice handle;
  if (Status status = api.check(api.cuDeviceGet(&handle, index), "cuDeviceGet");
      !status)
    return status.error();
  char text[256] = {};
  int major = 0, minor = 0;
  for (CUresult result :
       {api.cuDeviceGetName(text, sizeof(text) - 1, handle),
        api.cuDeviceGetAttribute(&major, capabilityMajor, handle),
        api.cuDeviceGetAttribute(&minor, capabilityMinor, handle),
        api.cuDevicePrimaryCtxRetain(&device.context, handle)})
    if (Status status = api.check(result, "opening the device"); !status)
      return status.error();
  device.name = text;
  device.capability = major * 10 + minor;
  return device;
}

Status Device::activate() const {
  CUcontext current = nullptr;
  if (Status status =
          driver->check(driver->cuCtxGetCurrent(&current), "cuCtxGetCurrent");
      !status)
    return status;
  if (current == context)
    return {};
  return driver->check(driver->cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

Result<Buffer> Buffer::allocate(const Device &device, size_t bytes) {
  if (Status status = device.activate(); !status)
    return status.error();
  const Driver &api = device.getDriver();
  CUdeviceptr pointer = 0;
  // An empty allocation is an error of the driver.
  if (Status status = api.check(api.cuMemAlloc_v2(&pointer, bytes ? bytes : 1),
                                "cuMemAlloc");
      !status)
    return status.error();
  return Buffer(device, pointer);
}

Buffer::Buffer(Buffer &&other) : device(other.device), pointer(other.pointer) {
  other.pointer = 0;
}

Buffer::~Buffer() {
  if (pointer)
    (void)device->getDriver().cuMemFree_v2(pointer);
}

Status Buffer::upload(const void *data, size_t bytes) const {
  if (!bytes)
    return {};
  const Driver &api = device->getDriver();
  return api.check(api.cuMemcpyHtoD_v2(pointer, data, bytes), "cuMemcpyHtoD");
}

Status Buffer::download(void *data, size_t bytes) const {
  if (!bytes)
    return {};
  const Driver &api = device->getDriver();
  return api.check(api.cuMemcpyDtoH_v2(data, pointer, bytes), "cuMemcpyDtoH");
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {
struct ChipName {
  int capability = 0;
  /// Code for one chip and no other.
  bool isSpecific = false;
};
} // namespace

static std::optional<ChipName> parseChip(const std::string &name) {
  if (name.compare(0, 3, "sm_") != 0)
    return std::nullopt;
  char *end = nullptr;
  ChipName chip;
  chip.capability = int(std::strtol(name.c_str() + 3, &end, 10));
  chip.isSpecific = end && *end == 'a';
  return chip;
}

/// The section to load: machine code runs on later minor versions of its chip,
/// PTX on every later chip; of both the newest wins, and machine code before
/// PTX.
static std::optional<std::string> chooseCode(const Artifact &artifact,
                                             const std::string &function,
                                             const std::string &wanted,
                                             int capability) {
  for (const char *kind : {"cubin/", "ptx/"}) {
    std::string prefix = kind + function + "/";
    std::optional<std::string> best;
    int bestRank = -1;
    for (const std::string &name : artifact.list(prefix)) {
      std::optional<ChipName> chip = parseChip(name);
      if (!chip || (!wanted.empty() && name != wanted))
        continue;
      bool isBinary = prefix[0] == 'c';
      bool runs = chip->isSpecific ? chip->capability == capability
                  : isBinary       ? chip->capability / 10 == capability / 10 &&
                                         chip->capability <= capability
                                   : chip->capability <= capability;
      int rank = chip->capability * 2 + chip->isSpecific;
      if (!runs || rank <= bestRank)
        continue;
      best = prefix + name;
      bestRank = rank;
    }
    if (best)
      return best;
  }
  return std::nullopt;
}

Result<std::unique_ptr<Module>> Module::load(const Device &device,
                                             const Artifact &artifact,
                                             const std::string &function,
                                             const std::string &chip) {
  const std::string *text = artifact.find("plan/" + function);
  if (!text)
    return Error{"the artifact has no function '" + function + "'"};
  Result<LaunchPlan> plan = LaunchPlan::parse(*text);
  if (!plan)
    return plan.error();
  std::optional<std::string> code =
      chooseCode(artifact, function, chip, device.getCapability());
  if (!code)
    return Error{"the artifact has no code of '" + function + "' for " +
                 device.getName() + " (sm_" +
                 std::to_string(device.getCapability()) + ")" +
                 (chip.empty() ? "" : " among those for " + chip)};
  if (Status status = device.activate(); !status)
    return status.error();

  std::unique_ptr<Module> module(new Module(device));
  module->plan = std::move(*plan);
  module->codeName = *code;
  const Driver &api = device.getDriver();
  // The driver reads PTX up to a zero; std::string has one behind its bytes.
  char log[4096] = {};
  int options[] = {/*CU_JIT_ERROR_LOG_BUFFER=*/5,
                   /*CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES=*/6};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  CUresult result = api.cuModuleLoadDataEx(
      &module->module, artifact.find(*code)->c_str(), 2, options, values);
  if (Status status = api.check(result, "cuModuleLoadData"); !status)
    return Error{status.message() + (log[0] ? std::string(": ") + log : "")};
  return module;
}

Module::~Module() {
  if (module)
    (void)device.getDriver().cuModuleUnload(module);
}

Status Module::launch(const std::vector<PlanArgument> &arguments,
                      CUstream stream) const {
  Result<std::vector<KernelLaunch>> launches = plan.evaluate(arguments);
  if (!launches)
    return launches.error();
  if (Status status = device.activate(); !status)
    return status;
  const Driver &api = device.getDriver();
  for (KernelLaunch &launch : *launches) {
    CUfunction kernel = nullptr;
    if (Status status = api.check(
            api.cuModuleGetFunction(&kernel, module, launch.kernel.c_str()),
            launch.kernel.c_str());
        !status)
      return status;
    constexpr int maxDynamicShared = 8;
    constexpr uint32_t freelyAvailable = 48 * 1024;
    if (launch.sharedBytes > freelyAvailable)
      if (Status status =
              api.check(api.cuFuncSetAttribute(kernel, maxDynamicShared,
                                               int(launch.sharedBytes)),
                        "shared memory");
          !status)
        return status;
    std::vector<void *> parameters;
    for (KernelLaunch::Parameter &parameter : launch.parameters)
      parameters.push_back(&parameter.bits);
    CUresult result = api.cuLaunchKernel(
        kernel, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
        launch.block[1], launch.block[2], launch.sharedBytes, stream,
        parameters.data(), nullptr);
    if (Status status = api.check(result, launch.kernel.c_str()); !status)
      return status;
  }
  return {};
}
