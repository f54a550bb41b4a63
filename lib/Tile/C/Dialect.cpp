//===- Dialect.cpp - The dialect for users of MLIR's C API ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/C/TileDialect.h"
#include "Tile/Driver/Registration.h"
#include "Tile/IR/TileDialect.h"
#include "mlir/CAPI/Registration.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Tile, tile, tile::TileDialect)

void tileRegisterAllPasses(void) { tile::driver::registerOwnPasses(); }
