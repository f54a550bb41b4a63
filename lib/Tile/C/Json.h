//===- Json.h - The texts that cross the C ABI ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptions and options are JSON, so that they can grow without a change of
// the ABI. Tile.h shows their form.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_C_JSON_H
#define TILE_C_JSON_H

#include "Tile/Driver/Program.h"

namespace tile::c {

std::string describe(const driver::Program &program);
std::string describe(const driver::Kernel &kernel);
std::string describeEnvironment();

/// The options that `text` gives, or the defaults where it is null. A key that
/// is not known is an error that names it.
llvm::Expected<driver::CompileOptions> parseOptions(const char *text);

} // namespace tile::c

#endif // TILE_C_JSON_H
