//===- Places.h - Where in a program something stands -----------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_PLACES_H
#define TILE_IR_PLACES_H

#include "mlir/IR/Location.h"
#include <string>

namespace tile {

/// "file:line:column: " of the innermost place that a person wrote, with which
/// lines begin that a running program prints or reports. It has no line breaks.
std::string describePlace(mlir::Location loc);

} // namespace tile

#endif // TILE_IR_PLACES_H
