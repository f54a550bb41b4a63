//===- Example.cpp - A program's own example --------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Example.h"
#include "ExampleArguments.h"
#include "RuntimeErrors.h"
#include "Tile/Runtime/Expr.h"
#include "Tile/Runtime/Format.h"
#include "Tile/Runtime/Npy.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile;
using namespace tile::driver;
using llvm::createStringError;
using llvm::StringRef;
using runtime::Array;

bool ExampleReport::isRight() const {
  return trap.empty() && llvm::all_of(outputs, [](const OutputReport &output) {
           return output.faults.empty();
         });
}

std::shared_ptr<ExampleData> tile::driver::makeExampleData() {
  return std::make_shared<ExampleData>();
}

namespace {

/// One run of runExample, step by step.
class ExampleRun {
public:
  /// `program` may be null where there is no reference to run.
  ExampleRun(const Program *program, const ExampleOptions &options)
      : program(program), options(options),
        data(options.data ? options.data : std::make_shared<ExampleData>()) {}

  /// Compiles the function and runs it.
  llvm::Expected<ExampleReport> run(StringRef function);
  llvm::Expected<ExampleReport> run(std::shared_ptr<const Kernel> kernel,
                                    const FunctionFacts &given);
  llvm::Expected<runtime::Summary> bench(const Kernel &kernel, unsigned runs);

private:
  llvm::Error prepare(const Signature &signature);
  llvm::Expected<ExampleReport> runSteps();
  llvm::Error runChecked();
  llvm::Error checkWrites();
  llvm::Error runReference();
  llvm::Error checkReferenceSignature(const Signature &reference);
  llvm::Expected<std::vector<Array>> callReference(const Kernel &reference,
                                                   bool absolute);
  llvm::Error computeReference(StringRef name);
  bool needsMagnitude() const {
    return options.tolerance
               ? options.tolerance->products != 0
               : facts.tolerance && facts.tolerance.getProducts() != 0;
  }
  llvm::Error compareFiles();
  llvm::Error judge(OutputReport &output, const Array &reference,
                    const Array *magnitude);
  llvm::Error bench();
  llvm::Error computeCosts();
  const Signature &getSignature() const {
    return report.kernel->getSignature();
  }

  const Program *program;
  const ExampleOptions &options;
  std::shared_ptr<ExampleData> data;
  FunctionFacts facts;
  std::vector<Array> first, second;
  ExampleReport report;
};

} // namespace

llvm::Expected<ExampleReport> ExampleRun::run(StringRef function) {
  if (llvm::Error error = program->getFacts(function).moveInto(facts))
    return error;
  // Arguments first: a mistake in one shows at once.
  llvm::Expected<Signature> signature = program->getSignature(function);
  if (!signature)
    return signature.takeError();
  if (llvm::Error error = prepare(*signature))
    return error;
  if (llvm::Error error =
          program->compile(function, options.compile).moveInto(report.kernel))
    return error;
  return runSteps();
}

llvm::Expected<ExampleReport>
ExampleRun::run(std::shared_ptr<const Kernel> kernel,
                const FunctionFacts &given) {
  facts = given;
  report.kernel = std::move(kernel);
  if (llvm::Error error = prepare(getSignature()))
    return error;
  return runSteps();
}

llvm::Expected<ExampleReport> ExampleRun::runSteps() {
  if (llvm::Error error = runChecked())
    return error;
  if (!report.trap.empty())
    return std::move(report);
  for (auto step : {&ExampleRun::checkWrites, &ExampleRun::runReference,
                    &ExampleRun::compareFiles, &ExampleRun::bench,
                    &ExampleRun::computeCosts})
    if (llvm::Error error = (this->*step)())
      return error;
  return std::move(report);
}

llvm::Error ExampleRun::prepare(const Signature &signature) {
  if (!data->arguments) {
    llvm::Expected<ExampleArguments> made =
        ExampleArguments::make(signature, options);
    if (!made)
      return made.takeError();
    data->arguments.emplace(std::move(*made));
  }
  for (const auto &[name, path] : options.expected)
    if (llvm::Expected<size_t> index = signature.find(name); !index)
      return index.takeError();
    else if (!signature.parameters[*index].isWritten)
      return createStringError(
          "argument '" + name + "' is not written by '" + signature.function +
          "', so there is nothing to compare " + path + " with");
  return llvm::Error::success();
}

/// Runs with either poison. The first run also warms up caches and workers.
llvm::Error ExampleRun::runChecked() {
  report.arguments = data->arguments->get();
  for (auto [poison, arrays] : {std::pair(runtime::Poison::First, &first),
                                std::pair(runtime::Poison::Second, &second)}) {
    auto fresh = data->arguments->makeRun(getSignature(), poison);
    if (!fresh)
      return fresh.takeError();
    *arrays = std::move(*fresh);
    auto call = report.kernel->bind(*arrays, data->arguments->getEmpty());
    if (!call)
      return call.takeError();
    llvm::Expected<double> seconds = (*call)->run();
    if (std::string output = report.kernel->takeOutput();
        poison == runtime::Poison::First)
      report.output = std::move(output);
    if (!seconds) {
      report.trap = toString(seconds.takeError());
      return llvm::Error::success();
    }
    if (llvm::Error error = (*call)->fetch())
      return error;
    report.seconds = runtime::summarize({*seconds});
  }
  for (auto [argument, array] : llvm::zip(report.arguments, second))
    argument.value = array;
  return llvm::Error::success();
}

/// " at [0, 1], [0, 2], ..."
static std::string formatPlaces(llvm::ArrayRef<runtime::Shape> places,
                                int64_t count) {
  std::string text = " at ";
  for (const runtime::Shape &place : places)
    text += (&place == places.begin() ? "" : ", ") +
            runtime::formatCoordinates(place);
  return text + (count > static_cast<int64_t>(places.size()) ? ", ..." : "");
}

llvm::Error ExampleRun::checkWrites() {
  for (size_t i = 0; i < first.size(); ++i) {
    const Parameter &parameter = getSignature().parameters[i];
    if (!parameter.isWritten)
      continue;
    OutputReport output;
    output.argument = i;
    output.name = parameter.name;
    auto found = runtime::findUnwritten(first[i], second[i]);
    if (!found)
      return toError(found.error());
    std::string all = std::to_string(first[i].getNumElements());
    // What was there before the run may stay in an output that is not empty.
    if (data->arguments->isEmpty(i) && found->numUnwritten != 0)
      output.faults.push_back(
          std::to_string(found->numUnwritten) + " of " + all +
          " elements were never written" +
          formatPlaces(found->firstUnwritten, found->numUnwritten));
    if (found->numUnstable != 0)
      output.faults.push_back(
          std::to_string(found->numUnstable) + " of " + all +
          " elements differ between two runs with the same inputs, so they "
          "depend on memory never written or on the order of blocks" +
          formatPlaces(found->firstUnstable, found->numUnstable));
    if (data->arguments->isEmpty(i))
      if (auto stray =
              runtime::findStrayWrite(second[i], runtime::Poison::Second))
        output.faults.push_back(
            "storage index " + std::to_string(*stray) +
            " was written, which is no element but a gap between elements");
    report.outputs.push_back(std::move(output));
  }
  return llvm::Error::success();
}

llvm::Error ExampleRun::checkReferenceSignature(const Signature &reference) {
  const Signature &own = getSignature();
  auto fail = [&](const llvm::Twine &what) {
    return createStringError("reference '" + reference.function + "' of '" +
                             own.function + "': " + what);
  };
  if (reference.parameters.size() != own.parameters.size())
    return fail("expected the same " + llvm::Twine(own.parameters.size()) +
                " arguments, got " + llvm::Twine(reference.parameters.size()));
  for (auto [theirs, ours] : llvm::zip(reference.parameters, own.parameters)) {
    if (theirs.isScalar != ours.isScalar ||
        theirs.shape.size() != ours.shape.size())
      return fail("expected argument '" + ours.name + "' to be like " +
                  ours.typeText + ", got " + theirs.typeText);
    if (ours.isWritten && !theirs.isWritten)
      return fail("it does not write argument '" + ours.name + "', which '" +
                  own.function + "' writes");
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<Array>>
ExampleRun::callReference(const Kernel &reference, bool absolute) {
  auto arrays =
      data->arguments->makeReferenceRun(reference.getSignature(), absolute);
  if (!arrays)
    return arrays.takeError();
  if (llvm::Error error = reference.run(*arrays))
    return createStringError("reference '" + reference.getSignature().function +
                             "': " + toString(std::move(error)));
  return arrays;
}

llvm::Error ExampleRun::computeReference(StringRef name) {
  // References are written in upstream dialects: the CPU runs them, whatever
  // runs the kernel.
  CompileOptions compile;
  compile.target = Target::CPU;
  // Nothing says that its arguments fit each other.
  compile.guardAccesses = true;
  compile.cacheDirectory = options.compile.cacheDirectory;
  auto kernel = program->compile(name, compile);
  if (!kernel)
    return kernel.takeError();
  if (llvm::Error error = checkReferenceSignature((*kernel)->getSignature()))
    return error;
  if (llvm::Error error =
          callReference(**kernel, /*absolute=*/false).moveInto(data->reference))
    return error;
  if (needsMagnitude())
    if (llvm::Error error = callReference(**kernel, /*absolute=*/true)
                                .moveInto(data->magnitudes))
      return error;
  data->hasReference = true;
  return llvm::Error::success();
}

llvm::Error ExampleRun::runReference() {
  std::string name =
      options.reference.empty() ? facts.reference : options.reference;
  if (name.empty() || !options.useReference || !program)
    return llvm::Error::success();
  if (!data->hasReference)
    if (llvm::Error error = computeReference(name))
      return error;
  for (OutputReport &output : report.outputs) {
    output.reference = name;
    if (llvm::Error error = judge(
            output, data->reference[output.argument],
            needsMagnitude() ? &data->magnitudes[output.argument] : nullptr))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error ExampleRun::compareFiles() {
  for (const auto &[name, path] : options.expected) {
    llvm::Expected<size_t> index = getSignature().find(name);
    if (!index)
      return index.takeError();
    auto output = llvm::find_if(report.outputs, [&](const auto &each) {
      return each.argument == *index;
    });
    auto reference =
        runtime::readNpy(path, getSignature().parameters[*index].type);
    if (!reference)
      return createStringError("argument '" + name +
                               "': " + reference.message());
    output->reference = path;
    if (llvm::Error error = judge(*output, *reference, nullptr))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error ExampleRun::judge(OutputReport &output, const Array &reference,
                              const Array *magnitude) {
  const Array &result = second[output.argument];
  output.tolerance =
      options.tolerance ? *options.tolerance
      : facts.tolerance
          ? ToleranceSpec::get(facts.tolerance)
          : ToleranceSpec::getDefault(result.getType(), reference);
  auto compared = runtime::compare(
      result, reference,
      output.tolerance.forElements(result.getType(), magnitude));
  if (!compared)
    return createStringError("output '" + output.name + "' and " +
                             output.reference + ": " + compared.message());
  output.comparison = std::move(*compared);
  const runtime::Comparison &comparison = output.comparison;
  if (comparison.numMismatches != 0)
    output.faults.push_back(std::to_string(comparison.numMismatches) + " of " +
                            std::to_string(comparison.numElements) +
                            " elements differ from " + output.reference +
                            " (tolerance " + output.tolerance.print() + ")\n" +
                            runtime::formatMismatches(comparison));
  if (output.tolerance.norm &&
      !(comparison.relativeNorm <= *output.tolerance.norm))
    output.faults.push_back("the norm of the error is " +
                            runtime::formatError(comparison.relativeNorm) +
                            " of that of " + output.reference + ", more than " +
                            runtime::formatError(*output.tolerance.norm));
  return llvm::Error::success();
}

llvm::Expected<runtime::Summary> ExampleRun::bench(const Kernel &kernel,
                                                   unsigned runs) {
  if (llvm::Error error = prepare(kernel.getSignature()))
    return error;
  // The outputs that were judged are kept; these runs have their own.
  auto arrays =
      data->arguments->makeRun(kernel.getSignature(), runtime::Poison::First);
  if (!arrays)
    return arrays.takeError();
  auto call = kernel.bind(*arrays);
  if (!call)
    return call.takeError();
  std::vector<double> samples;
  for (unsigned i = 0; i <= runs; ++i) {
    llvm::Expected<double> seconds = (*call)->run();
    if (!seconds)
      return seconds.takeError();
    // The first meets these arrays cold.
    if (i != 0)
      samples.push_back(*seconds);
  }
  return runtime::summarize(std::move(samples));
}

llvm::Error ExampleRun::bench() {
  if (options.benchRuns == 0)
    return llvm::Error::success();
  return bench(*report.kernel, options.benchRuns).moveInto(report.seconds);
}

llvm::Error ExampleRun::computeCosts() {
  const std::string &function = getSignature().function;
  runtime::Expr::Lookup lookup = runtime::makeLookup(report.arguments);
  auto compute = [&](StringRef name, StringRef text,
                     std::optional<double> &cost) -> llvm::Error {
    if (text.empty())
      return llvm::Error::success();
    auto expression = runtime::Expr::parse(std::string_view(text));
    if (!expression)
      return createStringError(name + " of '" + function +
                               "': " + expression.message());
    auto value = expression->evaluate(lookup);
    if (!value)
      return createStringError(name + " of '" + function +
                               "': " + value.message());
    cost = *value;
    return llvm::Error::success();
  };
  if (llvm::Error error = compute("tile.flops", facts.flops, report.flops))
    return error;
  return compute("tile.bytes", facts.bytes, report.bytes);
}

llvm::Expected<ExampleReport>
tile::driver::runExample(const Program &program, StringRef function,
                         const ExampleOptions &options) {
  return ExampleRun(&program, options).run(function);
}

llvm::Expected<ExampleReport> tile::driver::runExample(
    const Program *program, std::shared_ptr<const Kernel> kernel,
    const FunctionFacts &facts, const ExampleOptions &options) {
  return ExampleRun(program, options).run(std::move(kernel), facts);
}

llvm::Expected<runtime::Summary>
tile::driver::benchExample(const Kernel &kernel, const ExampleOptions &options,
                           unsigned runs) {
  return ExampleRun(nullptr, options).bench(kernel, runs);
}
