//===- Registration.h - What the tools know ---------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of dialects, passes and translations, used by every tool, by the
// plugin and by the C interface.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_REGISTRATION_H
#define TILE_DRIVER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace tile::driver {

/// The tile dialect alone, for compilers that register what else they use.
void registerOwnDialects(mlir::DialectRegistry &registry);
/// Our passes and pipelines, for textual pipelines. Once or often, from any
/// thread; so for all passes.
void registerOwnPasses();

/// The tile dialect, all of upstream's and their extensions, and what takes
/// them to LLVM IR.
void registerAllDialects(mlir::DialectRegistry &registry);
/// Our passes and pipelines and all of upstream's.
void registerAllPasses();

} // namespace tile::driver

#endif // TILE_DRIVER_REGISTRATION_H
