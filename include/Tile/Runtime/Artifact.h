//===- Artifact.h - Compiled programs in one file ---------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file of named sections: launch plans ("plan/<function>"), device code
// ("ptx/<function>/<chip>", "cubin/<function>/<chip>"). It starts with a magic
// that holds the version; each section is a length and a name, a length and
// bytes, lengths as 64-bit little-endian numbers. Written to a temporary file
// and renamed, so that readers see all of it or nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_ARTIFACT_H
#define TILE_RUNTIME_ARTIFACT_H

#include "Tile/Runtime/Result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

class Artifact {
public:
  void set(std::string name, std::string contents) {
    sections[std::move(name)] = std::move(contents);
  }
  /// Null where there is no such section.
  const std::string *find(const std::string &name) const {
    auto at = sections.find(name);
    return at == sections.end() ? nullptr : &at->second;
  }
  /// What follows `prefix` in the names of sections, sorted.
  std::vector<std::string> list(std::string_view prefix) const;

  std::string serialize() const;
  static Result<Artifact> deserialize(std::string_view bytes);

  static Result<Artifact> read(const std::string &path);
  Status write(const std::string &path) const;

private:
  std::map<std::string, std::string> sections;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_ARTIFACT_H
