//===- TileRuntime.cpp - C ABI of the runtime -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/C/TileRuntime.h"
#include "LastError.h"
#include "Tile/Runtime/CUDAModule.h"

using namespace tile::runtime;
using tile::c::setLastError;

struct tile_module {
  std::unique_ptr<cuda::Module> module;
};

static thread_local std::string lastError;

void tile::c::setLastError(std::string message) {
  lastError = std::move(message);
}

const char *tile_last_error(void) { return lastError.c_str(); }

tile_module *tile_module_load(const char *path, const char *function,
                              const char *chip, int device) {
  Result<Artifact> artifact = Artifact::read(path);
  if (!artifact) {
    setLastError(artifact.message());
    return nullptr;
  }
  Result<const cuda::Device *> opened = cuda::Device::get(device);
  if (!opened) {
    setLastError(opened.message());
    return nullptr;
  }
  Result<std::unique_ptr<cuda::Module>> module =
      cuda::Module::load(**opened, *artifact, function, chip ? chip : "");
  if (!module) {
    setLastError(module.message());
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

/// The value that the plan computes with. Fails where the caller has something
/// else than the parameter wants.
static Status convert(const PlanParameter &parameter,
                      const tile_argument &argument, PlanArgument &value) {
  auto mismatch = [&](const std::string &expected, const std::string &got) {
    return Error{"argument '" + parameter.name + "': expected " + expected +
                 ", got " + got};
  };
  size_t rank = parameter.shape.size();
  if (argument.dtype != TILE_DTYPE_NOT_SAID &&
      argument.dtype != int(parameter.type) + 1)
    return mismatch(std::string(getName(parameter.type)),
                    argument.dtype > 0 && unsigned(argument.dtype) <= numDTypes
                        ? std::string(getName(DType(argument.dtype - 1)))
                        : "an unknown type");
  if (argument.rank != 0 && size_t(argument.rank) != rank)
    return mismatch(parameter.isScalar ? "a scalar"
                                       : "rank " + std::to_string(rank),
                    "rank " + std::to_string(argument.rank));
  value.address = argument.address;
  value.integer = argument.integer;
  value.real = argument.real;
  if (parameter.isScalar) {
    // The plan hands on narrow floats as bits.
    if (isFloat(parameter.type) && getBits(parameter.type) < 32)
      value.integer = int64_t(encode(parameter.type, argument.real));
    return {};
  }
  if (rank == 0)
    return {};
  if (!argument.shape)
    return mismatch("its " + std::to_string(rank) + " extents", "null");
  value.shape.assign(argument.shape, argument.shape + rank);
  if (argument.strides) {
    value.strides.assign(argument.strides, argument.strides + rank);
    return {};
  }
  Result<Shape> dense = getDenseStrides(value.shape);
  if (!dense)
    return addContext("argument '" + parameter.name + "'", dense.error());
  value.strides = std::move(*dense);
  return {};
}

int tile_module_launch(const tile_module *module,
                       const tile_argument *arguments, size_t count,
                       void *stream) {
  const std::vector<PlanParameter> &parameters =
      module->module->getPlan().getParameters();
  std::vector<PlanArgument> values(count);
  for (size_t i = 0; i < count && i < parameters.size(); ++i)
    if (Status status = convert(parameters[i], arguments[i], values[i]);
        !status) {
      setLastError(status.message());
      return 1;
    }
  Status status =
      module->module->launch(values, static_cast<cuda::CUstream>(stream));
  if (status)
    return 0;
  setLastError(status.message());
  return 1;
}
