//===- Cache.h - Compiled kernels on disk -----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_CACHE_H
#define TILE_DRIVER_CACHE_H

#include <string>

namespace tile::driver {

/// The directory that TILE_CACHE_DIR names, else tile in the user's cache
/// directory (XDG_CACHE_HOME, or ~/.cache). For tools and bindings: nothing
/// else asks the environment.
std::string getDefaultCacheDirectory();

} // namespace tile::driver

#endif // TILE_DRIVER_CACHE_H
