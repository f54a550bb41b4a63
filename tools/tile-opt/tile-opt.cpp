//===- tile-opt.cpp - Run passes on tile programs ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Conversion/Passes.h"
#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  tile::registerTilePasses();
  tile::registerTileConversionPasses();
  registry.insert<tile::TileDialect>();
  return mlir::failed(mlir::MlirOptMain(argc, argv, "tile-opt", registry));
}
