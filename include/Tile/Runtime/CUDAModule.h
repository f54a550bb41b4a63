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

#include <memory>
#include <optional>

namespace tile::runtime::cuda {

/// A device with its primary context, which lives as long as the process.
class Device {
public:
  static Result<Device> open(int index = 0);

  const std::string &getName() const { return name; }
  /// 90 for compute capability 9.0.
  int getCapability() const { return capability; }
  /// Makes the context current on this thread, unless another one of the
  /// device is, as it is where a framework owns the process.
  Status activate() const;
  const Driver &getDriver() const { return *driver; }

private:
  const Driver *driver = nullptr;
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
  Status upload(const void *data, size_t bytes) const;
  Status download(void *data, size_t bytes) const;

private:
  Buffer(const Device &device, CUdeviceptr pointer)
      : device(&device), pointer(pointer) {}

  const Device *device;
  CUdeviceptr pointer;
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

  /// Enqueues what the plan says for these arguments.
  Status launch(const std::vector<PlanArgument> &arguments,
                CUstream stream) const;

private:
  explicit Module(const Device &device) : device(device) {}

  const Device &device;
  LaunchPlan plan;
  std::string codeName;
  CUmodule module = nullptr;
};

} // namespace tile::runtime::cuda

#endif // TILE_RUNTIME_CUDAMODULE_H
