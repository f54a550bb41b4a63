//===- Compare.h - Judging a result -----------------------------*- C++ -*-===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares a result with a reference, normally one computed in f64, both by
// norm and element by element: one wrong chunk hides in a norm, a small bias
// hides in generous element bounds.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_COMPARE_H
#define TILE_RUNTIME_COMPARE_H

#include "Tile/Runtime/Array.h"

namespace tile::runtime {

/// An element passes when
///   |result - reference| <= absolute + relative * |reference|
///                           + magnitudeFactor * magnitude.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  /// c * epsilon of the accumulation, for sums of products whose terms cancel.
  double magnitudeFactor = 0;
  /// The sum of the terms' absolute values an element, such as |A||B|; of the
  /// result's shape. Null adds nothing to the bound.
  const Array *magnitude = nullptr;
};

struct Mismatch {
  Shape coordinates;
  double result;
  double reference;
  /// The error, infinite where exactly one side is NaN or infinite.
  double error;
  double allowed;
};

struct Comparison {
  int64_t numElements = 0;
  int64_t numMismatches = 0;
  /// Elements of which either side is NaN or infinite; left out of the norms
  /// and the largest errors.
  int64_t numNonFinite = 0;
  /// Frobenius norm of the error over that of the reference; with a zero
  /// reference 0 or infinity.
  double relativeNorm = 0;
  double maxAbsolute = 0;
  Shape maxAbsoluteAt;
  /// |error / reference| where the reference is not zero.
  double maxRelative = 0;
  Shape maxRelativeAt;
  /// The first mismatches in row-major order, at most `maxKept`.
  std::vector<Mismatch> first;

  static constexpr size_t maxKept = 8;
};

/// Judges `result`. NaN matches NaN and an infinity the same infinity, also
/// where a finite reference becomes one in the result's type: 70000 in f16.
/// Integers are compared as integers. Uses all cores, with the same outcome
/// however many. Error when the shapes differ.
Result<Comparison> compare(const Array &result, const Array &reference,
                           const Tolerance &tolerance);

/// The mismatches, one a line: "[3, 5]: 1.5, expected 1.25 (error 0.25,
/// allowed 0.001)", and how many more there are.
std::string formatMismatches(const Comparison &comparison);

/// "[3, 5]".
std::string formatCoordinates(const Shape &coordinates);

/// Elements whose bits differ; for runs that must agree exactly. Error when the
/// types differ.
Result<int64_t> countDifferentBits(const Array &a, const Array &b);

} // namespace tile::runtime

#endif // TILE_RUNTIME_COMPARE_H
