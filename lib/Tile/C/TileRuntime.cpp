//===- TileRuntime.cpp - C ABI of the runtime -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/C/TileRuntime.h"
#include "Tile/Runtime/CUDAModule.h"

#include <map>
#include <mutex>

using namespace tile::runtime;

struct tile_module {
  std::unique_ptr<cuda::Module> module;
};

static thread_local std::string lastError;

static void remember(const std::string &message) { lastError = message; }

const char *tile_last_error(void) { return lastError.c_str(); }

/// Devices are opened once and live as long as the process.
static const cuda::Device *openDevice(int index) {
  static std::mutex mutex;
  static std::map<int, cuda::Device> devices;
  std::lock_guard<std::mutex> lock(mutex);
  auto at = devices.find(index);
  if (at != devices.end())
    return &at->second;
  Result<cuda::Device> device = cuda::Device::open(index);
  if (!device) {
    remember(device.message());
    return nullptr;
  }
  return &devices.emplace(index, std::move(*device)).first->second;
}

tile_module *tile_module_load(const char *path, const char *function,
                              const char *chip, int device) {
  Result<Artifact> artifact = Artifact::read(path);
  if (!artifact) {
    remember(artifact.message());
    return nullptr;
  }
  const cuda::Device *opened = openDevice(device);
  if (!opened)
    return nullptr;
  Result<std::unique_ptr<cuda::Module>> module =
      cuda::Module::load(*opened, *artifact, function, chip ? chip : "");
  if (!module) {
    remember(module.message());
    return nullptr;
  }
  return new tile_module{std::move(*module)};
}

void tile_module_unload(tile_module *module) { delete module; }

const char *tile_module_code(const tile_module *module) {
  return module->module->getCodeName().c_str();
}

size_t tile_module_num_arguments(const tile_module *module) {
  return module->module->getPlan().getParameters().size();
}

int tile_module_launch(const tile_module *module,
                       const tile_argument *arguments, size_t count,
                       void *stream) {
  const std::vector<PlanParameter> &parameters =
      module->module->getPlan().getParameters();
  std::vector<PlanArgument> values(count);
  for (size_t i = 0; i < count && i < parameters.size(); ++i) {
    const tile_argument &argument = arguments[i];
    values[i].address = argument.address;
    values[i].integer = argument.integer;
    values[i].real = argument.real;
    size_t rank = parameters[i].shape.size();
    if (!parameters[i].isScalar && rank) {
      values[i].shape.assign(argument.shape, argument.shape + rank);
      values[i].strides.assign(argument.strides, argument.strides + rank);
    }
  }
  Status status =
      module->module->launch(values, static_cast<cuda::CUstream>(stream));
  if (status)
    return 0;
  remember(status.message());
  return 1;
}
