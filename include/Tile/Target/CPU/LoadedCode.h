//===- LoadedCode.h - Machine code in this process --------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An object file linked into the running process, with the OpenMP runtime and
// the math libraries that it calls. A symbol that nothing defines is an error
// when the code is loaded, not when it is called.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_CPU_LOADEDCODE_H
#define TILE_TARGET_CPU_LOADEDCODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace tile::cpu {

/// Immutable once loaded; any number of threads may call it at once.
class LoadedCode {
public:
  /// Links `objects`, in one of which `entry` has the packed form that
  /// NativeCode gives it.
  static llvm::Expected<std::unique_ptr<LoadedCode>>
  load(llvm::ArrayRef<llvm::StringRef> objects, llvm::StringRef entry);
  ~LoadedCode();

  /// Calls the entry. `arguments[i]` points at a memref's descriptor or at a
  /// scalar. Fails with what this call reported, a failed assertion or an
  /// access outside a buffer.
  llvm::Error call(void **arguments) const;

  /// The lines that `tile.print` printed since this was asked last.
  std::string takeOutput() const;

private:
  struct State;
  LoadedCode();

  std::unique_ptr<State> state;
};

/// Threads that blocks are spread over.
int getNumWorkers();

} // namespace tile::cpu

#endif // TILE_TARGET_CPU_LOADEDCODE_H
