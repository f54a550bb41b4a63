//===- LastError.h - What the C functions report ----------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_C_LASTERROR_H
#define TILE_C_LASTERROR_H

#include <string>

namespace tile::c {

/// Makes `message` what tile_last_error says on this thread.
void setLastError(std::string message);

} // namespace tile::c

#endif // TILE_C_LASTERROR_H
