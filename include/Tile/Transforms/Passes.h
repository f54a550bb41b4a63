//===- Passes.h - Passes from tile to tile ----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of this room, for pipelines. What they do is also to be had as
// plain functions, one header each.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_PASSES_H
#define TILE_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace tile {

#define GEN_PASS_DECL
#include "Tile/Transforms/Passes.h.inc"

/// Makes the passes of this room known by their names.
void registerTilePasses();

} // namespace tile

#endif // TILE_TRANSFORMS_PASSES_H
