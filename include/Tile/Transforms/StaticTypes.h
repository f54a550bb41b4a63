//===- StaticTypes.h - Carry constant extents into types --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_STATICTYPES_H
#define TILE_TRANSFORMS_STATICTYPES_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tile {

/// Folds constants into allocations, extents, threads and stages of `function`,
/// and the resulting static types into all uses of the buffers: views get the
/// type that follows from their source.
void propagateStaticTypes(mlir::FunctionOpInterface function);

/// Checks what the lowerings rely on: inside the launches of `function` every
/// on-chip buffer, elementwise loop, number of threads and number of stages is
/// of constant extent. What is not is reported, with what it depends on.
llvm::LogicalResult checkStatic(mlir::FunctionOpInterface function);

} // namespace tile

#endif // TILE_TRANSFORMS_STATICTYPES_H
