//===- CUDADevices.cpp - Which NVIDIA GPUs there are ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/CUDADevices.h"
#include "Tile/Runtime/CUDADriver.h"

using namespace tile::runtime;
using namespace tile::runtime::cuda;

Status tile::runtime::cuda::checkIndex(int index, size_t count) {
  if (index >= 0 && size_t(index) < count)
    return {};
  return Error{"there is no device " + std::to_string(index) + ": " +
               (count == 0 ? "this machine has none"
                : count == 1
                    ? "the only one of this machine is number 0"
                    : "this machine has " + std::to_string(count) +
                          ", numbered from 0 to " + std::to_string(count - 1))};
}

Result<DeviceList> tile::runtime::cuda::findDevices() {
  Result<const Driver *> driver = Driver::get();
  if (!driver)
    return driver.error();
  const Driver &api = **driver;
  DeviceList list;
  int count = 0;
  for (CUresult result : {api.cuDriverGetVersion(&list.driverVersion),
                          api.cuDeviceGetCount(&count)})
    if (Status status = api.check(result, "looking for devices"); !status)
      return status.error();
  for (int index = 0; index < count; ++index) {
    DeviceInfo info;
    CUdevice device;
    char name[256] = {};
    int major = 0, minor = 0;
    size_t bytes = 0;
    if (Status status =
            api.check(api.cuDeviceGet(&device, index), "cuDeviceGet");
        !status)
      return status.error();
    for (CUresult result :
         {api.cuDeviceGetName(name, sizeof(name) - 1, device),
          api.cuDeviceGetAttribute(&major, capabilityMajor, device),
          api.cuDeviceGetAttribute(&minor, capabilityMinor, device),
          api.cuDeviceTotalMem_v2(&bytes, device)})
      if (Status status = api.check(result, "asking about a device"); !status)
        return status.error();
    info.name = name;
    info.capability = major * 10 + minor;
    info.memoryBytes = bytes;
    list.devices.push_back(std::move(info));
  }
  return list;
}
