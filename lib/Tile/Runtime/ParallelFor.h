//===- ParallelFor.h - A loop over all cores --------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits a range among threads for work on large host buffers.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_RUNTIME_PARALLELFOR_H
#define TILE_LIB_RUNTIME_PARALLELFOR_H

#include <cstdint>
#include <functional>

namespace tile::runtime {

/// Calls `body(begin, end)` for ranges that cover 0 to `count` once, all but
/// the last `grain` long, on as many threads as there are cores and ranges.
/// Returns when all are done. `grain` is a multiple of what one call of the
/// body must not be split across.
void parallelFor(int64_t count, int64_t grain,
                 const std::function<void(int64_t, int64_t)> &body);

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_PARALLELFOR_H
