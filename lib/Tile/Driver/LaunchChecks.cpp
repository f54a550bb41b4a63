//===- LaunchChecks.cpp - Whether arrays fit a signature --------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last point at which a wrong argument is a message: compiled code trusts
// what its types say.
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Signature.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile;
using namespace tile::driver;
using llvm::createStringError;
using llvm::Twine;
using tile::runtime::Array;
using tile::runtime::Shape;

static llvm::Error mismatch(const Parameter &parameter, const Twine &expected,
                            const Twine &got) {
  return createStringError("argument '" + parameter.name + "': expected " +
                           expected + ", got " + got);
}

static std::string format(const Shape &values) {
  std::string text = "[";
  for (int64_t value : values) {
    text += text.size() > 1 ? ", " : "";
    text += value == Parameter::kOpen ? "?" : std::to_string(value);
  }
  return text + "]";
}

/// Strides matter only where there is a second element to step to.
static bool matchStrides(const Array &array, const Shape &wanted) {
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != Parameter::kOpen && array.getShape()[i] > 1 &&
        array.getStrides()[i] != wanted[i])
      return false;
  return true;
}

static llvm::Error checkLayout(const Parameter &parameter, const Array &array) {
  if (parameter.strides) {
    if (!matchStrides(array, *parameter.strides))
      return mismatch(parameter, "strides " + format(*parameter.strides),
                      format(array.getStrides()));
    return llvm::Error::success();
  }
  if (array.isDense())
    return llvm::Error::success();
  auto dense = runtime::getDenseStrides(array.getShape());
  if (!dense)
    return createStringError("argument '" + parameter.name +
                             "': " + dense.message());
  if (!matchStrides(array, *dense))
    return mismatch(parameter,
                    "a dense array, its last dimension contiguous, as " +
                        parameter.typeText + " wants it",
                    "strides " + format(array.getStrides()));
  return llvm::Error::success();
}

static llvm::Error checkOne(const Parameter &parameter, const Array &array) {
  std::string got = array.formatType();
  if (array.getType() != parameter.type ||
      array.getRank() != static_cast<int64_t>(parameter.shape.size()))
    return mismatch(parameter, parameter.typeText,
                    got +
                        (parameter.isScalar
                             ? ""
                             : " of rank " + std::to_string(array.getRank())));
  for (size_t i = 0; i < parameter.shape.size(); ++i)
    if (parameter.shape[i] >= 0 && parameter.shape[i] != array.getShape()[i])
      return mismatch(parameter,
                      "extent " + Twine(parameter.shape[i]) + " in dimension " +
                          Twine(i) + " (" + parameter.typeText + ")",
                      got);
  uint64_t align = std::max(1u, runtime::getStorageBits(array.getType()) / 8);
  if (reinterpret_cast<uintptr_t>(array.data()) % align != 0)
    return mismatch(parameter,
                    "an address that is a multiple of " + Twine(align),
                    "0x" + llvm::Twine::utohexstr(
                               reinterpret_cast<uintptr_t>(array.data())));
  return checkLayout(parameter, array);
}

namespace {
/// The bytes from the first to the last that elements of an array take.
struct Extent {
  uintptr_t begin = 0, end = 0;

  explicit Extent(const Array &array) {
    if (array.getNumElements() == 0)
      return;
    int64_t first = array.getOffset(), last = first;
    for (int64_t i = 0; i < array.getRank(); ++i) {
      int64_t reach = (array.getShape()[i] - 1) * array.getStrides()[i];
      (reach < 0 ? first : last) += reach;
    }
    auto base = reinterpret_cast<uintptr_t>(array.data());
    int64_t bits = runtime::getStorageBits(array.getType());
    begin = base + first * bits / 8;
    end = base + ((last + 1) * bits + 7) / 8;
  }

  bool overlaps(const Extent &other) const {
    return begin < other.end && other.begin < end;
  }
};
} // namespace

llvm::Error Signature::check(llvm::ArrayRef<Array> arguments) const {
  if (arguments.size() != parameters.size())
    return createStringError("'" + function + "' takes " +
                             Twine(parameters.size()) + " arguments, got " +
                             Twine(arguments.size()));
  llvm::SmallVector<Extent> extents;
  for (auto [parameter, array] : llvm::zip(parameters, arguments)) {
    if (llvm::Error error = checkOne(parameter, array))
      return error;
    extents.emplace_back(array);
  }
  for (size_t i = 0; i < parameters.size(); ++i)
    for (size_t j = 0; j < parameters.size(); ++j)
      if (i != j && parameters[i].isWritten && !parameters[i].isScalar &&
          !parameters[j].isScalar && extents[i].overlaps(extents[j]) &&
          !llvm::is_contained(parameters[i].mayOverlap, j))
        return createStringError(
            "argument '" + parameters[i].name + "', which '" + function +
            "' writes, overlaps argument '" + parameters[j].name +
            "' in memory; give it memory of its own, or declare it by "
            "tile.may_alias");
  return llvm::Error::success();
}
