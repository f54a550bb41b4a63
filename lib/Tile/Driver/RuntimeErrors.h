//===- RuntimeErrors.h - The runtime's errors as LLVM's ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime knows nothing of LLVM; here its results meet LLVM's.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_RUNTIMEERRORS_H
#define TILE_DRIVER_RUNTIMEERRORS_H

#include "Tile/Runtime/Result.h"
#include "llvm/Support/Error.h"

namespace tile::driver {

inline llvm::Error toError(const runtime::Error &error) {
  return llvm::createStringError(error.message);
}

template <typename T> llvm::Expected<T> toExpected(runtime::Result<T> result) {
  if (!result)
    return toError(result.error());
  return std::move(*result);
}

inline llvm::Error toError(const runtime::Status &status) {
  if (!status)
    return toError(status.error());
  return llvm::Error::success();
}

} // namespace tile::driver

#endif // TILE_DRIVER_RUNTIMEERRORS_H
