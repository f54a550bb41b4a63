//===- Arguments.h - All arguments of one call ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the specifications of all arguments of a program into values. They may
// refer to one another's extents and scalars in any order; each is made once,
// after those it refers to.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_ARGUMENTS_H
#define TILE_RUNTIME_ARGUMENTS_H

#include "Tile/Runtime/ArgSpec.h"

namespace tile::runtime {

/// What the program takes.
struct ArgumentType {
  DType element = DType::F32;
  /// Nothing for a scalar; -1 is an extent the program leaves open.
  std::optional<Shape> shape;
};

struct ArgumentRequest {
  std::string name;
  ArgSpec spec;
  ArgumentType type;
};

struct Argument {
  std::string name;
  /// A scalar's value is an array of rank 0.
  bool isScalar = false;
  Array value;
};

/// The values, in the order of the requests. An error names its argument:
/// a specification that fails, a type the program does not take, an unknown
/// name, arguments that refer to each other in a circle.
Result<std::vector<Argument>>
bindArguments(const std::vector<ArgumentRequest> &requests, uint64_t seed);

/// A lookup over finished arguments, for costs and launch plans. `arguments`
/// has to outlive it.
Expr::Lookup makeLookup(const std::vector<Argument> &arguments);

} // namespace tile::runtime

#endif // TILE_RUNTIME_ARGUMENTS_H
