//===- TilePlugin.cpp - The dialect inside the stock mlir-opt ---*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the dialect, the passes and the pipelines with an mlir-opt that was
// built without them:
//   mlir-opt --load-dialect-plugin=TilePlugin.so
//            --load-pass-plugin=TilePlugin.so --pass-pipeline=...
// Works with an mlir-opt that links the shared MLIR library, as Debian's does.
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Tile", "0.1",
          [](mlir::DialectRegistry *registry) {
            tile::driver::registerOwnDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Tile", "0.1",
          [] { tile::driver::registerOwnPasses(); }};
}
