//===- GPUPasses.h - From laid-out tiles to one thread ----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CONVERSION_GPUPASSES_H
#define TILE_CONVERSION_GPUPASSES_H

#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringRef.h"

namespace tile {

#define GEN_PASS_DECL
#include "Tile/Conversion/GPUPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "Tile/Conversion/GPUPasses.h.inc"

/// What the assembly that tile-keep-convergent inserts begins with.
inline constexpr llvm::StringLiteral meetingPoint("// threads meet ");

/// Whether a warp must run an instruction (or an intrinsic of LLVM) as one.
bool isConvergentPTX(llvm::StringRef text);

} // namespace tile

#endif // TILE_CONVERSION_GPUPASSES_H
