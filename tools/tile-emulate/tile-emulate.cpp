//===- tile-emulate.cpp - Run a PTX kernel on the host ---------*- C++ -*-===//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   tile-emulate kernel.ptx --entry=gemm --grid=2,2 --block=128
//     --arg A=randn:64x64xf16 --arg C=undef:64x64xf32 --arg i32:64 --seeds=4
//
// Prints what the kernel did wrong; exits with 1 if it did.
//===----------------------------------------------------------------------===//
#include "Arguments.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::emulator;
namespace cl = llvm::cl;

static cl::OptionCategory category("tile-emulate");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<kernel.ptx>"), cl::cat(category));
static cl::opt<std::string> entry("entry", cl::cat(category),
                                  cl::desc("kernel to run (default: the only "
                                           "one)"));
static cl::opt<std::string> gridText("grid", cl::init("1"), cl::cat(category),
                                     cl::desc("blocks: x[,y[,z]]"));
static cl::opt<std::string> blockText("block", cl::init("1"), cl::cat(category),
                                      cl::desc("threads of a block"));
static cl::opt<std::string> clusterText("cluster", cl::cat(category),
                                        cl::desc("blocks of a cluster"));
static cl::opt<unsigned> sharedBytes("shared", cl::cat(category),
                                     cl::desc("dynamic shared bytes"));
static cl::list<std::string>
    argumentTexts("arg", cl::cat(category),
                  cl::desc("kernel argument: i32:5, f32:1.5, "
                           "A=randn:64x32xf16, zeros:.., ones:.., iota:.., "
                           "undef:.., x.npy, ptr:A, "
                           "map:A,box=64x64,swizzle=128"));
static cl::list<std::string> bufferTexts("buffer", cl::cat(category),
                                         cl::desc("buffer that is no argument "
                                                  "itself, for maps"));
static cl::opt<unsigned> seeds("seeds", cl::init(1), cl::cat(category),
                               cl::desc("number of schedules to try"));
static cl::opt<unsigned> firstSeed("seed", cl::init(0), cl::cat(category),
                                   cl::desc("the first of them"));
static cl::opt<unsigned> workers("workers", cl::init(0), cl::cat(category),
                                 cl::desc("host threads (default: cores)"));
static cl::opt<std::string>
    checkText("checks", cl::init("all"), cl::cat(category),
              cl::desc("all, none, or some of race,proxy,uninit,register"));
static cl::opt<double> timeLimit("time-limit", cl::init(600), cl::cat(category),
                                 cl::desc("seconds a run may take"));
static cl::list<std::string> printNames("print", cl::cat(category),
                                        cl::desc("buffer to print"));
static cl::list<std::string> saveTexts("save", cl::cat(category),
                                       cl::desc("NAME=file.npy"));

static int fail(const llvm::Twine &message) {
  llvm::errs() << "tile-emulate: error: " << message << "\n";
  return 2;
}

static bool parseDim(llvm::StringRef text, Dim3 &dim) {
  llvm::SmallVector<llvm::StringRef, 3> parts;
  text.split(parts, ',');
  uint32_t *fields[] = {&dim.x, &dim.y, &dim.z};
  if (parts.size() > 3)
    return false;
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts[i].getAsInteger(10, *fields[i]) || *fields[i] == 0)
      return false;
  return true;
}

static void printBuffer(HostBuffer &buffer) {
  uint64_t count = buffer.bytes / buffer.elementBytes;
  llvm::outs() << buffer.name << ":";
  for (uint64_t i = 0; i < count && i < 64; ++i)
    llvm::outs() << " " << llvm::format("%g", buffer.at(i));
  llvm::outs() << (count > 64 ? " ...\n" : "\n");
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "runs a PTX kernel on the host and reports its "
                              "faults\n");
  auto file = llvm::MemoryBuffer::getFile(input);
  if (!file)
    return fail("cannot read '" + input + "': " + file.getError().message());
  Diagnostics problems;
  auto show = [&] {
    for (const Diagnostic &problem : problems)
      llvm::errs() << input << ":"
                   << (problem.line ? std::to_string(problem.line) + ":" : "")
                   << " error: " << problem.message << "\n";
    return 2;
  };
  llvm::StringRef text = (*file)->getBuffer();
  auto module = Module::parse({text.data(), text.size()}, problems);
  if (!module)
    return show();
  if (entry.empty()) {
    std::vector<std::string> names = module->entries();
    if (names.size() != 1)
      return fail("the module has " + llvm::Twine(names.size()) +
                  " kernels; choose one with --entry");
    entry = names[0];
  }
  LaunchConfig config;
  if (!parseDim(gridText, config.grid) || !parseDim(blockText, config.block))
    return fail("extents are written x[,y[,z]]");
  if (!clusterText.empty()) {
    config.cluster = Dim3();
    if (!parseDim(clusterText, *config.cluster))
      return fail("extents are written x[,y[,z]]");
  }
  config.dynamicSharedBytes = sharedBytes;
  config.workers = workers;
  config.timeLimitSeconds = timeLimit;
  std::optional<uint32_t> mask = checks::parse(checkText.getValue());
  if (!mask)
    return fail("checks are all, none, race, proxy, uninit, register");
  config.checks = *mask;

  unsigned faults = 0;
  for (unsigned i = 0; i < seeds; ++i) {
    Arguments arguments(firstSeed);
    std::string problem;
    for (const std::string &spec : bufferTexts)
      if (!arguments.add(spec, false, problem))
        return fail(problem);
    for (const std::string &spec : argumentTexts)
      if (!arguments.add(spec, true, problem))
        return fail(problem);
    config.arguments = arguments.list;
    config.buffers.clear();
    for (HostBuffer &buffer : arguments.buffers)
      config.buffers.push_back({buffer.data(), buffer.bytes, buffer.name,
                                buffer.elementBytes, false,
                                buffer.isInitialized});
    config.seed = firstSeed + i;
    std::optional<LaunchResult> result =
        module->launch(entry, config, problems);
    if (!result)
      return show();
    llvm::outs() << result->output;
    for (const Report &report : result->reports)
      llvm::outs() << report.str();
    faults += static_cast<unsigned>(result->reports.size());
    if (!result->reports.empty() || i + 1 == seeds) {
      for (const std::string &name : printNames)
        if (HostBuffer *buffer = arguments.find(name))
          printBuffer(*buffer);
      for (const std::string &spec : saveTexts) {
        auto [name, path] = llvm::StringRef(spec).split('=');
        HostBuffer *buffer = arguments.find(name.str());
        if (!buffer)
          return fail("no buffer '" + name + "' to save");
        if (!saveNpy(*buffer, path.str(), problem))
          return fail(problem);
      }
      if (!result->reports.empty())
        llvm::outs() << "with seed " << config.seed << "\n";
      break;
    }
  }
  return faults ? 1 : 0;
}
