//===- Registration.cpp - What the tools know -------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Registration.h"
#include "Tile/Conversion/GPUPasses.h"
#include "Tile/Conversion/Passes.h"
#include "Tile/Driver/Pipelines.h"
#include "Tile/IR/TileDialect.h"
#include "Tile/Transforms/GPUPasses.h"
#include "Tile/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include <mutex>

void tile::driver::registerOwnDialects(mlir::DialectRegistry &registry) {
  registry.insert<TileDialect>();
}

void tile::driver::registerOwnPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerTilePasses();
    registerTileConversionPasses();
    registerTileGPUTransformsPasses();
    registerTileGPUConversionPasses();
    registerTilePipelines();
  });
}

void tile::driver::registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  registerOwnDialects(registry);
}

void tile::driver::registerAllPasses() {
  static std::once_flag once;
  std::call_once(once, mlir::registerAllPasses);
  registerOwnPasses();
}
