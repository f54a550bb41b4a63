//===- Cache.cpp - Compiled kernels on disk ---------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file is a line that says what it is, the SHA-256 of the rest, and the
// artifact. It is written under another name and renamed, which replaces it in
// one step also where another process writes the same.
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Cache.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <link.h>

using namespace tile;
using namespace tile::driver;
using llvm::createStringError;
using llvm::StringRef;

static constexpr llvm::StringLiteral magic = "tile cache 1\n";
static constexpr llvm::StringLiteral suffix = ".tile-cache";
static constexpr size_t checksumBytes = 32;

std::string tile::driver::getDefaultCacheDirectory() {
  if (auto directory = llvm::sys::Process::GetEnv("TILE_CACHE_DIR"))
    return *directory;
  llvm::SmallString<128> path;
  if (!llvm::sys::path::cache_directory(path))
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/false, path);
  llvm::sys::path::append(path, "tile");
  return std::string(path);
}

//===----------------------------------------------------------------------===//
// Which compiler this is
//===----------------------------------------------------------------------===//

/// Adds the build id of one loaded object to a text, where it is ours or one
/// that generates code for us. Linkers compute build ids from the contents.
static int addBuildId(dl_phdr_info *object, size_t, void *text) {
  auto holds = [&](const void *address) {
    auto at = reinterpret_cast<uintptr_t>(address);
    for (const auto &segment :
         llvm::ArrayRef(object->dlpi_phdr, object->dlpi_phnum))
      if (segment.p_type == PT_LOAD &&
          at >= object->dlpi_addr + segment.p_vaddr &&
          at < object->dlpi_addr + segment.p_vaddr + segment.p_memsz)
        return true;
    return false;
  };
  StringRef name = llvm::sys::path::filename(object->dlpi_name);
  if (!name.starts_with("libLLVM") && !name.starts_with("libMLIR") &&
      !holds(reinterpret_cast<const void *>(&addBuildId)))
    return 0;
  for (const auto &segment :
       llvm::ArrayRef(object->dlpi_phdr, object->dlpi_phnum)) {
    if (segment.p_type != PT_NOTE)
      continue;
    // A note: three sizes, the name "GNU" and the id, each padded to 4 bytes.
    const char *note =
        reinterpret_cast<const char *>(object->dlpi_addr + segment.p_vaddr);
    const char *end = note + segment.p_memsz;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      const auto *header = reinterpret_cast<const ElfW(Nhdr) *>(note);
      const char *label = note + sizeof(*header);
      const char *contents = label + llvm::alignTo(header->n_namesz, 4);
      note = contents + llvm::alignTo(header->n_descsz, 4);
      if (note > end)
        break;
      if (header->n_type == NT_GNU_BUILD_ID &&
          StringRef(label, header->n_namesz) == StringRef("GNU", 4))
        *static_cast<std::string *>(text) +=
            llvm::toHex(StringRef(contents, header->n_descsz)) + "\n";
    }
  }
  return 0;
}

std::string tile::driver::getCompilerIdentity() {
  static const std::string identity = [] {
    std::string text = "llvm " LLVM_VERSION_STRING "\n";
    size_t length = text.size();
    dl_iterate_phdr(addBuildId, &text);
    return text.size() == length ? std::string() : text;
  }();
  return identity;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::string Cache::getKey(llvm::ArrayRef<StringRef> parts) {
  llvm::SHA256 hash;
  for (StringRef part : parts) {
    // The length keeps two parts from running into each other.
    hash.update(std::to_string(part.size()) + ":");
    hash.update(part);
  }
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

std::string Cache::getPath(StringRef key) const {
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, key + suffix);
  return std::string(path);
}

static std::string getChecksum(StringRef contents) {
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(contents));
  return std::string(digest.begin(), digest.end());
}

static std::optional<runtime::Artifact> parse(StringRef file) {
  if (!file.consume_front(magic) || file.size() < checksumBytes)
    return std::nullopt;
  StringRef contents = file.drop_front(checksumBytes);
  if (file.take_front(checksumBytes) != getChecksum(contents))
    return std::nullopt;
  runtime::Result<runtime::Artifact> artifact =
      runtime::Artifact::deserialize(std::string_view(contents));
  if (!artifact)
    return std::nullopt;
  return std::move(*artifact);
}

std::optional<runtime::Artifact> Cache::find(StringRef key) const {
  std::string path = getPath(key);
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return std::nullopt;
  std::optional<runtime::Artifact> artifact = parse((*file)->getBuffer());
  if (!artifact) {
    llvm::sys::fs::remove(path);
    return std::nullopt;
  }
  // Its time says when it was used last. It does not matter where that fails.
  int descriptor;
  if (!llvm::sys::fs::openFileForReadWrite(path, descriptor,
                                           llvm::sys::fs::CD_OpenExisting,
                                           llvm::sys::fs::OF_None)) {
    llvm::sys::fs::setLastAccessAndModificationTime(
        descriptor, std::chrono::system_clock::now());
    llvm::sys::Process::SafelyCloseFileDescriptor(descriptor);
  }
  return artifact;
}

llvm::Error Cache::store(StringRef key,
                         const runtime::Artifact &artifact) const {
  auto fail = [&](std::error_code code) {
    return createStringError("cannot keep a compiled kernel in '" + directory +
                             "': " + code.message());
  };
  if (std::error_code code = llvm::sys::fs::create_directories(directory))
    return fail(code);
  std::string contents = artifact.serialize();
  llvm::Expected<llvm::sys::fs::TempFile> file =
      llvm::sys::fs::TempFile::create(getPath(key) + ".%%%%%%%%.tmp");
  if (!file)
    return createStringError("cannot keep a compiled kernel in '" + directory +
                             "': " + toString(file.takeError()));
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << magic << getChecksum(contents) << contents;
  stream.flush();
  if (std::error_code code = stream.error()) {
    stream.clear_error();
    llvm::consumeError(file->discard());
    return fail(code);
  }
  if (llvm::Error error = file->keep(getPath(key)))
    return createStringError("cannot keep a compiled kernel in '" + directory +
                             "': " + toString(std::move(error)));
  evict();
  return llvm::Error::success();
}

void Cache::evict() const {
  struct Entry {
    llvm::sys::TimePoint<> used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  auto now = std::chrono::system_clock::now();
  std::error_code code;
  for (llvm::sys::fs::directory_iterator at(directory, code), end;
       at != end && !code; at.increment(code)) {
    StringRef path = at->path();
    bool isTemporary = path.ends_with(".tmp") && path.contains(suffix);
    if (!isTemporary && !path.ends_with(suffix))
      continue;
    llvm::ErrorOr<llvm::sys::fs::basic_file_status> status = at->status();
    if (!status)
      continue;
    // Left over by a process that ended while it wrote.
    if (isTemporary) {
      if (now - status->getLastModificationTime() > std::chrono::hours(1))
        llvm::sys::fs::remove(path);
      continue;
    }
    total += status->getSize();
    entries.push_back(
        {status->getLastModificationTime(), status->getSize(), path.str()});
  }
  if (total <= limitBytes)
    return;
  llvm::sort(entries, [](const Entry &x, const Entry &y) {
    return std::tie(x.used, x.path) < std::tie(y.used, y.path);
  });
  for (const Entry &entry : entries) {
    if (total <= limitBytes)
      return;
    // Another process may have removed it already.
    llvm::sys::fs::remove(entry.path);
    total -= entry.bytes;
  }
}
