//===- CapturedDiagnostics.h - MLIR's diagnostics as text -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_CAPTUREDDIAGNOSTICS_H
#define TILE_DRIVER_CAPTUREDDIAGNOSTICS_H

#include "Tile/Driver/Program.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace tile::driver {

/// While it lives, what is reported on a context becomes text with the lines of
/// the source, and nothing is printed.
class CapturedDiagnostics {
public:
  CapturedDiagnostics(llvm::SourceMgr &source, mlir::MLIRContext *context)
      : stream(text), handler(source, context, stream),
        watcher(context, [this](mlir::Diagnostic &diagnostic) {
          hasErrors |=
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
          // The other handler's turn.
          return mlir::failure();
        }) {}

  /// What was reported, without the last newline.
  std::string take() {
    while (!text.empty() && text.back() == '\n')
      text.pop_back();
    return std::exchange(text, {});
  }

  /// The errors that were reported; where there are none, `otherwise` after
  /// what else was reported.
  llvm::Error takeError(const llvm::Twine &otherwise) {
    std::string reported = take();
    if (hasErrors)
      return llvm::make_error<SourceError>(std::move(reported));
    if (!reported.empty())
      reported += '\n';
    return llvm::createStringError(reported + otherwise);
  }

private:
  std::string text;
  llvm::raw_string_ostream stream;
  mlir::SourceMgrDiagnosticHandler handler;
  bool hasErrors = false;
  mlir::ScopedDiagnosticHandler watcher;
};

} // namespace tile::driver

#endif // TILE_DRIVER_CAPTUREDDIAGNOSTICS_H
