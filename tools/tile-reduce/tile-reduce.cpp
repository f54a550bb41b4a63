//===- tile-reduce.cpp - Make failing programs small ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's reducer with our dialect and passes: cuts a program down for as long
// as a script of the user's still calls it interesting.
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  tile::driver::registerAllPasses();
  mlir::DialectRegistry registry;
  tile::driver::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
