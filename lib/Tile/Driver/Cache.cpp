//===- Cache.cpp - Compiled kernels on disk ---------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Cache.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

std::string tile::driver::getDefaultCacheDirectory() {
  if (auto directory = llvm::sys::Process::GetEnv("TILE_CACHE_DIR");
      directory && !directory->empty())
    return *directory;
  llvm::SmallString<128> path;
  if (!llvm::sys::path::cache_directory(path))
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/false, path);
  llvm::sys::path::append(path, "tile");
  return std::string(path);
}
