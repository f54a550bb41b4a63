//===- EntryAttributes.h - What a function says of itself -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the attributes by which a function carries its own example: what to
// call it with, what to compare it with, how far it may be off and what it
// costs. The dialect verifies them; the driver acts on them.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_ENTRYATTRIBUTES_H
#define TILE_IR_ENTRYATTRIBUTES_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include <string>

namespace tile {

/// On an argument: its name, for command lines and messages.
inline constexpr llvm::StringLiteral kArgumentName = "tile.name";
/// On an argument: the specification of its default value (see
/// docs/ArgumentSpecs.md).
inline constexpr llvm::StringLiteral kDefault = "tile.default";
/// On an argument: the names of the arguments that it may overlap in memory.
inline constexpr llvm::StringLiteral kMayAlias = "tile.may_alias";
/// On a function: the function that computes the same in upstream dialects.
inline constexpr llvm::StringLiteral kReference = "tile.reference";
/// On a function: a #tile.tolerance.
inline constexpr llvm::StringLiteral kTolerance = "tile.tolerance";
/// On a function: expressions over extents and scalars of the arguments for the
/// floating-point operations it does and the bytes it must move.
inline constexpr llvm::StringLiteral kFlops = "tile.flops";
inline constexpr llvm::StringLiteral kBytes = "tile.bytes";

/// The name of argument `index`: its `tile.name`, else its position.
std::string getArgumentName(mlir::FunctionOpInterface function, unsigned index);

/// Whether two arguments may overlap in memory, as `tile.may_alias` on either
/// of them says.
bool mayAlias(mlir::FunctionOpInterface function, unsigned first,
              unsigned second);

} // namespace tile

#endif // TILE_IR_ENTRYATTRIBUTES_H
