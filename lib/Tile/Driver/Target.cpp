//===- Target.cpp - Where a program can run ---------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Target.h"
#include "RuntimeErrors.h"
#include "Tile/IR/Chips.h"
#include "Tile/Runtime/CUDADevices.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tile;
using namespace tile::driver;

llvm::StringRef tile::driver::getName(Target target) {
  switch (target) {
  case Target::CPU:
    return "cpu";
  case Target::CUDA:
    return "cuda";
  case Target::Emulator:
    return "emulator";
  }
  llvm_unreachable("every target has a name");
}

llvm::Expected<Target> tile::driver::parseTarget(llvm::StringRef name) {
  auto target = llvm::StringSwitch<std::optional<Target>>(name)
                    .Case("cpu", Target::CPU)
                    .Case("cuda", Target::CUDA)
                    .Case("emulator", Target::Emulator)
                    .Default(std::nullopt);
  if (target)
    return *target;
  return llvm::createStringError("there is no target '" + name +
                                 "'; there are cpu, cuda and emulator");
}

/// What the driver said when it was asked first.
static const runtime::Result<runtime::cuda::DeviceList> &findDevices() {
  static const runtime::Result<runtime::cuda::DeviceList> found =
      runtime::cuda::findDevices();
  return found;
}

Target tile::driver::getDefaultTarget() {
  return findDevices() && !findDevices()->devices.empty() ? Target::CUDA
                                                          : Target::CPU;
}

llvm::Error tile::driver::checkDevice(Target target,
                                      std::optional<int> device) {
  if (!device)
    return llvm::Error::success();
  if (target != Target::CUDA)
    return llvm::createStringError(
        "device " + llvm::Twine(*device) +
        " is a choice among GPUs; expected the target cuda, got " +
        getName(target));
  const runtime::Result<runtime::cuda::DeviceList> &found = findDevices();
  if (!found)
    return llvm::createStringError(
        "there is no device " + llvm::Twine(*device) + ": " + found.message());
  return toError(runtime::cuda::checkIndex(*device, found->devices.size()));
}

/// The device of that number, or null.
static const runtime::cuda::DeviceInfo *find(std::optional<int> device) {
  const runtime::Result<runtime::cuda::DeviceList> &found = findDevices();
  size_t index = device.value_or(0);
  return found && index < found->devices.size() ? &found->devices[index]
                                                : nullptr;
}

std::string tile::driver::getDefaultChip(std::optional<int> device) {
  if (const runtime::cuda::DeviceInfo *info = find(device))
    if (auto chip = getChipOfDevice(info->capability))
      return chip->name.str();
  return "sm_80";
}

std::string tile::driver::getDeviceName(std::optional<int> device) {
  const runtime::cuda::DeviceInfo *info = find(device);
  return info ? info->name : "";
}
