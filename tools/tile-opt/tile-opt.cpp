//===- tile-opt.cpp - Run passes on tile programs ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tile::driver::registerAllDialects(registry);
  tile::driver::registerAllPasses();
  return mlir::failed(mlir::MlirOptMain(argc, argv, "tile-opt", registry));
}
