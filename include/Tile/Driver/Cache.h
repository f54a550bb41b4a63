//===- Cache.h - Compiled kernels on disk -----------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Artifacts in a directory, one file each, named by a hash of all that decides
// what is in them. Several processes may use one directory: files appear whole
// or not at all, and what is damaged counts as missing.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_CACHE_H
#define TILE_DRIVER_CACHE_H

#include "Tile/Runtime/Artifact.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace tile::driver {

/// The directory that TILE_CACHE_DIR names (empty: nothing is kept), else tile
/// in the user's cache directory (XDG_CACHE_HOME, or ~/.cache). For tools and
/// bindings: nothing else asks the environment.
std::string getDefaultCacheDirectory();

/// What tells one build of the compiler, with the LLVM and MLIR it runs on,
/// from another. Empty where it was linked without a build id, so that nothing
/// can be told apart; then nothing is kept either.
std::string getCompilerIdentity();

class Cache {
public:
  static constexpr uint64_t defaultLimit = uint64_t(1) << 30;

  /// `limitBytes` is how large the directory may grow.
  explicit Cache(llvm::StringRef directory, uint64_t limitBytes = defaultLimit)
      : directory(directory), limitBytes(limitBytes) {}

  /// A name for what `parts` describe.
  static std::string getKey(llvm::ArrayRef<llvm::StringRef> parts);

  /// The artifact of that key, whose file counts as used now. A damaged file is
  /// removed.
  std::optional<runtime::Artifact> find(llvm::StringRef key) const;
  /// Keeps the artifact, and drops the files that were used longest ago where
  /// the directory grows beyond its limit.
  llvm::Error store(llvm::StringRef key,
                    const runtime::Artifact &artifact) const;
  /// The file of that key.
  std::string getPath(llvm::StringRef key) const;

private:
  void evict() const;

  std::string directory;
  uint64_t limitBytes;
};

} // namespace tile::driver

#endif // TILE_DRIVER_CACHE_H
