//===- CUDAModule.h - Compiled programs on an NVIDIA GPU --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_CUDAMODULE_H
#define TILE_RUNTIME_CUDAMODULE_H

#include "Tile/Runtime/Artifact.h"
#include "Tile/Runtime/CUDADriver.h"
#include "Tile/Runtime/LaunchPlan.h"

#include <atomic>
#include <deque>
#include <memory>
#include <optional>

namespace tile::runtime::cuda {

/// A device with its primary context. Devices are opened once and live as long
/// as the process.
class Device {
public:
  static Result<const Device *> get(int index);

  const std::string &getName() const { return name; }
  /// 90 for compute capability 9.0.
  int getCapability() const { return capability; }
  /// Makes the context current on this thread, unless another one of the
  /// device is, as it is where a framework owns the process.
  Status activate() const;
  const Driver &getDriver() const { return *driver; }
  /// False where the driver does not know the attribute.
  bool getAttribute(int attribute, int &value) const;

private:
  static Result<Device> open(int index);

  const Driver *driver = nullptr;
  CUdevice handle = 0;
  CUcontext context = nullptr;
  std::string name;
  int capability = 0;
};

/// Memory of the device.
class Buffer {
public:
  static Result<Buffer> allocate(const Device &device, size_t bytes);
  Buffer(Buffer &&other);
  Buffer &operator=(Buffer &&) = delete;
  ~Buffer();

  CUdeviceptr address() const { return pointer; }
  /// `offset` counts bytes from the buffer's start.
  Status upload(const void *data, size_t bytes, size_t offset = 0) const;
  Status download(void *data, size_t bytes, size_t offset = 0) const;

private:
  Buffer(const Device &device, CUdeviceptr pointer)
      : device(&device), pointer(pointer) {}

  const Device *device;
  CUdeviceptr pointer;
};

/// What a kernel takes of a multiprocessor.
struct KernelUse {
  int64_t sharedBytes = 0;
  /// The part of a multiprocessor's warps that can be resident at once, where
  /// the plan launches the kernel with blocks of one size.
  std::optional<double> occupancy;
};

/// One function of an artifact, loaded. Immutable; launches may come from any
/// thread.
class Module {
public:
  /// Takes the machine code for the device's chip where the artifact has it,
  /// else PTX for a chip that is no newer, which the driver compiles.
  static Result<std::unique_ptr<Module>> load(const Device &device,
                                              const Artifact &artifact,
                                              const std::string &function,
                                              const std::string &chip = "");
  ~Module();

  const LaunchPlan &getPlan() const { return plan; }
  /// The section of the artifact that was loaded.
  const std::string &getCodeName() const { return codeName; }

  /// Nothing where there is no such kernel.
  std::optional<KernelUse> getUse(const std::string &kernel) const;

  /// Enqueues what the plan says for these arguments. Where the program may
  /// report (`tile.assert`), waits for the end, and the error is what it
  /// reported.
  Status launch(const std::vector<PlanArgument> &arguments,
                CUstream stream) const;
  /// The same on the default stream, and waits. Gives the seconds from the
  /// start of the first kernel to the end of the last.
  Result<double> launchTimed(const std::vector<PlanArgument> &arguments) const;

private:
  struct Kernel {
    std::string name;
    CUfunction function = nullptr;
    /// The dynamic shared memory that it has been allowed to use.
    mutable std::atomic<uint32_t> allowedShared{48 * 1024};
  };

  explicit Module(const Device &device) : device(device) {}
  Status findKernels();
  const Kernel *find(const std::string &name) const;
  Status launch(const KernelLaunch &launch, CUstream stream) const;

  const Device &device;
  LaunchPlan plan;
  std::string codeName;
  CUmodule module = nullptr;
  std::deque<Kernel> kernels;
};

} // namespace tile::runtime::cuda

#endif // TILE_RUNTIME_CUDAMODULE_H
