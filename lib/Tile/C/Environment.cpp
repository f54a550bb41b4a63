//===- Environment.cpp - What the library found around itself ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"
#include "Tile/Runtime/CUDADevices.h"
#include "Tile/Target/CPU/LoadedCode.h"
#include "Tile/Target/CUDA/DeviceCode.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/JSON.h"
#include "llvm/TargetParser/Host.h"

using namespace tile;
namespace json = llvm::json;

static json::Value describePtxas() {
  std::string path = cuda::findPtxas();
  if (path.empty())
    return nullptr;
  llvm::Expected<std::string> version = cuda::getPtxasVersion(path);
  json::Object ptxas{{"path", json::fixUTF8(path)}};
  if (version) {
    ptxas["version"] = json::fixUTF8(*version);
  } else {
    llvm::consumeError(version.takeError());
    ptxas["version"] = nullptr;
  }
  return ptxas;
}

std::string tile::c::describeEnvironment() {
  json::Array devices;
  json::Value driver = nullptr;
  // A machine without a driver has no devices, which is no error here.
  if (auto found = runtime::cuda::findDevices()) {
    driver = std::to_string(found->driverVersion / 1000) + "." +
             std::to_string(found->driverVersion % 1000 / 10);
    for (const runtime::cuda::DeviceInfo &device : found->devices)
      devices.push_back(json::Object{
          {"name", json::fixUTF8(device.name)},
          {"capability", device.capability},
          {"memoryBytes", static_cast<int64_t>(device.memoryBytes)}});
  }
  json::Object environment{
      {"versions",
       json::Object{{"tile", TILE_VERSION}, {"llvm", LLVM_VERSION_STRING}}},
      {"targets", json::Array{"cpu", "cuda", "emulator"}},
      {"devices", std::move(devices)},
      {"driver", std::move(driver)},
      {"ptxas", describePtxas()},
      {"cpu", json::Object{{"name", llvm::sys::getHostCPUName()},
                           {"cores", cpu::getNumWorkers()}}},
  };
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(environment));
  return text;
}
