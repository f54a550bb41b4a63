//===- ArgSpec.cpp - What an argument is made from ------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a specification to the array or scalar it describes.
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/ArgSpec.h"
#include "Tile/Runtime/Format.h"
#include "Tile/Runtime/Random.h"

#include <cassert>
#include <cmath>

using namespace tile::runtime;

using Content = ArraySpec::Content;

static Result<Shape> evaluateAll(const std::vector<Expr> &list,
                                 const Expr::Lookup &lookup) {
  Shape values;
  for (const Expr &expr : list) {
    Result<int64_t> value = expr.evaluateInt(lookup);
    if (!value)
      return value.error();
    values.push_back(*value);
  }
  return values;
}

/// An integer that the type has to have.
static Result<int64_t> evaluateElement(const Expr &expr, DType type,
                                       const Expr::Lookup &lookup) {
  Result<int64_t> value = expr.evaluateInt(lookup);
  if (value && isInteger(type) &&
      (*value < getMinInt(type) || *value > getMaxInt(type)))
    return Error{"'" + expr.print() + "' is " + std::to_string(*value) +
                 ", outside of " + std::string(getName(type)) + " (" +
                 std::to_string(getMinInt(type)) + " to " +
                 std::to_string(getMaxInt(type)) + ")"};
  return value;
}

/// The bits of an element of that value.
static Result<uint64_t> evaluateBits(const Expr &expr, DType type,
                                     const Expr::Lookup &lookup) {
  if (isInteger(type)) {
    Result<int64_t> value = evaluateElement(expr, type, lookup);
    if (!value)
      return value.error();
    return encodeInt(type, *value);
  }
  Result<double> value = expr.evaluate(lookup);
  if (!value)
    return value.error();
  return encode(type, *value);
}

static void setBits(Array &array, int64_t linear, uint64_t bits) {
  storeBits(array.getType(), array.data(), array.getStorageIndex(linear), bits);
}

static Status fillValues(const ArraySpec &spec, Array &array,
                         const Expr::Lookup &lookup) {
  int64_t count = int64_t(spec.parameters.size());
  if (count != array.getNumElements())
    return Error{std::to_string(count) + " values for the " +
                 std::to_string(array.getNumElements()) + " elements of " +
                 array.formatType()};
  for (int64_t i = 0; i < count; ++i) {
    Result<uint64_t> bits =
        evaluateBits(spec.parameters[size_t(i)], spec.type, lookup);
    if (!bits)
      return bits.error();
    setBits(array, i, *bits);
  }
  return {};
}

static Status fillRandint(const ArraySpec &spec, Array &array,
                          const RandomStream &stream,
                          const Expr::Lookup &lookup) {
  Result<int64_t> low = evaluateElement(spec.parameters[0], spec.type, lookup);
  if (!low)
    return low.error();
  Result<int64_t> high = spec.parameters[1].evaluateInt(lookup);
  if (!high)
    return high.error();
  if (*high <= *low)
    return Error{"randint(" + std::to_string(*low) + "," +
                 std::to_string(*high) +
                 ") has no integers: the second bound is not included and has "
                 "to be larger than the first"};
  if (isInteger(spec.type) && *high - 1 > getMaxInt(spec.type))
    return Error{"randint goes up to " + std::to_string(*high - 1) +
                 ", outside of " + std::string(getName(spec.type))};
  fillIntegers(array, stream, *low, *high);
  return {};
}

static Status fillReal(const ArraySpec &spec, Array &array,
                       const RandomStream &stream, const Expr::Lookup &lookup) {
  double first = 0, second = 1;
  if (!spec.parameters.empty()) {
    Result<double> a = spec.parameters[0].evaluate(lookup);
    if (!a)
      return a.error();
    Result<double> b = spec.parameters[1].evaluate(lookup);
    if (!b)
      return b.error();
    first = *a, second = *b;
  }
  std::string numbers =
      "(" + formatNumber(first) + "," + formatNumber(second) + ")";
  if (!std::isfinite(first) || !std::isfinite(second))
    return Error{"expected finite numbers, got " + numbers};
  if (spec.content == Content::Uniform && first > second)
    return Error{"uniform expects its second number not to be below the "
                 "first, got " +
                 numbers};
  if (spec.content == Content::Randn && second < 0)
    return Error{"randn expects a deviation of zero or more, got " + numbers};
  if (spec.content == Content::Uniform)
    fillUniform(array, stream, first, second);
  else
    fillNormal(array, stream, first, second);
  return {};
}

static Status fillContent(const ArraySpec &spec, Array &array,
                          const RandomStream &stream,
                          const Expr::Lookup &lookup) {
  switch (spec.content) {
  case Content::Empty:
  case Content::Zeros:
    return {};
  case Content::Ones:
    array.fillInt(1);
    return {};
  case Content::Full: {
    Result<uint64_t> bits = evaluateBits(spec.parameters[0], spec.type, lookup);
    if (!bits)
      return bits.error();
    array.fillBits(*bits);
    return {};
  }
  case Content::Iota:
    array.fillIota();
    return {};
  case Content::Uniform:
  case Content::Randn:
    return fillReal(spec, array, stream, lookup);
  case Content::Randint:
    return fillRandint(spec, array, stream, lookup);
  case Content::Values:
    return fillValues(spec, array, lookup);
  }
  return {};
}

Result<Array> tile::runtime::buildArray(const ArraySpec &spec,
                                        const Expr::Lookup &lookup,
                                        uint64_t seed, std::string_view name) {
  Result<Shape> shape = evaluateAll(spec.shape, lookup);
  if (!shape)
    return shape.error();
  Result<Shape> strides = spec.strides.empty()
                              ? getDenseStrides(*shape)
                              : evaluateAll(spec.strides, lookup);
  if (!strides)
    return strides.error();
  int64_t offset = 0;
  if (spec.offset) {
    Result<int64_t> value = spec.offset->evaluateInt(lookup);
    if (!value)
      return value.error();
    offset = *value;
  }
  Result<Array> array = Array::allocate(spec.type, std::move(*shape),
                                        std::move(*strides), offset);
  if (!array)
    return array;
  if (Status status =
          fillContent(spec, *array, RandomStream(seed, name), lookup);
      !status)
    return status.error();
  return array;
}

Result<Array> tile::runtime::buildScalar(const ScalarSpec &spec, DType type,
                                         const Expr::Lookup &lookup) {
  Result<uint64_t> bits = evaluateBits(spec.value, type, lookup);
  if (!bits)
    return bits.error();
  Array array = Array::scalar(type, int64_t(0));
  setBits(array, 0, *bits);
  return array;
}
