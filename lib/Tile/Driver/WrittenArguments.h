//===- WrittenArguments.h - Which arguments a function writes ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function's outputs are the memref arguments that it writes. They are found
// from memory effects, through views, loops and calls, so that no program has
// to declare them.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_WRITTENARGUMENTS_H
#define TILE_DRIVER_WRITTENARGUMENTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/BitVector.h"

namespace tile::driver {

/// One bit an argument. May err on the side of written: where a buffer comes
/// from one of several arguments, an op does not say what it does, or calls
/// recur.
llvm::BitVector findWrittenArguments(mlir::FunctionOpInterface function);

} // namespace tile::driver

#endif // TILE_DRIVER_WRITTENARGUMENTS_H
