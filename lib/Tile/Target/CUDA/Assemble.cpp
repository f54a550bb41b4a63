//===- Assemble.cpp - Machine code by ptxas ---------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Target/CUDA/DeviceCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace tile;
using namespace tile::cuda;
using llvm::createStringError;
using llvm::StringRef;

std::string tile::cuda::findPtxas() {
  auto inToolkit = [](StringRef root) -> std::string {
    llvm::SmallString<128> path(root);
    llvm::sys::path::append(path, "bin", "ptxas");
    return llvm::sys::fs::can_execute(path) ? std::string(path) : "";
  };
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (std::optional<std::string> root = llvm::sys::Process::GetEnv(variable))
      if (std::string path = inToolkit(*root); !path.empty())
        return path;
  if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  return inToolkit("/usr/local/cuda");
}

llvm::Expected<std::string> tile::cuda::getPtxasVersion(StringRef ptxas) {
  llvm::SmallString<128> log;
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("tile", "log", log))
    return createStringError("no temporary file: " + error.message());
  llvm::FileRemover remover(log);
  StringRef arguments[] = {ptxas, "--version"};
  std::optional<StringRef> redirects[] = {std::nullopt, log.str(), log.str()};
  std::string message;
  if (llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt, redirects, 10,
                                0, &message) != 0)
    return createStringError(ptxas + " --version failed" +
                             (message.empty() ? "" : ": " + message));
  auto text = llvm::MemoryBuffer::getFile(log);
  if (!text)
    return createStringError(log.str() + ": " + text.getError().message());
  // "Cuda compilation tools, release 12.8, V12.8.93"
  StringRef version = (*text)->getBuffer().split(", V").second;
  version =
      version.take_while([](char c) { return llvm::isDigit(c) || c == '.'; });
  if (version.empty())
    return createStringError(ptxas + " --version does not say its version");
  return version.str();
}

/// The number in front of `unit`, as in "40 registers".
static int64_t takeNumber(StringRef text, StringRef unit) {
  size_t at = text.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef before = text.take_front(at).rtrim();
  size_t start = before.find_last_not_of("0123456789");
  int64_t value = 0;
  before.drop_front(start == StringRef::npos ? 0 : start + 1)
      .getAsInteger(10, value);
  return value;
}

/// Reads what `-v` prints:
///   Compiling entry function 'matmul' for 'sm_90'
///   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
///   Used 128 registers, used 1 barriers, 4 bytes smem
static std::vector<ResourceReport> parseReport(StringRef text) {
  std::vector<ResourceReport> reports;
  for (StringRef line : llvm::split(text, '\n')) {
    if (size_t at = line.find("Compiling entry function '");
        at != StringRef::npos) {
      ResourceReport &report = reports.emplace_back();
      report.kernel =
          line.drop_front(at).split('\'').second.split('\'').first.str();
    }
    if (reports.empty())
      continue;
    ResourceReport &report = reports.back();
    if (line.contains("bytes stack frame")) {
      report.stackBytes = takeNumber(line, "bytes stack frame");
      report.spillStores = takeNumber(line, "bytes spill stores");
      report.spillLoads = takeNumber(line, "bytes spill loads");
    } else if (line.contains(" registers")) {
      report.registers = takeNumber(line, " registers");
      report.sharedBytes = takeNumber(line, " bytes smem");
    }
  }
  return reports;
}

llvm::Expected<MachineCode>
tile::cuda::assemble(StringRef ptx, const Chip &chip, StringRef ptxas) {
  llvm::SmallString<128> input, output, log;
  int descriptor;
  for (auto [path, suffix] :
       {std::pair(&input, "ptx"), std::pair(&output, "cubin"),
        std::pair(&log, "log")})
    if (std::error_code error = llvm::sys::fs::createTemporaryFile(
            "tile", suffix, descriptor, *path))
      return createStringError("no temporary file: " + error.message());
    else
      llvm::sys::Process::SafelyCloseFileDescriptor(descriptor);
  llvm::FileRemover removers[] = {llvm::FileRemover(input),
                                  llvm::FileRemover(output),
                                  llvm::FileRemover(log)};
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(input, error);
    if (error)
      return createStringError(input.str() + ": " + error.message());
    stream << ptx;
  }
  std::string architecture = "-arch=" + chip.name.str();
  // Kernels of one program, such as its variants, are compiled side by side.
  StringRef arguments[] = {
      ptxas, "-v", architecture, "-lineinfo", "--split-compile=0",
      input, "-o", output};
  std::optional<StringRef> redirects[] = {std::nullopt, log.str(), log.str()};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt,
                                         redirects, 0, 0, &message);
  auto text = llvm::MemoryBuffer::getFile(log);
  StringRef report = text ? (*text)->getBuffer() : StringRef();
  if (status != 0)
    return createStringError("ptxas failed for " + chip.name + ": " +
                             (message.empty() ? report.str() : message));
  auto code = llvm::MemoryBuffer::getFile(output);
  if (!code)
    return createStringError(output.str() + ": " + code.getError().message());
  return MachineCode{(*code)->getBuffer().str(), parseReport(report)};
}
