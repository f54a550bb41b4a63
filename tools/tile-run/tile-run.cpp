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
#include "PTX.h"
#include "Tile/Driver/CompiledProgram.h"
#include "Tile/Driver/FinishOutput.h"
#include "Tile/Driver/Tune.h"
#include "Tile/Runtime/Format.h"
#include "Tile/Runtime/Npy.h"
#include "Tile/Runtime/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
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
  if (path == "-") {
    llvm::outs() << contents;
    return llvm::Error::success();
  }
  auto status =
      tile::runtime::writeFile(path.str(), [contents](std::FILE *file) {
        return std::fwrite(contents.data(), 1, contents.size(), file) ==
               contents.size();
      });
  return status ? llvm::Error::success() : createStringError(status.message());
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
    return fail(
        "there is no stage '" + line.emitStage + "' for the target " +
        getName(options.target) +
        ", which --target chooses; there are: " + llvm::join(names, ", "));
  if (line.timePasses)
    llvm::errs() << formatCompileTimes(**kernel);
  return 0;
}

/// Compiles for C programs and writes the object file or its header.
static int emitForC(const Program &program,
                    const std::vector<std::string> &functions,
                    const CommandLine &line, const CompileOptions &options) {
  auto file = program.compileObject(functions, options);
  if (!file)
    return fail(file.takeError());
  bool isHeader = line.emitStage == "header";
  if (llvm::Error error =
          writeFile(line.outputFile, isHeader ? file->header : file->object))
    return fail(std::move(error));
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

/// Prints all of a report but its line of the table.
static int show(ExampleReport report, const CommandLine &line,
                const NameValues &saves, std::vector<ExampleReport> &reports) {
  StringRef diagnostics = report.kernel->getDiagnostics();
  if (!diagnostics.empty())
    llvm::errs() << diagnostics << "\n";
  if (line.timePasses)
    llvm::outs() << formatCompileTimes(*report.kernel) << "\n";
  if (line.verbose)
    llvm::outs() << formatResources(*report.kernel);
  llvm::outs() << report.output;
  int code = report.isRight() ? 0 : 1;
  llvm::errs() << formatFaults(report);
  if (llvm::Error error = save(report, saves))
    code = fail(std::move(error));
  reports.push_back(std::move(report));
  return code;
}

/// Finds the best tunables of a function, and puts them into `options`.
static llvm::Error tune(const Program &program, StringRef function,
                        const CommandLine &line, ExampleOptions &options) {
  TuneOptions tuning;
  tuning.example = options;
  tuning.seconds = line.tune;
  if (options.benchRuns)
    tuning.benchRuns = options.benchRuns;
  bool isTerminal = llvm::errs().is_displayed();
  tuning.onProgress = [&](size_t done, size_t all, const TuneCandidate *best) {
    // One line that changes, or, in a log, only the better ones.
    static const TuneCandidate *shown = nullptr;
    if (!isTerminal && best == shown)
      return;
    shown = best;
    llvm::errs() << (isTerminal ? "\r" : "") << "tuning '" << function
                 << "': " << done << " of " << all;
    if (best)
      llvm::errs() << ", best " << tile::runtime::formatDuration(best->seconds)
                   << " with " << best->print();
    llvm::errs() << (isTerminal ? "\x1b[K" : "\n");
  };
  llvm::Expected<TuneReport> report =
      tile::driver::tune(program, function, tuning);
  if (isTerminal)
    llvm::errs() << "\r\x1b[K";
  if (!report)
    return report.takeError();
  llvm::outs() << formatTuning(*report);
  const TuneCandidate *best = report->getBest();
  if (!best)
    return createStringError("no combination of the tunables of '" + function +
                             "' runs and is right");
  llvm::outs() << "best of '" << function << "':";
  for (const auto &[name, value] : best->tunables)
    llvm::outs() << " --set " << name << "=" << value;
  llvm::outs() << (report->isFromCache ? " (found by an earlier run)" : "")
               << "\n\n";
  options.compile.tunables = best->tunables;
  return llvm::Error::success();
}

/// Compiles and runs one function.
static int run(const Program &program, StringRef function,
               const CommandLine &line, ExampleOptions options,
               const NameValues &saves, std::vector<ExampleReport> &reports) {
  if (line.tune.getNumOccurrences())
    if (llvm::Error error = tune(program, function, line, options))
      return fail(std::move(error));
  bool records = !line.recordDirectory.empty();
  if (records)
    options.data = makeExampleData();
  auto report = runExample(program, function, options);
  if (!report)
    return fail(report.takeError());
  int code = 0;
  if (records && report->isRight())
    if (llvm::Error error =
            recordExample(*report, *options.data, line.recordDirectory))
      code = fail(std::move(error));
  return std::max(code, show(std::move(*report), line, saves, reports));
}

/// Runs one function of a compiled program.
static int run(const CompiledProgram &program, StringRef function,
               const CommandLine &line, const ExampleOptions &options,
               const NameValues &saves, std::vector<ExampleReport> &reports) {
  llvm::Expected<FunctionFacts> facts = program.getFacts(function);
  if (!facts)
    return fail(facts.takeError());
  auto kernel = program.load(function, options.compile);
  if (!kernel)
    return fail(kernel.takeError());
  auto report = runExample(nullptr, std::move(*kernel), *facts, options);
  if (!report)
    return fail(report.takeError());
  return show(std::move(*report), line, saves, reports);
}

/// Compiles functions for all chips asked for, into one file.
static int emitArtifact(const Program &program,
                        llvm::ArrayRef<std::string> functions,
                        const CommandLine &line,
                        const CompileOptions &options) {
  std::vector<std::string> chips;
  for (StringRef chip : llvm::split(StringRef(line.chip), ','))
    if (!chip.empty())
      chips.push_back(chip.str());
  if (chips.empty())
    chips.push_back(getDefaultChip(options.device));
  if (line.outputFile == "-")
    return fail("--emit=artifact: name the file to write with -o");
  tile::runtime::Artifact artifact;
  int code = 0;
  for (const std::string &function : functions) {
    auto resources = addToArtifact(program, function, options, chips, artifact);
    if (!resources) {
      code = fail(resources.takeError());
      continue;
    }
    if (line.verbose)
      for (auto [chip, kernels] : llvm::zip(chips, *resources))
        llvm::outs() << formatResources(kernels, chip);
  }
  if (code != 0)
    return code;
  if (tile::runtime::Status status = artifact.write(line.outputFile); !status)
    return fail(status.message());
  return 0;
}

/// The functions that the command line names, or all entries.
static llvm::Expected<std::vector<std::string>>
chooseFunctions(const CommandLine &line, std::vector<std::string> entries,
                StringRef file) {
  if (!line.entries.empty())
    return std::vector<std::string>(line.entries.begin(), line.entries.end());
  if (!entries.empty())
    return entries;
  return createStringError(
      file + " has no entry: no public function launches a tile kernel or "
             "carries 'tile.reference' or 'tile.default'; name a function "
             "with --entry");
}

/// The OpenMP runtime aborts or hangs where this variable is no number, or is
/// one of more threads than a machine can start.
static llvm::Error checkThreadCount() {
  std::optional<std::string> text =
      llvm::sys::Process::GetEnv("OMP_NUM_THREADS");
  if (!text)
    return llvm::Error::success();
  for (StringRef level : llvm::split(StringRef(*text), ',')) {
    unsigned count;
    if (level.trim().getAsInteger(10, count) || count < 1 || count > 10000)
      return createStringError("OMP_NUM_THREADS: expected a number of threads "
                               "from 1 to 10000, got '" +
                               *text + "'");
  }
  return llvm::Error::success();
}

static int runArtifact(const CommandLine &line, const ExampleOptions &options,
                       const NameValues &saves) {
  if (line.emitStage.getNumOccurrences() || !line.dumpDirectory.empty() ||
      line.tune.getNumOccurrences())
    return fail(line.inputFile + " is compiled already; --emit, --dump-stages "
                                 "and --tune take a program");
  llvm::Expected<CompiledProgram> program =
      CompiledProgram::load(line.inputFile);
  if (!program)
    return fail(program.takeError());
  auto functions =
      chooseFunctions(line, program->getFunctions(), line.inputFile);
  if (!functions)
    return fail(functions.takeError());
  int code = 0;
  std::vector<ExampleReport> reports;
  for (const std::string &function : *functions)
    code =
        std::max(code, run(*program, function, line, options, saves, reports));
  if (!reports.empty())
    llvm::outs() << formatTable(reports);
  return code;
}

static int run(const CommandLine &line) {
  if (llvm::Error error = checkThreadCount())
    return fail(std::move(error));
  llvm::Expected<ExampleOptions> options = line.makeOptions();
  if (!options)
    return fail(options.takeError());
  llvm::Expected<NameValues> saves = line.getSaves();
  if (!saves)
    return fail(saves.takeError());
  if (line.isPTX()) {
    llvm::Expected<bool> isRight = runPTX(line, *options, *saves);
    return !isRight ? fail(isRight.takeError()) : *isRight ? 0 : 1;
  }
  if (line.isArtifact())
    return runArtifact(line, *options, *saves);
  llvm::Expected<Program> program = Session().loadFile(line.inputFile);
  if (!program)
    return fail(program.takeError());
  auto functions =
      chooseFunctions(line, program->getEntries(), program->getName());
  if (!functions)
    return fail(functions.takeError());
  if (line.emitsArtifact())
    return emitArtifact(*program, *functions, line, options->compile);

  if (line.emitStage == "object" || line.emitStage == "header")
    return emitForC(*program, *functions, line, options->compile);

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
  for (const std::string &function : *functions)
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

int main(int argc, char **argv) {
  finishOutputAtExit("tile-run", 2);
  CommandLine line;
  return line.parse(argc, argv) ? run(line) : 2;
}
