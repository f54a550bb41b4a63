//===- GPUPasses.h - From tile programs to laid-out ones --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_GPUPASSES_H
#define TILE_TRANSFORMS_GPUPASSES_H

#include "Tile/IR/Chips.h"
#include "mlir/Pass/Pass.h"

namespace tile {

class LaunchOp;

#define GEN_PASS_DECL
#include "Tile/Transforms/GPUPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "Tile/Transforms/GPUPasses.h.inc"

} // namespace tile

#endif // TILE_TRANSFORMS_GPUPASSES_H
