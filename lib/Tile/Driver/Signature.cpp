//===- Signature.cpp - What a function takes --------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Signature.h"
#include "Tile/Driver/NearestName.h"
#include "Tile/IR/EntryAttributes.h"
#include "Tile/IR/TileDialect.h"
#include "WrittenArguments.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using namespace tile::driver;
using llvm::createStringError;

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return text;
}

/// The runtime's type for elements and scalars; an index is held as i64.
static std::optional<runtime::DType> getDType(Type type) {
  if (type.isIndex())
    return runtime::DType::I64;
  return runtime::parseDType(print(type));
}

static llvm::Error describeMemRef(Parameter &parameter, MemRefType type) {
  parameter.shape.assign(type.getShape().begin(), type.getShape().end());
  for (int64_t &extent : parameter.shape)
    if (ShapedType::isDynamic(extent))
      extent = -1;
  if (type.getMemorySpace())
    return createStringError("its memory is not global: " + parameter.typeText);
  if (type.getLayout().isIdentity())
    return llvm::Error::success();
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, parameter.offset)))
    return createStringError("its layout is not strided: " +
                             parameter.typeText);
  parameter.strides.emplace(strides.begin(), strides.end());
  return llvm::Error::success();
}

static llvm::Error describe(Parameter &parameter, Type type) {
  parameter.typeText = print(type);
  Type element = type;
  if (auto memref = dyn_cast<MemRefType>(type)) {
    element = memref.getElementType();
    if (llvm::Error error = describeMemRef(parameter, memref))
      return error;
  } else {
    parameter.isScalar = true;
  }
  std::optional<runtime::DType> dtype = getDType(element);
  if (!dtype)
    return createStringError("expected a scalar or a ranked memref of " +
                             Twine(std::string(runtime::getDTypeNames())) +
                             " or index, got " + parameter.typeText);
  parameter.type = *dtype;
  return llvm::Error::success();
}

llvm::Expected<Signature>
tile::driver::getSignature(FunctionOpInterface function,
                           ArrayRef<std::string> names) {
  Signature signature;
  signature.function = function.getName().str();
  if (function.getNumResults() != 0)
    return createStringError(
        "'" + function.getName() +
        "' returns a value; an entry writes its results to memref arguments");
  llvm::BitVector written = findWrittenArguments(function);
  unsigned count = function.getNumArguments();
  SmallVector<std::string> taken;
  for (unsigned i = 0; i < count; ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, kArgumentName))
      taken.push_back(name.str());
  for (unsigned i = 0; i < count; ++i) {
    Parameter parameter;
    StringRef sourceName = i < names.size() ? StringRef(names[i]) : StringRef();
    // What an attribute calls another argument is no name for this one.
    if (llvm::is_contained(taken, sourceName))
      sourceName = {};
    if (auto name = function.getArgAttrOfType<StringAttr>(i, kArgumentName)) {
      parameter.name = name.str();
      parameter.sourceName = sourceName.str();
    } else {
      parameter.name =
          sourceName.empty() ? std::to_string(i) : sourceName.str();
    }
    if (auto spec = function.getArgAttrOfType<StringAttr>(i, kDefault))
      parameter.defaultSpec = spec.str();
    parameter.isWritten = written.test(i);
    for (unsigned other = 0; other < count; ++other)
      if (mayAlias(function, i, other))
        parameter.mayOverlap.push_back(other);
    if (llvm::Error error = describe(parameter, function.getArgumentTypes()[i]))
      return createStringError("argument '" + parameter.name + "' of '" +
                               signature.function +
                               "': " + toString(std::move(error)));
    signature.parameters.push_back(std::move(parameter));
  }
  return signature;
}

llvm::Expected<size_t> Signature::find(StringRef name) const {
  std::vector<std::string> known;
  for (auto [index, parameter] : llvm::enumerate(parameters)) {
    if (name == parameter.name ||
        (!name.empty() && name == parameter.sourceName))
      return index;
    known.push_back(parameter.name);
  }
  size_t position;
  if (!name.getAsInteger(10, position) && position < parameters.size())
    return position;
  return unknownName("argument", name, known);
}
