//===- NpyHeader.h - The header of a .npy file ------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The textual header of a .npy file: a Python dictionary with exactly the keys
// descr, fortran_order and shape.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_RUNTIME_NPYHEADER_H
#define TILE_LIB_RUNTIME_NPYHEADER_H

#include "Tile/Runtime/Array.h"

#include <string>
#include <string_view>

namespace tile::runtime {

struct NpyHeader {
  /// Byte order, kind and size of an element, for instance "<f4".
  std::string descr;
  bool isFortranOrder = false;
  Shape shape;
};

/// Parses the dictionary.
Result<NpyHeader> parseNpyHeader(std::string_view text);
/// Magic, version, length and dictionary, padded to a multiple of 64 bytes.
Result<std::string> printNpyHeader(const NpyHeader &header);

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_NPYHEADER_H
