//===- RecordExample.cpp - A call to be judged elsewhere --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments as their storage in bytes, references as .npy, and a description
// in JSON: whoever has a compiled program and no compiler can make the same
// call and judge its results (test/gpu/run_cases.py).
//
//===----------------------------------------------------------------------===//

#include "ExampleArguments.h"
#include "RuntimeErrors.h"
#include "Tile/Driver/Example.h"
#include "Tile/Runtime/Npy.h"
#include "Tile/Runtime/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace tile;
using namespace tile::driver;
using llvm::createStringError;
using llvm::StringRef;
using runtime::Array;
namespace json = llvm::json;

namespace {
class Recorder {
public:
  Recorder(const ExampleReport &report, const ExampleData &data,
           StringRef directory)
      : report(report), data(data), directory(directory),
        function(report.kernel->getSignature().function) {}

  llvm::Error run();

private:
  std::string getPath(StringRef file) const {
    llvm::SmallString<128> path(directory);
    llvm::sys::path::append(path, file);
    return path.str().str();
  }
  llvm::Error write(StringRef file, StringRef bytes);
  llvm::Expected<json::Value> describeArgument(size_t index);
  llvm::Expected<json::Value> describeOutput(const OutputReport &output);
  llvm::Expected<std::string> writeArray(const Array &array,
                                         const llvm::Twine &file);

  const ExampleReport &report;
  const ExampleData &data;
  StringRef directory;
  std::string function;
};
} // namespace

llvm::Error Recorder::write(StringRef file, StringRef bytes) {
  runtime::Status status =
      runtime::writeFile(getPath(file), [&](std::FILE *out) {
        return std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
      });
  return toError(status);
}

/// As wide as there is, which numpy reads whatever the type was.
llvm::Expected<std::string> Recorder::writeArray(const Array &array,
                                                 const llvm::Twine &file) {
  std::string name = file.str();
  runtime::Result<Array> wide =
      array.convert(runtime::isFloat(array.getType()) ? runtime::DType::F64
                                                      : runtime::DType::I64);
  if (!wide)
    return createStringError(wide.message());
  if (runtime::Status status = runtime::writeNpy(getPath(name), *wide); !status)
    return createStringError(status.message());
  return name;
}

llvm::Expected<json::Value> Recorder::describeArgument(size_t index) {
  const runtime::Argument &argument = data.arguments->get()[index];
  const Array &value = argument.value;
  StringRef type = runtime::getName(value.getType());
  if (argument.isScalar) {
    json::Object scalar{{"name", json::fixUTF8(argument.name)}, {"type", type}};
    // Infinities and NaN are no JSON, so a float is its bits.
    if (runtime::isFloat(value.getType()))
      scalar["bits"] =
          static_cast<int64_t>(llvm::bit_cast<uint64_t>(value.getDouble(0)));
    else
      scalar["value"] = value.getInt(0);
    return scalar;
  }
  json::Object array{{"name", json::fixUTF8(argument.name)},
                     {"type", type},
                     {"shape", json::Array(value.getShape())},
                     {"strides", json::Array(value.getStrides())},
                     {"offset", value.getOffset()},
                     {"bytes", static_cast<int64_t>(value.getStorageBytes())}};
  if (!data.arguments->isEmpty(index)) {
    std::string file = function + "." + std::to_string(index) + ".bin";
    if (llvm::Error error =
            write(file, StringRef(static_cast<const char *>(value.data()),
                                  value.getStorageBytes())))
      return error;
    array["contents"] = file;
  }
  return array;
}

llvm::Expected<json::Value>
Recorder::describeOutput(const OutputReport &output) {
  size_t index = output.argument;
  json::Object object{{"argument", static_cast<int64_t>(index)}};
  if (!data.hasReference)
    return object;
  std::string prefix = function + "." + std::to_string(index);
  auto file = writeArray(data.reference[index], prefix + ".reference.npy");
  if (!file)
    return file.takeError();
  object["reference"] = *file;
  runtime::DType type = data.arguments->get()[index].value.getType();
  const Array *magnitude =
      data.magnitudes.empty() ? nullptr : &data.magnitudes[index];
  runtime::Tolerance tolerance = output.tolerance.forElements(type, magnitude);
  object["absolute"] = tolerance.absolute;
  object["relative"] = tolerance.relative;
  if (output.tolerance.norm)
    object["norm"] = *output.tolerance.norm;
  if (!magnitude)
    return object;
  object["magnitudeFactor"] = tolerance.magnitudeFactor;
  auto sizes = writeArray(*magnitude, prefix + ".magnitude.npy");
  if (!sizes)
    return sizes.takeError();
  object["magnitude"] = *sizes;
  return object;
}

llvm::Error Recorder::run() {
  json::Array arguments, outputs;
  for (size_t i = 0; i < data.arguments->get().size(); ++i) {
    auto argument = describeArgument(i);
    if (!argument)
      return argument.takeError();
    arguments.push_back(std::move(*argument));
  }
  for (const OutputReport &each : report.outputs) {
    auto output = describeOutput(each);
    if (!output)
      return output.takeError();
    outputs.push_back(std::move(*output));
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv(
      "{0:2}\n", json::Value(json::Object{{"function", function},
                                          {"arguments", std::move(arguments)},
                                          {"outputs", std::move(outputs)}}));
  return write(function + ".json", text);
}

llvm::Error tile::driver::recordExample(const ExampleReport &report,
                                        const ExampleData &data,
                                        StringRef directory) {
  if (std::error_code code = llvm::sys::fs::create_directories(directory))
    return createStringError("cannot create '" + directory +
                             "': " + code.message());
  if (!data.arguments || !report.isRight())
    return createStringError("'" + report.kernel->getSignature().function +
                             "' is not recorded: it is not right here");
  return Recorder(report, data, directory).run();
}
