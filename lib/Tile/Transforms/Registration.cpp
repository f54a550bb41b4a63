//===- Registration.cpp - The passes by their names -------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Transforms/Passes.h"

namespace tile {

#define GEN_PASS_REGISTRATION
#include "Tile/Transforms/Passes.h.inc"

void registerTilePasses() { registerTileTransformsPasses(); }

} // namespace tile
