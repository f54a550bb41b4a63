//===- FinishOutput.h - Output that arrived ---------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_FINISHOUTPUT_H
#define TILE_DRIVER_FINISHOUTPUT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

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

/// To be called first in main: a tool whose standard output could not be
/// written says so as it ends, also where LLVM ends it (after --help), and ends
/// with `code`.
inline void finishOutputAtExit(const char *tool, int code) {
  static const char *name;
  static int failure;
  name = tool;
  failure = code;
  // The stream is made before the handler is registered, so it dies later.
  llvm::outs();
  std::atexit([] {
    llvm::Error error = finishOutput(llvm::outs());
    if (!error)
      return;
    llvm::WithColor::error(llvm::errs(), name)
        << toString(std::move(error)) << "\n";
    std::_Exit(failure);
  });
}

} // namespace tile::driver

#endif // TILE_DRIVER_FINISHOUTPUT_H
