//===- CanonicalizeIdioms.h - One form for common idioms --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_CANONICALIZEIDIOMS_H
#define TILE_TRANSFORMS_CANONICALIZEIDIOMS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tile {

struct IdiomCounts {
  unsigned clearedGemms = 0;
  unsigned deadFills = 0;
};

/// Rewrites idioms of `function` into the form that later passes look for,
/// without any change of a value.
IdiomCounts canonicalizeIdioms(mlir::FunctionOpInterface function);

} // namespace tile

#endif // TILE_TRANSFORMS_CANONICALIZEIDIOMS_H
