//===- FakeCUDA.cpp - A CUDA driver with devices and no GPU -----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// libcuda.so.1 for tests of everything around a device: which one is chosen,
// what is compiled for it, what is said where there is none. The variable
// FAKE_CUDA_DEVICES lists compute capabilities, as in "80,90". Memory is the
// host's, and kernels do nothing.
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/CUDADriver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace tile::runtime::cuda;

static std::vector<int> listCapabilities() {
  std::vector<int> capabilities;
  const char *text = std::getenv("FAKE_CUDA_DEVICES");
  for (const char *at = text ? text : ""; *at;) {
    char *end = nullptr;
    capabilities.push_back(int(std::strtol(at, &end, 10)));
    at = *end ? end + 1 : end;
  }
  return capabilities;
}

static const std::vector<int> &getCapabilities() {
  static const std::vector<int> capabilities = listCapabilities();
  return capabilities;
}

/// The device whose context is current on this thread.
static thread_local uintptr_t current = 0;

extern "C" {
CUresult cuInit(unsigned) { return 0; }
CUresult cuGetErrorString(CUresult, const char **text) {
  *text = "a fake error";
  return 0;
}
CUresult cuDeviceGet(CUdevice *device, int index) {
  *device = index;
  return 0;
}
CUresult cuDeviceGetCount(int *count) {
  *count = int(getCapabilities().size());
  return 0;
}
CUresult cuDriverGetVersion(int *version) {
  *version = 12080;
  return 0;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  *bytes = size_t(1) << 30;
  return 0;
}
CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
  std::strncpy(name, ("fake GPU " + std::to_string(device)).c_str(), size);
  return 0;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  int capability = getCapabilities()[device];
  *value = attribute == capabilityMajor   ? capability / 10
           : attribute == capabilityMinor ? capability % 10
                                          : 2048;
  return 0;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  *context = reinterpret_cast<CUcontext>(uintptr_t(device) + 1);
  return 0;
}
CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = reinterpret_cast<CUcontext>(current);
  return 0;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current = reinterpret_cast<uintptr_t>(context);
  return 0;
}
CUresult cuCtxSynchronize() { return 0; }
CUresult cuModuleLoadDataEx(CUmodule *, const void *, unsigned, int *,
                            void **) {
  return 0;
}
CUresult cuModuleUnload(CUmodule) { return 0; }
CUresult cuModuleGetFunction(CUfunction *, CUmodule, const char *) { return 0; }
CUresult cuFuncSetAttribute(CUfunction, int, int) { return 0; }
CUresult cuFuncGetAttribute(int *value, int, CUfunction) {
  *value = 0;
  return 0;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction,
                                                     int, size_t) {
  *blocks = 1;
  return 0;
}
CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  // As aligned as a device's memory is.
  *pointer = reinterpret_cast<CUdeviceptr>(
      std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  return *pointer ? 0 : 2;
}
CUresult cuMemFree_v2(CUdeviceptr pointer) {
  std::free(reinterpret_cast<void *>(pointer));
  return 0;
}
CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream) {
  return cuMemAlloc_v2(pointer, bytes);
}
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream) {
  return cuMemFree_v2(pointer);
}
CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t bytes,
                         CUstream) {
  std::memset(reinterpret_cast<void *>(pointer), value, bytes);
  return 0;
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return 0;
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes,
                              CUstream) {
  return cuMemcpyDtoH_v2(to, from, bytes);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
CUresult cuStreamSynchronize(CUstream) { return 0; }
CUresult cuEventCreate(CUevent *, unsigned) { return 0; }
CUresult cuEventDestroy_v2(CUevent) { return 0; }
CUresult cuEventRecord(CUevent, CUstream) { return 0; }
CUresult cuEventSynchronize(CUevent) { return 0; }
CUresult cuEventElapsedTime(float *milliseconds, CUevent, CUevent) {
  *milliseconds = 1;
  return 0;
}
/// Says on which device it would run.
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned,
                        unsigned, unsigned, unsigned, CUstream, void **,
                        void **) {
  std::fprintf(stderr, "a launch on device %d\n", int(current) - 1);
  return 0;
}
}
