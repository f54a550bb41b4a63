//===- Bytecode.h - The version of the dialect in bytecode ------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_IR_BYTECODE_H
#define TILE_IR_BYTECODE_H

namespace tile {

class TileDialect;

void addBytecodeInterface(TileDialect &dialect);

} // namespace tile

#endif // TILE_IR_BYTECODE_H
