//===- RuntimeFunctions.h - What generated code may call -------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C declarations of RuntimeFunctions.def.
//===----------------------------------------------------------------------===//
#ifndef TILE_LIB_EMULATOR_RUNTIMEFUNCTIONS_H
#define TILE_LIB_EMULATOR_RUNTIMEFUNCTIONS_H

#include "AsyncSites.h"
#include "Site.h"
#include "SyncSites.h"

namespace tile::emulator {

extern "C" {
#define RUNTIME_FUNCTION(result, name, parameters) result name parameters;
#include "RuntimeFunctions.def"
}

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_RUNTIMEFUNCTIONS_H
