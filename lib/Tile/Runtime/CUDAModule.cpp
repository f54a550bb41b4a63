//===- CUDAModule.cpp - Compiled programs on an NVIDIA GPU ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/CUDAModule.h"
#include "Tile/Runtime/CUDADevices.h"

#include <cstdlib>
#include <map>
#include <mutex>

using namespace tile::runtime;
using namespace tile::runtime::cuda;

//===----------------------------------------------------------------------===//
// Device and memory
//===----------------------------------------------------------------------===//

Result<const Device *> Device::get(int index) {
  static std::mutex mutex;
  static std::map<int, Device> devices;
  std::lock_guard<std::mutex> lock(mutex);
  auto at = devices.find(index);
  if (at != devices.end())
    return &at->second;
  Result<Device> device = open(index);
  if (!device)
    return device.error();
  return &devices.emplace(index, std::move(*device)).first->second;
}

Result<Device> Device::open(int index) {
  Result<const Driver *> driver = Driver::get();
  if (!driver)
    return driver.error();
  Device device;
  device.driver = *driver;
  const Driver &api = **driver;
  int count = 0;
  if (Status status =
          api.check(api.cuDeviceGetCount(&count), "cuDeviceGetCount");
      !status)
    return status.error();
  if (Status status = checkIndex(index, size_t(count)); !status)
    return status.error();
  CUdevice &handle = device.handle;
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

bool Device::getAttribute(int attribute, int &value) const {
  return driver->cuDeviceGetAttribute(&value, attribute, handle) == 0;
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
  // An empty allocation is an error of the driver. Kernels swap parts of bytes
  // two bytes at a time.
  if (Status status =
          api.check(api.cuMemAlloc_v2(&pointer, (bytes | 1) + 1), "cuMemAlloc");
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

Status Buffer::upload(const void *data, size_t bytes, size_t offset) const {
  if (!bytes)
    return {};
  if (Status status = device->activate(); !status)
    return status;
  const Driver &api = device->getDriver();
  return api.check(api.cuMemcpyHtoD_v2(pointer + offset, data, bytes),
                   "cuMemcpyHtoD");
}

Status Buffer::download(void *data, size_t bytes, size_t offset) const {
  if (!bytes)
    return {};
  if (Status status = device->activate(); !status)
    return status;
  const Driver &api = device->getDriver();
  return api.check(api.cuMemcpyDtoH_v2(data, pointer + offset, bytes),
                   "cuMemcpyDtoH");
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
  std::unique_ptr<Module> module(new Module(device));
  module->plan = std::move(*plan);
  // A function that launches nothing has no code.
  if (module->plan.getKernels().empty())
    return module;
  std::optional<std::string> code =
      chooseCode(artifact, function, chip, device.getCapability());
  if (!code)
    return Error{"the artifact has no code of '" + function + "' for " +
                 device.getName() + " (sm_" +
                 std::to_string(device.getCapability()) + ")" +
                 (chip.empty() ? "" : " among those for " + chip)};
  if (Status status = device.activate(); !status)
    return status.error();

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
  if (Status status = module->findKernels(); !status)
    return status.error();
  return module;
}

Module::~Module() {
  if (module)
    (void)device.getDriver().cuModuleUnload(module);
}

Status Module::findKernels() {
  const Driver &api = device.getDriver();
  for (const PlannedKernel &planned : plan.getKernels()) {
    if (find(planned.name))
      continue;
    Kernel &kernel = kernels.emplace_back();
    kernel.name = planned.name;
    if (Status status =
            api.check(api.cuModuleGetFunction(&kernel.function, module,
                                              planned.name.c_str()),
                      planned.name.c_str());
        !status)
      return status;
  }
  return {};
}

const Module::Kernel *Module::find(const std::string &name) const {
  for (const Kernel &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

std::optional<KernelUse> Module::getUse(const std::string &name) const {
  const Kernel *kernel = find(name);
  if (!kernel || !device.activate())
    return std::nullopt;
  const Driver &api = device.getDriver();
  KernelUse use;
  int bytes = 0;
  if (api.cuFuncGetAttribute(&bytes, staticSharedBytes, kernel->function) == 0)
    use.sharedBytes = bytes;
  for (const PlannedKernel &planned : plan.getKernels()) {
    if (planned.name != name || !planned.threads || !planned.sharedBytes)
      continue;
    use.sharedBytes += *planned.sharedBytes;
    int blocks = 0, most = 0;
    if (*planned.sharedBytes > kernel->allowedShared)
      (void)api.cuFuncSetAttribute(kernel->function, maxDynamicSharedBytes,
                                   int(*planned.sharedBytes));
    if (api.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel->function, int(*planned.threads),
            size_t(*planned.sharedBytes)) == 0 &&
        device.getAttribute(threadsPerMultiprocessor, most) && most > 0)
      use.occupancy = double(blocks) * double(*planned.threads) / most;
    break;
  }
  return use;
}

Status Module::launch(const KernelLaunch &launch, CUstream stream) const {
  const Driver &api = device.getDriver();
  const Kernel *kernel = find(launch.kernel);
  if (!kernel)
    return Error{"the code has no kernel '" + launch.kernel + "'"};
  if (launch.sharedBytes > kernel->allowedShared) {
    if (Status status = api.check(
            api.cuFuncSetAttribute(kernel->function, maxDynamicSharedBytes,
                                   int(launch.sharedBytes)),
            "shared memory");
        !status)
      return status;
    // Another thread may have allowed more; then this is asked once more.
    kernel->allowedShared = launch.sharedBytes;
  }
  constexpr size_t mostParameters = 256;
  void *parameters[mostParameters];
  if (launch.parameters.size() > mostParameters)
    return Error{"kernel '" + launch.kernel + "' has too many parameters"};
  for (size_t i = 0; i < launch.parameters.size(); ++i)
    parameters[i] = const_cast<uint64_t *>(&launch.parameters[i].bits);
  return api.check(api.cuLaunchKernel(kernel->function, launch.grid[0],
                                      launch.grid[1], launch.grid[2],
                                      launch.block[0], launch.block[1],
                                      launch.block[2], launch.sharedBytes,
                                      stream, parameters, nullptr),
                   launch.kernel.c_str());
}

namespace {
/// What one call of a plan needs beside its arguments: memory that goes back in
/// the order of the stream, behind the launches and in front of whatever the
/// stream does next, and words in which kernels report.
class CallState {
public:
  CallState(const Driver &api, CUstream stream) : api(api), stream(stream) {}
  ~CallState() {
    for (CUdeviceptr pointer : pointers)
      (void)api.cuMemFreeAsync(pointer, stream);
  }
  CallState(const CallState &) = delete;

  Status prepare(const LaunchPlan &plan,
                 const std::vector<PlanArgument> &arguments) {
    if (Status status = clearReports(plan.getReports().size()); !status)
      return status;
    auto allocate = [&](uint64_t bytes) -> Result<uint64_t> {
      Result<uint64_t> address = this->allocate(bytes);
      if (!address)
        return Error{"a workspace of " + std::to_string(bytes) +
                     " bytes: " + address.message()};
      return address;
    };
    Result<PlannedCall> planned = plan.evaluate(arguments, allocate, words);
    if (!planned)
      return planned.error();
    call = std::move(*planned);
    return {};
  }

  const std::vector<KernelLaunch> &getLaunches() const { return call.launches; }

  /// Waits for the kernels of a plan that may report, and gives what they did
  /// report.
  Status judge(const LaunchPlan &plan) const {
    std::vector<uint32_t> found(plan.getReports().size());
    if (found.empty())
      return {};
    for (CUresult result :
         {api.cuMemcpyDtoHAsync_v2(found.data(), words,
                                   found.size() * sizeof(uint32_t), stream),
          api.cuStreamSynchronize(stream)})
      if (Status status = api.check(result, "running the kernels"); !status)
        return status;
    return plan.judge(call, found.data());
  }

private:
  Result<uint64_t> allocate(uint64_t bytes) {
    CUdeviceptr pointer = 0;
    // An empty allocation is an error of the driver.
    if (Status status =
            api.check(api.cuMemAllocAsync(&pointer, bytes ? bytes : 1, stream),
                      "cuMemAllocAsync");
        !status)
      return status.error();
    pointers.push_back(pointer);
    return uint64_t(pointer);
  }

  Status clearReports(size_t count) {
    if (!count)
      return {};
    uint64_t bytes = count * sizeof(uint32_t);
    Result<uint64_t> address = allocate(bytes);
    if (!address)
      return address.error();
    words = *address;
    return api.check(api.cuMemsetD8Async(words, 0, bytes, stream),
                     "cuMemsetD8Async");
  }

  const Driver &api;
  CUstream stream;
  std::vector<CUdeviceptr> pointers;
  uint64_t words = 0;
  PlannedCall call;
};
} // namespace

Status Module::launch(const std::vector<PlanArgument> &arguments,
                      CUstream stream) const {
  if (Status status = device.activate(); !status)
    return status;
  CallState call(device.getDriver(), stream);
  if (Status status = call.prepare(plan, arguments); !status)
    return status;
  for (const KernelLaunch &each : call.getLaunches())
    if (Status status = launch(each, stream); !status)
      return status;
  return call.judge(plan);
}

namespace {
/// A point in the work of the default stream.
class Event {
public:
  explicit Event(const Driver &api) : api(api) {}
  ~Event() {
    if (event)
      (void)api.cuEventDestroy_v2(event);
  }
  Status record() {
    if (Status status =
            api.check(api.cuEventCreate(&event, 0), "cuEventCreate");
        !status)
      return status;
    return api.check(api.cuEventRecord(event, nullptr), "cuEventRecord");
  }

  const Driver &api;
  CUevent event = nullptr;
};
} // namespace

Result<double>
Module::launchTimed(const std::vector<PlanArgument> &arguments) const {
  if (Status status = device.activate(); !status)
    return status.error();
  const Driver &api = device.getDriver();
  CallState call(api, nullptr);
  if (Status status = call.prepare(plan, arguments); !status)
    return status.error();
  Event start(api), end(api);
  if (Status status = start.record(); !status)
    return status.error();
  for (const KernelLaunch &each : call.getLaunches())
    if (Status status = launch(each, nullptr); !status)
      return status.error();
  if (Status status = end.record(); !status)
    return status.error();
  // What went wrong in a kernel shows here.
  if (Status status =
          api.check(api.cuEventSynchronize(end.event), "running the kernels");
      !status)
    return status.error();
  if (Status status = call.judge(plan); !status)
    return status.error();
  float milliseconds = 0;
  if (Status status = api.check(
          api.cuEventElapsedTime(&milliseconds, start.event, end.event),
          "cuEventElapsedTime");
      !status)
    return status.error();
  return double(milliseconds) * 1e-3;
}
