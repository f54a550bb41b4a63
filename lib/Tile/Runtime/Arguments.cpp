//===- Arguments.cpp - All arguments of one call --------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A depth-first walk over the references between specifications.
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Arguments.h"
#include "Tile/Runtime/Npy.h"

#include <algorithm>

using namespace tile::runtime;

static Result<Number> getNumber(const Argument &argument,
                                std::optional<int64_t> dimension) {
  const Array &value = argument.value;
  std::string name = "'" + argument.name + "'";
  if (!dimension) {
    if (!argument.isScalar)
      return Error{name + " is an array; its extents are " + argument.name +
                   "[0] and so on"};
    if (isInteger(value.getType()))
      return Number(value.getInt(0));
    return Number(value.getDouble(0));
  }
  if (argument.isScalar)
    return Error{name + " is a scalar and has no extents"};
  if (*dimension >= value.getRank())
    return Error{"there is no " + argument.name + "[" +
                 std::to_string(*dimension) + "]: " + name + " is " +
                 value.formatType() + ", of rank " +
                 std::to_string(value.getRank())};
  return Number(value.getShape()[size_t(*dimension)]);
}

template <typename Range>
static Error unknownName(const std::string &name, const Range &named) {
  std::string known;
  for (const auto &each : named)
    known += (known.empty() ? "" : ", ") + each.name;
  return {"there is no argument '" + name + "'; there are: " + known};
}

template <typename Range>
static std::optional<size_t> findName(const Range &named,
                                      const std::string &name) {
  auto found = std::find_if(named.begin(), named.end(), [&](const auto &each) {
    return each.name == name;
  });
  if (found == named.end())
    return std::nullopt;
  return size_t(found - named.begin());
}

/// "4x?xf16" or "a scalar f16".
static std::string formatArgumentType(const ArgumentType &type) {
  if (!type.shape)
    return "a scalar " + std::string(getName(type.element));
  std::string text;
  for (int64_t extent : *type.shape)
    text += (extent < 0 ? "?" : std::to_string(extent)) + "x";
  return text += getName(type.element);
}

static Status checkType(const Array &value, const ArgumentType &type) {
  bool fits = value.getType() == type.element;
  const Shape none, &wanted = type.shape ? *type.shape : none;
  fits &= value.getRank() == int64_t(wanted.size());
  for (size_t i = 0; fits && i < wanted.size(); ++i)
    fits = wanted[i] < 0 || wanted[i] == value.getShape()[i];
  if (fits)
    return {};
  return Error{"the program takes " + formatArgumentType(type) + ", this is " +
               value.formatType()};
}

namespace {

class Binder {
public:
  Binder(const std::vector<ArgumentRequest> &requests, uint64_t seed)
      : requests(requests), seed(seed), states(requests.size()),
        arguments(requests.size()) {}

  Result<std::vector<Argument>> bindAll();

private:
  enum class State : uint8_t { Open, Started, Done };

  Status bind(size_t index);
  Result<Array> build(const ArgumentRequest &request);

  const std::vector<ArgumentRequest> &requests;
  uint64_t seed;
  std::vector<State> states;
  std::vector<Argument> arguments;
  /// The arguments begun and not finished, each referring to the next.
  std::vector<size_t> path;
};

} // namespace

Result<Array> Binder::build(const ArgumentRequest &request) {
  Expr::Lookup lookup = makeLookup(arguments);
  if (const auto *file = std::get_if<FileSpec>(&request.spec))
    return readNpy(file->path, request.type.element);
  if (const auto *array = std::get_if<ArraySpec>(&request.spec)) {
    if (!request.type.shape)
      return Error{"the program takes " + formatArgumentType(request.type) +
                   ", '" + print(request.spec) + "' is an array"};
    return buildArray(*array, lookup, seed, request.name);
  }
  const auto *scalar = std::get_if<ScalarSpec>(&request.spec);
  if (request.type.shape)
    return Error{"the program takes " + formatArgumentType(request.type) +
                 ", '" + print(request.spec) +
                 "' is a scalar; an array is for instance randn:64x64xf16 or "
                 "a file that ends in .npy"};
  return buildScalar(*scalar, request.type.element, lookup);
}

Status Binder::bind(size_t index) {
  const ArgumentRequest &request = requests[index];
  if (states[index] == State::Done)
    return {};
  if (states[index] == State::Started) {
    std::string circle;
    for (auto it = std::find(path.begin(), path.end(), index); it != path.end();
         ++it)
      circle += "'" + requests[*it].name + "' needs ";
    return Error{"arguments refer to each other in a circle: " + circle + "'" +
                 request.name + "'"};
  }
  states[index] = State::Started;
  path.push_back(index);
  std::string context = "argument '" + request.name + "'";
  for (const std::string &name : getNames(request.spec)) {
    std::optional<size_t> other = findName(requests, name);
    if (!other)
      return addContext(context, unknownName(name, requests));
    if (Status status = bind(*other); !status)
      return status;
  }
  Result<Array> value = build(request);
  if (!value)
    return addContext(context, value.error());
  if (Status status = checkType(*value, request.type); !status)
    return addContext(context, status.error());
  arguments[index].isScalar = !request.type.shape;
  arguments[index].value = std::move(*value);
  states[index] = State::Done;
  path.pop_back();
  return {};
}

Result<std::vector<Argument>> Binder::bindAll() {
  for (size_t i = 0; i < requests.size(); ++i) {
    if (*findName(requests, requests[i].name) != i)
      return Error{"two arguments are called '" + requests[i].name + "'"};
    arguments[i].name = requests[i].name;
  }
  for (size_t i = 0; i < requests.size(); ++i)
    if (Status status = bind(i); !status)
      return status.error();
  return std::move(arguments);
}

Result<std::vector<Argument>>
tile::runtime::bindArguments(const std::vector<ArgumentRequest> &requests,
                             uint64_t seed) {
  return Binder(requests, seed).bindAll();
}

Expr::Lookup tile::runtime::makeLookup(const std::vector<Argument> &arguments) {
  return [&arguments](const std::string &name,
                      std::optional<int64_t> dimension) -> Result<Number> {
    std::optional<size_t> index = findName(arguments, name);
    if (!index)
      return unknownName(name, arguments);
    return getNumber(arguments[*index], dimension);
  };
}
