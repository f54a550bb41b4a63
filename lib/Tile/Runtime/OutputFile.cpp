//===- OutputFile.cpp - Writing files whole ---------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/OutputFile.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tile::runtime;

/// Writes to an open descriptor and closes it.
static bool writeAndClose(int descriptor,
                          const std::function<bool(std::FILE *)> &write) {
  std::FILE *file = fdopen(descriptor, "wb");
  if (!file) {
    close(descriptor);
    return false;
  }
  bool isGood = write(file);
  return (std::fclose(file) == 0) && isGood;
}

Status tile::runtime::writeFile(const std::string &path,
                                const std::function<bool(std::FILE *)> &write) {
  auto fail = [&](const char *what) {
    return Error{"'" + path + "': " + what + ": " + std::strerror(errno)};
  };
  struct stat info;
  bool exists = stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0 || !writeAndClose(descriptor, write))
      return fail("cannot be written");
    return {};
  }

  // What a link leads to is replaced, not the link.
  std::string target = path;
  if (char resolved[PATH_MAX]; exists && realpath(path.c_str(), resolved))
    target = resolved;
  // Beside the file, so that the rename stays within one file system; its name
  // is of this process and call alone.
  static std::atomic<unsigned> calls{0};
  std::string temporary = target + ".tmp" + std::to_string(getpid()) + "-" +
                          std::to_string(calls++);
  int descriptor =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return fail("cannot be created");
  if (writeAndClose(descriptor, write) &&
      std::rename(temporary.c_str(), target.c_str()) == 0)
    return {};
  Error error = fail("cannot be written");
  unlink(temporary.c_str());
  return error;
}
