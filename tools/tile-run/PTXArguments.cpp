//===- PTXArguments.cpp - What a PTX kernel is launched with ----*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTXArguments.h"
#include "Tile/Driver/NearestName.h"
#include "Tile/Runtime/ArgSpec.h"
#include "Tile/Runtime/Npy.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tile;
using llvm::createStringError;
using llvm::StringRef;
using runtime::DType;

/// PTX names unsigned types too, which have the bits of the signed ones.
static std::optional<DType> parseType(StringRef name) {
  std::string plain = name.str();
  if (name.starts_with("u"))
    plain[0] = 'i';
  return runtime::parseDType(plain);
}

llvm::Error PTXArguments::addScalar(StringRef typeName, StringRef value) {
  DType type = *parseType(typeName);
  auto spec = runtime::parseArgSpec(std::string_view(value));
  const auto *scalar =
      spec ? std::get_if<runtime::ScalarSpec>(&*spec) : nullptr;
  if (!scalar)
    return createStringError("--arg " + typeName + ":" + value +
                             ": expected a number");
  uint64_t bits = 0;
  unsigned bytes = std::max(8u, runtime::getStorageBits(type)) / 8;
  auto whole = scalar->value.evaluateInt(runtime::lookupNothing);
  if (whole && runtime::isInteger(type)) {
    // Values of unsigned types stand beyond the largest of signed ones.
    bits = static_cast<uint64_t>(*whole);
  } else {
    auto number = runtime::buildScalar(*scalar, type, runtime::lookupNothing);
    if (!number)
      return createStringError("--arg " + typeName + ":" + value + ": " +
                               number.message());
    bits = runtime::loadBits(type, number->data(), number->getOffset());
  }
  const auto *raw = reinterpret_cast<const uint8_t *>(&bits);
  parameters.push_back({std::vector<uint8_t>(raw, raw + bytes)});
  return llvm::Error::success();
}

static std::optional<emulator::TensorElement> getElement(DType type) {
  using emulator::TensorElement;
  switch (type) {
  case DType::F64:
    return TensorElement::F64;
  case DType::F32:
    return TensorElement::F32;
  case DType::F16:
    return TensorElement::F16;
  case DType::BF16:
    return TensorElement::BF16;
  case DType::I64:
    return TensorElement::S64;
  case DType::I32:
    return TensorElement::S32;
  case DType::I16:
    return TensorElement::U16;
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::I8:
  case DType::I1:
    return TensorElement::U8;
  case DType::I4:
    return std::nullopt;
  }
  return std::nullopt;
}

/// A map over a dense buffer. Boxes are written as shapes are, outermost first.
llvm::Error PTXArguments::addMap(StringRef text) {
  llvm::SmallVector<StringRef, 6> parts;
  text.split(parts, ',');
  llvm::Expected<const Buffer *> buffer = find(parts[0]);
  if (!buffer)
    return buffer.takeError();
  const runtime::Array &array = (*buffer)->value;
  auto fail = [&](const llvm::Twine &what) {
    return createStringError("--arg map:" + text + ": " + what);
  };
  std::optional<emulator::TensorElement> element = getElement(array.getType());
  if (!element || array.getRank() < 1 || array.getRank() > 5)
    return fail("expected a buffer of rank 1 to 5 of whole bytes, got " +
                array.formatType());
  emulator::TensorMap map;
  map.base = reinterpret_cast<uintptr_t>(array.data());
  map.rank = static_cast<unsigned>(array.getRank());
  map.element = *element;
  uint64_t stride = runtime::getStorageBits(array.getType()) / 8;
  for (unsigned i = 0; i < map.rank; ++i) {
    map.extents[i] = static_cast<uint64_t>(array.getShape()[map.rank - 1 - i]);
    if (i)
      map.strides[i - 1] = stride;
    stride *= map.extents[i];
  }
  for (StringRef part : llvm::drop_begin(parts)) {
    auto [key, value] = part.split('=');
    if (key == "box") {
      llvm::SmallVector<StringRef, 5> extents;
      value.split(extents, 'x');
      if (extents.size() != map.rank)
        return fail("expected a box of rank " + llvm::Twine(map.rank) +
                    ", got " + value);
      for (unsigned i = 0; i < map.rank; ++i)
        if (extents[map.rank - 1 - i].getAsInteger(10, map.box[i]))
          return fail("'" + value + "' is no box");
    } else if (key == "swizzle") {
      using emulator::TensorSwizzle;
      auto swizzle = llvm::StringSwitch<std::optional<TensorSwizzle>>(value)
                         .Case("0", TensorSwizzle::None)
                         .Case("32", TensorSwizzle::B32)
                         .Case("64", TensorSwizzle::B64)
                         .Case("128", TensorSwizzle::B128)
                         .Default(std::nullopt);
      if (!swizzle)
        return fail("expected a swizzle of 0, 32, 64 or 128, got " + value);
      map.swizzle = *swizzle;
    } else if (key == "fill" && (value == "nan" || value == "zeros")) {
      map.fill = value == "nan" ? emulator::TensorFill::NaN
                                : emulator::TensorFill::Zeros;
    } else {
      return fail("expected box=, swizzle= or fill=nan|zeros, got '" + part +
                  "'");
    }
  }
  emulator::TensorMapBytes bytes;
  std::string problem;
  if (!emulator::encodeTensorMap(map, bytes, problem))
    return fail(problem);
  parameters.push_back(emulator::Argument::tensorMap(bytes));
  return llvm::Error::success();
}

llvm::Error PTXArguments::addBuffer(std::string name, StringRef text) {
  auto fail = [&](const llvm::Twine &what) {
    return createStringError("argument '" + name + "': " + what);
  };
  auto spec = runtime::parseArgSpec(std::string_view(text));
  if (!spec)
    return fail(spec.message());
  if (const auto *file = std::get_if<runtime::FileSpec>(&*spec)) {
    auto array = runtime::readNpy(file->path);
    if (!array)
      return fail(array.message());
    buffers.push_back({std::move(name), std::move(*array), false});
    return llvm::Error::success();
  }
  const auto *described = std::get_if<runtime::ArraySpec>(&*spec);
  if (!described)
    return fail("a number needs its type, as in i32:" + text);
  auto array =
      runtime::buildArray(*described, runtime::lookupNothing, seed, name);
  if (!array)
    return fail(array.message());
  bool isEmpty = described->content == runtime::ArraySpec::Content::Empty;
  buffers.push_back({std::move(name), std::move(*array), isEmpty});
  return llvm::Error::success();
}

llvm::Error PTXArguments::add(StringRef text, bool isParameter) {
  StringRef rest = text;
  std::string name = "arg" + std::to_string(parameters.size());
  size_t equals = rest.find('=');
  if (equals != StringRef::npos && equals < rest.find(':')) {
    name = rest.take_front(equals).str();
    rest = rest.drop_front(equals + 1);
  }
  auto [kind, value] = rest.split(':');
  if (isParameter && kind == "map")
    return addMap(value);
  if (isParameter && kind == "ptr") {
    llvm::Expected<const Buffer *> buffer = find(value);
    if (!buffer)
      return buffer.takeError();
    parameters.push_back(emulator::Argument::pointer((*buffer)->value.data()));
    return llvm::Error::success();
  }
  if (isParameter && parseType(kind))
    return addScalar(kind, value);
  if (llvm::Error error = addBuffer(name, rest))
    return error;
  if (isParameter)
    parameters.push_back(
        emulator::Argument::pointer(buffers.back().value.data()));
  return llvm::Error::success();
}

llvm::Expected<const PTXArguments::Buffer *>
PTXArguments::find(StringRef name) const {
  std::vector<std::string> known;
  for (const Buffer &buffer : buffers) {
    if (buffer.name == name)
      return &buffer;
    known.push_back(buffer.name);
  }
  return driver::unknownName("buffer", name, known);
}

std::vector<emulator::Buffer> PTXArguments::getBuffers() const {
  std::vector<emulator::Buffer> result;
  for (const Buffer &buffer : buffers)
    result.push_back(
        {buffer.value.data(), buffer.value.getStorageBytes(), buffer.name,
         std::max(8u, runtime::getStorageBits(buffer.value.getType())) / 8,
         /*isReadOnly=*/false, !buffer.isEmpty});
  return result;
}
