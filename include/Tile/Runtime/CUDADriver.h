//===- CUDADriver.h - The CUDA driver by dlopen -----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing links CUDA: the driver's library is opened where there is one, and
// the entry points are found by name. Types are declared here so that no header
// of the toolkit is needed.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_CUDADRIVER_H
#define TILE_RUNTIME_CUDADRIVER_H

#include "Tile/Runtime/Result.h"

#include <cstddef>
#include <cstdint>

namespace tile::runtime::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uint64_t;
using CUcontext = struct OpaqueContext *;
using CUmodule = struct OpaqueModule *;
using CUfunction = struct OpaqueFunction *;
using CUstream = struct OpaqueStream *;
using CUevent = struct OpaqueEvent *;

/// Attributes of a device.
inline constexpr int capabilityMajor = 75, capabilityMinor = 76,
                     threadsPerMultiprocessor = 39;
/// Attributes of a function.
inline constexpr int staticSharedBytes = 1, maxDynamicSharedBytes = 8;

// Name in the library, result and parameters.
#define TILE_CUDA_ENTRY_POINTS(X)                                              \
  X(cuInit, (unsigned))                                                        \
  X(cuGetErrorString, (CUresult, const char **))                               \
  X(cuDeviceGet, (CUdevice *, int))                                            \
  X(cuDeviceGetCount, (int *))                                                 \
  X(cuDriverGetVersion, (int *))                                               \
  X(cuDeviceTotalMem_v2, (size_t *, CUdevice))                                 \
  X(cuDeviceGetName, (char *, int, CUdevice))                                  \
  X(cuDeviceGetAttribute, (int *, int, CUdevice))                              \
  X(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                         \
  X(cuCtxGetCurrent, (CUcontext *))                                            \
  X(cuCtxSetCurrent, (CUcontext))                                              \
  X(cuCtxSynchronize, ())                                                      \
  X(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, int *, void **))  \
  X(cuModuleUnload, (CUmodule))                                                \
  X(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))               \
  X(cuFuncSetAttribute, (CUfunction, int, int))                                \
  X(cuFuncGetAttribute, (int *, int, CUfunction))                              \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                               \
    (int *, CUfunction, int, size_t))                                          \
  X(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                    \
  X(cuMemFree_v2, (CUdeviceptr))                                               \
  X(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream))                        \
  X(cuMemFreeAsync, (CUdeviceptr, CUstream))                                   \
  X(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))           \
  X(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream))             \
  X(cuStreamSynchronize, (CUstream))                                           \
  X(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))                      \
  X(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))                            \
  X(cuEventCreate, (CUevent *, unsigned))                                      \
  X(cuEventDestroy_v2, (CUevent))                                              \
  X(cuEventRecord, (CUevent, CUstream))                                        \
  X(cuEventSynchronize, (CUevent))                                             \
  X(cuEventElapsedTime, (float *, CUevent, CUevent))                           \
  X(cuLaunchKernel,                                                            \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,   \
     unsigned, CUstream, void **, void **))

struct Driver {
#define TILE_CUDA_MEMBER(name, parameters) CUresult(*name) parameters = nullptr;
  TILE_CUDA_ENTRY_POINTS(TILE_CUDA_MEMBER)
#undef TILE_CUDA_MEMBER

  /// The driver, opened and initialised once. The error says what is missing.
  static Result<const Driver *> get();

  /// Success, or what the driver says about `what`.
  Status check(CUresult result, const char *what) const;
};

} // namespace tile::runtime::cuda

#endif // TILE_RUNTIME_CUDADRIVER_H
