//===- CUDADriver.cpp - The CUDA driver by dlopen ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/CUDADriver.h"

#include <dlfcn.h>

using namespace tile::runtime;
using namespace tile::runtime::cuda;

static Result<Driver> openDriver() {
  static constexpr const char *library = "libcuda.so.1";
  void *handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Error{std::string("no CUDA driver: ") + ::dlerror()};
  Driver driver;
  auto find = [&](const char *name) { return ::dlsym(handle, name); };
#define TILE_CUDA_FIND(name, parameters)                                       \
  driver.name = reinterpret_cast<CUresult(*) parameters>(find(#name));         \
  if (!driver.name)                                                            \
    return Error{std::string("the CUDA driver has no " #name)};
  TILE_CUDA_ENTRY_POINTS(TILE_CUDA_FIND)
#undef TILE_CUDA_FIND
  if (Status status = driver.check(driver.cuInit(0), "cuInit"); !status)
    return status.error();
  return driver;
}

Result<const Driver *> Driver::get() {
  static const Result<Driver> driver = openDriver();
  if (!driver)
    return driver.error();
  return &*driver;
}

Status Driver::check(CUresult result, const char *what) const {
  if (result == 0)
    return {};
  const char *text = nullptr;
  cuGetErrorString(result, &text);
  return Error{std::string(what) + ": " +
               (text ? text : "error " + std::to_string(result))};
}
