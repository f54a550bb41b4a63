//===- DLPack.h - The structures of DLPack ----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of DLPack's binary interface (versions 0 and 1) that reading an
// array needs.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_PYTHON_DLPACK_H
#define TILE_PYTHON_DLPACK_H

#include <cstdint>

namespace tile::python {

/// The version whose structures these are.
constexpr uint32_t kDLMajor = 1;
enum : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3 };
enum : uint8_t {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6,
  kDLFloat8E4M3FN = 10,
  kDLFloat8E5M2 = 12,
};
enum : uint64_t { kDLReadOnly = 1 };

struct DLDevice {
  int32_t type;
  int32_t id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byteOffset;
};

struct DLManagedTensor {
  DLTensor tensor;
  void *context;
  void (*deleter)(DLManagedTensor *);
};

struct DLManagedTensorVersioned {
  uint32_t major;
  uint32_t minor;
  void *context;
  void (*deleter)(DLManagedTensorVersioned *);
  uint64_t flags;
  DLTensor tensor;
};

/// What a library's tensor type offers as `__dlpack_c_exchange_api__`, a
/// capsule of that name without underscores and "c": functions that need no
/// Python call. Functions give zero, or set Python's error.
constexpr const char *kExchangeCapsule = "dlpack_exchange_api";

struct DLPackExchangeAPI {
  uint32_t major;
  uint32_t minor;
  DLPackExchangeAPI *previous;
  void *allocator;
  void *managedFromObject;
  void *managedToObject;
  /// Reads a tensor. What it points to lives as long as the object.
  int (*read)(void *object, DLTensor *tensor);
  /// The stream on which the library works now.
  int (*getStream)(int32_t deviceType, int32_t device, void **stream);
};

} // namespace tile::python

#endif // TILE_PYTHON_DLPACK_H
