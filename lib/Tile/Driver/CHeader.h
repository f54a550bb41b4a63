//===- CHeader.h - Compiled functions declared for C ------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_CHEADER_H
#define TILE_DRIVER_CHEADER_H

#include "Tile/Driver/Signature.h"

namespace tile::driver {

/// Fails where C has no way to name the function.
llvm::Error checkForC(const Signature &signature);

/// A header with a prototype for each function and the structs they take.
std::string printCHeader(llvm::ArrayRef<Signature> signatures);

} // namespace tile::driver

#endif // TILE_DRIVER_CHEADER_H
