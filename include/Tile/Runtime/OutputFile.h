//===- OutputFile.h - Writing files whole -----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that is written appears at its path complete or not at all: readers
// and other writers never see half of it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_OUTPUTFILE_H
#define TILE_RUNTIME_OUTPUTFILE_H

#include "Tile/Runtime/Result.h"

#include <cstdio>
#include <functional>
#include <string>

namespace tile::runtime {

/// Writes what `write` puts into the stream; `write` gives false where that
/// failed. A file that was there is replaced, through symbolic links; pipes and
/// devices are written to. The error names the path and the system's reason.
Status writeFile(const std::string &path,
                 const std::function<bool(std::FILE *)> &write);

} // namespace tile::runtime

#endif // TILE_RUNTIME_OUTPUTFILE_H
