//===- TuneRecord.h - Tunings on disk ---------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_TUNERECORD_H
#define TILE_DRIVER_TUNERECORD_H

#include "Tile/Driver/Cache.h"
#include "Tile/Driver/Tune.h"

namespace tile::driver {

/// The report of one tuning, in the cache of compiled kernels.
class TuneRecord {
public:
  static llvm::Expected<TuneRecord> make(const Program &program,
                                         llvm::StringRef function,
                                         const TuneOptions &options);

  std::optional<TuneReport> find() const;
  /// A report that cannot be kept is a report nevertheless.
  void store(const TuneReport &report) const;

private:
  std::optional<Cache> cache;
  std::string key;
};

} // namespace tile::driver

#endif // TILE_DRIVER_TUNERECORD_H
