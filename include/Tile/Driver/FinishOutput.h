//===- FinishOutput.h - Output that arrived ---------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_FINISHOUTPUT_H
#define TILE_DRIVER_FINISHOUTPUT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace tile::driver {

/// Writes what `stream` holds back, and tells whether all of it was written.
/// A tool that ends without asking dies of a full disk in the destructor of its
/// standard output.
inline llvm::Error finishOutput(llvm::raw_fd_ostream &stream) {
  stream.flush();
  std::error_code code = stream.error();
  if (!code)
    return llvm::Error::success();
  stream.clear_error();
  return llvm::createStringError("the output cannot be written: " +
                                 code.message());
}

} // namespace tile::driver

#endif // TILE_DRIVER_FINISHOUTPUT_H
