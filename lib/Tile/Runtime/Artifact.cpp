//===- Artifact.cpp - Compiled programs in one file -------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Artifact.h"
#include "Tile/Runtime/OutputFile.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

using namespace tile::runtime;

/// The last character is the version.
static constexpr std::string_view magic = "TILEART1";

std::vector<std::string> Artifact::list(std::string_view prefix) const {
  std::vector<std::string> names;
  for (const auto &[name, contents] : sections)
    if (name.compare(0, prefix.size(), prefix) == 0)
      names.push_back(name.substr(prefix.size()));
  return names;
}

static void appendSized(std::string &out, std::string_view bytes) {
  for (int i = 0; i < 8; ++i)
    out += char(uint64_t(bytes.size()) >> (8 * i) & 0xff);
  out += bytes;
}

std::string Artifact::serialize() const {
  std::string out(magic);
  for (const auto &[name, contents] : sections) {
    appendSized(out, name);
    appendSized(out, contents);
  }
  return out;
}

static bool takeSized(std::string_view &bytes, std::string_view &taken) {
  if (bytes.size() < 8)
    return false;
  uint64_t size = 0;
  for (int i = 0; i < 8; ++i)
    size |= uint64_t(uint8_t(bytes[i])) << (8 * i);
  bytes.remove_prefix(8);
  if (size > bytes.size())
    return false;
  taken = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

Result<Artifact> Artifact::deserialize(std::string_view bytes) {
  if (bytes.substr(0, magic.size() - 1) != magic.substr(0, magic.size() - 1))
    return Error{"not a compiled tile program"};
  if (bytes.size() < magic.size() || bytes[magic.size() - 1] != magic.back())
    return Error{"a compiled tile program of another version; compile it again "
                 "with this one"};
  bytes.remove_prefix(magic.size());
  Artifact artifact;
  while (!bytes.empty()) {
    std::string_view name, contents;
    if (!takeSized(bytes, name) || !takeSized(bytes, contents))
      return Error{"a compiled tile program that is cut off"};
    artifact.set(std::string(name), std::string(contents));
  }
  return artifact;
}

Result<Artifact> Artifact::read(const std::string &path) {
  auto fail = [&] { return Error{path + ": " + std::strerror(errno)}; };
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return fail();
  std::string bytes;
  char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), file))
    bytes.append(buffer, count);
  bool failed = std::ferror(file);
  std::fclose(file);
  if (failed)
    return fail();
  Result<Artifact> artifact = deserialize(bytes);
  if (!artifact)
    return addContext(path, artifact.error());
  return artifact;
}

Status Artifact::write(const std::string &path) const {
  return writeFile(path, [bytes = serialize()](std::FILE *file) {
    return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  });
}
