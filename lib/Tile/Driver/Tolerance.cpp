//===- Tolerance.cpp - How far results may be off -*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tile/Driver/Tolerance.h"
#include "Tile/Runtime/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace tile;
using namespace tile::driver;
using llvm::createStringError;
using llvm::StringRef;

llvm::Expected<ToleranceSpec> ToleranceSpec::parse(StringRef text) {
  ToleranceSpec spec;
  auto parseNumber = [&](StringRef number) -> llvm::Expected<double> {
    double value;
    if (number.trim().getAsDouble(value) || !(value >= 0) ||
        !std::isfinite(value))
      return createStringError("tolerance '" + text +
                               "': expected a finite number of zero or more, "
                               "got '" +
                               number + "'");
    return value;
  };
  if (!text.contains('=')) {
    llvm::Expected<double> value = parseNumber(text);
    if (!value)
      return value.takeError();
    spec.atol = spec.rtol = *value;
    return spec;
  }
  llvm::StringSet<> given;
  for (StringRef part : llvm::split(text, ',')) {
    auto [name, number] = part.split('=');
    llvm::Expected<double> value = parseNumber(number);
    if (!value)
      return value.takeError();
    name = name.trim();
    if (!given.insert(name).second)
      return createStringError("tolerance '" + text + "': '" + name +
                               "' is given twice");
    if (name == "norm")
      spec.norm = *value;
    else if (name == "atol")
      spec.atol = *value;
    else if (name == "rtol")
      spec.rtol = *value;
    else if (name == "products")
      spec.products = *value;
    else
      return createStringError("tolerance '" + text +
                               "': expected norm, atol, rtol or products, "
                               "got '" +
                               name + "'");
  }
  return spec;
}

ToleranceSpec ToleranceSpec::get(ToleranceAttr attribute) {
  ToleranceSpec spec;
  if (attribute.getNorm() >= 0)
    spec.norm = attribute.getNorm();
  spec.atol = attribute.getAtol();
  spec.rtol = attribute.getRtol();
  spec.products = attribute.getProducts();
  return spec;
}

/// The root mean square of the finite elements.
static double getRootMeanSquare(const runtime::Array &array) {
  double sum = 0;
  int64_t count = 0;
  for (int64_t i = 0; i < array.getNumElements(); ++i)
    if (double value = array.getDouble(i); std::isfinite(value)) {
      sum += value * value;
      ++count;
    }
  return count ? std::sqrt(sum / static_cast<double>(count)) : 0;
}

ToleranceSpec ToleranceSpec::getDefault(runtime::DType type,
                                        const runtime::Array &reference) {
  ToleranceSpec spec;
  if (runtime::isInteger(type))
    return spec;
  double eps = runtime::getEpsilon(type);
  bool isWide = runtime::getBits(type) >= 32;
  spec.norm = (isWide ? 64 : 4) * eps;
  spec.rtol = (isWide ? 256 : 8) * eps;
  spec.atol = spec.rtol * getRootMeanSquare(reference);
  return spec;
}

std::string ToleranceSpec::print() const {
  std::string text;
  auto add = [&](StringRef name, double value) {
    text += (text.empty() ? "" : ",") + name.str() + "=" +
            runtime::formatNumber(value);
  };
  if (norm)
    add("norm", *norm);
  add("atol", atol);
  add("rtol", rtol);
  if (products != 0)
    add("products", products);
  return text;
}

runtime::Tolerance
ToleranceSpec::forElements(runtime::DType type,
                           const runtime::Array *magnitude) const {
  runtime::Tolerance tolerance;
  tolerance.absolute = atol;
  tolerance.relative = rtol;
  tolerance.magnitudeFactor = products * runtime::getEpsilon(type);
  tolerance.magnitude = magnitude;
  return tolerance;
}
