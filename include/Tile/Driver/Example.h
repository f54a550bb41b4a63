//===- Example.h - A program's own example -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function the way its file says: with the arguments it names, compared
// with the reference it names, timed. This is what tile-run does.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DRIVER_EXAMPLE_H
#define TILE_DRIVER_EXAMPLE_H

#include "Tile/Driver/Program.h"
#include "Tile/Driver/Tolerance.h"
#include "Tile/Runtime/Compare.h"
#include "Tile/Runtime/Poison.h"
#include "Tile/Runtime/Statistics.h"

namespace tile::driver {

/// Arguments and results of the reference, which runs of one function share
/// that differ only in how it is compiled.
struct ExampleData;

struct ExampleOptions {
  CompileOptions compile;
  /// Of the random numbers in arguments.
  uint64_t seed = 0;
  /// Specifications by name of argument; they replace `tile.default`.
  std::vector<std::pair<std::string, std::string>> arguments;
  /// Files to compare outputs with, by name of argument.
  std::vector<std::pair<std::string, std::string>> expected;
  /// The function to compare with, instead of `tile.reference`.
  std::string reference;
  /// Without it no reference runs.
  bool useReference = true;
  /// Replaces `tile.tolerance` and the default.
  std::optional<ToleranceSpec> tolerance;
  /// Timed runs after the two that are checked; without any, the second of
  /// those gives the time.
  unsigned benchRuns = 0;
  /// Filled by the first run that is given it, and used by the others.
  std::shared_ptr<ExampleData> data;
};

/// The judgement of one written argument.
struct OutputReport {
  /// Its position among the arguments.
  size_t argument;
  std::string name;
  /// What it was compared with, or empty.
  std::string reference;
  runtime::Comparison comparison;
  ToleranceSpec tolerance;
  /// What is wrong with it, each with the first elements concerned.
  std::vector<std::string> faults;
};

struct ExampleReport {
  std::shared_ptr<const Kernel> kernel;
  /// As the function left them.
  std::vector<runtime::Argument> arguments;
  std::vector<OutputReport> outputs;
  /// What the running code reported: a failed assertion, an access outside a
  /// buffer. Nothing is compared then.
  std::string trap;
  /// What the first run printed.
  std::string output;
  /// Of one run each.
  runtime::Summary seconds;
  /// Of one run, where the function states its costs.
  std::optional<double> flops;
  std::optional<double> bytes;

  bool isRight() const;
};

/// Compiles `function` and its reference, makes the arguments, runs twice with
/// different garbage in the outputs, compares and times. Fails on bad input; a
/// wrong result is no failure of this but stands in the report.
llvm::Expected<ExampleReport> runExample(const Program &program,
                                         llvm::StringRef function,
                                         const ExampleOptions &options);

/// The same with a kernel that is there already. `program`, where the reference
/// comes from, may be null.
llvm::Expected<ExampleReport> runExample(const Program *program,
                                         std::shared_ptr<const Kernel> kernel,
                                         const FunctionFacts &facts,
                                         const ExampleOptions &options);
/// Only times it, `runs` times.
llvm::Expected<runtime::Summary> benchExample(const Kernel &kernel,
                                              const ExampleOptions &options,
                                              unsigned runs);

std::shared_ptr<ExampleData> makeExampleData();

/// Writes what it takes to make the call again and to judge it, on a machine
/// that has the compiled function only: FUNCTION.json in `directory`, and files
/// that it names. `data` is what the example ran with.
llvm::Error recordExample(const ExampleReport &report, const ExampleData &data,
                          llvm::StringRef directory);

/// One line a report: function, target, shapes, error, time and rates.
std::string formatTable(llvm::ArrayRef<ExampleReport> reports);
/// What is wrong, or nothing.
std::string formatFaults(const ExampleReport &report);
/// What the kernels take of the GPU, one line each; nothing where that is not
/// known.
std::string formatResources(llvm::ArrayRef<KernelResources> resources,
                            llvm::StringRef chip);
inline std::string formatResources(const Kernel &kernel) {
  return formatResources(kernel.getResources(), kernel.getChip());
}
/// The times of the compilation's steps.
std::string formatCompileTimes(const Kernel &kernel);

} // namespace tile::driver

#endif // TILE_DRIVER_EXAMPLE_H
