//===- Specialize.h - Fix the tunables of a function ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What drivers and tuners need to turn a family of kernels into one of them.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TRANSFORMS_SPECIALIZE_H
#define TILE_TRANSFORMS_SPECIALIZE_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringMap.h"

namespace tile {

/// A parameter of a function, as its `tile.tunable` states it.
struct Tunable {
  std::string name;
  llvm::SmallVector<int64_t> choices;
  int64_t defaultValue;
  mlir::Location loc;
};

/// The tunables of `function`, in the order of the program.
llvm::SmallVector<Tunable> listTunables(mlir::FunctionOpInterface function);

/// Replaces each tunable of `function` by its entry in `values`, or by its
/// default, removes the requirements and makes the types that depend on them
/// static. Reports names and values that do not exist, requirements that do not
/// hold or cannot be evaluated, and ops that the values make invalid; the
/// function is then left in between and of no further use.
llvm::LogicalResult specialize(mlir::FunctionOpInterface function,
                               const llvm::StringMap<int64_t> &values);

} // namespace tile

#endif // TILE_TRANSFORMS_SPECIALIZE_H
