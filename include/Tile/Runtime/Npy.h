//===- Npy.h - NumPy's file format ------------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes .npy files, NumPy's format for one array (versions 1.0 to
// 3.0). bf16, fp8 and i4 follow what NumPy itself writes for arrays of the
// ml_dtypes package: untyped elements ("<V2", "<V1") whose meaning the reader
// has to know, i4 unpacked, one element a byte. NumPy's "<f1" for f8E5M2 is
// read, but not written, since NumPy cannot read it back.
//
// A damaged file gives an error that names what is wrong with it. Nothing is
// allocated before the file's size vouches for it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_NPY_H
#define TILE_RUNTIME_NPY_H

#include "Tile/Runtime/Array.h"

#include <optional>
#include <string>
#include <string_view>

namespace tile::runtime {

/// Reads a file into a dense array of the same shape, whatever order its
/// elements have in the file. Unsigned integers keep their bits. `expected` is
/// needed for untyped elements only, and says how to read them; with another
/// type the file's own type stands, and the caller compares or converts.
Result<Array> readNpy(const std::string &path,
                      std::optional<DType> expected = std::nullopt);

/// The same from the bytes of such a file.
Result<Array> parseNpy(std::string_view bytes,
                       std::optional<DType> expected = std::nullopt);

/// Writes a file of version 1.0 in row-major order. The file appears under its
/// name when it is complete, or not at all.
Status writeNpy(const std::string &path, const Array &array);

} // namespace tile::runtime

#endif // TILE_RUNTIME_NPY_H
