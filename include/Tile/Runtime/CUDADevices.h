//===- CUDADevices.h - Which NVIDIA GPUs there are --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_CUDADEVICES_H
#define TILE_RUNTIME_CUDADEVICES_H

#include "Tile/Runtime/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tile::runtime::cuda {

struct DeviceInfo {
  std::string name;
  /// 90 for compute capability 9.0.
  int capability = 0;
  uint64_t memoryBytes = 0;
};

struct DeviceList {
  /// The newest CUDA that the driver serves; 12080 for 12.8.
  int driverVersion = 0;
  std::vector<DeviceInfo> devices;
};

/// Asks the driver without opening a device. The error says why there is no
/// driver.
Result<DeviceList> findDevices();

/// Success where `index` is one of `count` devices; the error says how many
/// there are.
Status checkIndex(int index, size_t count);

} // namespace tile::runtime::cuda

#endif // TILE_RUNTIME_CUDADEVICES_H
