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
#include "llvm/ADT/StringExtras.h"
#include <numeric>

using namespace tile;
using namespace tile::driver;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Twine;

static llvm::Error mismatch(const Parameter &parameter, const Twine &expected,
                            const Twine &got) {
  return createStringError("argument '" + parameter.name + "': expected " +
                           expected + ", got " + got);
}

static std::string format(ArrayRef<int64_t> values) {
  std::string text = "[";
  for (int64_t value : values) {
    text += text.size() > 1 ? ", " : "";
    text += value == Parameter::kOpen ? "?" : std::to_string(value);
  }
  return text + "]";
}

static std::string formatType(const ArgumentView &argument) {
  return runtime::formatType(argument.shape.vec(), argument.type);
}

/// Extents that are no sizes are told before anything is computed with them.
static llvm::Error checkExtents(const Parameter &parameter,
                                const ArgumentView &argument) {
  uint64_t bytes = std::max(8u, runtime::getStorageBits(argument.type)) / 8;
  for (auto [i, extent] : llvm::enumerate(argument.shape)) {
    if (extent < 0)
      return mismatch(parameter,
                      "an extent of zero or more in dimension " + Twine(i),
                      Twine(extent));
    uint64_t reach = 0;
    uint64_t steps = extent > 1 ? extent - 1 : 0;
    uint64_t stride = argument.strides[i] < 0
                          ? -static_cast<uint64_t>(argument.strides[i])
                          : static_cast<uint64_t>(argument.strides[i]);
    if (__builtin_mul_overflow(steps, stride, &reach) ||
        __builtin_add_overflow(bytes, reach, &bytes) || bytes >> 58 != 0)
      return createStringError(
          "argument '" + parameter.name + "': an array with shape " +
          format(argument.shape) + " and strides " + format(argument.strides) +
          " does not fit in memory");
  }
  return llvm::Error::success();
}

/// Strides matter only where there is a second element to step to.
static bool matchStrides(const ArgumentView &argument,
                         ArrayRef<int64_t> wanted) {
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != Parameter::kOpen && argument.shape[i] > 1 &&
        argument.strides[i] != wanted[i])
      return false;
  return true;
}

static bool isDense(const ArgumentView &argument) {
  int64_t next = 1;
  for (size_t i = argument.shape.size(); i-- > 0;) {
    if (argument.shape[i] > 1 && argument.strides[i] != next)
      return false;
    next *= argument.shape[i];
  }
  return true;
}

static llvm::Error checkLayout(const Parameter &parameter,
                               const ArgumentView &argument) {
  if (parameter.strides) {
    if (!matchStrides(argument, *parameter.strides))
      return mismatch(parameter, "strides " + format(*parameter.strides),
                      format(argument.strides));
    return llvm::Error::success();
  }
  if (argument.hasElements() && !isDense(argument))
    return mismatch(parameter,
                    "a dense array, its last dimension contiguous, as " +
                        parameter.typeText + " wants it",
                    "strides " + format(argument.strides));
  return llvm::Error::success();
}

static llvm::Error checkOne(const Parameter &parameter,
                            const ArgumentView &argument) {
  if (argument.type != parameter.type ||
      argument.shape.size() != parameter.shape.size())
    return mismatch(
        parameter, parameter.typeText,
        formatType(argument) +
            (parameter.isScalar
                 ? ""
                 : " of rank " + std::to_string(argument.shape.size())));
  for (size_t i = 0; i < parameter.shape.size(); ++i)
    if (parameter.shape[i] >= 0 && parameter.shape[i] != argument.shape[i])
      return mismatch(parameter,
                      "extent " + Twine(parameter.shape[i]) + " in dimension " +
                          Twine(i) + " (" + parameter.typeText + ")",
                      formatType(argument));
  if (llvm::Error error = checkExtents(parameter, argument))
    return error;
  uintptr_t align = std::max(8u, runtime::getStorageBits(argument.type)) / 8;
  if (argument.data % align != 0)
    return mismatch(parameter,
                    "an address that is a multiple of " + Twine(align),
                    "0x" + Twine::utohexstr(argument.data));
  if (argument.data == 0 && argument.hasElements())
    return mismatch(parameter, "the address of its elements", "null");
  return checkLayout(parameter, argument);
}

std::pair<uintptr_t, uintptr_t> ArgumentView::getByteRange() const {
  if (!hasElements())
    return {0, 0};
  int64_t first = offset, last = first;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t reach = (shape[i] - 1) * strides[i];
    (reach < 0 ? first : last) += reach;
  }
  int64_t bits = runtime::getStorageBits(type);
  return {data + first * bits / 8, data + ((last + 1) * bits + 7) / 8};
}

static bool overlap(std::pair<uintptr_t, uintptr_t> x,
                    std::pair<uintptr_t, uintptr_t> y) {
  return x.first < y.second && y.first < x.second;
}

/// Two dimensions in which different steps lead to one element: those along the
/// first by the second's stride and the other way round, both divided by what
/// they have in common. Where three dimensions only meet together, nothing is
/// found.
static bool overlapsItself(const ArgumentView &argument) {
  if (!argument.hasElements())
    return false;
  size_t rank = argument.shape.size();
  for (size_t i = 0; i < rank; ++i)
    for (size_t j = i + 1; j < rank; ++j) {
      if (argument.shape[i] < 2 || argument.shape[j] < 2)
        continue;
      int64_t x = std::abs(argument.strides[i]),
              y = std::abs(argument.strides[j]);
      int64_t common = std::max<int64_t>(std::gcd(x, y), 1);
      if (y / common < argument.shape[i] && x / common < argument.shape[j])
        return true;
    }
  return rank == 1 && argument.shape[0] > 1 && argument.strides[0] == 0;
}

llvm::Error Signature::check(ArrayRef<ArgumentView> arguments) const {
  if (arguments.size() != parameters.size())
    return createStringError("'" + function + "' takes " +
                             Twine(parameters.size()) + " arguments, got " +
                             Twine(arguments.size()));
  llvm::SmallVector<std::pair<uintptr_t, uintptr_t>, 16> ranges;
  for (auto [parameter, argument] : llvm::zip(parameters, arguments)) {
    if (llvm::Error error = checkOne(parameter, argument))
      return error;
    if (parameter.isWritten && !parameter.isScalar && overlapsItself(argument))
      return createStringError(
          "argument '" + parameter.name + "', which '" + function +
          "' writes, has several elements in one place: extents " +
          format(argument.shape) + " with strides " + format(argument.strides));
    ranges.push_back(argument.getByteRange());
  }
  for (size_t i = 0; i < parameters.size(); ++i)
    for (size_t j = 0; j < parameters.size(); ++j)
      if (i != j && parameters[i].isWritten && !parameters[i].isScalar &&
          !parameters[j].isScalar && overlap(ranges[i], ranges[j]) &&
          !llvm::is_contained(parameters[i].mayOverlap, j))
        return createStringError(
            "argument '" + parameters[i].name + "', which '" + function +
            "' writes, overlaps argument '" + parameters[j].name +
            "' in memory; give it memory of its own, or declare it by "
            "tile.may_alias");
  return llvm::Error::success();
}
