//===- SignatureJSON.cpp - What a function takes, as text -------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/SignatureJSON.h"

using namespace tile;
using namespace tile::driver;
namespace json = llvm::json;

/// Names quote sources, which may be in any encoding.
static json::Value text(llvm::StringRef text) { return json::fixUTF8(text); }

static json::Value describeStrides(const Parameter &parameter) {
  if (!parameter.strides)
    return nullptr;
  json::Array strides;
  for (int64_t stride : *parameter.strides)
    strides.push_back(stride == Parameter::kOpen ? json::Value(nullptr)
                                                 : json::Value(stride));
  return strides;
}

json::Array tile::driver::toJSON(llvm::ArrayRef<Parameter> parameters) {
  json::Array list;
  for (const Parameter &parameter : parameters) {
    json::Array mayOverlap;
    for (size_t other : parameter.mayOverlap)
      mayOverlap.push_back(static_cast<int64_t>(other));
    list.push_back(json::Object{
        {"name", text(parameter.name)},
        {"sourceName", text(parameter.sourceName)},
        {"type", text(parameter.typeText)},
        {"dtype", text(runtime::getName(parameter.type))},
        {"isScalar", parameter.isScalar},
        {"shape", json::Array(parameter.shape)},
        {"strides", describeStrides(parameter)},
        {"offset", parameter.offset == Parameter::kOpen
                       ? json::Value(nullptr)
                       : json::Value(parameter.offset)},
        {"isWritten", parameter.isWritten},
        {"mayOverlap", std::move(mayOverlap)},
        {"default", text(parameter.defaultSpec)},
    });
  }
  return list;
}

/// Integers, with null for one left open; nothing where there is something
/// else.
static std::optional<runtime::Shape> parseIntegers(const json::Array *array) {
  if (!array)
    return std::nullopt;
  runtime::Shape numbers;
  for (const json::Value &value : *array) {
    std::optional<int64_t> number = value.getAsInteger();
    if (!number && value.kind() != json::Value::Null)
      return std::nullopt;
    numbers.push_back(number.value_or(Parameter::kOpen));
  }
  return numbers;
}

static std::optional<Parameter> parse(const json::Object &object,
                                      size_t count) {
  auto name = object.getString("name"),
       sourceName = object.getString("sourceName"),
       type = object.getString("type"), dtype = object.getString("dtype"),
       spec = object.getString("default");
  auto isScalar = object.getBoolean("isScalar"),
       isWritten = object.getBoolean("isWritten");
  auto shape = parseIntegers(object.getArray("shape")),
       mayOverlap = parseIntegers(object.getArray("mayOverlap"));
  auto element =
      dtype ? runtime::parseDType(std::string_view(*dtype)) : std::nullopt;
  if (!name || !sourceName || !type || !element || !spec || !isScalar ||
      !isWritten || !shape || !mayOverlap)
    return std::nullopt;
  Parameter parameter;
  parameter.name = name->str();
  parameter.sourceName = sourceName->str();
  parameter.typeText = type->str();
  parameter.type = *element;
  parameter.isScalar = *isScalar;
  parameter.shape = std::move(*shape);
  parameter.offset = object.getInteger("offset").value_or(Parameter::kOpen);
  parameter.isWritten = *isWritten;
  parameter.defaultSpec = spec->str();
  if (const json::Array *strides = object.getArray("strides")) {
    parameter.strides = parseIntegers(strides);
    if (!parameter.strides ||
        parameter.strides->size() != parameter.shape.size())
      return std::nullopt;
  }
  for (int64_t other : *mayOverlap) {
    if (other < 0 || static_cast<size_t>(other) >= count)
      return std::nullopt;
    parameter.mayOverlap.push_back(static_cast<size_t>(other));
  }
  return parameter;
}

llvm::Expected<std::vector<Parameter>>
tile::driver::parseParameters(const json::Array &parameters) {
  std::vector<Parameter> list;
  for (const json::Value &value : parameters) {
    const json::Object *object = value.getAsObject();
    std::optional<Parameter> parameter =
        object ? parse(*object, parameters.size()) : std::nullopt;
    if (!parameter)
      return llvm::createStringError("parameter " + llvm::Twine(list.size()) +
                                     " is not described as it should be");
    list.push_back(std::move(*parameter));
  }
  return list;
}
