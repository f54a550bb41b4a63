//===- Target.cpp - Where a program can run ---------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Target.h"
#include "Tile/Runtime/CUDADevices.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include <optional>

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

Target tile::driver::getDefaultTarget() {
  runtime::Result<runtime::cuda::DeviceList> found =
      runtime::cuda::findDevices();
  return found && !found->devices.empty() ? Target::CUDA : Target::CPU;
}
