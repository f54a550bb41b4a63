//===- Compare.cpp - Judging a result -------------------------------------===//
//
// Part of the Tile project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works in blocks of doubles: a fast pass without branches, and a careful one
// over the blocks in which something failed or was not finite. Ranges of fixed
// length are merged in order, so that sums do not depend on the threads.
//
//===----------------------------------------------------------------------===//

#include "Tile/Runtime/Compare.h"
#include "ParallelFor.h"
#include "Tile/Runtime/Format.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tile::runtime;

namespace {

constexpr int64_t blockSize = 1024;
constexpr int64_t rangeSize = 256 * blockSize;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Failure {
  int64_t position;
  double result, reference, error, allowed;
};

/// What is known about one range; positions are row-major.
struct Partial {
  double errorSquares = 0;
  double referenceSquares = 0;
  double maxAbsolute = 0;
  double maxRelative = 0;
  int64_t maxAbsoluteAt = -1;
  int64_t maxRelativeAt = -1;
  int64_t numMismatches = 0;
  int64_t numNonFinite = 0;
  std::vector<Failure> first;

  void merge(const Partial &next);
};

class Comparer {
public:
  /// Values are multiplied by `scale` before they are squared.
  Comparer(const Array &result, const Array &reference,
           const Tolerance &tolerance, double scale)
      : result(result), reference(reference), tolerance(tolerance),
        scale(scale) {
    // Doubles do not tell all 64-bit integers apart.
    bool isWide =
        result.getType() == DType::I64 || reference.getType() == DType::I64;
    isExact =
        isWide && isInteger(result.getType()) && isInteger(reference.getType());
  }

  Partial compareAll() const;

private:
  void compareRange(int64_t begin, int64_t end, Partial &partial) const;
  bool compareFast(int64_t begin, int64_t count, const double *got,
                   const double *wanted, const double *allowed,
                   Partial &partial) const;
  void compareCarefully(int64_t begin, int64_t count, const double *got,
                        const double *wanted, const double *allowed,
                        Partial &partial) const;
  double getError(int64_t position, double got, double wanted) const;

  const Array &result;
  const Array &reference;
  const Tolerance &tolerance;
  double scale;
  bool isExact;
};

} // namespace

void Partial::merge(const Partial &next) {
  errorSquares += next.errorSquares;
  referenceSquares += next.referenceSquares;
  if (next.maxAbsoluteAt >= 0 &&
      (maxAbsoluteAt < 0 || next.maxAbsolute > maxAbsolute)) {
    maxAbsolute = next.maxAbsolute;
    maxAbsoluteAt = next.maxAbsoluteAt;
  }
  if (next.maxRelativeAt >= 0 &&
      (maxRelativeAt < 0 || next.maxRelative > maxRelative)) {
    maxRelative = next.maxRelative;
    maxRelativeAt = next.maxRelativeAt;
  }
  numMismatches += next.numMismatches;
  numNonFinite += next.numNonFinite;
  for (const Failure &failure : next.first)
    if (first.size() < Comparison::maxKept)
      first.push_back(failure);
}

/// Elements `begin` to `begin + count` as doubles.
static void readBlock(const Array &array, int64_t begin, int64_t count,
                      double *out) {
  array.forEachRow(begin, begin + count, [&](const Row &row) {
    decodeRow(array.getType(), array.data(), row.index, row.stride, row.count,
              out + (row.first - begin));
  });
}

/// False when an element failed or was not finite; then `partial` is as before.
bool Comparer::compareFast(int64_t begin, int64_t count, const double *got,
                           const double *wanted, const double *allowed,
                           Partial &partial) const {
  // Eight sums side by side, which the vector units need to be busy.
  constexpr int64_t lanes = 8;
  double errors[lanes] = {}, squares[lanes] = {};
  double largest[lanes] = {}, relative[lanes] = {};
  int64_t failed = 0;
  auto step = [&](int64_t i, int64_t lane) {
    double error = std::fabs(got[i] - wanted[i]);
    double size = std::fabs(wanted[i]);
    failed += !(error <= allowed[i]);
    double scaledError = error * scale, scaledSize = size * scale;
    errors[lane] += scaledError * scaledError;
    squares[lane] += scaledSize * scaledSize;
    largest[lane] = largest[lane] < error ? error : largest[lane];
    double ratio = size > 0 ? error / size : 0;
    relative[lane] = relative[lane] < ratio ? ratio : relative[lane];
  };
  int64_t whole = count / lanes * lanes;
  for (int64_t i = 0; i < whole; i += lanes)
    for (int64_t lane = 0; lane < lanes; ++lane)
      step(i + lane, lane);
  for (int64_t i = whole; i < count; ++i)
    step(i, i - whole);

  double errorSquares = 0, referenceSquares = 0, maxError = 0, maxRatio = 0;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    errorSquares += errors[lane];
    referenceSquares += squares[lane];
    maxError = std::max(maxError, largest[lane]);
    maxRatio = std::max(maxRatio, relative[lane]);
  }
  // A failure has to be looked at; an infinity or NaN made a sum one of these.
  if (failed || !std::isfinite(errorSquares) ||
      !std::isfinite(referenceSquares))
    return false;
  partial.errorSquares += errorSquares;
  partial.referenceSquares += referenceSquares;
  if (partial.maxAbsoluteAt < 0 || maxError > partial.maxAbsolute)
    for (int64_t i = 0; i < count; ++i)
      if (std::fabs(got[i] - wanted[i]) == maxError) {
        partial.maxAbsolute = maxError;
        partial.maxAbsoluteAt = begin + i;
        break;
      }
  if (maxRatio > partial.maxRelative)
    for (int64_t i = 0; i < count; ++i)
      if (wanted[i] != 0 &&
          std::fabs(got[i] - wanted[i]) / std::fabs(wanted[i]) == maxRatio) {
        partial.maxRelative = maxRatio;
        partial.maxRelativeAt = begin + i;
        break;
      }
  return true;
}

double Comparer::getError(int64_t position, double got, double wanted) const {
  if (isExact) {
    int64_t a = result.getInt(position), b = reference.getInt(position);
    return double(a > b ? uint64_t(a) - uint64_t(b)
                        : uint64_t(b) - uint64_t(a));
  }
  if (std::isfinite(got) && std::isfinite(wanted))
    return std::fabs(got - wanted);
  // What a finite reference beyond the type's range should have become.
  DType type = result.getType();
  double rounded = decode(type, encode(type, wanted));
  bool agrees = std::isnan(got) ? std::isnan(rounded) : got == rounded;
  return agrees && !std::isfinite(got) ? 0 : infinity;
}

void Comparer::compareCarefully(int64_t begin, int64_t count, const double *got,
                                const double *wanted, const double *allowed,
                                Partial &partial) const {
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = begin + i;
    double error = getError(position, got[i], wanted[i]);
    bool isFinite = std::isfinite(got[i]) && std::isfinite(wanted[i]);
    // An infinite bound, from an infinite reference, allows nothing.
    if (isFinite ? !(error <= allowed[i]) : error != 0) {
      ++partial.numMismatches;
      if (partial.first.size() < Comparison::maxKept)
        partial.first.push_back(
            {position, got[i], wanted[i], error, isFinite ? allowed[i] : 0});
    }
    if (!isFinite) {
      ++partial.numNonFinite;
      continue;
    }
    double size = std::fabs(wanted[i]);
    partial.errorSquares += error * scale * (error * scale);
    partial.referenceSquares += size * scale * (size * scale);
    if (partial.maxAbsoluteAt < 0 || error > partial.maxAbsolute) {
      partial.maxAbsolute = error;
      partial.maxAbsoluteAt = position;
    }
    if (size > 0 && error / size > partial.maxRelative) {
      partial.maxRelative = error / size;
      partial.maxRelativeAt = position;
    }
  }
}

void Comparer::compareRange(int64_t begin, int64_t end,
                            Partial &partial) const {
  double got[blockSize], wanted[blockSize], allowed[blockSize];
  for (int64_t start = begin; start < end; start += blockSize) {
    int64_t count = std::min(blockSize, end - start);
    readBlock(result, start, count, got);
    readBlock(reference, start, count, wanted);
    if (tolerance.magnitude) {
      readBlock(*tolerance.magnitude, start, count, allowed);
      for (int64_t i = 0; i < count; ++i)
        allowed[i] = tolerance.magnitudeFactor * std::fabs(allowed[i]) +
                     tolerance.absolute +
                     tolerance.relative * std::fabs(wanted[i]);
    } else {
      for (int64_t i = 0; i < count; ++i)
        allowed[i] =
            tolerance.absolute + tolerance.relative * std::fabs(wanted[i]);
    }
    if (isExact || !compareFast(start, count, got, wanted, allowed, partial))
      compareCarefully(start, count, got, wanted, allowed, partial);
  }
}

Partial Comparer::compareAll() const {
  int64_t count = result.getNumElements();
  std::vector<Partial> partials(size_t((count + rangeSize - 1) / rangeSize));
  parallelFor(count, rangeSize, [&](int64_t begin, int64_t end) {
    compareRange(begin, end, partials[size_t(begin / rangeSize)]);
  });
  Partial total;
  for (const Partial &partial : partials)
    total.merge(partial);
  return total;
}

Result<Comparison> tile::runtime::compare(const Array &result,
                                          const Array &reference,
                                          const Tolerance &tolerance) {
  auto fail = [&](const char *what, const Array &other) {
    return Error{"the result is " + result.formatType() + ", the " + what +
                 " " + other.formatType() + "; their shapes have to agree"};
  };
  if (result.getShape() != reference.getShape())
    return fail("reference", reference);
  if (tolerance.magnitude &&
      tolerance.magnitude->getShape() != result.getShape())
    return fail("magnitude", *tolerance.magnitude);

  Partial total = Comparer(result, reference, tolerance, 1).compareAll();
  // Squares leave the range of doubles long before the values do.
  bool isTiny = total.errorSquares == 0 && total.maxAbsolute > 0;
  isTiny |= total.referenceSquares < 0x1p-900;
  if (isTiny || !std::isfinite(total.errorSquares) ||
      !std::isfinite(total.referenceSquares)) {
    double size = total.maxAbsolute;
    for (int64_t i = 0; i < reference.getNumElements(); ++i)
      if (double value = std::fabs(reference.getDouble(i));
          std::isfinite(value))
        size = std::max(size, value);
    // Within what a factor can be: a subnormal's would be infinite.
    int exponent = size > 0 ? std::clamp(std::ilogb(size), -1000, 1000) : 0;
    total = Comparer(result, reference, tolerance, std::ldexp(1.0, -exponent))
                .compareAll();
  }

  Comparison comparison;
  comparison.numElements = result.getNumElements();
  comparison.numMismatches = total.numMismatches;
  comparison.numNonFinite = total.numNonFinite;
  if (total.errorSquares > 0)
    comparison.relativeNorm =
        std::sqrt(total.errorSquares) / std::sqrt(total.referenceSquares);
  comparison.maxAbsolute = total.maxAbsolute;
  comparison.maxRelative = total.maxRelative;
  if (total.maxAbsoluteAt >= 0)
    comparison.maxAbsoluteAt = result.getCoordinates(total.maxAbsoluteAt);
  if (total.maxRelativeAt >= 0)
    comparison.maxRelativeAt = result.getCoordinates(total.maxRelativeAt);
  for (const Failure &failure : total.first)
    comparison.first.push_back({result.getCoordinates(failure.position),
                                failure.result, failure.reference,
                                failure.error, failure.allowed});
  return comparison;
}

std::string tile::runtime::formatCoordinates(const Shape &coordinates) {
  std::string text = "[";
  for (size_t i = 0; i < coordinates.size(); ++i)
    text += (i ? ", " : "") + std::to_string(coordinates[i]);
  return text + "]";
}

std::string tile::runtime::formatMismatches(const Comparison &comparison) {
  std::string text;
  for (const Mismatch &mismatch : comparison.first)
    text += formatCoordinates(mismatch.coordinates) + ": " +
            formatNumber(mismatch.result) + ", expected " +
            formatNumber(mismatch.reference) + " (error " +
            formatError(mismatch.error) + ", allowed " +
            formatError(mismatch.allowed) + ")\n";
  int64_t more = comparison.numMismatches - int64_t(comparison.first.size());
  if (more > 0)
    text += "and " + std::to_string(more) + " more\n";
  return text;
}

Result<int64_t> tile::runtime::countDifferentBits(const Array &a,
                                                  const Array &b) {
  if (a.getShape() != b.getShape() || a.getType() != b.getType())
    return Error{"one is " + a.formatType() + ", the other " + b.formatType() +
                 "; they have to agree"};
  int64_t count = 0;
  a.forEachRow([&](const Row &row) {
    b.forEachRow(row.first, row.first + row.count, [&](const Row &other) {
      int64_t begin = row.index + (other.first - row.first) * row.stride;
      for (int64_t i = 0; i < other.count; ++i)
        count +=
            loadBits(a.getType(), a.data(), begin + i * row.stride) !=
            loadBits(b.getType(), b.data(), other.index + i * other.stride);
    });
  });
  return count;
}
