//===- tile-run.cpp - Run tile programs -------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of the command line to calls of the driver, and its answers to the
// terminal. docs/Running.md shows every option at work.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Tile/Runtime/Npy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace tile::driver;
using llvm::createStringError;
using llvm::StringRef;
using llvm::Twine;

static int fail(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "tile-run") << message << "\n";
  return 2;
}

static int fail(llvm::Error error) {
  if (!error.isA<SourceError>())
    return fail(toString(std::move(error)));
  llvm::errs() << toString(std::move(error)) << "\n";
  return 2;
}

static llvm::Error writeFile(StringRef path, StringRef contents) {
  std::error_code code;
  llvm::ToolOutputFile file(path, code, llvm::sys::fs::OF_None);
  if (!code) {
    file.os() << contents;
    file.os().flush();
    code = file.os().error();
    file.os().clear_error();
  }
  if (code)
    return createStringError("cannot write '" + path + "': " + code.message());
  file.keep();
  return llvm::Error::success();
}

/// Compiles and writes one stage.
static int emit(const Program &program, StringRef function,
                const CommandLine &line, CompileOptions options) {
  std::vector<std::string> names;
  std::optional<Stage> wanted;
  options.onStage = [&, dump = options.onStage](const Stage &stage) {
    names.push_back(stage.name);
    if (stage.name == line.emitStage)
      wanted = stage;
    if (dump)
      dump(stage);
  };
  auto kernel = program.compile(function, options);
  // The stage may lie before what failed; then it is what one wants to see.
  if (wanted)
    if (llvm::Error error = writeFile(line.outputFile, wanted->contents)) {
      llvm::consumeError(kernel.takeError());
      return fail(std::move(error));
    }
  if (!kernel)
    return fail(kernel.takeError());
  if (!wanted)
    return fail("there is no stage '" + line.emitStage +
                "'; there are: " + llvm::join(names, ", "));
  if (line.timePasses)
    llvm::errs() << formatCompileTimes(**kernel);
  return 0;
}

static llvm::Error save(const ExampleReport &report, const NameValues &files) {
  for (const auto &[name, path] : files) {
    llvm::Expected<size_t> index = report.kernel->getSignature().find(name);
    if (!index)
      return index.takeError();
    auto status = tile::runtime::writeNpy(path, report.arguments[*index].value);
    if (!status)
      return createStringError("argument '" + name + "': " + status.message());
  }
  return llvm::Error::success();
}

/// Runs one function and prints all but its line of the table.
static int run(const Program &program, StringRef function,
               const CommandLine &line, const ExampleOptions &options,
               const NameValues &saves, std::vector<ExampleReport> &reports) {
  auto report = runExample(program, function, options);
  if (!report)
    return fail(report.takeError());
  StringRef diagnostics = report->kernel->getDiagnostics();
  if (!diagnostics.empty())
    llvm::errs() << diagnostics << "\n";
  if (line.timePasses)
    llvm::outs() << formatCompileTimes(*report->kernel) << "\n";
  llvm::outs() << report->output;
  int code = report->isRight() ? 0 : 1;
  llvm::errs() << formatFaults(*report);
  if (llvm::Error error = save(*report, saves))
    code = fail(std::move(error));
  reports.push_back(std::move(*report));
  return code;
}

int main(int argc, char **argv) {
  CommandLine line;
  if (!line.parse(argc, argv))
    return 2;
  llvm::Expected<ExampleOptions> options = line.makeOptions();
  if (!options)
    return fail(options.takeError());
  llvm::Expected<NameValues> saves = line.getSaves();
  if (!saves)
    return fail(saves.takeError());
  llvm::Expected<Program> program = Session().loadFile(line.inputFile);
  if (!program)
    return fail(program.takeError());
  std::vector<std::string> functions(line.entries.begin(), line.entries.end());
  if (functions.empty())
    functions = program->getEntries();
  if (functions.empty())
    return fail(program->getName() +
                " has no entry: no public function launches a tile kernel or "
                "carries 'tile.reference' or 'tile.default'; name a function "
                "with --entry");

  unsigned numStages = 0;
  std::string dumpFailure;
  if (!line.dumpDirectory.empty()) {
    if (std::error_code code =
            llvm::sys::fs::create_directories(line.dumpDirectory))
      return fail("cannot create '" + line.dumpDirectory +
                  "': " + code.message());
    options->compile.onStage = [&](const Stage &stage) {
      std::string number = std::to_string(numStages++);
      llvm::SmallString<128> path(line.dumpDirectory.getValue());
      llvm::sys::path::append(path, Twine(number.size() < 2 ? "0" : "") +
                                        number + "-" + stage.name + "." +
                                        stage.extension);
      if (llvm::Error error = writeFile(path, stage.contents))
        dumpFailure = toString(std::move(error));
    };
  }

  int code = 0;
  std::vector<ExampleReport> reports;
  for (const std::string &function : functions)
    code = std::max(
        code, line.emitStage.getNumOccurrences()
                  ? emit(*program, function, line, options->compile)
                  : run(*program, function, line, *options, *saves, reports));
  if (!reports.empty())
    llvm::outs() << formatTable(reports);
  if (!dumpFailure.empty())
    code = fail(dumpFailure);
  return code;
}
