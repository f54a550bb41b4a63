//===- ExampleArguments.cpp - The arguments of an example -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExampleArguments.h"
#include "RuntimeErrors.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace tile;
using namespace tile::driver;
using llvm::createStringError;
using runtime::Array;

/// A specification that would do, for the message that one is missing.
static std::string suggestSpec(const Parameter &parameter) {
  if (parameter.isScalar)
    return runtime::isFloat(parameter.type) ? "1.5" : "64";
  std::string text = parameter.isWritten ? "empty:" : "randn:";
  if (!parameter.isWritten && runtime::isInteger(parameter.type))
    text = "randint(0,10):";
  for (int64_t extent : parameter.shape)
    text += std::to_string(extent < 0 ? 64 : extent) + "x";
  return text + std::string(runtime::getName(parameter.type));
}

llvm::Expected<ExampleArguments>
ExampleArguments::make(const Signature &signature,
                       const ExampleOptions &options) {
  std::vector<std::string> specs;
  for (const Parameter &parameter : signature.parameters)
    specs.push_back(parameter.defaultSpec);
  for (const std::pair<std::string, std::string> &given : options.arguments) {
    llvm::Expected<size_t> index = signature.find(given.first);
    if (!index)
      return index.takeError();
    specs[*index] = given.second;
  }

  ExampleArguments result;
  std::vector<runtime::ArgumentRequest> requests;
  for (auto [parameter, text] : llvm::zip(signature.parameters, specs)) {
    if (text.empty())
      return createStringError(
          "argument '" + parameter.name + "' of '" + signature.function +
          "' has no value; give it one, as in --arg " + parameter.name + "=" +
          suggestSpec(parameter) + ", or in its 'tile.default'");
    runtime::Result<runtime::ArgSpec> spec = runtime::parseArgSpec(text);
    if (!spec)
      return createStringError("argument '" + parameter.name +
                               "': " + spec.message());
    const auto *array = std::get_if<runtime::ArraySpec>(&*spec);
    result.empty.push_back(array && array->content ==
                                        runtime::ArraySpec::Content::Empty);
    runtime::ArgumentType type{parameter.type, parameter.shape};
    if (parameter.isScalar)
      type.shape.reset();
    requests.push_back({parameter.name, std::move(*spec), std::move(type)});
  }
  auto arguments = runtime::bindArguments(requests, options.seed);
  if (!arguments)
    return toError(arguments.error());
  result.arguments = std::move(*arguments);
  return result;
}

/// A copy with the same strides and gaps.
static runtime::Result<Array> copy(const Array &from) {
  runtime::Result<Array> to = Array::allocate(
      from.getType(), from.getShape(), from.getStrides(), from.getOffset());
  if (to && to->getStorageBytes() != 0)
    std::memcpy(to->data(), from.data(), to->getStorageBytes());
  return to;
}

llvm::Expected<std::vector<Array>>
ExampleArguments::makeRun(const Signature &signature,
                          runtime::Poison poison) const {
  std::vector<Array> arrays;
  for (size_t i = 0; i < arguments.size(); ++i) {
    arrays.push_back(arguments[i].value);
    if (!signature.parameters[i].isWritten)
      continue;
    runtime::Result<Array> fresh = copy(arrays.back());
    if (!fresh)
      return createStringError("argument '" + arguments[i].name +
                               "': " + fresh.message());
    arrays.back() = std::move(*fresh);
    if (empty.test(i))
      runtime::fillPoison(arrays.back(), poison);
  }
  return arrays;
}

/// The size of each element. Scalar integers are rather places and extents than
/// factors, so they are not asked of this. The least integer has no counterpart
/// in its type; the greatest is next to it.
static void takeMagnitudes(Array &array) {
  runtime::DType type = array.getType();
  double greatest = std::numeric_limits<double>::infinity();
  if (runtime::isInteger(type))
    greatest = std::ldexp(1.0, runtime::getBits(type) - 1) - 1;
  for (int64_t i = 0; i < array.getNumElements(); ++i)
    if (double value = array.getDouble(i); value < 0)
      array.setDouble(i, std::min(-value, greatest));
}

llvm::Expected<std::vector<Array>>
ExampleArguments::makeReferenceRun(const Signature &reference,
                                   bool absolute) const {
  std::vector<Array> arrays;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter &parameter = reference.parameters[i];
    runtime::Result<Array> converted =
        arguments[i].value.convert(parameter.type);
    if (!converted)
      return createStringError("argument '" + arguments[i].name +
                               "': " + converted.message());
    if (empty.test(i))
      runtime::fillPoison(*converted, runtime::Poison::First);
    else if (absolute &&
             (!parameter.isScalar || runtime::isFloat(parameter.type)))
      takeMagnitudes(*converted);
    arrays.push_back(std::move(*converted));
  }
  return arrays;
}
