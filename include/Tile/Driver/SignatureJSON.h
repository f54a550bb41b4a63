//===- SignatureJSON.h - What a function takes, as text ---------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form in which parameters cross the C ABI and are kept in artifacts;
// Tile/C/Tile.h shows it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_SIGNATUREJSON_H
#define TILE_DRIVER_SIGNATUREJSON_H

#include "Tile/Driver/Signature.h"
#include "llvm/Support/JSON.h"

namespace tile::driver {

llvm::json::Array toJSON(llvm::ArrayRef<Parameter> parameters);
/// Fails on what toJSON does not write.
llvm::Expected<std::vector<Parameter>>
parseParameters(const llvm::json::Array &parameters);

} // namespace tile::driver

#endif // TILE_DRIVER_SIGNATUREJSON_H
